"""Every public class and function has an example in its docstring, and what the example shows is what comes out."""

from __future__ import annotations

import doctest
import importlib
import inspect

import pytest

PACKAGES = ("ctxopt_core", "ctxopt_playground", "langchain_ctxopt", "llamaindex_ctxopt")
PUBLIC = [(package, name) for package in PACKAGES for name in importlib.import_module(package).__all__]
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


@pytest.mark.parametrize(("package", "name"), PUBLIC, ids=[f"{package}.{name}" for package, name in PUBLIC])
def test_the_example_of_a_public_name_shows_what_comes_out(package, name):
    documented = inspect.getdoc(getattr(importlib.import_module(package), name)) or ""
    example = doctest.DocTestParser().get_doctest(documented, {}, name, None, None)
    told: list[str] = []
    outcome = doctest.DocTestRunner(optionflags=FLAGS).run(example, out=told.append)

    assert example.examples, f"{name} has no example"
    assert outcome.failed == 0, "".join(told)
