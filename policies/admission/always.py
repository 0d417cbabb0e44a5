"""Admission of everything."""

from __future__ import annotations

from typing import ClassVar

from policies.admission.base import BaseAdmission


class Always(BaseAdmission):
    """Admit every KV span and every checkpoint that fits.

    Source: none; what a cache without an admission policy does.

    Examples
    --------
    >>> from policies.tryout import serve
    >>> serve(["abcd", "abxy"], admission="always").states
    ['abcd', 'abxy']
    >>> serve(["abcd", "pqrs"], admission="always", capacity_bytes=5).kv  # the first has left
    ['pqrs']
    """

    always: ClassVar[bool] = True
