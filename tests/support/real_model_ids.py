"""Ids that people use, in every spelling of a provider or a host, and the figures that each must get.

The figures are those of the home providers' lists; for an id with a host that serves other ones, that host's.
"""

from __future__ import annotations

from dataclasses import dataclass

O200K, CL100K, OTHER, CLAUDE = ("o200k_base", 1.0), ("cl100k_base", 1.0), ("o200k_base", 1.2), ("o200k_base", 1.35)
TEKKEN, SMALL = ("tekken", 1.0), ("conservative_small", 1.03)


@dataclass(frozen=True)
class Expected:
    """Figures in tokens, and the encoding with its factor."""

    context_window: int
    max_input_tokens: int | None
    max_output_tokens: int | None
    encoding: tuple[str, float]


# The 40 ids of the comparison of catalogs: the newest and the most used models of three providers, bare, dated and
# as Azure, Bedrock, Vertex and OpenRouter spell them.
FORTY = {
    Expected(400_000, 272_000, 128_000, O200K): (
        "gpt-5 gpt-5-2025-08-07 gpt-5-mini gpt-5-nano-2025-08-07 gpt-5.1 gpt-5.2 azure/gpt-5 azure/eu/gpt-5-2025-08-07 "
        "openrouter/openai/gpt-5.1"
    ),
    Expected(1_050_000, 922_000, 128_000, O200K): (
        "gpt-5.4 gpt-5.6-sol gpt-6-sol gpt-6.1-sol openai/gpt-6.1-terra azure/gpt-5.6-luna "
        "openrouter/openai/gpt-6.1-sol"
    ),
    Expected(200_000, None, 64_000, CLAUDE): (
        "claude-sonnet-4-20250514 claude-sonnet-4-5 claude-haiku-4-5-20251001 claude-opus-4-5-20251101 "
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0 anthropic.claude-haiku-4-5-20251001-v1:0 "
        "vertex_ai/claude-sonnet-4-5@20250929 openrouter/anthropic/claude-sonnet-4.5"
    ),
    Expected(200_000, None, 32_000, CLAUDE): "claude-opus-4-1-20250805",
    Expected(1_000_000, None, 128_000, CLAUDE): (
        "claude-opus-4-8 claude-sonnet-5 claude-opus-5-5 global.anthropic.claude-opus-5-5 vertex_ai/claude-opus-5 "
        "openrouter/anthropic/claude-opus-5.5"
    ),
    Expected(1_048_576, None, 65_536, OTHER): (
        "gemini-3-flash-preview gemini-3.1-pro-preview gemini-3.5-flash gemini-3.8-flash models/gemini-3.1-flash-lite "
        "vertex_ai/gemini-3-flash-preview openrouter/google/gemini-3.1-pro-preview google_genai:gemini-3.6-flash"
    ),
    Expected(1_048_576, None, 65_535, OTHER): "gemini-3-pro-preview",
}

