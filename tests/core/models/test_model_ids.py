"""One id, many spellings; and the encoding that an id implies."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxopt_core.models import model_ids
from ctxopt_core.models.catalog import builtin_index, builtin_rows
from ctxopt_core.models.model_ids import encoding_for, id_spellings

SAME_ID = [
    pytest.param("gpt-4o-2024-11-20", "gpt-4o", id="dated"),
    pytest.param("GPT-4o", "gpt-4o", id="upper-case"),
    pytest.param("  gpt-4o\n", "gpt-4o", id="blanks"),
    pytest.param("openai/gpt-4o", "gpt-4o", id="provider-path"),
    pytest.param("openai:gpt-4o", "gpt-4o", id="provider-colon"),
    pytest.param("azure/eu/gpt-4o", "gpt-4o", id="azure-region"),
    pytest.param("azure/gpt-35-turbo", "gpt-3.5-turbo", id="azure-spelling"),
    pytest.param("ft:gpt-4o-mini-2024-07-18:acme::abc123", "gpt-4o-mini", id="fine-tuned"),
    pytest.param("anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5", id="bedrock"),
    pytest.param("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5", id="bedrock-us"),
    pytest.param("apac.anthropic.claude-sonnet-4-20250514-v1:0", "claude-sonnet-4", id="bedrock-apac"),
    pytest.param("eu.anthropic.claude-opus-4-6-v1", "claude-opus-4-6", id="bedrock-short-revision"),
    pytest.param(
        "arn:aws:bedrock:us-east-1:42:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0",
        "claude-haiku-4-5",
        id="bedrock-arn",
    ),
    pytest.param("openai.gpt-oss-120b-1:0", "openai.gpt-oss-120b-1:0", id="bedrock-openai"),
    pytest.param("us-gov.deepseek.r1-v1:0", "us.deepseek.r1-v1:0", id="bedrock-vendor-is-family"),
    pytest.param("eu.meta.llama3-1-70b-instruct-v1:0", "meta.llama3-1-70b-instruct-v1:0", id="bedrock-llama"),
    pytest.param("vertex_ai/claude-sonnet-4-5@20250929", "claude-sonnet-4-5", id="vertex-date"),
    pytest.param(
        "projects/p/locations/global/publishers/google/models/gemini-2.5-pro", "gemini-2.5-pro", id="vertex-path"
    ),
    pytest.param("models/gemini-2.0-flash-001", "gemini-2.0-flash", id="google-snapshot"),
    pytest.param("openrouter/anthropic/claude-sonnet-4.5:free", "claude-sonnet-4-5", id="openrouter"),
    pytest.param("anthropic/claude-3.5-sonnet", "claude-3-5-sonnet", id="dot-for-dash"),
    pytest.param("claude-4-sonnet-20250514", "claude-sonnet-4", id="number-before-name"),
    pytest.param("meta-llama/Meta-Llama-3.1-8B-Instruct", "llama-3.1", id="hugging-face"),
    pytest.param(
        "accounts/fireworks/models/llama-v3p1-8b-instruct",
        "fireworks_ai/accounts/fireworks/models/llama-v3p1-8b-instruct",
        id="fireworks",
    ),
    pytest.param("llama3.1:8b", "llama-3.1", id="ollama-tag"),
    pytest.param("ollama:llama3.1:latest", "llama-3.1", id="ollama-provider"),
    pytest.param("mistral-large-latest", "mistral-large", id="latest"),
    pytest.param("Qwen/Qwen3-32B", "qwen3", id="size"),
    pytest.param("command-r-plus-08-2024", "command-r-plus", id="month-and-year"),
    pytest.param("gemini-2.5-pro-preview-05-06", "gemini-2.5-pro", id="preview"),
]


@pytest.mark.parametrize(("spelling", "model"), SAME_ID)
def test_t8_every_spelling_of_an_id_finds_its_row(spelling, model):
    row = builtin_index().find(spelling)

    assert row is not None
    assert model in row.ids


@pytest.mark.parametrize(
    ("model", "parts"),
    [
        pytest.param(
            "openrouter/anthropic/claude-sonnet-4.5:nitro",
            ("openrouter/anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4-5", "claude-sonnet-4-5"),
            id="path",
        ),
        pytest.param(
            "groq:openai/gpt-oss-20b", ("groq/openai/gpt-oss-20b", "openai/gpt-oss-20b", "gpt-oss-20b"), id="colon"
        ),
        pytest.param("host/one:free", ("host/one-free", "one-free"), id="a-free-offer-may-have-a-smaller-window"),
        pytest.param("azure/eu/gpt-4o", ("azure/gpt-4o", "gpt-4o"), id="regions-of-a-host"),
        pytest.param("us.meta.llama3-8b-v1:0", ("bedrock/meta/llama-3-8b", "meta/llama-3-8b", "llama-3-8b"), id="dot"),
        pytest.param("oci/meta.llama-3-8b", ("oci/meta/llama-3-8b", "meta/llama-3-8b", "llama-3-8b"), id="not-bedrock"),
        pytest.param("together_ai/one", ("together/one", "one"), id="one-name-per-host"),
        pytest.param("accounts/fireworks/models/one-1p5b", ("fireworks/one-1-5b", "one-1-5b"), id="fireworks"),
        pytest.param("databricks-one", ("databricks/one", "one"), id="the-host-in-the-name"),
        pytest.param("databricks/databricks-one", ("databricks/one", "one"), id="the-host-twice"),
        pytest.param("host/openai-gpt-4o", ("host/gpt-4o", "gpt-4o"), id="the-vendor-in-the-name"),
        pytest.param("moonshot-v1-8k", ("moonshot-v1-8k",), id="version-in-the-name"),
        pytest.param("mistral:7b", ("mistral-7b",), id="a-size-belongs-to-the-name"),
    ],
)
def test_t7_spellings_go_from_the_whole_id_to_the_bare_name(model, parts):
    assert id_spellings(model) == parts


@given(st.text(min_size=1).filter(str.strip))
def test_every_text_has_spellings_and_an_encoding(text):
    assert all(id_spellings(text))
    assert encoding_for(text).safety_factor >= 1


O200K = [
    *("gpt-5", "gpt-5-mini", "gpt-5.1-codex", "gpt-5-2025-08-07", "gpt-6.1-sol", "gpt-10", "gpt-4o", "gpt-4o-mini"),
    *("gpt-4o-audio-preview", "chatgpt-4o-latest", "gpt-4.1", "gpt-4.1-nano-2025-04-14", "gpt-4.5-preview"),
    *("o1", "o3-mini", "o4-mini-2025-04-16", "o5", "gpt-oss-120b", "codex-mini-latest"),
    *(
        "openai/gpt-5",
        "azure/eu/gpt-4o",
        "openrouter/openai/o3",
        "ft:gpt-4o:acme::1",
        "openai.gpt-oss-20b-1:0",
        "GPT-4O",
    ),
]
CL100K = [
    *("gpt-4", "gpt-4-0613", "gpt-4-32k", "gpt-4-turbo", "gpt-4-turbo-2024-04-09", "gpt-4-1106-preview"),
    *("gpt-3.5-turbo", "gpt-3.5-turbo-16k", "azure/gpt-35-turbo", "openai/gpt-4", "text-embedding-3-small"),
]
NOT_PUBLISHED = [
    *("claude-sonnet-4-5", "us.anthropic.claude-opus-4-1-20250805-v1:0", "gemini-2.5-pro", "llama3.1:8b"),
    *(
        "deepseek-chat",
        "qwen3-max",
        "grok-4",
        "my-own-model",
        "gpt4all",
        "gpt-j-6b",
        "o",
        "octo-1",
    ),
]


@pytest.mark.parametrize("model", O200K)
def test_t5_newer_openai_models_count_with_o200k(model):
    choice = encoding_for(model)

    assert (choice.encoding, choice.exact, choice.safety_factor) == ("o200k_base", True, 1.0)


@pytest.mark.parametrize("model", CL100K)
def test_t5_older_openai_models_count_with_cl100k(model):
    choice = encoding_for(model)

    assert (choice.encoding, choice.exact, choice.safety_factor) == ("cl100k_base", True, 1.0)


@pytest.mark.parametrize("model", NOT_PUBLISHED)
def test_t5_other_models_count_with_a_marked_stand_in(model):
    choice = encoding_for(model)

    assert (choice.encoding, choice.exact) == ("o200k_base", False)
    assert choice.safety_factor == (1.35 if "claude" in model else 1.2)


@pytest.mark.parametrize(
    "model",
    [
        *("mistral-large-latest", "mistral-medium-2505", "mistral-small-latest", "mistral-small-24b", "mistral-nemo"),
        *("codestral-latest", "codestral-2501", "ministral-8b-latest", "magistral-medium-2509", "devstral-small"),
        *("pixtral-12b-2409", "open-mistral-nemo", "voxtral-small-2507", "mistralai:mistral-large-latest"),
        *("mistralai/Mistral-Small-3.2-24B-Instruct-2506", "mistral.mistral-large-3-675b-instruct", "mistral-large-9"),
    ],
)
def test_l27_models_of_mistral_count_with_tekken_where_it_is_installed(model, monkeypatch):
    choice = encoding_for(model)
    assert (choice.encoding, choice.exact, choice.safety_factor) == ("tekken", True, 1.0)

    monkeypatch.setattr(model_ids, "tekken_file", lambda: None)
    choice = encoding_for(model)
    assert (choice.encoding, choice.exact, choice.safety_factor) == ("o200k_base", False, 1.2)


@pytest.mark.parametrize(
    "model",
    [
        *("open-mistral-7b", "mistral", "mistral:7b", "mistral-tiny", "open-mixtral-8x7b", "open-mixtral-8x22b"),
        *("mistral-small-2402", "mistral-small-2409", "mistral-large-2402", "mistral.mistral-large-2407-v1:0"),
        *("mistral-large-2411", "pixtral-large-latest", "codestral-2405", "open-codestral-mamba", "mathstral"),
        *("llama2:13b", "meta.llama2-70b-chat-v1", "codellama:7b", "phi-3-mini-128k-instruct", "mistral-embed"),
    ],
)
def test_l27_models_with_a_small_vocabulary_are_estimated_by_a_small_one(model):
    choice = encoding_for(model)

    assert (choice.encoding, choice.exact) == ("conservative_small", False)


@pytest.mark.parametrize(
    "model", ["llama-3.2-3b", "llama-4-scout", "phi4:14b", "mistral-ocr-latest", "mistral/zai-glm-5"]
)
def test_l27_their_successors_and_neighbors_are_not(model):
    assert encoding_for(model).encoding == "o200k_base"


def test_t5_the_table_and_the_names_agree_on_the_encoding():
    listed = {model: row.tokenizer for row in builtin_rows() for model in row.ids}
    published = {"o200k_base", "cl100k_base"}
    found = {model: choice.encoding for model in listed if (choice := encoding_for(model)).exact}
    found = {model: encoding for model, encoding in found.items() if encoding != "tekken"}

    assert found == {model: tokenizer for model, tokenizer in listed.items() if tokenizer in published}
    assert {listed[model] for model in listed if encoding_for(model).safety_factor == 1.35} == {"claude"}
    assert {listed[model] for model in listed if encoding_for(model).encoding == "tekken"} == {"mistral"}


@pytest.mark.parametrize("model", [None, "", "  ", 4, 4.5, True, b"gpt-4o", ["gpt-4o"]])
def test_t10_what_is_no_name_is_an_error(model):
    with pytest.raises(ValueError, match="`model` must be the id of a model"):
        encoding_for(model)
