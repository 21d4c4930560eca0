"""A notebook served by Voila on this machine, and the browser that looks at it."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import ProxyHandler, build_opener

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER_ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage")
SECONDS = 120


def chromium() -> str | None:
    """Return the path of an installed Chromium: the one that CTXOPT_CHROMIUM names, else one in the PATH."""
    named = os.environ.get("CTXOPT_CHROMIUM")
    return named or next((found for name in BROWSERS if (found := shutil.which(name))), None)


@contextmanager
def served(notebook: Path, log: Path, *arguments: str, **environment: str) -> Iterator[str]:
    """Serve a notebook on a free port, and give its address; `log` is written with what the server says."""
    port = _free_port()
    voila = Path(sys.executable).with_name("voila")
    command = [str(voila), str(notebook), "--no-browser", f"--port={port}", *arguments]
    with (
        log.open("wb") as output,
        subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env={**os.environ, **environment}) as server,
    ):
        try:
            _wait_for(f"http://127.0.0.1:{port}/voila/static/voila.js", server, log)
            yield f"http://localhost:{port}/"
        finally:
            server.terminate()
            try:
                server.wait(timeout=30)
            except subprocess.TimeoutExpired:
                server.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _wait_for(address: str, server: subprocess.Popen[bytes], log: Path) -> None:
    open_directly = build_opener(ProxyHandler({})).open
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and server.poll() is None:
        try:
            with open_directly(address, timeout=5):
                return
        except HTTPError:
            return
        except (URLError, OSError):
            time.sleep(0.2)
    message = f"Voila does not answer; it says: {log.read_text('utf-8', 'replace')[-2000:]}"
    raise RuntimeError(message)