OPENAI = {
    Expected(400_000, 272_000, 128_000, O200K): (
        "openai/gpt-5 openai:gpt-5-mini azure/gpt-5-nano openrouter/openai/gpt-5 github/gpt-5 databricks-gpt-5 "
        "databricks/databricks-gpt-5-1 replicate/openai/gpt-5-mini gpt-5.1-2025-11-13 gpt-5.2-pro gpt-5.1-codex-max "
        "gpt-5.3-codex gpt-5.4-mini azure/gpt-5.4-nano azure_openai:gpt-5.1"
    ),
    Expected(400_000, 272_000, 272_000, O200K): "gpt-5-pro gpt-5-pro-2025-10-06",
    Expected(128_000, None, 16_384, O200K): (
        "gpt-5-chat-latest openrouter/openai/gpt-5.2-chat gpt-4o gpt-4o-2024-11-20 gpt-4o-2024-08-06 gpt-4o-mini "
        "gpt-4o-mini-2024-07-18 azure/gpt-4o azure/us/gpt-4o-2024-08-06 openrouter/openai/gpt-4o:nitro GPT-4o "
        "openai/gpt-4o-mini "
        "ft:gpt-4o-mini-2024-07-18:acme::abc123 openai.gpt-oss-120b-1:0 bedrock/us-west-2/openai.gpt-oss-20b-1:0"
    ),
    Expected(128_000, None, 4_096, O200K): "gpt-4o-2024-05-13",
    Expected(64_000, None, 4_096, O200K): "github_copilot/gpt-4o",
    Expected(1_050_000, 922_000, 128_000, O200K): (
        "gpt-5.4-pro gpt-5.5-2026-04-23 bedrock/openai.gpt-5.5 us.openai.gpt-6-sol azure_ai/gpt-6-luna gpt-6-astra"
    ),
    Expected(1_047_576, None, 32_768, O200K): (
        "gpt-4.1 gpt-4.1-2025-04-14 gpt-4.1-mini azure/gpt-4.1-nano openrouter/openai/gpt-4.1 github/openai/gpt-4.1"
    ),
    Expected(200_000, None, 100_000, O200K): (
        "o1 o1-2024-12-17 o3 o3-mini-2025-01-31 o4-mini azure/o4-mini openrouter/openai/o3-pro o3-deep-research"
    ),
    Expected(128_000, None, 65_536, O200K): "o1-mini",
    Expected(128_000, None, None, O200K): "o1-preview-2024-09-12 openrouter/openai/o1-preview chatgpt-4o-latest",
    Expected(8_192, None, 4_096, CL100K): "gpt-4 gpt-4-0613 azure/gpt-4 openai:gpt-4",
    Expected(128_000, None, 4_096, CL100K): "gpt-4-turbo gpt-4-turbo-2024-04-09 gpt-4-1106-preview",
    Expected(16_385, None, 4_096, CL100K): "gpt-3.5-turbo azure/gpt-35-turbo openai/gpt-3.5-turbo-16k",
    Expected(131_072, None, None, O200K): "gpt-oss-120b gpt-oss:20b gpt-oss:120b-cloud openai/gpt-oss-20b",
    Expected(131_072, None, 65_536, O200K): "groq/openai/gpt-oss-120b",
    Expected(131_072, None, 32_768, O200K): "accounts/fireworks/models/gpt-oss-120b cerebras/gpt-oss-120b",
}

ANTHROPIC = {
    Expected(200_000, None, 64_000, CLAUDE): (
        "anthropic/claude-sonnet-4-5 anthropic:claude-sonnet-4-5 anthropic.claude-sonnet-4-5-20250929-v1:0 "
        "bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0 claude-sonnet-4-5@20250929 databricks-claude-sonnet-4-5 "
        "bedrock_converse:jp.anthropic.claude-sonnet-4-5-20250929-v1:0 publishers/anthropic/models/claude-sonnet-4-5 "
        "apac.anthropic.claude-sonnet-4-20250514-v1:0 claude-4-sonnet-20250514 vertex_ai/claude-opus-4-5@20251101 "
        "arn:aws:bedrock:us-east-1:42:inference-profile/us.anthropic.claude-haiku-4-5-20251001-v1:0"
    ),
    Expected(200_000, None, 32_000, CLAUDE): "claude-opus-4-20250514 us.anthropic.claude-opus-4-1-20250805-v1:0",
    Expected(1_000_000, None, 128_000, CLAUDE): (
        "claude-opus-4-6 anthropic.claude-opus-4-6-v1 claude-sonnet-4-6 claude-haiku-5-5 claude-fable-5-1 "
        "us.anthropic.claude-sonnet-5 azure_ai/claude-opus-5 claude-opus claude-sonnet"
    ),
    Expected(200_000, None, 8_192, CLAUDE): (
        "claude-3-5-sonnet-20241022 claude-3-5-sonnet-latest anthropic.claude-3-5-sonnet-20241022-v2:0 "
        "claude-3-7-sonnet-20250219 anthropic/claude-3.5-sonnet"
    ),
    Expected(200_000, None, 4_096, CLAUDE): "claude-3-haiku-20240307 claude-3-opus@20240229",
}

