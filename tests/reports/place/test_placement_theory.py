from __future__ import annotations

import numpy as np

from reports.place.law_file import DepthLaw
from reports.place.theory import hold_out


def test_the_bounds_count_the_positions_that_a_plan_holds() -> None:
    """A budget of four cannot be used up on a law of one depth, and the gap is then longer."""
    in_order = np.array([5, 5, 4, 4])
    law = DepthLaw("l", np.array([4, 5]), np.array([2.0, 2.0]), 0.0, in_order)
    held_out = hold_out(law, 5, 4)
    assert held_out is not None
    assert held_out["positions"] == [5]
    assert held_out["lost_tokens"] == 4
    assert held_out["lost_tokens"] <= held_out["lost_tokens_at_most_by_total_variation"]
    assert held_out["lost_tokens"] <= held_out["lost_tokens_at_most_by_kolmogorov_distance"]
