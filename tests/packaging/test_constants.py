"""A numeric constant says its unit and why it has this value, in a comment beside or above it, or in a docstring."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("core/ctxopt_core", "core/ctxopt_playground", "langchain_ctxopt", "llamaindex_ctxopt")
FILES = sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))


def numeric(node: ast.expr | None) -> bool:
    if isinstance(node, ast.UnaryOp):
        return numeric(node.operand)
    if isinstance(node, ast.BinOp):
        return numeric(node.left) and numeric(node.right)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def silent_constants(source: str) -> Iterator[str]:
    lines = source.splitlines()
    body = ast.parse(source).body
    for node, following in zip(body, [*body[1:], None], strict=True):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or not numeric(node.value):
            continue
        documented = isinstance(following, ast.Expr) and isinstance(following.value, ast.Constant)
        above = lines[node.lineno - 2].strip().startswith("#")
        beside = any("#" in line for line in lines[node.lineno - 1 : node.end_lineno])
        if not (documented or above or beside):
            yield lines[node.lineno - 1]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_numeric_constant_says_its_unit_and_its_reason(path):
    assert list(silent_constants(path.read_text(encoding="utf-8"))) == []


def test_a_constant_without_a_word_is_found():
    assert list(silent_constants("MOST = 8\nLEAST = 2  # tokens: a mark\n")) == ["MOST = 8"]
