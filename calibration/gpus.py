"""Data sheet figures of GPUs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gpu:
    """Data sheet figures of a GPU.

    Parameters
    ----------
    name, full_name
        Short name in profile names, and full name.
    dense_tflops
        Peak of bf16 matrix products with fp32 accumulation, without sparsity.
    memory_gbps, memory_bytes
        Memory bandwidth in 10^9 bytes per second, and size.
    data_sheet
        Source of the figures.
    """

    name: str
    full_name: str
    dense_tflops: float
    memory_gbps: float
    memory_bytes: int
    data_sheet: str


_GB = 10**9
_ALL = (
    Gpu(
        "h200",
        "NVIDIA H200 SXM",
        989.5,
        4800,
        141 * _GB,
        "NVIDIA H200 Tensor Core GPU datasheet (1,979 TFLOPS with sparsity)",
    ),
    Gpu(
        "h100",
        "NVIDIA H100 SXM",
        989.5,
        3350,
        80 * _GB,
        "NVIDIA H100 Tensor Core GPU datasheet (1,979 TFLOPS with sparsity)",
    ),
    Gpu(
        "a100",
        "NVIDIA A100 80GB SXM",
        312,
        2039,
        80 * _GB,
        "NVIDIA A100 Tensor Core GPU datasheet",
    ),
    Gpu("l40s", "NVIDIA L40S", 362.05, 864, 48 * _GB, "NVIDIA L40S GPU datasheet"),
    Gpu(
        "rtx4090",
        "NVIDIA GeForce RTX 4090",
        165.2,
        1008,
        24 * _GB,
        "NVIDIA Ada GPU Architecture whitepaper, appendix A",
    ),
    Gpu(
        "mi300x",
        "AMD Instinct MI300X",
        1307.4,
        5300,
        192 * _GB,
        "AMD Instinct MI300X Accelerator data sheet",
    ),
)
GPUS: dict[str, Gpu] = {gpu.name: gpu for gpu in _ALL}
