"""The bundled vocabularies are tiktoken's own, and counting with them needs no network."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path

import pytest
import tiktoken

import ctxopt_core
from ctxopt_core.counting import encodings as vocabulary
from ctxopt_core.counting.tiktoken_counter import TiktokenCounter
from ctxopt_core.errors import CtxoptError
from hostile_text import HOSTILE_SAMPLES
from request_tokens import VOCABULARY_URL
from shape_rows import SCRIPTS, SENTENCE, SPECIAL

CORE = str(Path(ctxopt_core.__file__).resolve().parents[1])
SAMPLES = [SENTENCE, SPECIAL, *SCRIPTS.values(), *HOSTILE_SAMPLES]

# Whoever looks up a name or opens a socket is noted and refused, as on a machine without a network.
NO_NETWORK = """
import json, os, socket, sys
asked = []
def refuse(*args, **kwargs):
    asked.append("network")
    raise OSError("no network")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
"""

COUNT_WITH_THE_BUNDLED = """
before = dict(os.environ)
from ctxopt_core import counter_for
counts = [counter_for(name).count("hello world") for name in ("cl100k_base", "o200k_base", "gpt-4o", "claude-opus-4")]
print(json.dumps({"counts": counts, "asked": asked, "same_environment": before == dict(os.environ),
                  "requests": "requests" in sys.modules}))
"""

COMPARE = """
from tiktoken_ext.openai_public import ENCODING_CONSTRUCTORS
import tiktoken
from ctxopt_core.counting.encodings import load_encoding
samples = json.loads(sys.stdin.read())
found = {}
for name in ("cl100k_base", "o200k_base"):
    own, theirs = load_encoding(name), tiktoken.Encoding(**ENCODING_CONSTRUCTORS[name]())
    found[name] = {
        "pattern": own._pat_str == theirs._pat_str,
        "special_tokens": own._special_tokens == theirs._special_tokens,
        "ranks": own._mergeable_ranks == theirs._mergeable_ranks,
        "vocabulary": own.n_vocab == theirs.n_vocab,
        "ids": all(own.encode_ordinary(text) == theirs.encode_ordinary(text) for text in samples),
        "special_ids": all(own.encode(text, allowed_special="all") == theirs.encode(text, allowed_special="all")
                           for text in samples),
    }
print(json.dumps({"found": found, "asked": asked}))
"""

COUNT_WITH = """
from ctxopt_core.errors import CtxoptError
from ctxopt_core import TiktokenCounter
counter = TiktokenCounter({name!r})
try:
    outcome = [counter.count("abab"), counter.exceeds("abab" * 5000, 9999), counter.prefix_length("ababc", 2),
               counter.suffix_length("cabab", 2)]
except CtxoptError as error:
    outcome = str(error)
print(json.dumps({{"outcome": outcome, "asked": asked}}))
"""

# A vocabulary of all bytes and `ab`, registered as tiktoken documents it.
PLUGIN_URL = "https://vocabularies.invalid/lantern.tiktoken"
PLUGIN_VOCABULARY = b"".join(
    b"%b %d\n" % (base64.b64encode(token), rank)
    for rank, token in enumerate([*(bytes([byte]) for byte in range(256)), b"ab"])
)
PLUGIN = f"""
from tiktoken.load import load_tiktoken_bpe

def lantern():
    ranks = load_tiktoken_bpe({PLUGIN_URL!r}, expected_hash={hashlib.sha256(PLUGIN_VOCABULARY).hexdigest()!r})
    return {{"name": "lantern_base", "pat_str": r"\\w+|\\W+", "mergeable_ranks": ranks, "special_tokens": {{}}}}

def damaged():
    raise ValueError("Hash mismatch")

