"""The way to a model in its id: the host and the vendor before the name, in one spelling."""

from __future__ import annotations

import re

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

# What a host writes before the names of its models, and the host.
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


def path_and_name(text: str) -> tuple[list[str], str]:
    """Return the parts of the path before the name of a model, and the name, for an id in lower case."""
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
    """Drop what follows a colon, unless it is a size, which is part of the name elsewhere, or a free offer."""
    base, tag, *_ = [*re.split(r"(?<=.)[:@]", name, maxsplit=1), ""]
    return f"{base}-{tag}" if _SIZE_TAG.match(tag) or tag == "free" else base
