"""What is installed: three packages with their data, and nothing of the checkout besides."""

import hashlib
import inspect
from importlib.resources import files

import pytest
from tiktoken_ext import openai_public

PACKAGES = ("ctxopt_core", "ctxopt_playground", "langchain_ctxopt", "llamaindex_ctxopt")
VOCABULARIES = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}


@pytest.mark.parametrize("folder", ["core", "docs", "examples", "notebooks", "scripts", "tests"])
def test_folders_of_the_checkout_are_not_importable(folder, run_isolated):
    found = run_isolated(f"import importlib.util; print(importlib.util.find_spec({folder!r}))")

    assert found == "None"


def test_the_wheel_has_exactly_three_top_level_modules(wheel_names):
    top_level = {name.partition("/")[0] for name in wheel_names}

    assert {name for name in top_level if not name.endswith(".dist-info")} == set(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_is_marked_as_typed(package, wheel_names):
    assert f"{package}/py.typed" in wheel_names


@pytest.mark.parametrize("encoding", VOCABULARIES)
def test_the_wheel_carries_the_vocabulary(encoding, wheel_names):
    assert f"ctxopt_core/counting/vocabularies/{encoding}.tiktoken" in wheel_names


def test_the_wheel_carries_no_caches(wheel_names):
    assert not [name for name in wheel_names if "__pycache__" in name or "_cache/" in name]


@pytest.mark.parametrize(("encoding", "sha256"), VOCABULARIES.items(), ids=VOCABULARIES)
def test_a_bundled_vocabulary_is_byte_for_byte_the_published_one(encoding, sha256):
    content = (files("ctxopt_core") / "counting" / "vocabularies" / f"{encoding}.tiktoken").read_bytes()

    assert hashlib.sha256(content).hexdigest() == sha256
    assert sha256 in inspect.getsource(openai_public.ENCODING_CONSTRUCTORS[encoding])
