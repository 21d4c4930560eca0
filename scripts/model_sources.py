"""Read what published packages say about models: their data only, nothing of them is imported or run.

pip fetches each package as a wheel, by the user's own configuration; the tables are parsed out of the wheels.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LANGCHAIN = {
    "langchain-openai": "openai/",
    "langchain-anthropic": "anthropic/",
    "langchain-google-genai": "google/",
    "langchain-mistralai": "mistral/",
    "langchain-deepseek": "deepseek/",
    "langchain-xai": "xai/",
    "langchain-groq": "groq/",
    "langchain-aws": "bedrock/",
    "langchain-fireworks": "",
    "langchain-openrouter": "openrouter/",
    "langchain-perplexity": "perplexity/",
    "langchain-huggingface": "huggingface/",
}
LLAMA_INDEX = {
    "llama-index-llms-openai": "openai/",
    "llama-index-llms-anthropic": "anthropic/",
    "llama-index-llms-cohere": "cohere/",
    "llama-index-llms-mistralai": "mistral/",
    "llama-index-llms-bedrock-converse": "bedrock/",
    "llama-index-llms-fireworks": "",
}
PACKAGES = ("genai-prices", "litellm", *LANGCHAIN, *LLAMA_INDEX)

# Hosts whose names in genai-prices differ from those in the ids of models.
_GENAI_HOSTS = {"aws": "bedrock", "x-ai": "xai", "zhipuai": "zai", "moonshotai": "moonshot", "voyageai": "voyage"}
_MODES = {"chat": "chat", "responses": "chat", "image_generation": "image", "image_edit": "image"}
_MODES |= {"audio_transcription": "audio", "audio_speech": "audio", "video_generation": "video"}
# Tables of LlamaIndex that list the windows of another host than the package is for.
_FOREIGN_TABLES = {"AZURE_TURBO_MODELS": "azure/", "VERTEX_CLAUDE_MODELS": "vertex/"}
_FOREIGN_TABLES |= {"BEDROCK_INFERENCE_PROFILE_CLAUDE_MODELS": "bedrock/"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """The entry of one source for one id.

    Attributes:
        model: The id, with its host before it.
        source: The name of the source.
        limit: Tokens of input, or of input and answer together: the sources do not say which.
        answer: Tokens of the longest answer.
        kind: `chat` or another kind; None if the source does not say.
    """

    model: str
    source: str
    limit: int
    answer: int | None = None
    kind: str | None = None


def download(folder: Path) -> None:
    """Fetch the wheels of all packages into `folder`."""
    command = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest")
    subprocess.run([*command, str(folder), *PACKAGES], check=True)


def wheels(folder: Path) -> dict[str, Path]:
    """Return the wheel of each package."""
    found = {path.name.split("-")[0].replace("_", "-"): path for path in sorted(folder.glob("*.whl"))}
    missing = [package for package in PACKAGES if package not in found]
    if missing:
        message = f"{folder} has no wheel of {', '.join(missing)}"
        raise SystemExit(message)
    return {package: found[package] for package in PACKAGES}


def versions(found: dict[str, Path]) -> dict[str, str]:
    return {package: path.name.split("-")[1] for package, path in found.items()}


def listings(found: dict[str, Path]) -> Iterator[Listing]:
    """Yield the entries of all sources that have a limit."""
    yield from _litellm(found["litellm"])
    yield from _genai_prices(_text(found["genai-prices"], "genai_prices/data.py"))
    for package, host in LANGCHAIN.items():
        yield from langchain_listings(_text(found[package], "data/_profiles.py"), host)
    for package, host in LLAMA_INDEX.items():
        yield from _llama_index(_text(found[package], "utils.py"), host)


def _text(wheel: Path, ending: str) -> str:
    with zipfile.ZipFile(wheel) as archive:
        name = min((name for name in archive.namelist() if name.endswith(ending)), key=len)
        return archive.read(name).decode()


def other_kinds(found: dict[str, Path]) -> dict[str, str]:
    """Return the kind of each id that is no chat model in LiteLLM, with or without limits."""
    table = _litellm_table(found["litellm"])
    return {model: kind for model, entry in table for kind in [_kind(entry)] if kind != "chat"}


def _litellm_table(wheel: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    content = json.loads(_text(wheel, "model_prices_and_context_window_backup.json"))
    for model, entry in content.items():
        provider = str(entry.get("litellm_provider", ""))
        if model == "sample_spec" or "*" in model or re.match(r"(?:together|fireworks)-ai-", model):
            continue
        # Ids without a path are the providers' own, those of Amazon among them.
        bare = provider.startswith(("bedrock", "vertex_ai-language", "text-completion-openai", "vertex_ai-text"))
        yield model if bare or "/" in model else f"{provider}/{model}", entry


def _kind(entry: dict[str, Any]) -> str:
    mode = entry.get("mode") or "chat"  # aliases of LiteLLM's own have none
    return _MODES.get(mode, mode)


def _litellm(wheel: Path) -> Iterator[Listing]:
    for model, entry in _litellm_table(wheel):
        limit, answer = entry.get("max_input_tokens"), entry.get("max_output_tokens")
        yield from _known(model=model, source="litellm", limit=limit, answer=answer, kind=_kind(entry))


def _genai_prices(text: str) -> Iterator[Listing]:
    for provider in _calls(ast.parse(text), "Provider"):
        fields = _fields(provider)
        name = ast.literal_eval(fields["id"])
        host = "huggingface" if name.startswith("huggingface_") else _GENAI_HOSTS.get(name, name)
        for model in _calls(fields["models"], "ModelInfo"):
            known = _fields(model)
            limit = ast.literal_eval(known.get("context_window", ast.Constant(None)))
            yield from _known(model=f"{host}/{ast.literal_eval(known['id'])}", source="genai-prices", limit=limit)


def langchain_listings(text: str, host: str) -> Iterator[Listing]:
    """Yield the entries of the profiles of a LangChain package."""
    profiles = next(_assigned(ast.parse(text), lambda name: name == "_PROFILES"))[1]
    for model, profile in profiles.items():
        yield from _known(
            model=host + model,
            source="langchain",
            limit=profile.get("max_input_tokens"),
            answer=profile.get("max_output_tokens"),
            kind=None if profile.get("text_outputs", True) else "other",
        )


def _llama_index(text: str, host: str) -> Iterator[Listing]:
    for name, table in _assigned(ast.parse(text), lambda name: name.endswith("_MODELS")):
        for model, limit in table.items() if isinstance(table, dict) else ():
            where = _FOREIGN_TABLES.get(name, host)
            yield from _known(model=where + model, source="llama-index", limit=limit)


def _known(*, model: str, source: str, limit: object, answer: object = None, kind: str | None = None) -> list[Listing]:
    if not isinstance(limit, int) or limit <= 0:
        return []
    longest = answer if isinstance(answer, int) and answer > 0 else None
    return [Listing(model=model, source=source, limit=limit, answer=longest, kind=kind)]


def _calls(tree: ast.AST, name: str) -> Iterable[ast.Call]:
    found = (node for node in ast.walk(tree) if isinstance(node, ast.Call))
    return [call for call in found if isinstance(call.func, ast.Name) and call.func.id == name]


def _fields(call: ast.Call) -> dict[str, ast.expr]:
    return {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}


def _assigned(tree: ast.Module, wanted: Callable[[str], bool]) -> Iterator[tuple[str, Any]]:
    """Yield the literals that a module assigns to names that are wanted, and those names."""
    for node in tree.body:
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        if isinstance(target, ast.Name) and wanted(target.id):
            try:
                yield target.id, ast.literal_eval(node.value)
            except ValueError:
                continue  # a union of other tables, which are read themselves
