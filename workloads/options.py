"""The options for reading a trace file, where the file leaves something open."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from simulator.base.bounds import (
    MAX_BLOCK_TOKENS,
    MAX_RATE_PER_SECOND,
    MAX_SEED,
    MIN_RATE_PER_SECOND,
)
from simulator.base.errors import SettingError, did_you_mean, printable
from workloads.instants import TICKS_PER_SECOND, TimeUnit
from workloads.prefixes.key_fields import KINDS

OnBadLine = Literal["fail", "skip"]
RowsAre = Literal["cumulative", "incremental", "conversation"]
CachedTokens = Literal["inside", "outside"]

# Options that all formats have.
EVERYWHERE = frozenset({"on_bad_line", "jitter", "isolate", "default_template"})
CONVERSATION_FORMATS = ("chat", "conversations")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The user's options for reading a file; None means the format's default.

    Parameters
    ----------
    block
        Tokens per block, where rows have block ids.
    on_bad_line
        Whether a bad line fails the import, or is skipped and noted in the trace.
    time_unit
        The unit of the times in the file.
    rows
        Whether a row holds the whole context ("cumulative"), what is new since the session's
        previous row ("incremental"), or a whole conversation in which every answer is a request
        ("conversation").
    tokenizer
        Name or file of the tokenizer, see `workloads.text`.
    template
        Name or file of the chat template, see `workloads.text.templates`.
    default_template
        The chat template used where `template` is None: that of the simulated model, if any.
    jitter
        Seed for spreading arrivals at random within the timestamp resolution; None: unchanged.
    session_rate
        Sessions per second, where the file only has times since the start of each session.
    seed
        Seed of random draws of the format, such as the starts of sessions; None is 0.
    cached_tokens
        Whether a server's cached tokens are counted "inside" its input tokens or "outside" them.
    isolate
        The kinds of keys that isolate prefixes (`workloads.prefixes.key_fields`), separated by
        commas, or "none"; None means all. Prompts with different keys share nothing.

    Raises
    ------
    UsageError
        For a value out of range.
    """

    block: int | None = None
    on_bad_line: OnBadLine = "fail"
    time_unit: TimeUnit | None = None
    rows: RowsAre | None = None
    tokenizer: str | None = None
    template: str | None = None
    default_template: str | None = None
    jitter: int | None = None
    session_rate: float | None = None
    seed: int | None = None
    cached_tokens: CachedTokens | None = None
    isolate: str | None = None

    def __post_init__(self) -> None:
        rates = MIN_RATE_PER_SECOND, MAX_RATE_PER_SECOND
        tokens, seeds = f"1 to {MAX_BLOCK_TOKENS} tokens", "a seed from 0 to 2**63 - 1"
        _require_within("block", self.block, (1, MAX_BLOCK_TOKENS), tokens)
        _require_within("jitter", self.jitter, (0, MAX_SEED), seeds)
        _require_within("seed", self.seed, (0, MAX_SEED), seeds)
        _require_within(
            "session_rate", self.session_rate, rates, "{:g} to {:g} sessions/s".format(*rates)
        )
        _require_one_of("on_bad_line", self.on_bad_line, get_args(OnBadLine))
        _require_one_of("time_unit", self.time_unit, (None, *get_args(TimeUnit)))
        _require_one_of("rows", self.rows, (None, *get_args(RowsAre)))
        _require_one_of("cached tokens", self.cached_tokens, (None, *get_args(CachedTokens)))
        _isolated(self.isolate)

    def ticks_per_second(self, usual: TimeUnit) -> float:
        """Return the file's time units per second; `usual` is the format's default unit."""
        return TICKS_PER_SECOND[self.time_unit or usual]

    @property
    def isolated(self) -> frozenset[str]:
        """The kinds of keys that isolate prefixes."""
        return _isolated(self.isolate)

    def refuse_unknown(self, format: str, known: Collection[str]) -> None:
        """Raise `SettingError` for an option that is set but that the format does not have."""
        if self.rows == "conversation" and format not in CONVERSATION_FORMATS:
            problem = f"the format '{format}' has no rows of whole conversations"
            raise SettingError("rows", problem)
        unset = asdict(ReadOptions())
        for name, value in asdict(self).items():
            if value != unset[name] and name not in {*EVERYWHERE, *known}:
                wanted = ", ".join(sorted(known)) or "none"
                raise SettingError(
                    name, f"the format '{format}' has no such option (it knows: {wanted})"
                )


def _require_within(
    name: str, given: float | None, limits: tuple[float, float], expected: str
) -> None:
    if given is None:
        return
    kinds = int if isinstance(limits[0], int) else int | float
    sound = isinstance(given, kinds) and not isinstance(given, bool)
    if not sound or not limits[0] <= given <= limits[1]:
        raise SettingError(name, f"expected {expected}, found {printable(repr(given), 40)}")


def _require_one_of(what: str, given: str | None, known: tuple[str | None, ...]) -> None:
    if given not in known:
        names = [name for name in known if name is not None]
        shown = printable(str(given), 40)
        raise SettingError(what, f"unknown '{shown}'{did_you_mean(shown, names)}")


def _isolated(kinds: str | None) -> frozenset[str]:
    """Return the kinds of keys listed in a text."""
    if kinds is None:
        return frozenset(KINDS)
    names = [name.strip() for name in kinds.split(",")]
    for name in names:
        _require_one_of("isolate", name, (*KINDS, "none"))
    if "none" in names and len(names) > 1:
        raise SettingError("isolate", "expected kinds of keys or 'none', found both")
    return frozenset(names) - {"none"}
