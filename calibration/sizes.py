"""Profiles of sizes alone: what a state and a token of KV weigh, without times.

They serve where a model was never timed: hit rates, losses and memory are simulated, by the
instant server, and no time is told. Entries are weighed by the tokens that they save.
"""

from __future__ import annotations

from calibration.analytic import CREATED, LONGEST_TOKENS
from calibration.parts import copy_parts, model_parts
from simulator.costs.geometry import Geometry
from simulator.costs.profile import Profile, parse_profile

_US_PER_TOKEN = 1.0  # any other would do: it weighs tokens against tokens
_FASTEST_GBPS = 1e6  # copies cost nothing beside that


def sizes_profile(geometry: Geometry, name: str, source: str) -> Profile:
    """Return the profile of a model's sizes; its kind is "sizes", its prices are tokens.

    Parameters
    ----------
    geometry
        The model.
    name
        The profile's.
    source
        Where the sizes come from.
    """
    data = {
        "schema_version": 1,
        "profile_id": name,
        "kind": "sizes",
        "source": source,
        "licence": "Apache-2.0",
        "created": CREATED,
        "hardware": {"name": "none: no times"},
        **model_parts(geometry),
        "prefill": {
            "F": {"n": [1, 2], "us": [_US_PER_TOKEN, 2 * _US_PER_TOKEN]},
            "e_us_per_pair": 0.0,
            "valid": {"n_max": LONGEST_TOKENS, "c_max": LONGEST_TOKENS},
        },
        **copy_parts(_FASTEST_GBPS),
    }
    return parse_profile(data, name)
