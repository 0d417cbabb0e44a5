"""Find a profile by its name: shipped, analytic, of sizes alone, or a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from calibration.analytic import analytic_profile
from calibration.model_config import config_geometry
from calibration.options import LOSSY_KEYS, compressed, read_options, split_options
from calibration.sizes import sizes_profile
from simulator.base.errors import DataError, UsageError, did_you_mean, printable
from simulator.costs.geometry import MODELS, find_model
from simulator.costs.profile import Profile, load_profile

ANALYTIC, SIZES = "analytic", "sizes"
_FOLDER = Path(__file__).parent / "profiles"
_PARAMETERS = ["model", "gpu", "count", *LOSSY_KEYS]
_PICKLES = (".pkl", ".pickle", ".pt", ".pth", ".bin")


@dataclass(frozen=True, slots=True)
class ProfileRow:
    """What a list of profiles says of one."""

    name: str
    kind: str
    source: str
    hardware: str
    valid_n_max: int
    valid_c_max: int
    state_bytes: int
    kv_bytes_per_token: int
    alignment: int
    kv_compression: str | None = None
    state_compression: str | None = None


def profile_names() -> list[str]:
    """Return the names of the shipped profiles."""
    return sorted(path.stem for path in _FOLDER.glob("*.json"))


def open_profile(name: str) -> Profile:
    """Return the profile of this name.

    Parameters
    ----------
    name
        A shipped one ("qwen3.5-9b-h200"), "analytic:model=qwen3.5-27b,gpu=h200",
        "sizes:model=nemotron-3-super-120b" or "sizes:config=FOLDER/config.json" for bytes without
        times, or the path of a JSON file. Behind it, how its KV and states are compressed
        (`compressed`):
        "qwen3.5-9b-h200:kv=fp8,state=int8", "mine.json:kv_budget=4096..512",
        "analytic:model=qwen3.5-27b,kv=0.3".

    Raises
    ------
    UsageError
        If there is none of this name.
    DataError
        If it is a file that holds no valid profile.
    """
    kind, _, parameters = name.partition(":")
    if kind == ANALYTIC:
        return _open_analytic(parameters)
    if kind == SIZES:
        return _open_sizes(parameters)
    bare, options = split_options(name)
    profile = _open_bare(bare)
    return compressed(profile, read_options(options, LOSSY_KEYS, bare))


def profile_file(name: str) -> str | None:
    """Return the path in a profile's name, with which it changes; None where there is none."""
    kind, _, parameters = name.partition(":")
    if kind == SIZES:
        config = next((p for p in parameters.split(",") if p.strip().startswith("config=")), None)
        return None if config is None else config.partition("=")[2].strip()
    bare = split_options(name)[0]
    return bare if kind != ANALYTIC and _looks_like_path(bare) else None


def _open_bare(name: str) -> Profile:
    """Return a shipped profile or that of a file."""
    if name in profile_names():
        return load_profile(_FOLDER / f"{name}.json")
    if name.endswith(_PICKLES):
        problem = "a pickle, which may run anything when opened: expected a profile in JSON"
        raise DataError(name, problem)
    if _looks_like_path(name):
        return load_profile(name)
    known = [*profile_names(), *_analytic_names(), *_sizes_names()]
    raise UsageError(
        f"unknown profile '{printable(name)}'{did_you_mean(name, known)}"
        f" (or the path of a JSON file)"
    )


def describe_profiles() -> list[ProfileRow]:
    """Return a row for every shipped profile, every analytic one on the default GPU, all sizes."""
    names = [*profile_names(), *_analytic_names(), *_sizes_names()]
    return [describe_profile(name, open_profile(name)) for name in names]


def describe_profile(name: str, profile: Profile) -> ProfileRow:
    """Return the row of a profile."""
    compression, states = profile.kv_compression, profile.state_compression
    return ProfileRow(
        name=name,
        kind=profile.kind,
        source=profile.source,
        hardware=profile.hardware.name,
        valid_n_max=profile.valid_n_max,
        valid_c_max=profile.valid_c_max,
        state_bytes=profile.state_bytes,
        kv_bytes_per_token=profile.kv_bytes_per_token,
        alignment=profile.alignment,
        kv_compression=compression.described() if compression else None,
        state_compression=states.described() if states else None,
    )


def _analytic_names() -> list[str]:
    """Return the analytic profiles of all models whose FLOPs are known."""
    known = [name for name, geometry in MODELS.items() if geometry.feed_forward is not None]
    return [f"{ANALYTIC}:model={name},gpu=h200" for name in known]


def _sizes_names() -> list[str]:
    """Return the profiles of sizes of all models of which no times can be told."""
    return [f"{SIZES}:model={name}" for name, model in MODELS.items() if model.feed_forward is None]


def _looks_like_path(name: str) -> bool:
    """Say whether a name was meant as a path."""
    return name.endswith(".json") or "/" in name or "\\" in name


def _open_analytic(parameters: str) -> Profile:
    """Return the analytic profile of "model=...,gpu=...,count=...,kv=..."."""
    values = read_options(parameters, _PARAMETERS, ANALYTIC)
    if "model" not in values:
        raise UsageError("profile 'analytic': expected a model, as in analytic:model=qwen3.5-27b")
    count = _whole(values["count"]) if "count" in values else None
    profile = analytic_profile(values["model"], values.get("gpu", "h200"), count)
    return compressed(profile, values)


def _open_sizes(parameters: str) -> Profile:
    """Return the profile of "model=..." or "config=...", perhaps with compressed KV or states."""
    values = read_options(parameters, ["model", "config", *LOSSY_KEYS], SIZES)
    if ("model" in values) == ("config" in values):
        raise UsageError(
            "profile 'sizes': expected a model, as in sizes:model=jamba-v0.1, or the path of its "
            "configuration, as in sizes:config=config.json"
        )
    if "model" in values:
        geometry, source = find_model(values["model"]), "the model's published configuration"
    else:
        geometry, source = config_geometry(values["config"]), printable(values["config"], 200)
    how = "model" if "model" in values else "config"
    return compressed(sizes_profile(geometry, f"{SIZES}:{how}={geometry.name}", source), values)


def _whole(text: str) -> int:
    """Return a small whole number."""
    if not (text.isascii() and text.isdigit() and len(text) <= 3):
        raise UsageError(f"count: expected a whole number of GPUs, found '{printable(text)}'")
    return int(text)
