"""The summary of a run as people read it: units, numerators, denominators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reports.console import print_table
from reports.results.overload import load_words
from reports.results.pools import LOSS_POOLS, Figures, pool_words
from simulator.base.units import format_bytes, format_seconds
from simulator.results.percentiles import too_few

if TYPE_CHECKING:
    from reports.study.sections import ResolvedStudy

LOSS_WORDS = {
    "never_seen": "no earlier prompt began like this",
    "last_token": "the last token is always recomputed",
    "in_flight": "a matching prefill had not ended yet",
    "not_admitted": "KV was not admitted to the cache",
    "kv_evicted": "KV had been evicted",
    "not_checkpointed": "no checkpoint was ever stored there",
    "alignment": "a wanted checkpoint was floored to block and chunk",
    "state_evicted": "the checkpoint had been evicted",
    "not_served": "the request was rejected or unfinished",
}


def loss_words(loss: str, *, split: bool) -> str:
    """Return why tokens were not saved, and from which pool that comes where pools are split."""
    pool = LOSS_POOLS.get(loss) if split else None
    return f"{LOSS_WORDS.get(loss, loss)}{f' (pool {pool})' if pool else ''}"


def print_summary(summary: dict[str, Any], study: ResolvedStudy) -> None:
    """Print what was saved, how long the first token took, and where the rest was lost."""
    print_table(("", ""), _headline(summary, study))
    rows = _losses(summary)
    if rows:
        print()
        print_table(("not saved because", "tokens", "of prompt tokens"), rows)


def share(part: float, whole: float) -> str:
    """Return a share with its numerator and denominator, "n/a" where the latter is 0."""
    if not whole:
        return f"n/a ({part:,.0f} / 0)"
    return f"{100 * part / whole:.1f} % ({part:,.0f} / {whole:,.0f})"


def _headline(summary: dict[str, Any], study: ResolvedStudy) -> list[tuple[str, str]]:
    trace, requests = summary["trace"], summary["requests"]
    checkpoints, kv, cache = summary["checkpoints"], summary["kv"], summary["cache"]
    capacity = study.cache.capacity
    limit = "unbounded" if capacity is None else format_bytes(capacity)
    policy, simulated = study.policy, format_seconds(summary["simulated_seconds"])
    counts = ", ".join(f"{requests[s]:,} {s}" for s in ("finished", "rejected", "unfinished"))
    rows = [
        ("workload", f"{trace['name']}: {trace['requests']:,} requests"),
        ("policies", f"{policy.placer}, {policy.eviction}, {policy.admission}{_marked(summary)}"),
        *_model(study),
        ("requests", f"{requests['total']:,} counted: {counts}"),
        ("saved tokens", share(summary["saved_tokens"], summary["prompt_tokens"])),
        *_of_the_best(summary),
        ("time to first token", _ttft(summary["ttft_seconds"], requests["finished"])),
        *_server(summary.get("server")),
        (
            "cache",
            f"peak {format_bytes(cache['peak_bytes'])} of {limit}, "
            f"mean {_bytes(cache['mean_bytes'])}",
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
            f"{_bytes(kv['stranded_bytes_mean'])} a request",
        ),
        ("simulated", f"{simulated}, in {format_seconds(summary['wall_seconds'])}"),
    ]
    if summary["extrapolated_requests"]:
        beyond = share(summary["extrapolated_requests"], trace["requests"])
        rows.append(("extrapolated", f"{beyond} requests are beyond the profile's measured range"))
    return rows


def _model(study: ResolvedStudy) -> list[tuple[str, str]]:
    """Return the profile with its kind, the server, and what is lost, where something is."""
    from reports.study.scenario import profile_named

    profile = profile_named(study.model.profile)
    served = f"{study.model.profile} ({profile.kind}), {study.server.kind} server"
    rows = [("model", served)]
    if profile.lossy is not None:
        rows.append(("lossy", profile.lossy))
    return rows


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


def _bytes(value: float | None) -> str:
    return "n/a" if value is None else format_bytes(value)


def _losses(summary: dict[str, Any]) -> list[tuple[str, str, str]]:
    whole, split = summary["prompt_tokens"], summary.get("pools") is not None
    return [
        (loss_words(loss, split=split), f"{tokens:,}", f"{100 * tokens / whole:.1f} %")
        for loss, tokens in summary["lost_tokens"].items()
        if tokens
    ]
