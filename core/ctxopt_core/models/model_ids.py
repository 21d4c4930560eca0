"""Model ids: normal spellings of an id, and the encoding that it implies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from ctxopt_core.models.tekken_file import TEKKEN, tekken_file

# Tokens of a model's own tokenizer for one token of `o200k_base` in prose, by which counts are multiplied. Both are
# assumptions on the safe side, since the tokenizers are not published. With a larger factor less of the window is used,
# with a smaller one a request may be refused. Claude's is larger because its newer tokenizers need more tokens for a
# string. For digits, tables, code and other scripts, counters take a conservative vocabulary where that needs more.
_DEFAULT_SAFETY_FACTOR = 1.2
_CLAUDE_SAFETY_FACTOR = 1.35  # see above
# The same for a vocabulary that is conservative already: a margin for texts that it was not fitted to. Of 18,449 such
# texts 40 were counted below a published vocabulary without it, and 2 with it, by one or two tokens.
CONSERVATIVE_FACTOR = 1.03
# Ids that a process asks for again and again, with the ids of a user's catalog.
_CACHED_IDS = 8192

_O200K = re.compile(
    r"(?:chat)?gpt-(?:4o|4-\d{1,2}(?:-|$)|[5-9]|[1-9]\d|oss|audio|chat|realtime)|o\d+(?:-|$)|codex-mini"
)
# Some hosts put the vendor before the name, for models with the same limits as at their provider.
_VENDOR_PREFIX = re.compile(r"^(?:anthropic|openai)-(?=claude|gemini|gpt-(?!oss)|o\d)")
# Vocabularies of 32,000 tokens: Mistral's models before Tekken, Llama 2, and what was made of them. Where
# mistral-common and its documentation differ, or the vocabulary is one of two, a model is taken for one of these.
_SMALL = re.compile(
    r"mistral(?:$|-(?:tiny|7b|embed|(?:small|medium)-2[34]\d\d|large-(?:instruct-)?2(?:4\d\d|-|$)))|mixtral|mathstral"
    r"|codestral-(?:2405|22b|mamba)|mamba-codestral|pixtral-large"
    r"|code-?llama|(?<![a-z])llama-2(?!\d)|tinyllama|vicuna|zephyr|phi-3"
)
# Of the others of Mistral, those that write text.
_TEKKEN = re.compile(
    r"(?:labs-)?(?:open-)?"
    r"(?:mistral-(?!moderation|ocr)|ministral-|codestral(?!-embed)|magistral-|devstral|pixtral-|voxtral-)"
)
_CL100K = re.compile(r"gpt-4(?!-\d{1,2}(?:-|$))(?:-|$)|gpt-3-5|text-embedding-(?:3|ada)")
_PROVIDER_COLON = re.compile(
    r"(?:anthropic|anthropic_bedrock|azure|azure_ai|azure_openai|bedrock|bedrock_converse|cerebras|cohere|"
    r"deepseek(?=:deepseek)|fireworks|ft|github|google|google_genai|google_vertexai|google-gla|google-vertex|groq|"
    r"huggingface|ibm|litellm|mistralai|moonshotai|nvidia|ollama|openai|openrouter|perplexity|together|upstage|"
    r"vertex|vertexai|vertex_ai|xai):(?=.)"
)
_REGION = re.compile(r"(?:us-gov|us|eu|apac|ap|au|ca|jp|in|sa|me|af|global)\.(?=[a-z0-9-]+\.)")
_VENDOR = re.compile(
    r"(ai21|amazon|anthropic|cohere|deepseek|google|meta|minimax|mistral|moonshot|moonshotai|nvidia|openai|"
    r"qwen|stability|twelvelabs|writer|xai|zai)\."
)
_REVISION = re.compile(r"-v?\d+:\d+$")
_VENDOR_REVISION = re.compile(r"-v\d+$")
_SIZE_TAG = re.compile(r"(?:e?\d+(?:\.\d+)?|\d+x\d+)[bm](?![a-z0-9])")
# The path that a host puts before the names of its models, and the name of the host.
_HOST_PATHS = (
    (re.compile(r"^(?:fireworks(?:[-_]ai)?[/:])?accounts/[^/]+/(?:models|routers|deployments)/"), "fireworks/"),
    (re.compile(r"^(?:.*/)?publishers/([^/]+)/models/"), r"vertex/\1/"),
    (re.compile(r"^(?:cloudflare/)?@[ch]f/"), "cloudflare/"),
    (re.compile(r"^models/"), ""),
)
_HOSTS = {
    **dict.fromkeys(("azure_ai", "azure_openai", "azureml", "azure-ai"), "azure"),
    **dict.fromkeys(("amazon_bedrock", "amazon-bedrock", "anthropic_bedrock", "aws", "bedrock_converse"), "bedrock"),
    "bedrock_mantle": "bedrock",
    "cohere_chat": "cohere",
    **dict.fromkeys(("fireworks_ai", "fireworks-ai"), "fireworks"),
    "github-copilot": "github_copilot",
    **dict.fromkeys(("gemini", "google_genai", "google-genai", "google-gla"), "google"),
    "mistralai": "mistral",
    "moonshotai": "moonshot",
    **dict.fromkeys(("together_ai", "together-ai", "togetherai"), "together"),
    "vercel_ai_gateway": "vercel",
    **dict.fromkeys(("google_vertexai", "google-vertex", "vertex_ai", "vertex-ai", "vertexai"), "vertex"),
    "x-ai": "xai",
    **dict.fromkeys(("z-ai", "zai-org"), "zai"),
}
_DATABRICKS = "databricks-"
_REGIONAL_HOSTS = frozenset({"azure", "bedrock"})
_REGION_PART = re.compile(
    r"us|eu|global|global-standard|converse|invoke|[a-z]{2}(?:-gov|-iso[a-z]?)?-[a-z]+-\d|\d-month-commitment"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodingChoice:
    """The tiktoken encoding to count a model's tokens with.

    Attributes:
        encoding: The name of the encoding.
        exact: Whether it is the model's own. False for an approximation, if the model's own is not published.
        safety_factor: By what a count of prose must be multiplied so that it is not too low; 1 if exact.
    """

    encoding: str
    exact: bool
    safety_factor: float


def checked_model_name(model: object, *, name: str = "model") -> str:
    """Return the id without the blanks around it; `name` is its name in error messages.

    Raises:
        ValueError: `model` is no string, or is blank.
    """
    if not isinstance(model, str) or not model.strip():
        message = f"`{name}` must be the id of a model, for example 'gpt-4o', got {model!r}"
        raise ValueError(message)
    return model.strip()


def encoding_for(model: str) -> EncodingChoice:
    """Return the encoding that counts the tokens of `model`.

    OpenAI's models have a published encoding, and so have Mistral's, which is there if mistral-common is installed;
    unknown newer ids of theirs get the newest. All other models get `o200k_base`, or a conservative encoding if their
    vocabulary is small, marked as not exact.

    Args:
        model: A model id in any spelling: with provider, region, version or date.

    Raises:
        ValueError: `model` is no string, or is blank.
    """
    name = id_spellings(checked_model_name(model))[-1]
    if _O200K.match(name):
        return _published("o200k_base")
    if _CL100K.match(name):
        return _published("cl100k_base")
    if "claude" in name:
        return _estimated("o200k_base", _CLAUDE_SAFETY_FACTOR)
    if _SMALL.search(name):
        return _estimated("conservative_small", CONSERVATIVE_FACTOR)
    if _TEKKEN.match(name) and tekken_file() is not None:
        return _published(TEKKEN)
    return _estimated("o200k_base", _DEFAULT_SAFETY_FACTOR)


def _published(encoding: str) -> EncodingChoice:
    return EncodingChoice(encoding=encoding, exact=True, safety_factor=1.0)


def _estimated(encoding: str, factor: float) -> EncodingChoice:
    return EncodingChoice(encoding=encoding, exact=False, safety_factor=factor)


@lru_cache(maxsize=_CACHED_IDS)
def id_spellings(model: str) -> tuple[str, ...]:
    """Return the normal spellings of an id, the whole one first, the bare name last.

    `openrouter/anthropic/claude-sonnet-4.5:free` gives `openrouter/anthropic/claude-sonnet-4-5`,
    `anthropic/claude-sonnet-4-5` and `claude-sonnet-4-5`. A date is kept: a dated model may have other limits.
    """
    path, name = _path_and_name(model.strip().lower())
    parts = [*path, _unified(name)]
    return tuple("/".join(parts[start:]) for start in range(len(parts)))


def _unified(name: str) -> str:
    name = re.sub(r"[_\s]+", "-", name)
    name = re.sub(r"(?<=\d)\.(?=\d)", "-", name)
    name = re.sub(r"(?<=\d)p(?=\d)", "-", name)
    name = re.sub(r"\b([a-z]{3,})(?=\d)", r"\1-", name)
    name = re.sub(r"^llama-v(?=\d)", "llama-", name)
    name = _VENDOR_PREFIX.sub("", name)
    name = re.sub(r"^gpt-35(?=-|$)", "gpt-3-5", name)
    name = re.sub(r"^meta-(?=llama)", "", name)
    name = re.sub(r"^claude-(\d(?:-\d)?)-([a-z]+)", r"claude-\2-\1", name)
    return name.removesuffix("-latest")


def _path_and_name(text: str) -> tuple[list[str], str]:
    """Return the parts of the path of an id in lower case, such as the host, and the name after it."""
    if text.startswith("arn:"):
        text = text.rpartition("/")[2]
    for pattern, host in _HOST_PATHS:
        text = pattern.sub(host, text, count=1)
    *scope, name = [part for part in text.split("/") if part] or [text]
    if scope and ":" in scope[0]:
        scope[:1] = [part for part in scope[0].split(":") if part]
    provider = _PROVIDER_COLON.match(name)
    if provider:
        scope.append(provider.group().rstrip(":"))
        name = name[provider.end() :]
    name, had_revision = _REVISION.subn("", name)
    vendor, name = _vendor_and_name(_REGION.sub("", name, count=1))
    if vendor and not had_revision:
        name = _VENDOR_REVISION.sub("", name)
    if name.startswith(_DATABRICKS):
        scope, name = scope or ["databricks"], name.removeprefix(_DATABRICKS)
    return _scope(scope, vendor), _without_tag(re.sub(r"@(?=\d)", "-", name))


def _scope(parts: list[str], vendor: list[str]) -> list[str]:
    hosts = [_HOSTS.get(part, part) for part in parts]
    if vendor and not hosts:
        # Only Amazon writes the vendor and a dot before a name and nothing before both.
        hosts = ["bedrock"]
    if hosts and hosts[0] in _REGIONAL_HOSTS:
        hosts[1:] = [part for part in hosts[1:] if not _REGION_PART.fullmatch(part)]
    return hosts + [_HOSTS.get(part, part) for part in vendor]


def _vendor_and_name(name: str) -> tuple[list[str], str]:
    found = _VENDOR.match(name)
    if not found:
        return [], name
    vendor, rest = found.group(1), name[found.end() :]
    # Bedrock leaves the family out where it is the vendor's own name: deepseek.r1, deepseek.v3.
    return [vendor], f"{vendor}-{rest}" if re.match(r"[rv]\d", rest) else rest


def _without_tag(name: str) -> str:
    """Remove the tag after a colon, unless it is a size, which other hosts have in the name, or `free`."""
    base, tag, *_ = [*re.split(r"(?<=.)[:@]", name, maxsplit=1), ""]
    return f"{base}-{tag}" if _SIZE_TAG.match(tag) or tag == "free" else base
