"""Cost profiles with sizes of states and KV but without times.

They are for models that were never timed. Hit rates, losses and memory can be simulated with the
instant server; policies weigh entries by the tokens they save instead of by seconds.
"""

from __future__ import annotations

from calibration.analytic import CREATED, LONGEST_TOKENS
from calibration.parts import copy_parts, model_parts
from simulator.costs.geometry import Geometry
from simulator.costs.profile import Profile, parse_profile

_US_PER_TOKEN = 1.0  # arbitrary: only ratios matter
_FASTEST_GBPS = 1e6  # makes copies negligible


def sizes_profile(geometry: Geometry, name: str, source: str) -> Profile:
    """Return the profile of a model's sizes. Its kind is "sizes"; its costs are token counts.

    Parameters
    ----------
    geometry
        The model.
    name
        Name of the profile.
    source
        Source of the sizes.
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
