"""Flags that stand for the settings of a study: its traffic, and what its grid varies."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any, ClassVar

import typer

from reports.commands import completing
from simulator.base.errors import UsageError, printable

Given = dict[str, tuple[str, Any]]  # flag -> key of a study file, value
Texts = list[str] | None
Generator = Annotated[
    str | None,
    typer.Option(
        help="As in chats:turns_mean=3; default: built-in.", autocompletion=completing.generators
    ),
]
Arrivals = Annotated[
    str | None,
    typer.Option(help="As in gamma:cv=3; default: poisson.", autocompletion=completing.arrivals),
]


@dataclass(frozen=True, slots=True)
class TrafficFlags:
    """Flags on where requests come from and when, in the place of what a study says."""

    keys: ClassVar[Mapping[str, str]] = {
        "trace": "workload.trace",
        "generator": "workload.generator",
        "arrivals": "arrivals.process",
        "rate": "arrivals.rate",
    }

    trace: Annotated[
        str | None,
        typer.Option(help="A trace file, instead of the study's workload; default: built-in."),
    ] = None
    generator: Generator = None
    arrivals: Arrivals = None
    rate: Annotated[float | None, typer.Option(help="Requests/s, where none are told.")] = None

    def settings(self) -> Given:
        """Return those given."""
        return _given(self, self.keys)


@dataclass(frozen=True, slots=True)
class GridFlags:
    """Flags on what a study compares: one that is repeated varies its setting.

    Policies have commas among their parameters, so that only capacities can be a list.
    """

    keys: ClassVar[Mapping[str, str]] = {
        "placer": "policy.placer",
        "eviction": "policy.eviction",
        "admission": "policy.admission",
        "capacity": "cache.capacity",
        "pools": "cache.pools",
        "cut": "cache.cut",
        "evicts": "cache.evicts",
        "count_running": "cache.count_running",
        "server": "server.kind",
        "profile": "model.profile",
    }

    placer: Annotated[
        Texts,
        typer.Option(
            metavar="NAME",
            help="As in block:size=64; default: adaptive.",
            autocompletion=completing.placers,
        ),
    ] = None
    eviction: Annotated[
        Texts,
        typer.Option(
            metavar="NAME",
            help="As in fifo, or kv=lru,states=value; default: lru.",
            autocompletion=completing.evictions,
        ),
    ] = None
    admission: Annotated[
        Texts,
        typer.Option(metavar="NAME", help="Default: always.", autocompletion=completing.admissions),
    ] = None
    capacity: Annotated[
        Texts,
        typer.Option(metavar="SIZE[,SIZE...]", help="As in '8 GiB'; default: unbounded."),
    ] = None
    pools: Annotated[
        Texts,
        typer.Option(
            metavar="unified|split:states=N",
            help="N slots, or bytes as in 8GiB, apart for states; default: unified.",
        ),
    ] = None
    cut: Annotated[
        str | None, typer.Option(metavar="tail|block|span", help="KV that goes; default: tail.")
    ] = None
    evicts: Annotated[str | None, typer.Option(hidden=True)] = None  # what --cut was called
    count_running: Annotated[
        bool | None,
        typer.Option("--count-running", help="Running requests need room in the cache, too."),
    ] = None
    server: Annotated[str | None, typer.Option(metavar="queue|instant", help="Default: queue.")] = (
        None
    )
    profile: Annotated[
        Texts,
        typer.Option(
            metavar="NAME",
            help="Cost profile, or its JSON file.",
            autocompletion=completing.profiles,
        ),
    ] = None

    def settings(self, lists: Collection[str] = ()) -> Given:
        """Return those given, several values of one as a list of the grid, as always in `lists`."""
        given = _given(self, self.keys)
        if self.capacity is not None:
            sizes = [size for text in self.capacity for size in _sizes(text)]
            given["--capacity"] = self.keys["capacity"], sizes
        alone = [self.keys[name] for name in lists]
        return {flag: _varied(key, v, key in alone) for flag, (key, v) in given.items()}


NO_TRAFFIC, NO_GRID = TrafficFlags(), GridFlags()


def words(given: Given) -> Iterator[str]:
    """Yield the words of a command line that gives these flags again."""
    for flag, (_, value) in given.items():
        for each in value if isinstance(value, list) else [value]:
            if each is not None:
                yield from (flag,) if each is True else (flag, str(each))


def _given(flags: TrafficFlags | GridFlags, keys: Mapping[str, str]) -> Given:
    values = {field.name: getattr(flags, field.name) for field in fields(flags)}
    return {
        f"--{name.replace('_', '-')}": (keys[name], value)
        for name, value in values.items()
        if value is not None
    }


def _varied(key: str, value: str | list[str], always: bool) -> tuple[str, Any]:
    """Return one value as that of a setting, several as those of the grid."""
    if not isinstance(value, list):
        return key, value
    return (key, value[0]) if len(value) == 1 and not always else (f"grid.{key}", value)


def _sizes(text: str) -> list[str]:
    """Return the sizes of a list with commas.

    Raises
    ------
    UsageError
        Where one lacks its unit: 1,024 MiB is one number, and no list.
    """
    sizes = [size.strip() for size in text.split(",")]
    if len(sizes) > 1 and not all(size[-1:].isalpha() for size in sizes):
        raise UsageError(
            "--capacity: expected sizes, each with its unit, as in 8GiB,16GiB, found "
            f"'{printable(text, 60)}'"
        )
    return sizes
