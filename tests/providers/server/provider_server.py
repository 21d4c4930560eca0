"""One server on 127.0.0.1 for all providers: applies the published rules, answers by a script, keeps the requests."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import provider_answers as answers
import request_lengths as lengths
import rules_anthropic
import rules_google
import rules_mistral
import rules_ollama
import rules_openai_chat
import rules_openai_responses
from broken_rule import Broken, Request
from provider_answers import Answer, Json
from responses_answers import openai_responses_stream, openai_responses_whole

NO_LIMIT = 100_000_000  # tokens; a window that nothing overflows


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """How one provider judges a request, answers it, and refuses it."""

    rules: Callable[[Request, Request | None], list[Broken]]
    tokens: Callable[[Request], int]
    refusal: Callable[[Request, int], Broken | None]
    whole: answers.Whole
    stream: answers.Stream
    error: Callable[[Broken], Json]
    stream_type: str = "text/event-stream"


PROVIDERS = {
    "openai_chat": Provider(
        rules=rules_openai_chat.broken_rules,
        tokens=lengths.openai_chat_tokens,
        refusal=lengths.openai_chat_refusal,
        whole=answers.openai_chat_whole,
        stream=answers.openai_chat_stream,
        error=answers.openai_error,
    ),
    "openai_responses": Provider(
        rules=rules_openai_responses.broken_rules,
        tokens=lengths.openai_responses_tokens,
        refusal=lengths.openai_responses_refusal,
        whole=openai_responses_whole,
        stream=openai_responses_stream,
        error=answers.openai_error,
    ),
    "anthropic": Provider(
        rules=rules_anthropic.broken_rules,
        tokens=lengths.anthropic_tokens,
        refusal=lengths.anthropic_refusal,
        whole=answers.anthropic_whole,
        stream=answers.anthropic_stream,
        error=answers.anthropic_error,
    ),
    "google": Provider(
        rules=rules_google.broken_rules,
        tokens=lengths.google_tokens,
        refusal=lengths.google_refusal,
        whole=answers.google_whole,
        stream=answers.google_stream,
        error=answers.google_error,
    ),
    "mistral": Provider(
        rules=rules_mistral.broken_rules,
        tokens=lengths.mistral_tokens,
        refusal=lengths.mistral_refusal,
        whole=answers.mistral_whole,
        stream=answers.mistral_stream,
        error=answers.mistral_error,
    ),
    "ollama": Provider(
        rules=rules_ollama.broken_rules,
        tokens=lengths.ollama_tokens,
        refusal=lengths.ollama_cut,
        whole=answers.ollama_whole,
        stream=answers.ollama_stream,
        error=answers.ollama_error,
        stream_type="application/x-ndjson",
    ),
}


@dataclass(slots=True, kw_only=True)
class Endpoint:
    """Where one client sends its requests.

    Args:
        provider: Whose rules apply.
        url: The address without a version.
        window: The model's window in tokens.
        issued: The body of the uncut conversation, which holds what the provider has issued.
        script: What is answered next; when it is used up, `Done.`
        oblige: Makes the answers of the requests instead.
        requests: The bodies that came in.
        broken: The rules that they broke, those of length included.
    """

    provider: Provider
    url: str
    window: int = NO_LIMIT
    issued: Request | None = None
    script: list[Answer] = field(default_factory=list)
    oblige: Callable[[Request], Answer] | None = None
    requests: list[Request] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)

    def start(self, *, window: int = NO_LIMIT, issued: Request | None = None, script: tuple[Answer, ...] = ()) -> None:
        """Forget what came in, for another conversation."""
        self.window, self.issued, self.script = window, issued, list(script)
        self.requests, self.broken = [], []

    def judge(self, request: Request) -> list[Broken]:
        """Return what a request breaks; one that is refused for its length is not looked at any further."""
        too_long = self.provider.refusal(request, self.window)
        return [too_long] if too_long and too_long.status != 200 else self._rules(request, too_long)

    def _rules(self, request: Request, cut: Broken | None) -> list[Broken]:
        return self.provider.rules(request, self.issued) + ([cut] if cut else [])

    def next_answer(self, request: Request) -> Answer:
        """Return what the model says now."""
        scripted = self.script.pop(0) if self.script else Answer()
        given = self.oblige(request) if self.oblige else scripted
        return replace(given, prompt_tokens=self.provider.tokens(request))


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        endpoint = self.server.endpoints[int(self.path.split("/")[1])]
        endpoint.requests.append(body)
        found = endpoint.judge(body)
        endpoint.broken += found
        refused = next((broken for broken in found if broken.status != 200), None)
        model = str(body.get("model", "gemini"))
        if refused is not None:
            self._send(refused.status, [json.dumps(endpoint.provider.error(refused))], "application/json")
            return
        answer = endpoint.next_answer(body)
        if body.get("stream") or ":stream" in self.path:
            self._send(200, list(endpoint.provider.stream(answer, model)), endpoint.provider.stream_type)
        else:
            self._send(200, [json.dumps(endpoint.provider.whole(answer, model))], "application/json")

    def _send(self, status: int, pieces: list[str], kind: str) -> None:
        body = "".join(pieces).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")  # clients keep connections open for ever, which would be warnings
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.endpoints: list[Endpoint] = []


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderServer:
    """The server; an endpoint for each client keeps them apart."""

    http: _Server

    @classmethod
    @contextmanager
    def started(cls) -> Iterator[ProviderServer]:
        """Serve until the end of the block."""
        http = _Server()
        Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        try:
            yield cls(http=http)
        finally:
            http.shutdown()
            http.server_close()

    def endpoint(self, provider: str, **settings: Any) -> Endpoint:
        """Open an endpoint of a provider."""
        url = f"http://127.0.0.1:{self.http.server_port}/{len(self.http.endpoints)}"
        opened = Endpoint(provider=PROVIDERS[provider], url=url, **settings)
        self.http.endpoints.append(opened)
        return opened
