"""Optimised kernels of a model: which are in use, and how to run without them.

transformers wraps each replaceable function in a closure that holds the chosen implementation and
the torch one. On a GPU the exactness check needs the torch one, since some kernels round to TF32
even in fp32.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_BOUND, _TORCH, _OTHER, _TAKEN = (
    "implementation",
    "torch_function",
    "is_new_implementation",
    "applicable_params",
)


def bound_kernels(module: Any) -> list[str]:
    """Return the Python modules of the optimised kernels that a model uses; empty if none."""
    modules = {
        str(cells[_BOUND].cell_contents.__module__)
        for cells in _wrappers(module)
        if cells[_BOUND].cell_contents is not cells[_TORCH].cell_contents
    }
    return sorted(modules)


@contextmanager
def without_kernels(module: Any) -> Iterator[None]:
    """Run a model in plain torch inside the `with` block."""
    swapped = [(cells, _contents(cells)) for cells in _wrappers(module)]
    try:
        for cells, before in swapped:
            _set(cells, _in_torch(before[_TORCH]))
        yield
    finally:
        for cells, before in swapped:
            _set(cells, before)


def _wrappers(module: Any) -> list[dict[str, Any]]:
    """Return the closure cells of each wrapper in the modules of a model's layers."""
    files = {type(layer).__module__ for layer in module.modules()}
    functions = {
        id(function): function
        for name in sorted(files)
        for function in vars(sys.modules[name]).values()
        if inspect.isfunction(function) and function.__closure__ is not None
    }
    held = (
        dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        for function in functions.values()
    )
    return [cells for cells in held if {_BOUND, _TORCH, _OTHER, _TAKEN} <= cells.keys()]


def _contents(cells: dict[str, Any]) -> dict[str, Any]:
    """Return the contents of a wrapper's closure cells."""
    return {name: cells[name].cell_contents for name in (_BOUND, _TORCH, _OTHER, _TAKEN)}


def _in_torch(function: Any) -> dict[str, Any]:
    """Return what a wrapper's closure cells hold if the torch implementation is used."""
    return {_BOUND: function, _OTHER: False, _TAKEN: tuple(inspect.signature(function).parameters)}


def _set(cells: dict[str, Any], contents: dict[str, Any]) -> None:
    """Set the contents of a wrapper's closure cells."""
    for name, value in contents.items():
        cells[name].cell_contents = value
