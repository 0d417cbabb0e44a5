"""The fields of a cost profile, as its file has them. Standard library only.

Names follow the file: `_us` is microseconds, `gbps` is 10^9 bytes (not bits) a second.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

from simulator.base.decode import Matches, Within
from simulator.costs.kv_compression import KvCompression, slot_bytes, token_bytes
from simulator.costs.state_compression import StateCompression, spared_bytes
from simulator.costs.validation import Validation

Text = Annotated[str, Matches(r"[^\x00-\x1f]{1,4096}", "a text of 1 to 4096 characters")]
Name = Annotated[str, Matches(r"[\w.:=,+-]{1,200}", "a name of letters, digits and . : = , + - _")]
Scale = Annotated[str, Matches(r"whole|group x [1-9]\d{0,3}", "'whole' or 'group x 8'")]
Bytes = Annotated[int, Within(0, 2**60)]
Tokens = Annotated[int, Within(1, 2**40)]
Microseconds = Annotated[float, Within(0.0, 1e12)]
Positive = Annotated[float, Within(1e-9, 1e12)]


@dataclass(frozen=True, slots=True)
class Ceilings:
    """What the machine reaches at best: matrix products and copies on the device."""

    gemm_tflops: Positive | None = None
    d2d_gbps: Positive | None = None


@dataclass(frozen=True, slots=True)
class Hardware:
    """The machine; `memory` in bytes."""

    name: Text
    driver: Text | None = None
    memory: Bytes | None = None
    ceilings: Ceilings | None = None
    clocks: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True)
class Software:
    """Versions, the kernels that were bound, and how they were launched."""

    torch: Text | None = None
    transformers: Text | None = None
    kernels: Text | None = None
    mode: Literal["eager", "graph", "compiled"] | None = None


@dataclass(frozen=True, slots=True)
class ProfiledModel:
    """The model; `layer_types` counts its layers by kind, `scale` is "whole" or "group x k".

    `dtype` is the precision in which it ran.
    """

    name: Name
    config_sha256: Annotated[str, Matches("[0-9a-f]{64}", "64 hexadecimal digits")] | None = None
    layer_types: Mapping[str, Annotated[int, Within(0, 10_000)]] | None = None
    dimensions: Mapping[str, object] | None = None
    parameters: Annotated[int, Within(1, 10**15)] | None = None
    weights: Literal["random", "real"] | None = None
    dtype: Text | None = None
    scale: Scale = "whole"


@dataclass(frozen=True, slots=True)
class State:
    """A checkpoint: its bytes, and the multiple of tokens at which it can be written."""

    ssm_bytes: Bytes
    conv_bytes: Bytes
    bytes_per_checkpoint: Annotated[int, Within(1, 2**60)]
    alignment: Tokens = 1
    dtypes: Mapping[str, Text] | None = None


@dataclass(frozen=True, slots=True)
class Kv:
    """KV: bytes a token, and tokens a page (1: not paged)."""

    bytes_per_token: Bytes
    block_tokens: Tokens = 1
    dtype: Text | None = None


@dataclass(frozen=True, slots=True)
class CostTable:
    """F: microseconds `us` to prefill `n` tokens without context, the pair term taken out."""

    n: tuple[Tokens, ...]
    us: tuple[Annotated[float, Within(1e-6, 1e12)], ...]
    interpolation: Literal["linear"] = "linear"


@dataclass(frozen=True, slots=True)
class Valid:
    """The range that was measured: tokens prefilled, and tokens of context before them."""

    n_max: Tokens
    c_max: Annotated[int, Within(0, 2**40)]


@dataclass(frozen=True, slots=True)
class Draw:
    """What the coefficients might have been, had the points been measured again; `us` as in F."""

    us: tuple[Annotated[float, Within(1e-6, 1e12)], ...]
    e_us_per_pair: Annotated[float, Within(0.0, 1e6)]
    g_us_per_token: Annotated[float, Within(0.0, 1e6)] = 0.0


@dataclass(frozen=True, slots=True)
class Prefill:
    """t(c, n) = F(n) + e n (c + n/2) + g c, and the points that it was fitted to, if any.

    `c`, `n`, `median` and `quartiles` (first and third) have one entry a measured point; so has
    `fitted`, where it was not the median that was fitted (the minimum, on a shared machine).
    `draws` carry the uncertainty of the fit.
    """

    F: CostTable
    e_us_per_pair: Annotated[float, Within(0.0, 1e6)]
    valid: Valid
    g_us_per_token: Annotated[float, Within(0.0, 1e6)] = 0.0
    c: tuple[Annotated[int, Within(0, 2**40)], ...] | None = None
    n: tuple[Tokens, ...] | None = None
    median: tuple[Microseconds, ...] | None = None
    quartiles: tuple[tuple[Microseconds, ...], ...] | None = None
    fitted: tuple[Microseconds, ...] | None = None
    draws: tuple[Draw, ...] | None = None
    floor_eager_us: Microseconds | None = None
    floor_graph_us: Microseconds | None = None


@dataclass(frozen=True, slots=True)
class CheckpointCost:
    """What writing a checkpoint costs.

    `cut_overhead` is "prefill_table" where cutting the prefill costs what F says of the pieces,
    or microseconds a cut.
    """

    cut_overhead: Literal["prefill_table"] | Microseconds
    snapshot_us_per_mib: Annotated[float, Within(0.0, 1e6)]


@dataclass(frozen=True, slots=True)
class Link:
    """A way for bytes: they take latency + bytes / bandwidth."""

    latency_us: Microseconds
    gbps: Positive


@dataclass(frozen=True, slots=True)
class Io:
    """Copies within the device, to and from the host, and from disk."""

    d2d: Link
    d2h: Link | None = None
    h2d: Link | None = None
    disk: Link | None = None


@dataclass(frozen=True, slots=True)
class Exactness:
    """What the exactness gate found; a model that is further off has no profile.

    `kernels_max_abs` is the error with the kernels that ran, which may round in fp32 too.
    """

    fp32_max_abs: Annotated[float, Within(0.0, 1e-5)] | None = None
    bug_max_abs: Annotated[float, Within(0.0, 1e30)] | None = None
    kernels_max_abs: Annotated[float, Within(0.0, 1e30)] | None = None
    bf16_argmax_agreement: Annotated[float, Within(0.0, 1.0)] | None = None


@dataclass(frozen=True, slots=True)
class Profile:
    """A cost profile, as its file has it (`kind` says how far to trust it).

    `state` and `kv` are those of the model itself; `kv_compression` and `state_compression` say
    what a cache keeps.
    """

    schema_version: Literal[1]
    profile_id: Name
    kind: Literal["measured", "composed", "analytic", "toy", "sizes"]
    source: Text
    licence: Text
    created: Text
    hardware: Hardware
    model: ProfiledModel
    state: State
    kv: Kv
    prefill: Prefill
    checkpoint: CheckpointCost
    io: Io
    seed: Annotated[int, Within(0, 2**63)] | None = None
    software: Software | None = None
    batching: Mapping[str, object] | None = None
    decode: Mapping[str, object] | None = None
    validation: Validation | None = None
    exactness: Exactness | None = None
    kv_compression: KvCompression | None = None
    state_compression: StateCompression | None = None

    @property
    def state_bytes(self) -> int:
        """Bytes kept of one checkpoint, with the KV that a compressed prefix holds there."""
        state, spared = self.state, 0
        if self.state_compression is not None:
            parts = {"ssm": state.ssm_bytes, "conv": state.conv_bytes}
            spared = spared_bytes(self.state_compression, parts, state.dtypes)
        return state.bytes_per_checkpoint - spared + self.kv_slot_bytes

    @property
    def tells_times(self) -> bool:
        """Whether its prices are seconds; those of sizes alone are tokens, to weigh entries by."""
        return self.kind != "sizes"

    @property
    def lossy(self) -> str | None:
        """What a cache loses of KV and states, in words; None where it keeps both as they are."""
        kv, states = self.kv_compression, self.state_compression
        if kv is None and states is None:
            return None
        kv_text = "KV is exact" if kv is None else f"KV keeps {kv.described()}"
        return f"{kv_text}; states are {'exact' if states is None else states.described()}"

    @property
    def kv_slot_bytes(self) -> int:
        """KV bytes that each checkpoint holds; 0 unless a prefix keeps a constant budget."""
        if self.kv_compression is None:
            return 0
        return slot_bytes(self.kv_compression, self.kv.bytes_per_token, self.attention_layers)

    @property
    def kv_bytes_per_token(self) -> int:
        """KV bytes of one token; 0 where KV is held with checkpoints only."""
        if self.kv_compression is None:
            return self.kv.bytes_per_token
        if self.kv_compression.budget_tokens is not None:
            return 0
        return token_bytes(self.kv_compression, self.kv.bytes_per_token, self.attention_layers)

    @property
    def attention_layers(self) -> int | None:
        """Layers with KV, where the profile tells."""
        return (self.model.layer_types or {}).get("attention")

    @property
    def alignment(self) -> int:
        """Tokens: checkpoints lie at its multiples."""
        return self.state.alignment

    @property
    def page_tokens(self) -> int:
        """Tokens of a page of KV; 1 where KV is not paged."""
        return self.kv.block_tokens

    @property
    def valid_n_max(self) -> int:
        """Tokens of the longest prefill that the profile vouches for."""
        return self.prefill.valid.n_max

    @property
    def valid_c_max(self) -> int:
        """Tokens of the longest context before a prefill that the profile vouches for."""
        return self.prefill.valid.c_max
