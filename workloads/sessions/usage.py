"""Token counts in logged `usage` objects, by the names used by OpenAI, Anthropic and others."""

from __future__ import annotations

import msgspec

from workloads.sessions.cached_tokens import CachedMeaning, CountedTokens, Usual, usual_meaning


class _Details(msgspec.Struct, gc=False):
    cached_tokens: int | None = None


class Usage(msgspec.Struct, gc=False):
    """Token counts that a server logged for a request."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    prompt_tokens_details: _Details | None = None
    input_tokens_details: _Details | None = None
    prompt_cache_hit_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    of_prompt: int | None = msgspec.field(default=None, name="promptTokenCount")  # Gemini's
    of_answer: int | None = msgspec.field(default=None, name="candidatesTokenCount")
    of_cache: int | None = msgspec.field(default=None, name="cachedContentTokenCount")

    def answer(self) -> tuple[str, int]:
        """Return the field with the length of the answer, and the length, 0 if unknown."""
        if self.completion_tokens is None and self.output_tokens is not None:
            return "usage.output_tokens", self.output_tokens
        if self.completion_tokens is None and self.of_answer is not None:
            return "usageMetadata.candidatesTokenCount", self.of_answer
        return "usage.completion_tokens", self.completion_tokens or 0

    def prompt_field(self) -> str:
        """Return the name of the field with the prompt's tokens."""
        if self.prompt_tokens is not None:
            return "prompt_tokens"
        return "promptTokenCount" if self.input_tokens is None else "input_tokens"

    def counted(self) -> CountedTokens | None:
        """Return the tokens of the prompt, None if they are not logged."""
        tokens = self.input_tokens if self.prompt_tokens is None else self.prompt_tokens
        tokens = self.of_prompt if tokens is None else tokens
        if tokens is None:
            return None
        details = self.prompt_tokens_details or self.input_tokens_details or _Details()
        names = self.cache_read_input_tokens, details.cached_tokens, self.prompt_cache_hit_tokens
        read = next((count for count in (*names, self.of_cache) if count is not None), 0)
        return CountedTokens(tokens, max(read, 0), max(self.cache_creation_input_tokens or 0, 0))

    def usual(self, model: str | None) -> Usual:
        """Return the meaning of cached tokens that the field names or the model imply."""
        if self.prompt_tokens is not None or self.input_tokens_details is not None:
            return Usual("inside", "as OpenAI counts")
        if self.cache_read_input_tokens is None and self.cache_creation_input_tokens is None:
            gemini = self.input_tokens is None and self.of_prompt is not None
            return Usual("inside", "as Gemini counts") if gemini else usual_meaning(None, model)
        return Usual("outside", "as Anthropic counts")

    def whole_prompt(self, meaning: CachedMeaning, model: str | None, line: int) -> int | None:
        """Return the tokens of the whole prompt, including cached ones; None if unknown."""
        counted = self.counted()
        if counted is None:
            return None
        usual = self.usual(model)
        group = f"{model or 'calls'}, {usual.meaning}"
        meaning.see(group, counted, usual, line)
        return meaning.prompt(group, counted)[0]