ENCODING_CONSTRUCTORS = {{"lantern_base": lantern, "damaged_base": damaged}}
"""


def cache_name(url):
    return hashlib.sha1(url.encode(), usedforsecurity=False).hexdigest()


def run(program, tmp_path, *, stdin="", plugins="", **environment):
    """What the program prints in another interpreter that has no network and a temporary folder of its own."""
    temporary = tmp_path / "temporary"
    temporary.mkdir(exist_ok=True)
    inherited = {
        key: value for key, value in os.environ.items() if key not in {"TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"}
    }
    paths = os.pathsep.join(filter(None, [str(plugins), CORE]))
    done = subprocess.run(
        [sys.executable, "-c", NO_NETWORK + program],
        env={**inherited, "PYTHONPATH": paths, "TMPDIR": str(temporary), **environment},
        cwd=tmp_path,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert list(temporary.iterdir()) == []
    return json.loads(done.stdout)


@pytest.fixture
def plugins(tmp_path):
    folder = tmp_path / "plugins"
    (folder / "tiktoken_ext").mkdir(parents=True)
    (folder / "tiktoken_ext" / "lantern_ext.py").write_text(PLUGIN)
    return folder


@pytest.fixture
def cache(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("setting", [{}, {"TIKTOKEN_CACHE_DIR": ""}, {"TIKTOKEN_CACHE_DIR": "nowhere"}])
def test_t14_a15_counting_needs_no_network_and_touches_nothing(tmp_path, setting):
    found = run(COUNT_WITH_THE_BUNDLED, tmp_path, **setting)

    assert found == {"counts": [2, 2, 2, 3], "asked": [], "same_environment": True, "requests": False}
    assert not (tmp_path / "nowhere").exists()


def test_t14_the_bundled_encodings_are_tiktokens_own(tmp_path, cache):
    for name in vocabulary.BUNDLED_ENCODINGS:
        bundled = files("ctxopt_core") / "counting" / "vocabularies" / f"{name}.tiktoken"
        (cache / cache_name(VOCABULARY_URL.format(name=name))).write_bytes(bundled.read_bytes())

    compared = run(COMPARE, tmp_path, stdin=json.dumps(SAMPLES), TIKTOKEN_CACHE_DIR=str(cache))

    assert compared["asked"] == []
    assert set(compared["found"]) == {"cl100k_base", "o200k_base"}
    assert all(all(checks.values()) for checks in compared["found"].values()), compared["found"]
    assert len(list(cache.iterdir())) == 2


def test_t14_the_files_are_what_their_readme_says():
    folder = files("ctxopt_core") / "counting" / "vocabularies"
    readme = (folder / "README.md").read_text("utf-8")

    for name, checksum in vocabulary.SHA256.items():
        content = (folder / f"{name}.tiktoken").read_bytes()
        assert hashlib.sha256(content).hexdigest() == checksum
        assert f"| `{name}.tiktoken` | {len(content):,} | `{checksum}` |" in readme


def test_t14_a_vocabulary_that_cannot_be_had_names_the_cache_folder(tmp_path, cache):
    found = run(COUNT_WITH.format(name="p50k_base"), tmp_path, TIKTOKEN_CACHE_DIR=str(cache))

    assert "'p50k_base' is not bundled and could not be loaded (" in found["outcome"]
    assert "TIKTOKEN_CACHE_DIR, or use cl100k_base or o200k_base" in found["outcome"]
    assert found["asked"]
    assert list(cache.iterdir()) == []


def test_t14_a_vocabulary_in_the_users_cache_folder_is_used(tmp_path, cache, plugins):
    (cache / cache_name(PLUGIN_URL)).write_bytes(PLUGIN_VOCABULARY)

    program = COUNT_WITH.format(name="lantern_base")
    found = run(program, tmp_path, plugins=plugins, TIKTOKEN_CACHE_DIR=str(cache))
    assert found == {"outcome": [2, True, 4, 4], "asked": []}

    without = run(program, tmp_path, plugins=plugins, TIKTOKEN_CACHE_DIR=str(tmp_path / "empty"))
    assert "'lantern_base' is not bundled" in without["outcome"]


def test_t14_a_damaged_download_is_not_taken_for_a_wrong_name(tmp_path, plugins):
    found = run(COUNT_WITH.format(name="damaged_base"), tmp_path, plugins=plugins)

    assert "'damaged_base' is not bundled and could not be loaded (ValueError)" in found["outcome"]


def test_an_encoding_that_nobody_knows_is_an_error():
    with pytest.raises(CtxoptError, match=r"`encoding` must be one .*cl100k_base.*, got 'lantern_base'"):
        TiktokenCounter("lantern_base").count("x")


def test_an_encoding_that_the_application_has_registered_is_used(monkeypatch):
    letters = {bytes([byte]): byte for byte in range(256)}
    own = tiktoken.Encoding("own_base", pat_str=r"\w+|\W+", mergeable_ranks=letters, special_tokens={})
    monkeypatch.setitem(tiktoken.registry.ENCODINGS, "own_base", own)
    monkeypatch.setattr(vocabulary, "_loaded", {})

    assert TiktokenCounter("own_base").count("灯 lit") == 7
    assert vocabulary.load_encoding("own_base") is own


def test_a_damaged_file_is_an_error(monkeypatch):
    monkeypatch.setitem(vocabulary.SHA256, "cl100k_base", "0" * 64)

    with pytest.raises(CtxoptError, match="vocabulary cl100k_base is damaged; reinstall ctxopt-core"):
        vocabulary._bundled("cl100k_base")


def test_threads_load_an_encoding_once(monkeypatch):
    monkeypatch.setattr(vocabulary, "_loaded", {})
    monkeypatch.delitem(tiktoken.registry.ENCODINGS, "cl100k_base", raising=False)
    loaded = []
    load = vocabulary._bundled
    monkeypatch.setattr(vocabulary, "_bundled", lambda name: loaded.append(name) or load(name))

    with ThreadPoolExecutor(8) as pool:
        encodings = list(pool.map(vocabulary.load_encoding, ["cl100k_base"] * 16))
    assert loaded == ["cl100k_base"]
    assert len(set(map(id, encodings))) == 1
