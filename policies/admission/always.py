"""Admit everything."""

from __future__ import annotations

from typing import ClassVar

from policies.admission.base import BaseAdmission


class Always(BaseAdmission):
    """Admit every KV span and every checkpoint that fits.

    Source: none; what a cache without an admission policy does.
    """

    always: ClassVar[bool] = True
