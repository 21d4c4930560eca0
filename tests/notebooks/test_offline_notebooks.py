"""What the notebooks are run in: it refuses what leaves the machine, and sees what a cell complains of."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

from offline_notebooks import complaints, offline_environment, run_offline

OUTSIDE = {
    "an address": "socket.create_connection(('192.0.2.1', 80), timeout=1)",
    "an address without an error": "socket.socket().connect_ex(('192.0.2.1', 80))",
    "an address of version 6": "socket.socket(socket.AF_INET6).connect(('2001:db8::1', 80))",
    "a datagram": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'?', ('192.0.2.1', 53))",
    "a name": "socket.getaddrinfo('example.invalid', 80)",
    "a name in bytes": "socket.getaddrinfo(b'example.invalid', 80)",
    "the old look-up of a name": "socket.gethostbyname('example.invalid')",
    "a page": "urllib.request.urlopen('http://192.0.2.1/')",
    "a fallback for errors": "[exec('try: socket.getaddrinfo(\"example.invalid\", 80)\\nexcept Exception: pass')]",
}
INSIDE = {
    "itself by address": "socket.create_connection(served.getsockname())",
    "itself by name": "socket.create_connection(('localhost', served.getsockname()[1]))",
    "itself by a pair": "one, other = socket.socketpair(); one.sendall(b'?')",
}


def run_python(code):
    script = f"import socket, urllib.request\nserved = socket.create_server(('127.0.0.1', 0))\n{code}"
    command = [sys.executable, "-W", "ignore", "-c", script]
    return subprocess.run(command, env=offline_environment(), capture_output=True, text=True, check=False)


@pytest.mark.parametrize("code", OUTSIDE.values(), ids=OUTSIDE)
def test_what_leaves_the_machine_is_refused(code):
    assert "OutsideConnection: socket." in run_python(code).stderr


@pytest.mark.parametrize("code", INSIDE.values(), ids=INSIDE)
def test_what_stays_on_the_machine_is_not(code):
    ended = run_python(code)

    assert (ended.returncode, ended.stderr) == (0, "")


@pytest.mark.filterwarnings("default")
def test_a_cell_that_leaves_the_machine_ends_the_run(tmp_path):
    nbformat, nbclient = import_module("nbformat"), import_module("nbclient")
    cells = ["import socket, warnings", "warnings.warn('old')", "print('new')", OUTSIDE["a name"], "print('after')"]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])

    with pytest.raises(nbclient.exceptions.CellExecutionError, match="OutsideConnection"):
        run_offline(notebook, tmp_path)

    assert len(complaints(notebook)) == 1
    assert "UserWarning: old" in complaints(notebook)[0]
    assert not notebook.cells[-1].outputs
