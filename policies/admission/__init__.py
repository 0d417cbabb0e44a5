"""Admission policies: what may enter the cache. Names are those of policy strings."""

from __future__ import annotations

from policies.admission.always import Always
from policies.admission.base import BaseAdmission
from policies.admission.branch_only import BranchOnly
from policies.admission.never import Never
from policies.admission.probabilistic import Probabilistic
from policies.admission.second_sighting import SecondSighting
from policies.admission.size_aware import SizeAware
from policies.admission.tinylfu import TinyLfu
from policies.admission.unified import UnifiedAdmission
from policies.admission.value import ValueAdmission
from simulator.plugins.protocols import AdmissionPolicy

__all__ = ["ADMISSION", "BaseAdmission"]

ADMISSION: dict[str, type[AdmissionPolicy]] = {
    "always": Always,
    "never": Never,
    "second_sighting": SecondSighting,
    "size_aware": SizeAware,
    "probabilistic": Probabilistic,
    "tinylfu": TinyLfu,
    "branch_only": BranchOnly,
    "unified": UnifiedAdmission,
    "value": ValueAdmission,
}