GOOGLE_AND_XAI = {
    Expected(1_048_576, None, 65_536, OTHER): (
        "gemini-2.5-pro gemini/gemini-2.5-pro models/gemini-2.5-flash google_genai:gemini-2.5-flash-lite "
        "vertex_ai/gemini-2.5-pro openrouter/google/gemini-2.5-flash gemini-2.5-pro-preview-05-06 gemini-pro "
        "projects/p/locations/global/publishers/google/models/gemini-2.5-pro google_vertexai:gemini-2.5-pro "
        "gemini-flash"
    ),
    Expected(1_048_576, None, 32_768, OTHER): "gemini-4-argon",
    Expected(1_000_000, None, None, OTHER): "gemini-2.0-flash-001 models/gemini-1.5-pro",
    Expected(131_072, None, 4_096, OTHER): "gemma3:27b google/gemma-3-27b-it",
    Expected(8_192, None, 8_192, OTHER): "gemma2-9b-it",
    Expected(256_000, None, None, OTHER): "grok-4 xai/grok-4 xai:grok-4-0709 grok-code-fast-1",
    Expected(2_000_000, None, None, OTHER): "grok-4-fast-reasoning",
    Expected(500_000, None, None, OTHER): "grok-4.5 openrouter/x-ai/grok-4.5",
    Expected(1_000_000, None, 30_000, OTHER): "grok-4.20-0309-reasoning",
    Expected(131_072, None, None, OTHER): "xai/grok-3 grok-3-mini",
}

OPEN_WEIGHTS = {
    Expected(128_000, None, None, OTHER): (
        "llama3.1:8b ollama/llama3.1 ollama:llama3.3:70b llama3.2:3b meta-llama/Llama-3.3-70B-Instruct "
        "llama-3.1-8b-instant deepseek-v3.2 deepseek-ai/DeepSeek-V3.1"
    ),
    Expected(128_000, None, None, TEKKEN): (
        "mistral-small-2506 ministral-8b-latest magistral-medium-2509 open-mistral-nemo"
    ),
    Expected(128_000, None, None, SMALL): "mistral-large-2411 pixtral-large-latest",
    Expected(8_192, None, None, OTHER): "meta-llama/Meta-Llama-3-8B-Instruct llama3:8b",
    Expected(131_072, None, 32_768, OTHER): "groq/llama-3.3-70b-versatile",
    Expected(131_072, None, None, OTHER): (
        "together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo accounts/fireworks/models/llama-v3p3-70b-instruct"
    ),
    Expected(128_000, None, 4_096, OTHER): (
        "meta.llama3-1-70b-instruct-v1:0 us.meta.llama3-3-70b-instruct-v1:0 command-r-plus-08-2024 command-r7b-12-2024 "
        "perplexity/sonar"
    ),
    Expected(131_072, None, 8_192, OTHER): (
        "meta-llama/llama-4-scout-17b-16e-instruct groq/meta-llama/llama-4-scout-17b-16e-instruct"
    ),
    Expected(262_144, None, None, TEKKEN): (
        "mistral-large-latest mistral/mistral-large-latest mistralai:mistral-medium-latest mistral-small-latest"
    ),
    Expected(256_000, None, 4_096, TEKKEN): "codestral-latest",
    Expected(256_000, None, 4_096, OTHER): "jamba-1.5-large",
    Expected(32_000, None, 8_191, SMALL): "mistral.mistral-large-2407-v1:0",
    Expected(64_000, None, 8_192, OTHER): "deepseek-chat deepseek/deepseek-chat deepseek:deepseek-reasoner",
    Expected(1_000_000, None, 384_000, OTHER): "deepseek-v4-pro deepseek-v4-flash",
    Expected(128_000, None, 8_192, OTHER): "us.deepseek.r1-v1:0 accounts/fireworks/models/deepseek-v3p1",
    Expected(32_768, None, None, OTHER): "qwen3:32b Qwen/Qwen3-32B qwen2.5:7b Qwen/Qwen2.5-Coder-32B-Instruct",
    Expected(262_144, 258_048, 65_536, OTHER): "qwen3-max dashscope/qwen3-max",
    Expected(1_000_000, 997_952, 32_768, OTHER): "qwen-plus-2025-09-11",
    Expected(262_144, None, 65_536, OTHER): "Qwen/Qwen3-Next-80B-A3B-Instruct",
    Expected(300_000, None, 10_000, OTHER): "amazon.nova-pro-v1:0 us.amazon.nova-lite-v1:0",
    Expected(128_000, None, 10_000, OTHER): "bedrock/us-east-1/amazon.nova-micro-v1:0",
    Expected(256_000, None, 8_000, OTHER): "command-a-03-2025 cohere/command-a-03-2025",
    Expected(262_144, None, 16_000, OTHER): "moonshot/kimi-k2-thinking moonshotai/Kimi-K2-Instruct-0905 kimi-k2.5",
    Expected(1_048_576, None, 128_000, OTHER): "kimi-k3",
    Expected(200_000, None, 128_000, OTHER): "glm-4.6 zai/glm-4.7",
    Expected(1_048_576, None, 131_072, OTHER): "openrouter/z-ai/glm-5.2",
    Expected(32_768, None, 29_491, OTHER): "openrouter/z-ai/glm-5.2:free",
    Expected(196_608, None, None, OTHER): "MiniMax-M2 minimax/MiniMax-M2.1",
    Expected(16_384, None, None, OTHER): "phi4:14b",
    Expected(127_072, None, 4_096, OTHER): "openrouter/perplexity/sonar",
}

