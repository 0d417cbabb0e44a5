"""The working set of a trace in bytes of a profile: KV, and one state for each distinct prompt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simulator.base.units import format_bytes, format_count

if TYPE_CHECKING:
    from simulator.costs.schema import Profile
    from workloads.inspection import Inspection
    from workloads.inspection.working_set import WorkingSet

GIB = 1 << 30
ASSUMED = "one state at the end of each different prompt"


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of KV a token and of a state, under a cost profile.

    Parameters
    ----------
    profile
        The name of the profile.
    kv_bytes_per_token, state_bytes
        Bytes as a cache of that profile stores them.
    """

    profile: str
    kv_bytes_per_token: int
    state_bytes: int

    @classmethod
    def of(cls, profile: Profile) -> Memory:
        """Return the bytes that a profile states."""
        return cls(profile.profile_id, profile.kv_bytes_per_token, profile.state_bytes)

    def kv_gib(self, tokens: float) -> float:
        """Return the size of the KV of tokens, in GiB."""
        return tokens * self.kv_bytes_per_token / GIB

    def gib(self, each: WorkingSet) -> list[float]:
        """Return a working set's size at each moment in GiB: KV, and a state a distinct prompt."""
        pairs = zip(each.tokens, each.prompts, strict=True)
        return [self.kv_gib(tokens) + states * self.state_bytes / GIB for tokens, states in pairs]

    def text(self) -> str:
        """Return the bytes of a token and a state in words."""
        kv = format_bytes(self.kv_bytes_per_token)
        return f"{kv} of KV a token, {format_bytes(self.state_bytes)} a state"

    def figures(self, each: WorkingSet) -> str:
        """Return in words the mean and the peak of a working set, and the peak's parts."""
        held = self.gib(each)
        peak = max(range(len(held)), key=held.__getitem__)
        states = each.prompts[peak]
        parts = f"{self.kv_gib(each.tokens[peak]):,.4g} GiB of KV and {format_count(states)} states"
        return f"mean {sum(held) / len(held):,.4g}, peak {held[peak]:,.4g} GiB ({parts})"

    def caption(self, inspection: Inspection) -> str:
        """Return what the chart shows and what it assumes."""
        whole = self.figures(inspection.working_sets.sets[-1])
        return (
            f"Distinct tokens as KV, and {ASSUMED}: {self.text()}. "
            f"All that was used since the beginning: {whole}. A cache with more checkpoints needs "
            "more, and one that evicts needs less than its peak."
        )

    def as_json(self, inspection: Inspection) -> dict[str, Any]:
        """Return the sizes as plain values for JSON; LRU capacities are of KV alone."""
        sets = []
        for each in inspection.working_sets.sets:
            held = self.gib(each)
            mean, peak = sum(held) / len(held), max(held)
            sets.append({"window": each.window, "mean": mean, "peak": peak, "gib": held})
        needed = inspection.lru.tokens_for_share.items()
        return {
            "profile": self.profile,
            "kv_bytes_per_token": self.kv_bytes_per_token,
            "state_bytes": self.state_bytes,
            "assumed_states": ASSUMED,
            "working_sets_gib": sets,
            "lru_kv_gib_for_share": {share: self.kv_gib(tokens) for share, tokens in needed},
        }
