"""Check an environment that holds the wheel with the extras named as arguments, and nothing else of ours.

Tokens are counted with the network refused, an adapter whose extra is there imports, and one whose extra is
missing says what to install.
"""

import importlib
import json
import socket
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

ADAPTERS = {"langchain": "langchain_ctxopt", "llamaindex": "llamaindex_ctxopt"}


def refuse(*_args: object, **_options: object) -> None:
    message = "the network was used"
    raise AssertionError(message)


def check_counting() -> None:
    core = importlib.import_module("ctxopt_core")
    for encoding in ("cl100k_base", "o200k_base"):
        assert core.counter_for(encoding).count("hello world") == 2, encoding


def import_error(package: str, name: str = "") -> str:
    try:
        module = importlib.import_module(package)
        if name:
            getattr(module, name)
    except ImportError as error:
        return str(error) or "no message"
    return ""


def check_adapter(extra: str, *, installed: bool) -> None:
    error = import_error(ADAPTERS[extra])
    if installed:
        assert not error, error
    else:
        assert f"ctxopt-core[{extra}]" in error, f"{ADAPTERS[extra]} does not name its extra: {error}"


def check_memory() -> None:
    """Every public name of the LlamaIndex adapter loads, and a memory is dumped and loaded with this pydantic."""
    package = importlib.import_module("llamaindex_ctxopt")
    assert all(hasattr(package, name) for name in package.__all__)
    message = importlib.import_module("llama_index.core.llms").ChatMessage
    memory = package.ContextOptimizerMemory.from_defaults(
        chat_history=[message(content="hello world " * 9) for _ in range(9)], max_input_tokens=60
    )
    loaded = package.ContextOptimizerMemory.from_dict(json.loads(json.dumps(memory.to_dict())))
    assert 0 < len(memory.get()) < len(memory.get_all()) == 9
    assert loaded.get() == memory.get()


def check_command_line(*, installed: bool) -> None:
    """The console script runs, or names its extra."""
    script = Path(sys.executable).with_name("ctxopt-core")
    done = subprocess.run([script, "window", "gpt-4"], capture_output=True, text=True, check=False)
    if installed:
        assert (done.returncode, "8,192" in done.stdout) == (0, True), done.stderr
    else:
        assert (done.returncode, "ctxopt-core[cli]" in done.stderr) == (2, True), done.stderr


def main(extras: list[str]) -> None:
    socket.socket.connect = refuse  # type: ignore[method-assign, assignment]
    socket.getaddrinfo = refuse  # type: ignore[assignment]
    check_counting()
    for extra in ADAPTERS:
        check_adapter(extra, installed=extra in extras or (extra == "langchain" and "agents" in extras))
    check_command_line(installed="cli" in extras or find_spec("click") is not None)  # LlamaIndex brings click
    if "llamaindex" in extras:
        check_memory()
    if "langchain" in extras or "agents" in extras:
        error = import_error("langchain_ctxopt", "ContextOptimizerMiddleware")
        assert bool(error) == ("agents" not in extras), error
        assert not error or "ctxopt-core[agents]" in error, error
    print(f"the wheel with {extras or 'no extra'}: counts offline, adapters as expected")


if __name__ == "__main__":
    main(sys.argv[1:])
