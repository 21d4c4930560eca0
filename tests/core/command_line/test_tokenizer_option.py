"""`--tokenizer` is an encoding, a model or a file, and says so where it is none of them."""

from __future__ import annotations

import json

import pytest

from command_runs import chat, run, stored


def tokenizer_file(path):
    tokenizers = pytest.importorskip("tokenizers")
    path.parent.mkdir(exist_ok=True)
    tokenizers.Tokenizer(tokenizers.models.WordLevel({"x": 0}, unk_token="x")).save(str(path))
    return path


@pytest.mark.parametrize(
    ("name", "said"),
    [
        pytest.param("", "it is empty; give an encoding such as o200k_base", id="empty"),
        pytest.param("  ", "it is empty", id="blank"),
        pytest.param("o200k_bas", "is no encoding, no model that is known, and no file", id="a typing error"),
        pytest.param("missing.json", "is not there, or no file; nothing is downloaded", id="a missing file"),
        pytest.param("folder", "is a folder without a tokenizer.json", id="a folder without one"),
        pytest.param("broken.json", "is no JSON with a `model`", id="broken JSON"),
        pytest.param("list.json", "is no JSON with a `model`", id="a list"),
        pytest.param("other.json", "is no JSON with a `model`", id="other JSON"),
        pytest.param("corrupt.json", "cannot be read as a tokenizer", id="a corrupt file"),
        pytest.param("words.txt", "is not called .json", id="another file"),
    ],
)
def test_what_is_no_tokenizer_is_an_error_that_says_what_would_be_one(tmp_path, monkeypatch, name, said):
    pytest.importorskip("tokenizers")
    monkeypatch.chdir(tmp_path)
    request = stored(tmp_path / "request.json", chat(1))
    (tmp_path / "folder").mkdir()
    for file, content in (
        ("broken.json", "{broken"),
        ("list.json", "[1]"),
        ("other.json", "{}"),
        ("corrupt.json", '{"model": {"type": "none"}}'),
        ("words.txt", "words"),
    ):
        (tmp_path / file).write_text(content, encoding="utf-8")

    for command in ("fit", "plan", "explain", "count"):
        done = run(command, request, "--tokenizer", name)
        assert (done.exit_code, done.stdout) == (2, "")
        assert said in done.stderr
        assert "--tokenizer" in done.stderr


@pytest.mark.parametrize("name", ["o200k_base", "cl100k_base", "gpt-4", "claude-sonnet-4-5", " gpt-4 "])
def test_encodings_and_models_are_names(name):
    done = run("count", "-", "--tokenizer", name, "--format", "json", given="hello world")
    assert json.loads(done.stdout)["tokens"] >= 2


@pytest.mark.parametrize("named", ["tokenizer.json", "folder"])
def test_a_file_or_its_folder_counts(tmp_path, named):
    file = tokenizer_file(tmp_path / ("folder" if named == "folder" else "files") / "tokenizer.json")
    given = file.parent if named == "folder" else file
    done = run("count", "-", "--tokenizer", given, "--format", "json", given="x")
    assert json.loads(done.stdout)["tokens"] == 1
