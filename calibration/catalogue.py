"""Opens cost profiles by name: shipped, analytic, sizes only, or from a file."""

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
    """A row of `milepost profiles`: the main figures of one cost profile."""

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
    """Open a profile by name.

    Parameters
    ----------
    name
        A shipped profile ("qwen3.5-9b-h200"), "analytic:model=qwen3.5-27b,gpu=h200",
        "sizes:model=nemotron-3-super-120b" or "sizes:config=FOLDER/config.json" for sizes without
        times, or the path of a JSON file. Options for compressed KV and states may follow:
        "qwen3.5-9b-h200:kv=fp8,state=int8", "mine.json:kv_budget=4096..512",
        "analytic:model=qwen3.5-27b,kv=0.3" (see `compressed`).

    Raises
    ------
    UsageError
        If there is no profile of this name.
    DataError
        If the file holds no valid profile.
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
    """Return the path of the file that a profile's name refers to, or None."""
    kind, _, parameters = name.partition(":")
    if kind == SIZES:
        config = next((p for p in parameters.split(",") if p.strip().startswith("config=")), None)
        return None if config is None else config.partition("=")[2].strip()
    bare = split_options(name)[0]
    return bare if kind != ANALYTIC and _looks_like_path(bare) else None


def _open_bare(name: str) -> Profile:
    """Open a shipped profile or a file."""
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
    """Return a row for every shipped profile, analytic model (on the default GPU) and sizes."""
    names = [*profile_names(), *_analytic_names(), *_sizes_names()]
    return [describe_profile(name, open_profile(name)) for name in names]


def describe_profile(name: str, profile: Profile) -> ProfileRow:
    """Return the main figures of a profile as a row."""
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
    """Return the names of analytic profiles, for all models with known FLOPs."""
    known = [name for name, geometry in MODELS.items() if geometry.feed_forward is not None]
    return [f"{ANALYTIC}:model={name},gpu=h200" for name in known]


def _sizes_names() -> list[str]:
    """Return the names of sizes profiles, for all models without known FLOPs."""
    return [f"{SIZES}:model={name}" for name, model in MODELS.items() if model.feed_forward is None]


def _looks_like_path(name: str) -> bool:
    """Tell whether a name is meant as a path."""
    return name.endswith(".json") or "/" in name or "\\" in name


def _open_analytic(parameters: str) -> Profile:
    """Open the analytic profile with parameters "model=...,gpu=...,count=...,kv=..."."""
    values = read_options(parameters, _PARAMETERS, ANALYTIC)
    if "model" not in values:
        raise UsageError("profile 'analytic': expected a model, as in analytic:model=qwen3.5-27b")
    count = _whole(values["count"]) if "count" in values else None
    profile = analytic_profile(values["model"], values.get("gpu", "h200"), count)
    return compressed(profile, values)


def _open_sizes(parameters: str) -> Profile:
    """Open the sizes profile of "model=..." or "config=...", followed by compression options."""
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
    """Parse a number of GPUs of at most three digits."""
    if not (text.isascii() and text.isdigit() and len(text) <= 3):
        raise UsageError(f"count: expected a whole number of GPUs, found '{printable(text)}'")
    return int(text)
