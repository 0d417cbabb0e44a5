"""Words for the figures of a run: why tokens were not saved, and shares."""

from __future__ import annotations

from reports.results.pools import LOSS_POOLS

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


def share(part: float, whole: float) -> str:
    """Return a share with its numerator and denominator, "n/a" where the latter is 0."""
    if not whole:
        return f"n/a ({part:,.0f} / 0)"
    return f"{100 * part / whole:.1f} % ({part:,.0f} / {whole:,.0f})"
