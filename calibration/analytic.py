"""Analytic cost profiles: roofline estimates from FLOPs and bandwidth, without measurements."""

from __future__ import annotations

from calibration.gpus import GPUS, Gpu
from calibration.parts import copy_parts, model_parts
from simulator.base.errors import UsageError, did_you_mean
from simulator.costs.geometry import Geometry, find_model
from simulator.costs.profile import Profile, parse_profile

# Fractions of data sheet peaks that kernels reach, and the time of a layer's many small kernels,
# which neither bound covers. They are derived from the composed H200 profiles: the 9B reaches 66 %
# and 63 % of the peak in matrices and attention at 8,192 tokens, and the minimum pass times of the
# 0.8B, 2B and 9B (1.25, 1.70 and 4.90 ms) are met within 20 % by the other two constants. A copy,
# which reads and writes, reaches 90 % of the bandwidth.
MATRIX_SHARE = 0.66
ATTENTION_SHARE = 0.63
WEIGHTS_SHARE = 0.78
LAYER_US = 35.0
COPY_SHARE = 0.9

WEIGHT_BYTES = 2  # bf16
WEIGHTS_OF_MEMORY = 0.9
MOST_GPUS = 64
CREATED = "2026-11-30"
LONGEST_TOKENS = 262_144  # maximum context of these models

# Dense around the bend where the larger of the two bounds changes.
_SMALL_N = (1, 16, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 384, 448, 512, 640, 768)
_TABLE_N = (*_SMALL_N, *(1024 * 2**power for power in range(9)))


def analytic_profile(model: str, gpu: str = "h200", count: int | None = None) -> Profile:
    """Return the roofline profile of a model on one or more GPUs.

    The table entry F(n) is the larger of (1) the time to read the weights and to read and write one
    state and (2) the compute time of n tokens without attention scores, plus 35 us per layer. The
    coefficient e is the time of the FLOPs of one pair of query and context token. For a mixture of
    experts, (1) counts the expected number of distinct experts that n tokens use if each token
    picks its experts at random: experts (1 - (1 - active / experts)^n). Embeddings, output head and
    kernel launches are not included.

    Compared with the composed profiles, the estimates are 0.75 to 1.10 times as long for the 9B,
    0.75 to 0.89 for the 2B and 0.61 to 0.83 for the 0.8B, whose small matrices do not fill an H200.

    Parameters
    ----------
    model
        A name in `simulator.costs.geometry.MODELS` with known FLOPs.
    gpu
        A name in `calibration.gpus.GPUS`.
    count
        Number of GPUs that share every layer (communication is not included); None for the smallest
        power of two whose memory holds the weights.

    Raises
    ------
    UsageError
        If the model or the GPU is unknown, or the weights do not fit.
    """
    if gpu not in GPUS:
        raise UsageError(f"unknown GPU '{gpu}'{did_you_mean(gpu, sorted(GPUS))}")
    geometry, device = find_model(model), GPUS[gpu]
    explicit = "" if count is None else f",count={count}"
    count = _gpus_needed(geometry, device) if count is None else count
    _check_fit(geometry, device, count)
    name = f"analytic:model={model},gpu={gpu}{explicit}"
    own_us = [_own_us(geometry, device, count, n) for n in _TABLE_N]
    data = {
        "schema_version": 1,
        "profile_id": name,
        "kind": "analytic",
        "source": _source(device, count),
        "licence": "Apache-2.0",
        "created": CREATED,
        "hardware": _hardware(device, count),
        **model_parts(geometry),
        "prefill": {
            "F": {
                "n": list(_TABLE_N),
                "us": own_us,
            },
            "e_us_per_pair": geometry.pair_flops / (_flops_per_us(device, count) * ATTENTION_SHARE),
            "valid": {"n_max": LONGEST_TOKENS, "c_max": LONGEST_TOKENS},
        },
        **copy_parts(device.memory_gbps * COPY_SHARE / 2 * count),
    }
    return parse_profile(data, name)


def _own_us(geometry: Geometry, gpu: Gpu, count: int, tokens: int) -> float:
    """Return the time F(n) of a prefill of n tokens without attention scores, in microseconds."""
    weights = WEIGHT_BYTES * geometry.touched_parameters(_experts_touched(geometry, tokens))
    moved_bytes = weights + 2 * geometry.state_bytes
    memory_us = moved_bytes / (gpu.memory_gbps * 1e3 * count * WEIGHTS_SHARE)
    flops = geometry.linear_flops_per_token * tokens
    compute_us = flops / (_flops_per_us(gpu, count) * MATRIX_SHARE)
    layers = geometry.recurrent.layers + geometry.attention.layers
    return round(max(memory_us, compute_us) + LAYER_US * layers, 3)


def _experts_touched(geometry: Geometry, tokens: int) -> float:
    """Return the expected number of experts per layer used by at least one of `tokens`."""
    block = geometry.feed_forward
    if block is None or not block.experts:
        return 0.0
    return float(block.experts * (1.0 - (1.0 - block.active / block.experts) ** tokens))


def _flops_per_us(gpu: Gpu, count: int) -> float:
    """Return the peak rate of `count` GPUs in FLOPs per microsecond."""
    return gpu.dense_tflops * 1e6 * count


def _gpus_needed(geometry: Geometry, gpu: Gpu) -> int:
    """Return the smallest power of two of GPUs whose memory holds the model's weights."""
    count = 1
    while not _fits(geometry, gpu, count) and count < MOST_GPUS:
        count *= 2
    return count


def _fits(geometry: Geometry, gpu: Gpu, count: int) -> bool:
    """Tell whether the model's weights take at most 90 % of the memory of `count` GPUs."""
    weights = WEIGHT_BYTES * geometry.parameters
    return weights <= WEIGHTS_OF_MEMORY * gpu.memory_bytes * count


def _check_fit(geometry: Geometry, gpu: Gpu, count: int) -> None:
    """Raise UsageError if the number of GPUs is out of range or the weights do not fit."""
    if not 1 <= count <= MOST_GPUS:
        raise UsageError(f"count: expected 1 to {MOST_GPUS} GPUs, found {count}")
    if not _fits(geometry, gpu, count):
        weights_gb = WEIGHT_BYTES * geometry.parameters / 1e9
        raise UsageError(
            f"model '{geometry.name}' does not fit {count} x {gpu.full_name}: its weights take "
            f"{weights_gb:.0f} GB in bf16, and {WEIGHTS_OF_MEMORY:.0%} of the memory is "
            f"{WEIGHTS_OF_MEMORY * gpu.memory_bytes * count / 1e9:.0f} GB"
        )


def _hardware(gpu: Gpu, count: int) -> dict[str, object]:
    """Return the profile's field `hardware`."""
    name = gpu.full_name if count == 1 else f"{count} x {gpu.full_name}"
    return {"name": name, "memory": gpu.memory_bytes * count}


def _source(gpu: Gpu, count: int) -> str:
    """Return the profile's field `source`, which describes the assumptions."""
    shares = (
        f"{MATRIX_SHARE:.0%} of the peak in matrices, {ATTENTION_SHARE:.0%} in attention, "
        f"{WEIGHTS_SHARE:.0%} of the bandwidth, {LAYER_US:g} us a layer"
    )
    shared = f"; {count} GPUs share every layer, communication not counted" if count > 1 else ""
    return f"roofline over {gpu.data_sheet}: {shares}{shared}"
