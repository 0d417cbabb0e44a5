"""Admission policies: what is worth its bytes. Names are those of policy strings."""

from __future__ import annotations

from policies.admission.always import Always
from simulator.protocols import AdmissionPolicy

ADMISSION: dict[str, type[AdmissionPolicy]] = {
    "always": Always,
}
