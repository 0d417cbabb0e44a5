"""Options that set keys of a study: its traffic, its grid, its replications."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import typer

from reports.commands import completing
from reports.commands.declared import Given, Sets, options, settings_given
from reports.commands.options import ReadingOptions
from reports.console import say
from reports.study.layers import parse_override, read_settings
from reports.study.own_policies import doubts, with_own_placers
from reports.study.settings import Settings
from simulator.base.errors import UsageError, printable

Texts = list[str] | None
CAPACITY = "cache.capacity"


@options
class GeneratorOptions:
    """Options of generated traffic."""

    generator: Annotated[
        str | None,
        typer.Option(
            help="As in chats:turns_mean=3; default: built-in.",
            autocompletion=completing.generators,
        ),
        Sets("workload.generator"),
    ] = None
    arrivals: Annotated[
        str | None,
        typer.Option(
            help="As in gamma:cv=3; default: poisson.", autocompletion=completing.arrivals
        ),
        Sets("arrivals.process"),
    ] = None
    requests: Annotated[
        int | None, typer.Option(help="Generated ones; default: 4000."), Sets("workload.requests")
    ] = None
    rate: Annotated[
        float | None,
        typer.Option(help="Requests/s, where none are told; default: 5."),
        Sets("arrivals.rate"),
    ] = None


@options
class GridOptions:
    """Options of the settings that a study compares; an option that is repeated varies its setting.

    Parameters of policies contain commas, so only capacities can be a list with commas.
    """

    policy: Annotated[
        Texts,
        typer.Option(
            metavar="NAME",
            help="Placer, eviction and admission at once, as in unified, or adaptive+lru.",
            autocompletion=completing.joint,
        ),
        Sets("policy.all"),
    ] = None
    placer: Annotated[
        Texts,
        typer.Option(
            metavar="NAME",
            help="As in block:size=64; default: adaptive.",
            autocompletion=completing.placers,
        ),
        Sets("policy.placer"),
    ] = None
    eviction: Annotated[
        Texts,
        typer.Option(
            metavar="NAME",
            help="As in fifo, or kv=lru,states=value; default: lru.",
            autocompletion=completing.evictions,
        ),
        Sets("policy.eviction"),
    ] = None
    admission: Annotated[
        Texts,
        typer.Option(metavar="NAME", help="Default: always.", autocompletion=completing.admissions),
        Sets("policy.admission"),
    ] = None
    capacity: Annotated[
        Texts,
        typer.Option(metavar="SIZE[,SIZE...]", help="As in '8 GiB'; default: unbounded."),
        Sets(CAPACITY),
    ] = None
    pools: Annotated[
        Texts,
        typer.Option(
            metavar="unified|split:states=N",
            help="N slots, or bytes as in 8GiB, apart for states; default: unified.",
        ),
        Sets("cache.pools"),
    ] = None
    cache: Annotated[
        Texts,
        typer.Option(
            metavar="tree|entries:last=N|entries:per_document=N",
            help="Prompts share prefixes, or the last N whole prompts are kept; default: tree.",
        ),
        Sets("cache.kind"),
    ] = None
    states_per_prefix: Annotated[
        Texts,
        typer.Option(
            metavar="[path:|entry:]N",
            help="States resident on a path from the root, or in what one request brought.",
        ),
        Sets("cache.states_per_prefix"),
    ] = None
    cut: Annotated[
        str | None,
        typer.Option(metavar="tail|block|span", help="KV that goes; default: tail."),
        Sets("cache.cut"),
    ] = None
    evicts: Annotated[str | None, typer.Option(hidden=True), Sets("cache.evicts")] = None  # old
    count_running: Annotated[
        bool | None,
        typer.Option("--count-running", help="Running requests need room in the cache, too."),
        Sets("cache.count_running"),
    ] = None
    server: Annotated[
        str | None,
        typer.Option(metavar="queue|instant", help="Default: queue."),
        Sets("server.kind"),
    ] = None
    profile: Annotated[
        Texts,
        typer.Option(
            metavar="NAME",
            help="Cost profile, or its JSON file.",
            autocompletion=completing.profiles,
        ),
        Sets("model.profile"),
    ] = None


@options
class ReplicationOptions:
    """Options of how often generated traffic is drawn, and from which seeds."""

    replications: Annotated[
        int | None,
        typer.Option(help="Seeds of generated traffic; default: 1."),
        Sets("study.replications"),
    ] = None


@options
class PercentileOptions:
    """The option of which percentiles are reported."""

    percentiles: Annotated[
        str | None,
        typer.Option(metavar="P,P", help="Of TTFT, besides 50, 90 and 99; as in 95,99.9."),
        Sets("study.percentiles"),
    ] = None


@options
class StudyOptions(GeneratorOptions, ReadingOptions):
    """Options of every command on studies: a study file, and what replaces its settings."""

    study: Annotated[
        Path | None,
        typer.Argument(metavar="[STUDY.toml]", help="A study file; without it, flags say it all."),
    ] = None
    trace: Annotated[
        str | None,
        typer.Option(help="A trace file, instead of the study's workload; default: built-in."),
        Sets("workload.trace"),
    ] = None
    warmup: Annotated[
        float | None, typer.Option(help="Uncounted first share, to 0.9."), Sets("study.warmup")
    ] = None
    seed: Annotated[int | None, typer.Option(help="Seed of the study."), Sets("study.seed")] = None
    set: Annotated[
        list[str] | None,
        typer.Option(metavar="KEY=VALUE", help="Override a setting, as in cache.capacity=8GiB."),
    ] = None

    def given(self) -> Given:
        """Return the settings that options replace: flag -> (key of a study file, value)."""
        varied = {flag: _varied(key, value) for flag, (key, value) in settings_given(self).items()}
        return varied | self.reading_settings()

    @cached_property
    def settings(self) -> Settings:
        """The settings of the study file, replaced where options are given."""
        return settings_from(self.study, self.given(), self.set or ())

    def refuse_nothing_given(self, command: str) -> None:
        """Raise UsageError where neither a study file nor an option of a study is given."""
        if self.study is None and not self.set and not self.given():
            raise UsageError(
                f"{command}: expected STUDY.toml, or flags in its place, as in --trace FILE "
                "--placer branch --placer adaptive --capacity 8GiB,16GiB (`milepost new` writes "
                "a study)"
            )

    def command_line(self, command: str, *more: str) -> str:
        """Return the command that repeats the study, without options that do not change results."""
        file = [] if self.study is None else [str(self.study)]
        sets = [word for text in self.set or () for word in ("--set", text)]
        words = ["milepost", command, *file, *more, *_words(self.given()), *sets]
        return shlex.join([*words, "--out", "DIR"])


def settings_from(study: Path | None, given: Given, sets: Sequence[str] = ()) -> Settings:
    """Return the settings of a study file, replaced by options and `--set` where given.

    Unused keys of the file and doubtful own policies are reported on stderr.
    """
    flags = [(key, value, flag) for flag, (key, value) in given.items()]
    settings = with_own_placers(read_settings(study, [*flags, *map(parse_override, sets)]))
    for note in settings.notes:
        say(f"note: {note}")
    for doubt in doubts(settings):
        say(f"warning: {doubt}")
    return settings


def _words(given: Given) -> Iterator[str]:
    """Yield the words of a command line that gives these settings again."""
    for flag, (_, value) in given.items():
        for each in value if isinstance(value, list) else [value]:
            yield from (flag,) if each is True else (flag, str(each))


def _varied(key: str, value: Any) -> tuple[str, Any]:
    """Return a single value as a plain setting, and several as a varied setting of the grid."""
    if key == CAPACITY:
        value = [size for text in value for size in _sizes(text)]
    if not isinstance(value, list):
        return key, value
    return (key, value[0]) if len(value) == 1 else (f"grid.{key}", value)


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
