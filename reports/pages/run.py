"""The report of `milepost run`: what was saved, how fast, and where the rest was lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from reports.caveats import extrapolated, granularity, lossy, times_from
from reports.report import Report, Section, Sentence, Strong, Table, Terms
from reports.results.overload import load_words
from reports.results.pools import Figures, loss_words, pool_words
from reports.study.scenario import profile_named
from reports.words import capacity_words, known, share
from simulator.base.units import format_bytes, format_seconds
from simulator.results.percentiles import too_few

if TYPE_CHECKING:
    from reports.study.sections import ResolvedStudy
    from simulator.costs.profile import Profile


def run_report(summary: dict[str, Any], study: ResolvedStudy, command: str) -> Report:
    """Return the report of a run.

    Parameters
    ----------
    summary
        The figures, as `--json` prints them.
    study
        What was simulated.
    command
        How a reader may repeat it.
    """
    profile, trace = profile_named(study.model.profile), summary["trace"]
    head = ("not saved because", "tokens", "of prompt tokens")
    losses = Table(title="", id="losses", head=head, rows=_losses(summary))
    return Report(
        kind="run",
        title=f"{study.policy.placer} on {trace['name']}",
        sections=(
            Section(
                answer=_answer(summary),
                blocks=(
                    Terms(items=_facts(summary, study, profile)),
                    *([losses] if losses.rows else []),
                ),
            ),
        ),
        caveats=tuple(_caveats(summary, study, profile)),
        command=command,
        data=summary,
    )


def _answer(summary: dict[str, Any]) -> Sentence:
    if not summary["prompt_tokens"]:
        return "No request was counted, so there are no prompt tokens to save."
    rate = summary["saved_tokens"] / summary["prompt_tokens"]
    return (Strong(f"{100 * rate:.1f} % of the prompt tokens"), " need not be computed again.")


def _caveats(summary: dict[str, Any], study: ResolvedStudy, profile: Profile) -> Iterator[str]:
    name = study.model.profile
    facts = {
        "id": name,
        "kind": profile.kind,
        "valid_n_max": profile.valid_n_max,
        "valid_c_max": profile.valid_c_max,
    }
    yield from granularity(summary["trace"]["granularity"])
    yield from times_from(facts)
    yield from lossy({} if profile.lossy is None else {name: profile.lossy})
    yield from extrapolated(summary["extrapolated_requests"], facts, summary["trace"]["requests"])


def _facts(
    summary: dict[str, Any], study: ResolvedStudy, profile: Profile
) -> list[tuple[str, str]]:
    trace, requests = summary["trace"], summary["requests"]
    checkpoints, kv, cache = summary["checkpoints"], summary["kv"], summary["cache"]
    limit = capacity_words(study.cache.capacity)
    policy, simulated = study.policy, format_seconds(summary["simulated_seconds"])
    counts = ", ".join(f"{requests[s]:,} {s}" for s in ("finished", "rejected", "unfinished"))
    return [
        ("workload", f"{trace['name']}: {trace['requests']:,} requests"),
        ("policies", f"{policy.placer}, {policy.eviction}, {policy.admission}{_marked(summary)}"),
        ("model", f"{study.model.profile} ({profile.kind}), {study.server.kind} server"),
        *([] if profile.lossy is None else [("lossy", profile.lossy)]),
        ("requests", f"{requests['total']:,} counted: {counts}"),
        ("saved tokens", share(summary["saved_tokens"], summary["prompt_tokens"])),
        *_of_the_best(summary),
        ("time to first token", _ttft(summary["ttft_seconds"], requests["finished"])),
        *_server(summary.get("server")),
        (
            "cache",
            f"peak {format_bytes(cache['peak_bytes'])} of {limit}, "
            f"mean {known(cache['mean_bytes'], format_bytes)}",
        ),
        *_pools(summary.get("pools")),
        (
            "checkpoints",
            f"{checkpoints['written']:,} written, peak {checkpoints['peak_count']:,} "
            f"({format_bytes(checkpoints['peak_bytes'])})",
        ),
        *_positions(summary.get("positions")),
        (
            "KV",
            f"peak {format_bytes(kv['peak_bytes'])}, stranded behind the resume point "
            f"{known(kv['stranded_bytes_mean'], format_bytes)} a request",
        ),
        ("simulated", f"{simulated}, in {format_seconds(summary['wall_seconds'])}"),
    ]


def _marked(summary: dict[str, Any]) -> str:
    """Return the marks of the policies in brackets, nothing where they have none."""
    return f" ({', '.join(summary['marks'])})" if summary["marks"] else ""


def _server(load: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Return the load of the server; nothing for the instant one."""
    return [] if load is None else [("server", load_words(load))]


def _positions(positions: dict[str, Any] | None) -> list[tuple[str, str]]:
    """Return where the states lie, and the engine setting that is nearest to it."""
    if positions is None:
        return []
    nearest = positions["nearest"]
    return [
        ("positions", positions["words"].replace("`", "")),
        *([] if nearest is None else [("in an engine", nearest["words"].replace("`", ""))]),
    ]


def _of_the_best(summary: dict[str, Any]) -> list[tuple[str, str]]:
    """Return how far from the best possible it is; nothing where that is not known."""
    bound = summary["bound_saved_tokens"]
    if not bound:
        return []
    return [("of the best possible", share(summary["saved_tokens"], bound))]


def _pools(figures: Figures | None) -> list[tuple[str, str]]:
    """Return a row for each pool of a split cache."""
    if figures is None:
        return []
    words = {pool: pool_words(pool, of.get) for pool, of in figures.items()}
    return [(f"pool {pool}", ", ".join(told)) for pool, told in words.items() if told]


def _ttft(ttft: dict[str, Any], finished: int) -> str:
    if not ttft["count"]:
        why = "the profile tells sizes, no times" if finished else "no request finished"
        return f"n/a ({why})"
    figures = {name: value for name, value in ttft.items() if name != "count"}
    return ", ".join(
        f"{name} n/a ({too_few(name)})" if value is None else f"{name} {format_seconds(value)}"
        for name, value in figures.items()
    )


def _losses(summary: dict[str, Any]) -> list[tuple[str, str, str]]:
    whole, split = summary["prompt_tokens"], summary.get("pools") is not None
    return [
        (loss_words(loss, split=split), f"{tokens:,}", f"{100 * tokens / whole:.1f} %")
        for loss, tokens in summary["lost_tokens"].items()
        if tokens
    ]
