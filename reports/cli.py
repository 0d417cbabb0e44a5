"""The command line: `milepost`. Every exit code is decided in `main`.

0    fine                       4    some cells failed
1    a bug                      99   a target was missed
2    usage or configuration     130  interrupted
3    bad data
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from io import TextIOWrapper
from typing import Annotated, Any

import typer

from reports.commands.again import TYPED
from reports.commands.calibrate import CalibrateCommand
from reports.commands.capacity import CapacityCommand
from reports.commands.compare import CompareCommand
from reports.commands.declared import CommandClass, command
from reports.commands.doctor import DoctorCommand
from reports.commands.drift import DriftCommand
from reports.commands.new import NewCommand
from reports.commands.objects import ObjectsCommand
from reports.commands.place import PlaceCommand
from reports.commands.policies import PoliciesCommand
from reports.commands.profiles import ProfilesCommand
from reports.commands.prototype import PrototypeCommand
from reports.commands.report import ReportAgainCommand
from reports.commands.run import RunCommand
from reports.commands.sweep import SweepCommand
from reports.commands.trace import app as trace
from reports.console import say
from reports.interrupts import INTERRUPTED, interruptible
from reports.version import version
from simulator.base.errors import MilepostError, SettingError, UsageError, did_you_mean, printable

COMPLETING = "_MILEPOST_COMPLETE"
BUG, USAGE = 1, 2

app = typer.Typer(
    name="milepost",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
COMMANDS: dict[str, tuple[type[CommandClass], str] | typer.Typer] = {
    "run": (RunCommand, "Replay a workload through one cache."),
    "sweep": (SweepCommand, "Run a study's grid; write tables and a page."),
    "capacity": (CapacityCommand, "Find the least memory that meets a target."),
    "new": (NewCommand, "Write a commented study to begin with."),
    "compare": (CompareCommand, "Compare two runs or two sweeps."),
    "drift": (DriftCommand, "Follow a law of overlaps that moves."),
    "report": (ReportAgainCommand, "Write a sweep's page again, or its images."),
    "place": (PlaceCommand, "Place checkpoints for a law of overlap depths."),
    "objects": (ObjectsCommand, "Replay a flat stream of sized objects."),
    "policies": (PoliciesCommand, "List policies, or show one."),
    "profiles": (ProfilesCommand, "List cost profiles, or show one."),
    "trace": trace,
    "calibrate": (CalibrateCommand, "Measure a model here; write its cost profile."),
    "prototype": (PrototypeCommand, "Serve a trace through a real model; compare times."),
    "doctor": (DoctorCommand, "Say what is installed and what is missing."),
}
for name, each in COMMANDS.items():
    if isinstance(each, typer.Typer):
        app.add_typer(each, name=name)
    else:
        app.command(name, short_help=each[1])(command(each[0]))


@app.command("help", short_help="Show the help of a command.")
def show_help(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="[COMMAND]...", help="As in: trace inspect.")
    ] = None,
) -> None:
    """Show the help of a command, as --help behind it does."""
    group, names = typer.main.get_command(app), list[str]()
    for word in words or ():
        known = getattr(group, "commands", {})
        name = word.lower()
        if name not in known:
            hint = did_you_mean(name, list(known)) if known else f"; {names[-1]} has none"
            raise UsageError(f"help: unknown command '{printable(word, 40)}'{hint}")
        group, names = known[name], [*names, name]
    _invoke([*names, "--help"])


@app.callback(invoke_without_command=True)
def _milepost(
    context: typer.Context,
    show_version: Annotated[
        bool, typer.Option("--version", "-V", help="Print the version.")
    ] = False,
) -> None:
    """Where should recurrent state be checkpointed? Replay a trace and see."""
    if show_version:
        print(f"milepost {version()}")
    elif context.invoked_subcommand is None:
        print(context.get_help())


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    _prepare_streams()
    if COMPLETING in os.environ:  # the shell asks what may come next
        typer.main.get_command(app).main(args=[], prog_name="milepost")
    code = exit_code(lambda: _invoke(sys.argv[1:] if arguments is None else list(arguments)))
    sys.exit(_flush(code))


def exit_code(action: Callable[[], Any]) -> int:
    """Run `action`; report what goes wrong in one line on stderr and return the exit code."""
    code = 0
    try:
        action()
    except typer.Exit as ended:
        code = ended.exit_code
    except SystemExit as ended:  # of the flags that install or show completion
        code = _own_fault(ended) or (USAGE if ended.code else 0)
    except MilepostError as error:
        say(f"error: {_message(error)}")
        code = error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        say("interrupted")
        code = INTERRUPTED
    except OSError as error:
        code = _own_fault(error) or _report_system(error)
    except Exception as error:
        code = _report_unexpected(error)
    return code


def _prepare_streams() -> None:
    """Make stdout and stderr take whatever is printed, also where the caller closed them."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w"))  # noqa: PTH123, SIM115  (stays open)
        elif isinstance(stream, TextIOWrapper):  # a name that it cannot show is no bug
            stream.reconfigure(errors="backslashreplace")


def _invoke(arguments: list[str]) -> None:
    TYPED.set(tuple(arguments))
    with interruptible():
        command = typer.main.get_command(app)
        with command.make_context("milepost", arguments) as context:
            command.invoke(context)


def _message(error: MilepostError) -> str:
    """Return the message of an error; a setting not from a study file is named as its flag."""
    if isinstance(error, SettingError) and "." not in error.name:
        return f"--{error.name.replace('_', '-')}: {error.problem}"
    return str(error)


def _report_system(error: OSError) -> int:
    """Report an error of the operating system; a closed output pipe is none."""
    if isinstance(error, BrokenPipeError):
        sys.stdout = open(os.devnull, "w")  # noqa: PTH123, SIM115  (stays open until the end)
        return 0
    where = f"{error.filename}: " if error.filename else ""
    say(f"error: {where}{error.strerror or error}")
    return USAGE


def _own_fault(error: BaseException) -> int:
    """Report an error in a user-defined policy, with file and line; 0 if it is none."""
    from policies.own import fault_of

    fault = fault_of(error)
    if fault is None:
        return 0
    say(f"error: {fault}")
    return USAGE


def _report_unexpected(error: Exception) -> int:
    """Report an unexpected error: a wrong flag, raised in typer's own classes, or a bug."""
    message = getattr(error, "format_message", None)
    if message is not None:
        say(f"error: {_in_our_words(message())} (see --help)")
        return USAGE
    if os.environ.get("MILEPOST_DEBUG"):
        raise error
    from policies.own import in_use

    if code := _own_fault(error):
        return code
    own = ", ".join(in_use())
    whose = (
        f"a bug in milepost, or in what your policy {own} returned" if own else "a bug in milepost"
    )
    say(f"error: this is {whose}: {type(error).__name__}: {error} (MILEPOST_DEBUG=1 shows where)")
    return BUG


def _in_our_words(message: str) -> str:
    """Return a message of typer's validation in the words of all others."""
    message = message.replace("Value error, ", "").replace("Input should be", "expected")
    return message.partition(", unable to parse")[0].rstrip(".")


def _flush(code: int) -> int:
    """Flush stdout here, where a closed pipe or a full disk can still be told."""
    flushed = exit_code(sys.stdout.flush)
    if flushed or code:
        return code or flushed
    return 0
