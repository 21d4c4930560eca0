"""Build the catalog of models from the tables of published packages and from reviewed rows that are kept by hand.

`scripts/reviewed_models.json` is that hand-kept file: add a row there, or correct one, and run this again. It never
runs in tests; it needs the package itself and pip, which may need the network.

    .venv/bin/python scripts/update_models.py                  download the packages and write the catalog
    .venv/bin/python scripts/update_models.py --wheels FOLDER  use the wheels in FOLDER
    .venv/bin/python scripts/update_models.py --disagreements  list where the sources differ, and which limit was used
    .venv/bin/python scripts/update_models.py --profiles       compare the result with LangChain's own profiles
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import zlib
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

from model_rules import RULE, Table, build_table, rows_with_ids
from model_sources import LANGCHAIN, LLAMA_INDEX, Listing, download, listings, other_kinds, versions, wheels

from ctxopt_core.models.catalog import CatalogRow, ModelIndex, smallest_chat_window
from ctxopt_core.models.model_ids import id_spellings

REVIEWED = Path(__file__).with_name("reviewed_models.json")
CATALOG = Path(__file__).resolve().parent.parent / "core" / "ctxopt_core" / "models" / "models.json"


def reviewed_rows(content: dict[str, Any]) -> list[CatalogRow]:
    optional = ("max_input_tokens", "max_output_tokens", "kind")
    return [
        CatalogRow(
            ids=tuple(row["ids"]),
            context_window=row["context_window"],
            tokenizer=row["tokenizer"],
            sources=tuple(row["sources"]),
            checked=date.fromisoformat(row["checked"]),
            **{name: row[name] for name in optional if name in row},
        )
        for row in content["rows"]
    ]


def sources(found: dict[str, str]) -> dict[str, str]:
    def named(packages: Iterable[str]) -> str:
        return ", ".join(f"{package} {found[package]}" for package in packages)

    return {
        "litellm": f"the price and context table of litellm {found['litellm']}",
        "genai-prices": f"genai-prices {found['genai-prices']}",
        "langchain": f"model profiles of {named(LANGCHAIN)}",
        "llama-index": f"tables of {named(LLAMA_INDEX)}",
    }


def entry(row: CatalogRow) -> list[Any]:
    """Return a row as it is written: ids, their normal spellings if one differs, limits and the rest."""
    normal = " ".join(id_spellings(model)[0] for model in row.ids)
    listed = " ".join(row.ids)
    figures = [row.context_window, row.max_input_tokens, row.max_output_tokens]
    named = [row.kind, row.tokenizer, " ".join(row.sources), row.checked.isoformat()]
    return [listed, "" if normal == listed else normal, *figures, *named]


def written(header: dict[str, Any], rows: list[CatalogRow]) -> str:
    """Return the file: one row on one line, so that differences between two versions can be read."""
    lines = ",\n".join(json.dumps(entry(row), separators=(",", ":")) for row in rows)
    return json.dumps(header, indent=1)[:-2] + f',\n "rows": [\n{lines}\n]\n}}\n'


def update(found: dict[str, Path]) -> tuple[Table, list[CatalogRow]]:
    content = json.loads(REVIEWED.read_text(encoding="utf-8"))
    reviewed = reviewed_rows(content)
    table = build_table(reviewed, content["aliases"], listings(found), date.today(), other_kinds(found))
    rows = list(rows_with_ids(table, reviewed))
    header = {
        "rule": RULE.format(smallest=smallest_chat_window(reviewed)),
        "sources": sources(versions(found)),
        "aliases": content["aliases"],
        "ambiguous": " ".join(sorted(table.ambiguous)),
        "columns": "ids, normal spellings if others, window, input limit, answer limit, kind, tokenizer, sources, date",
    }
    CATALOG.write_text(written(header, rows), encoding="utf-8")
    return table, rows


def print_summary(table: Table, rows: list[CatalogRow]) -> None:
    chat = sum(len(row.ids) for row in rows if row.kind == "chat")
    size, packed = CATALOG.stat().st_size, len(zlib.compress(CATALOG.read_bytes(), 9))
    print(f"{len(rows)} rows, {len(table.rows)} ids, {chat} of chat models, {len(table.ambiguous)} ambiguous names")
    print(f"{len(table.disagreements)} disagreements; {size:,} bytes, {packed:,} compressed")


def print_disagreements(table: Table) -> None:
    for one in sorted(table.disagreements, key=lambda one: one.model):
        print(f"{one.model}: {', '.join(f'{source} {limit}' for source, limit in one.said)}; taken {one.taken}")


def print_profiles(table: Table, profiles: Iterable[Listing]) -> None:
    """Print where the catalog has other limits than LangChain's profiles."""
    content = json.loads(CATALOG.read_text(encoding="utf-8"))
    names = content["ambiguous"].split()
    index = ModelIndex.of_normal_ids(table.rows, ambiguous=names, aliases=content["aliases"])
    compared = larger = smaller = missing = 0
    for profile in profiles:
        row = index.find(profile.model)
        compared += 1
        if row is None:
            missing += 1
            print(f"{profile.model}: profile {profile.limit}, not found")
        if row is not None and profile.limit not in (row.input_limit, row.context_window):
            larger += row.input_limit > profile.limit
            smaller += row.input_limit < profile.limit
            print(f"{profile.model}: profile {profile.limit}, catalog {row.context_window} / {row.input_limit}")
    print(f"{compared} profiles compared: {missing} not found, {smaller} smaller here, {larger} larger here")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheels", type=Path, help="a folder with the wheels; without it they are downloaded")
    parser.add_argument("--disagreements", action="store_true", help="list where the sources differ")
    parser.add_argument("--profiles", action="store_true", help="compare with LangChain's profiles")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.wheels or Path(temporary)
        if options.wheels is None:
            download(folder)
        found = wheels(folder)
        table, rows = update(found)
        print_summary(table, rows)
        if options.disagreements:
            print_disagreements(table)
        if options.profiles:
            print_profiles(table, (one for one in listings(found) if one.source == "langchain"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