NOT_CHAT = {
    "embedding": "text-embedding-3-small openai/text-embedding-3-large gemini-embedding-001 embed-english-v3.0",
    "rerank": "rerank-v3.5 cohere/rerank-english-v3.0",
    "audio": "groq/whisper-large-v3 gpt-4o-transcribe",
    "moderation": "groq/meta-llama/llama-prompt-guard-2-86m",
    "image": "gemini-2.5-flash-image",
    "realtime": "gpt-realtime",
}
"""Ids of other kinds of models, by kind."""

MADE_UP = (
    *("gpt-7-nonexistent-x", "gpt-7", "gpt-5-foo", "gpt-4o-7", "gpt-4o-mini-9000-x", "gpt", "o9-mini-x", "gpt4all"),
    *("my-finetune", "my-gpt-4o-copy", "acme/my-model", "default", "auto", "model", "large", "chat", "instruct"),
    *("claude", "claude-sonnet-9", "claude-opus-4-9", "claude-5", "anthropic.claude-v9:9", "claude-sonnet-4-5-x"),
    *("gemini", "gemini-9-pro", "gemini-2.5-ultra", "gemini-2.5", "gemma", "grok", "grok-9", "command", "nova"),
    *("llama", "llama-9", "llama-3.1-foo", "qwen", "qwen9", "mistral", "mistral-huge", "mixtral", "deepseek"),
    *("deepseek-v9", "kimi", "kimi-k9", "glm", "glm-9", "minimax", "phi", "sentence-transformers/all-mpnet-base-v2"),
)
"""Ids of no model, and names of families."""


def expected_figures() -> list[tuple[str, Expected]]:
    """Return every id with what it must get."""
    tables = (FORTY, OPENAI, ANTHROPIC, GOOGLE_AND_XAI, OPEN_WEIGHTS)
    return [(model, figures) for table in tables for figures, models in table.items() for model in models.split()]
