"""The kind of a model by its name, the family of its tokenizer, and its home provider."""

from __future__ import annotations

import re

from ctxopt_core.models.model_ids import encoding_for
from ctxopt_core.models.tekken_file import TEKKEN

_KINDS = {
    "rerank": r"rerank",
    "embedding": r"embed|(?:^|-)(?:bge|gte|e5|minilm|nomic|uae)-|voyage-",
    "moderation": r"(?<!safe)guard|moderation|shieldgemma|shieldstral|content-safety",
    "ocr": r"ocr(?:-|$)",
    "video": r"(?:^|-)(?:veo|sora|video|kling|wan)(?:-|$)",
    "image": r"(?:^|-)(?:image|imagine|images|flux|imagen|canvas|seedream|recraft|ssd|playground-v)(?:-|$)"
    r"|stable-diffusion|sdxl|dall-e|nano-banana",
    "audio": r"(?:^|-)(?:tts|asr|sonic|live|speech|orpheus|parakeet)(?:-|$)|whisper|transcri|native-audio|text-to-",
    "time series": r"-ttm-",
    "completion": r"gpt-3-5-turbo-instruct|davinci|babbage",
}
_FAMILIES = {
    "claude": r"claude",
    "gemini": r"gemini",
    "gemma": r"gemma",
    "llama": r"llama|hermes",
    "mistral": r"mistral|ministral|magistral|codestral|devstral|pixtral|mixtral|voxtral",
    "qwen": r"qwen|qwq|qvq",
    "deepseek": r"deepseek",
    "command": r"^command|^c4ai|^aya|^embed-|^rerank-|^cohere",
    "grok": r"^grok",
    "nova": r"^nova",
    "kimi": r"kimi|moonshot",
    "glm": r"^glm|-glm",
    "minimax": r"minimax",
    "phi": r"^phi-",
    "jamba": r"jamba",
}

# The providers that list their own models, and how the names of these begin.
_HOMES = {
    "openai": r"(?:chat)?gpt-|o\d|codex|computer-use|davinci|babbage|text-",
    "anthropic": r"claude",
    "google": r"gemini|gemma|learnlm|medlm|deep-research|text-",
    "mistral": r"mi(?:ni|x)?stral|mistral|ministral|magistral|codestral|devstral|pixtral|mixtral|open-mi|voxtral|labs-",
    "xai": r"grok",
    "deepseek": r"deepseek",
    "cohere": r"command|c4ai|embed|rerank|aya",
    "perplexity": r"sonar|r1-1776",
    "moonshot": r"kimi|moonshot",
    "zai": r"glm",
    "minimax": r"minimax",
    "dashscope": r"qwen|qwq|qvq",
    "ai21": r"jamba",
    "amazon-nova": r"nova",
    "amazon_nova": r"nova",
    "bedrock/amazon": r"nova|titan",
    "bedrock/writer": r"palmyra",
    "meta": r"muse",
    "voyage": r"voyage",
    "jina_ai": r"jina",
    "inception": r"mercury",
    "xiaomi_mimo": r"mimo",
    "gigachat": r"gigachat",
    "morph": r"morph",
}
_CLOSED = re.compile(r"(?:chat)?gpt-(?!oss)|o\d(?:-|$)|claude|gemini|grok-[3-9]|nova-|sonar|muse")

# Names of families, which are no models.
_GENERIC = frozenset({"claude", "gemini", "gemma", "gpt", "llama", "qwen", "deepseek", "command", "grok", "nova"})
_GENERIC |= {"mistral", "mixtral", "kimi", "glm", "minimax", "phi", "jamba"}


def kind_of(name: str) -> str | None:
    """Return the kind of a model by its bare name, or None if the name does not say."""
    return next((kind for kind, pattern in _KINDS.items() if re.search(pattern, name)), None)


def tokenizer_of(name: str) -> str:
    """Return the published encoding of a model, or the name of its family."""
    choice = encoding_for(name)
    if choice.exact and choice.encoding != TEKKEN:
        return choice.encoding
    return next((family for family, pattern in _FAMILIES.items() if re.search(pattern, name)), "other")


def home_name(model: str) -> str | None:
    """Return the bare name of a model that its home provider lists; None for one on another host."""
    host, _, name = model.rpartition("/")
    if not host:
        return name
    return name if host in _HOMES and re.match(_HOMES[host], name) else None


def is_closed(name: str) -> bool:
    """Return whether only the home provider has the weights, so that its limits are the highest on any host."""
    return _CLOSED.match(name) is not None


def is_generic(name: str) -> bool:
    """Return whether a name is that of a family and of no model."""
    return name in _GENERIC


def is_a_model(name: str) -> bool:
    """Return whether a bare name identifies a model without its host."""
    return not is_generic(name) and any(character.isdigit() for character in name)
