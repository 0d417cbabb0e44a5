"""How a trace file is to be read, where the file itself does not say."""

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

# Options that all formats know.
EVERYWHERE = frozenset({"on_bad_line", "jitter", "isolate", "default_template"})
CONVERSATION_FORMATS = ("chat", "conversations")


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the user says about a file; None leaves it to the format.

    Parameters
    ----------
    block
        Tokens a block, where rows name blocks.
    on_bad_line
        Whether a bad line fails the import, or is skipped and noted in the trace.
    time_unit
        The unit of the times in the file.
    rows
        Whether a row holds the whole context ("cumulative"), what is new since the session's row
        before ("incremental"), or a whole conversation, of which every answer is a request
        ("conversation").
    tokenizer
        How text becomes tokens: a name or a file, as `workloads.text` explains.
    template
        How messages become text: a name or a file, as `workloads.text.templates` explains.
    default_template
        The template where `template` tells none: that of the model in play, None where none is.
    jitter
        Seed with which arrivals are spread within their tick; None leaves them where they are.
    session_rate
        Sessions a second, where the file tells times since the start of each session only.
    seed
        Of what the format draws, such as the starts of sessions; None is 0.
    cached_tokens
        Whether the tokens that a server's cache held are counted "inside" its input tokens, or
        "outside" them.
    isolate
        By what prefixes are kept apart where a file tells it: kinds of
        `workloads.prefixes.key_fields`, separated by commas, or "none"; None stands for all.

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
        """Return how many of the file's units of time make a second; `usual` is the format's."""
        return TICKS_PER_SECOND[self.time_unit or usual]

    @property
    def isolated(self) -> frozenset[str]:
        """The kinds of keys that keep prefixes apart."""
        return _isolated(self.isolate)

    def refuse_unknown(self, format: str, known: Collection[str]) -> None:
        """Raise `SettingError` for an option that is set and of which a format knows nothing."""
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
    """Return the kinds that a text names."""
    if kinds is None:
        return frozenset(KINDS)
    names = [name.strip() for name in kinds.split(",")]
    for name in names:
        _require_one_of("isolate", name, (*KINDS, "none"))
    if "none" in names and len(names) > 1:
        raise SettingError("isolate", "expected kinds of keys or 'none', found both")
    return frozenset(names) - {"none"}
