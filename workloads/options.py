"""How a trace file is to be read, where the file itself does not say."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from simulator.errors import UsageError, did_you_mean, printable

OnBadLine = Literal["fail", "skip"]
TimeUnit = Literal["s", "ms", "us", "ns"]
RowsAre = Literal["cumulative", "incremental", "conversation"]

MAX_BLOCK_TOKENS = 1 << 30
MIN_RATE, MAX_RATE = 1e-6, 1e6  # sessions a second
ALWAYS_KNOWN = ("on_bad_line", "jitter", "default_template")
CONVERSATION_FORMATS = ("chat", "conversations")
TICKS_PER_SECOND: dict[TimeUnit, float] = {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}


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

    def __post_init__(self) -> None:
        if self.block is not None and not 1 <= self.block <= MAX_BLOCK_TOKENS:
            raise UsageError(f"block: expected 1 to {MAX_BLOCK_TOKENS} tokens, found {self.block}")
        rate = self.session_rate
        if rate is not None and not MIN_RATE <= rate <= MAX_RATE:
            raise UsageError(
                f"session rate: expected {MIN_RATE:g} to {MAX_RATE:g} sessions/s, found {rate:g}"
            )
        if self.seed is not None and not 0 <= self.seed < 1 << 63:
            raise UsageError(f"seed: expected 0 to 2**63 - 1, found {self.seed}")
        _require_one_of("on bad line", self.on_bad_line, get_args(OnBadLine))
        _require_one_of("time unit", self.time_unit, (None, *get_args(TimeUnit)))
        _require_one_of("rows", self.rows, (None, *get_args(RowsAre)))

    def ticks_per_second(self, usual: TimeUnit) -> float:
        """Return how many of the file's units of time make a second; `usual` is the format's."""
        return TICKS_PER_SECOND[self.time_unit or usual]

    def refuse_unknown(self, format: str, known: Collection[str]) -> None:
        """Raise `UsageError` for an option that is set and of which a format knows nothing."""
        if self.rows == "conversation" and format not in CONVERSATION_FORMATS:
            raise UsageError(f"rows: the format '{format}' has no rows of whole conversations")
        unset = asdict(ReadOptions())
        for name, value in asdict(self).items():
            if value != unset[name] and name not in {*ALWAYS_KNOWN, *known}:
                wanted = ", ".join(sorted(known)) or "none"
                raise UsageError(
                    f"{name.replace('_', ' ')}: the format '{format}' has no such option "
                    f"(it knows: {wanted})"
                )


def _require_one_of(what: str, found: str | None, known: tuple[str | None, ...]) -> None:
    if found not in known:
        names = [name for name in known if name is not None]
        shown = printable(str(found), 40)
        raise UsageError(f"{what}: unknown '{shown}'{did_you_mean(shown, names)}")
