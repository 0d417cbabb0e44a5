"""Plug-ins that users bring (module:Class): errors that they cause, hooks that nobody calls."""

from __future__ import annotations

import inspect
import sys
import traceback
from difflib import get_close_matches
from pathlib import Path

from simulator.base.errors import printable

_HOME = Path(__file__).resolve().parent.parent
_HOUSE = tuple(str(_HOME / room) for room in ("simulator", "policies", "workloads", "reports"))
_names: dict[str, str] = {}  # names of plug-ins, by the file of their class

# Hooks of base classes, which are called only where a class derives from the base.
_HOOKS_OF_BASES = {
    "first_rank": "policies.eviction.ranked.Ranked",
    "rank": "policies.eviction.ranked.Ranked, as first_rank",
}


def remember(name: str, plugin: type) -> None:
    """Remember a class as a plug-in of the user, by the string that names it."""
    file = _file_of(plugin)
    if file is not None and not file.startswith(_HOUSE):
        _names[file] = name


def fault_of(error: BaseException) -> str | None:
    """Return a message that names the user's plug-in which raised an error, with file and line.

    None where no plug-in of the user was involved. Of the calls that led to the error the
    innermost in the file of a plug-in counts.
    """
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        name = _names.get(str(Path(frame.filename).resolve()))
        if name is not None:
            what = printable(f"{type(error).__name__}: {error}", 300)
            place = f"{printable(frame.filename)}:{frame.lineno}, in {printable(frame.name)}"
            return f"your policy '{printable(name)}' failed: {what} ({place})"
    return None


def in_use() -> list[str]:
    """Return the names of the user's plug-ins that were created so far."""
    return sorted(_names.values())


def doubts(plugin: type, promised: list[str]) -> list[str]:
    """Return a sentence for each method of the user's class that looks like a hook and is none.

    Parameters
    ----------
    plugin
        The class.
    promised
        The names of the members of the protocol of its kind.
    """
    own = [base for base in plugin.__mro__ if _is_own(base)]
    inherited = {name for base in plugin.__mro__ if not _is_own(base) for name in vars(base)}
    known = {*promised, *inherited}
    names = dict.fromkeys(name for base in own for name in vars(base))
    sentences = []
    for name in names:
        if name.startswith("_") or name in known or not _is_method(plugin, name):
            continue
        close = get_close_matches(name, sorted(known), n=1, cutoff=0.8)
        if name in _HOOKS_OF_BASES:
            sentences.append(f"'{name}' is never called: it is a hook of {_HOOKS_OF_BASES[name]}")
        elif close or name.startswith("on_"):
            hint = f"; did you mean '{close[0]}'?" if close else ""
            sentences.append(f"'{name}' is never called: no hook is named so{hint}")
    if "observe" in names and not _observes(plugin, own):
        sentences.append("'observe' is never called: the class does not say observes = True")
    return sentences


def _observes(plugin: type, own: list[type]) -> bool:
    """Say whether a class sets `observes`, or any of its own methods refers to it."""
    code = (getattr(each, "__code__", None) for base in own for each in vars(base).values())
    return bool(inspect.getattr_static(plugin, "observes", False)) or any(
        "observes" in each.co_names for each in code if each is not None
    )


def _is_own(base: type) -> bool:
    file = _file_of(base)
    return file is not None and not file.startswith(_HOUSE) and base.__module__ != "abc"


def _is_method(plugin: type, name: str) -> bool:
    return callable(inspect.getattr_static(plugin, name, None))


def _file_of(plugin: type) -> str | None:
    module = sys.modules.get(plugin.__module__)
    file = getattr(module, "__file__", None)
    return None if file is None else str(Path(file).resolve())
