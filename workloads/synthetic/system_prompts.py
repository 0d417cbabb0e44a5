"""Generator of first turns after shared system prompts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from workloads.drift import Drift
from workloads.randomness import stream
from workloads.spec import knob
from workloads.synthetic.catalogue import PrefixLaw
from workloads.synthetic.draws import Float64, lognormal_tokens
from workloads.synthetic.generator import PrefixGenerator
from workloads.synthetic.traffic import Traffic, single_requests


@dataclass(frozen=True, slots=True)
class SystemPrompts(PrefixGenerator):
    """First turns after system prompts: `family | system prompt | closing | user`.

    Parameters
    ----------
    count
        Number of system prompts in use at a time.
    zipf_exponent
        The popularity of rank r is proportional to r**-zipf_exponent; 0 is uniform.
    families, family_tokens
        Number of families, and tokens with which all system prompts of a family begin; with 0
        tokens there are no families.
    tokens_median, tokens_sigma
        Lengths of the part after that of the family: lognormal, clipped to an eighth and eight
        times the median.
    closing_tokens
        Tokens that end every system prompt, which the drift `rewrites` replaces.
    openings
        Number of ways in which users begin, equally likely; the i-th is i tokens long. With 0,
        no two turns share their first token.
    user_tokens_median
        Length of the rest of the turn, which no other shares: lognormal (sigma 0.6).
    answer_tokens_median
        Lengths of answers: lognormal (sigma 0.8).
    """

    name: ClassVar[str] = "system_prompts"
    labels: ClassVar[tuple[str, ...]] = ("system",)

    count: int = knob(24, 1, 10**6)
    zipf_exponent: float = knob(0.9, 0.0, 4.0)
    families: int = knob(4, 1, 10**6)
    family_tokens: int = knob(500, 0, 10**6)
    tokens_median: int = knob(2000, 8, 10**6)
    tokens_sigma: float = knob(0.5, 0.0, 3.0)
    closing_tokens: int = knob(16, 1, 10**5)
    openings: int = knob(5, 0, 1000)
    user_tokens_median: int = knob(120, 1, 10**5)
    answer_tokens_median: int = knob(300, 1, 10**5)

    @property
    def requests_per_session(self) -> float:
        """One: every first turn is a session of its own."""
        return 1.0

    def prefix_law(self) -> PrefixLaw:
        """Return the distribution of families, system prompts, closings and openings."""
        return PrefixLaw(
            items=self.count,
            zipf_exponent=self.zipf_exponent,
            tokens_median=self.tokens_median,
            tokens_sigma=self.tokens_sigma,
            groups=self.families,
            group_tokens=self.family_tokens,
            closing_tokens=self.closing_tokens,
            openings=self.openings,
        )

    def sessions(self, seed: int, drift: Drift, x: Float64) -> Traffic:
        """Draw first turns at positions x of the trace (0 to 1)."""
        catalogue = self.catalogue(seed, drift)
        rank, opening = catalogue.draw(stream(seed, "contents"), x)
        user = lognormal_tokens(
            stream(seed, "users"), self.user_tokens_median, 0.6, 1, 10**6, len(x)
        )
        answer = lognormal_tokens(
            stream(seed, "answers"), self.answer_tokens_median, 0.8, 1, 10**6, len(x)
        )
        paths = catalogue.paths(rank, opening, x)
        return single_requests(catalogue, paths, user, answer)
