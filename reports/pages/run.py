"""The report of `milepost run`: tokens saved, latencies, and why the other tokens were computed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from policies.joint import names_of
from reports.caveats import extrapolated, granularity, lossy, times_from
from reports.report import Report, Section, Sentence, Strong, Table, Terms
from reports.results.marks import POLICIES, UPPER_BOUND
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
        The figures of the run, as `--json` prints them.
    study
        The simulated workload, model, cache and policies.
    command
        The command line that repeats the run.
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
                    Terms(items=[*_facts(summary, study, profile)]),
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
) -> Iterator[tuple[str, str]]:
    trace, requests, positions = summary["trace"], summary["requests"], summary.get("positions")
    checkpoints, kv, cache = summary["checkpoints"], summary["kv"], summary["cache"]
    limit = capacity_words(study.cache.capacity)
    policy, load = study.policy, summary.get("server")
    marks = f" ({', '.join(summary['marks'])})" if summary["marks"] else ""
    counts = ", ".join(f"{requests[s]:,} {s}" for s in ("finished", "rejected", "unfinished"))
    yield "workload", f"{trace['name']}: {trace['requests']:,} requests"
    yield "policies", ", ".join(names_of(policy.model_dump(), POLICIES)) + marks
    yield "model", f"{study.model.profile} ({profile.kind}), {study.server.kind} server"
    if profile.lossy is not None:
        yield "lossy", profile.lossy
    yield "requests", f"{requests['total']:,} counted: {counts}"
    yield "saved tokens", share(summary["saved_tokens"], summary["prompt_tokens"])
    bound = summary["bound_saved_tokens"]
    if bound and UPPER_BOUND not in summary["marks"]:
        yield "of the best possible", share(summary["saved_tokens"], bound)
    yield "time to first token", _ttft(summary["ttft_seconds"], requests["finished"])
    if load is not None:
        yield "server", load_words(load)
    held = f"mean {known(cache['mean_bytes'], format_bytes)}"
    if study.cache.kind != "tree":
        yield "kind of cache", study.cache.kind
    yield "cache", f"peak {format_bytes(cache['peak_bytes'])} of {limit}, {held}"
    yield from _pools(summary.get("pools"))
    stored = f"peak {checkpoints['peak_count']:,} ({format_bytes(checkpoints['peak_bytes'])})"
    saved = checkpoints.get("saved_tokens_each")  # absent from older folders
    each = "" if saved is None else f"; {saved:,.0f} prompt tokens saved for each written"
    yield "checkpoints", f"{checkpoints['written']:,} written, {stored}{each}"
    if study.cache.states_per_prefix is not None:
        yield "states per prefix", f"at most {study.cache.states_per_prefix}"
    if positions is not None:
        yield "positions", positions["words"].replace("`", "")
        if positions["nearest"] is not None:
            yield "in an engine", positions["nearest"]["words"].replace("`", "")
    left = known(kv["stranded_bytes_mean"], format_bytes)
    stranded = f"stranded behind the resume point {left} a request"
    yield "KV", f"peak {format_bytes(kv['peak_bytes'])}, {stranded}"
    simulated = format_seconds(summary["simulated_seconds"])
    yield "simulated", f"{simulated}, in {format_seconds(summary['wall_seconds'])}"


def _pools(figures: Figures | None) -> list[tuple[str, str]]:
    """Return a row for each pool of a cache that is split into a KV and a state pool."""
    words = {pool: pool_words(pool, of.get) for pool, of in (figures or {}).items()}
    return [(f"pool {pool}", ", ".join(parts)) for pool, parts in words.items() if parts]


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
