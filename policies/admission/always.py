"""Admit everything."""

from __future__ import annotations

from typing import ClassVar

from policies.admission.base import BaseAdmission


class Always(BaseAdmission):
    """Admit every KV run and every checkpoint that fits."""

    always: ClassVar[bool] = True
