"""Policies by the rules of libCacheSim 0.3.5, where these differ from the papers.

They hit and miss on the same requests as that program, so that the code which they share with the
policies of the papers is validated against it. They are for flat object mode only:
`milepost objects --policy s3fifo:rules=libcachesim`.
"""

from __future__ import annotations

from policies.objects.libcachesim.lirs import LibLirs
from policies.objects.libcachesim.variants import LibArc, LibS3Fifo, LibSlru, LibTwoQ

__all__ = ["RULES", "LibArc", "LibLirs", "LibS3Fifo", "LibSlru", "LibTwoQ", "spelled_out"]

RULES = {"slru": LibSlru, "two_q": LibTwoQ, "arc": LibArc, "lirs": LibLirs, "s3fifo": LibS3Fifo}
_ASKED = "rules=libcachesim"


def spelled_out(spec: str) -> str:
    """Return a policy string with the class that `rules=libcachesim` selects, if it is there.

    "slru:rules=libcachesim,segments=8" is "policies.objects.libcachesim:LibSlru:segments=8".
    """
    name, _, rest = spec.strip().partition(":")
    parameters = [part.strip() for part in rest.split(",")]
    if name not in RULES or _ASKED not in parameters:
        return spec
    parameters.remove(_ASKED)
    return f"{__name__}:{RULES[name].__name__}:{','.join(parameters)}"
