"""Run code as a user's program would: another interpreter, isolated, outside the checkout."""

import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]

# A module that is not installed, played by the import system itself.
BLOCKER = """
import sys

class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {blocked!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Blocker())
"""

RunIsolated = Callable[..., str]


@pytest.fixture
def run_isolated(tmp_path: Path) -> RunIsolated:
    """Run code under `python -I` with the `blocked` top-level modules missing, and return what it printed."""

    def run(code: str, *, blocked: tuple[str, ...] = ()) -> str:
        program = BLOCKER.format(blocked=blocked) + code
        done = subprocess.run(
            [sys.executable, "-I", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    return run


@pytest.fixture(scope="session")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The names of the files in a wheel built from this checkout."""
    target = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(build, cwd=CHECKOUT, capture_output=True, check=True)
    (wheel,) = target.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()
