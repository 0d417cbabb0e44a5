"""Generator of questions about shared documents."""

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
class Documents(PrefixGenerator):
    """Questions about shared documents: `template | document | instruction | question`.

    Parameters
    ----------
    count
        Number of documents in use at a time.
    zipf_exponent
        The popularity of rank r is proportional to r**-zipf_exponent; 0 is uniform.
    tokens_median, tokens_sigma
        Lengths of documents: lognormal, clipped to an eighth and eight times the median.
    template_tokens
        Tokens before every document; 0 for none.
    instruction_tokens
        Tokens after every document.
    openings
        Number of ways in which questions begin, equally likely; the i-th is i tokens long. With
        0, no two questions share their first token.
    question_tokens_median
        Length of the rest of a question, which no other shares: lognormal (sigma 0.6).
    answer_tokens_median
        Lengths of answers: lognormal (sigma 0.8).
    """

    name: ClassVar[str] = "documents"
    labels: ClassVar[tuple[str, ...]] = ("question",)

    count: int = knob(150, 1, 10**6)
    zipf_exponent: float = knob(0.9, 0.0, 4.0)
    tokens_median: int = knob(8000, 8, 10**6)
    tokens_sigma: float = knob(0.4, 0.0, 3.0)
    template_tokens: int = knob(48, 0, 10**6)
    instruction_tokens: int = knob(32, 1, 10**5)
    openings: int = knob(8, 0, 1000)
    question_tokens_median: int = knob(120, 1, 10**5)
    answer_tokens_median: int = knob(150, 1, 10**5)

    @property
    def requests_per_session(self) -> float:
        """One: every question is a session of its own."""
        return 1.0

    def prefix_law(self) -> PrefixLaw:
        """Return the distribution of templates, documents, instructions and openings."""
        return PrefixLaw(
            items=self.count,
            zipf_exponent=self.zipf_exponent,
            tokens_median=self.tokens_median,
            tokens_sigma=self.tokens_sigma,
            group_tokens=self.template_tokens,
            closing_tokens=self.instruction_tokens,
            openings=self.openings,
        )

    def sessions(self, seed: int, drift: Drift, x: Float64) -> Traffic:
        """Draw questions at positions x of the trace (0 to 1)."""
        catalogue = self.catalogue(seed, drift)
        rank, opening = catalogue.draw(stream(seed, "contents"), x)
        question = lognormal_tokens(
            stream(seed, "questions"), self.question_tokens_median, 0.6, 1, 10**6, len(x)
        )
        answer = lognormal_tokens(
            stream(seed, "answers"), self.answer_tokens_median, 0.8, 1, 10**6, len(x)
        )
        paths = catalogue.paths(rank, opening, x)
        return single_requests(catalogue, paths, question, answer)
