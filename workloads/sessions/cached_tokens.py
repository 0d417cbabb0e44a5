"""The two meanings of "input tokens" in logs: including cached tokens, or excluding them.

OpenAI and most others count cached tokens as part of the input; Anthropic counts as input only
tokens that were neither read from the cache nor written to it. The field names are often the same.
The meaning is decided for each provider (or model) by the first of these that applies: the user's
option; calls that prove it, since a part cannot be larger than the whole; the name of the provider
or model; the convention that input tokens include cached ones.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from workloads.anomaly import Anomaly
from workloads.options import CachedTokens
from workloads.rows import Rows

MOST_STRAY = 100  # a share of calls below 1 / this may be errors and proves nothing

_ANTHROPIC = ("anthropic", "claude")
_HOSTS = ("bedrock", "vertex", "azure.ai.inference", "unknown")  # hosts of models of several makers
_MOST_NAMES = 3

_RULES: dict[CachedTokens, str] = {
    "inside": "cached tokens are part of the input tokens",
    "outside": "cached tokens come on top of the input tokens, and prompts are both",
}


class CountedTokens(NamedTuple):
    """A prompt's tokens as counted by a server: input, read from the cache, written to it."""

    input_tokens: int
    read_tokens: int = 0
    created_tokens: int = 0

    @property
    def cached_tokens(self) -> int:
        """Tokens read from the cache or written to it; they may be part of the input tokens."""
        return self.read_tokens + self.created_tokens


class Usual(NamedTuple):
    """The usual meaning of cached tokens, the reason for it, and whether it is certain."""

    meaning: CachedTokens
    why: str
    sure: bool = True


# not certain: tools that follow OpenTelemetry's conventions have added them already
_AS_ANTHROPIC = Usual("outside", "as Anthropic counts", sure=False)


def group_of(provider: str | None, model: str | None) -> str:
    """Return the name of the group of calls whose tokens are counted alike."""
    if provider is None or _only_hosts(provider):
        return " ".join(name for name in (provider, model) if name) or "calls"
    return provider


def usual_meaning(provider: str | None, model: str | None) -> Usual:
    """Return the usual meaning for a provider, or for the maker of a model it only hosts."""
    name = (provider or "").lower()
    if any(word in name for word in _ANTHROPIC):
        return _AS_ANTHROPIC
    if name and not _only_hosts(name):
        return Usual("inside", "as their provider counts")
    if "claude" in (model or "").lower():
        return _AS_ANTHROPIC
    return Usual("inside", "the convention, nothing else tells", sure=False)


def _only_hosts(provider: str) -> bool:
    return any(host in provider.lower() for host in _HOSTS)


@dataclass(slots=True)
class _Group:
    usual: Usual
    calls: int = 0  # with cached tokens
    over: int = 0  # of these, with more cached tokens than input tokens
    first_line: int | None = None
    first_over: int | None = None

    def proves(self) -> bool:
        return self.over * MOST_STRAY >= self.calls > 0 < self.over


@dataclass(slots=True)
class CachedMeaning:
    """Whether input tokens include cached ones, for each group of calls, such as a provider's.

    `given` is the user's option, which overrides everything.
    """

    given: CachedTokens | None = None
    groups: dict[str, _Group] = field(default_factory=dict)

    def see(self, group: str, counted: CountedTokens, usual: Usual, line: int) -> None:
        """Register a call; `meaning` may be called after all calls of a file are registered."""
        known = self.groups.setdefault(group, _Group(usual))
        if counted.cached_tokens > 0:
            known.calls += 1
            known.first_line = known.first_line or line
        if counted.cached_tokens > counted.input_tokens >= 0:
            known.over += 1
            known.first_over = known.first_over or line

    def meaning(self, group: str) -> CachedTokens:
        """Return whether the cached tokens of a group are inside or outside the input tokens."""
        if self.given is not None:
            return self.given
        known = self.groups[group]
        return "outside" if known.proves() else known.usual.meaning

    def prompt(self, group: str, counted: CountedTokens) -> tuple[int, int]:
        """Return the tokens of a whole prompt, and how many of them the cache held."""
        if self.meaning(group) == "outside":
            return counted.input_tokens + counted.cached_tokens, counted.read_tokens
        return counted.input_tokens, min(counted.read_tokens, counted.input_tokens)

    def tell(self, rows: Rows) -> None:
        """Add notes on the meaning chosen and why, where any tokens were cached."""
        reasons: dict[tuple[CachedTokens, str], list[str]] = {}
        for name, group in self.groups.items():
            if not group.calls:
                continue
            reasons.setdefault((self.meaning(name), self._why(group)), []).append(name)
            self._note_doubt(rows, name, group)
        for (meaning, why), names in reasons.items():
            others = f" and {len(names) - _MOST_NAMES:,} others" if names[_MOST_NAMES:] else ""
            shown = ", ".join(names[:_MOST_NAMES]) + others
            rows.facts.append(f"{_RULES[meaning]} ({shown}): {why}")

    def _why(self, group: _Group) -> str:
        if self.given is not None:
            return "as --cached-tokens says"
        if group.proves():
            return f"{group.over:,} of {group.calls:,} calls have more of them than input tokens"
        return group.usual.why

    def _note_doubt(self, rows: Rows, name: str, group: _Group) -> None:
        """Note where the meaning is uncertain or contradicted by calls."""
        if self.meaning(name) == "inside" and group.over:
            detail = "more cached tokens than input tokens: the whole prompt counts as cached"
            _count(rows, "cached-over-input", group.over, group.first_over, detail)
        if self.given is not None or group.proves() or group.usual.sure:
            return
        if group.usual.meaning == "outside":
            detail = (
                "cached tokens are added to the input tokens, as Anthropic counts; where the "
                "writer has added them already, say --cached-tokens inside"
            )
            _count(rows, "cached-outside", group.calls, group.first_line, detail)
        else:
            detail = (
                "cached tokens are taken to be part of the input tokens; where they are not, "
                "say --cached-tokens outside"
            )
            _count(rows, "cached-inside", group.calls, group.first_line, detail)


def _count(rows: Rows, what: str, count: int, line: int | None, detail: str) -> None:
    known = rows.oddities.get(what)
    if known is not None:
        count, line, detail = known.count + count, known.first_line, known.detail
    rows.oddities[what] = Anomaly(what, count, line, detail)
