"""Model geometry, from which state bytes, KV bytes and FLOPs are computed.

Uses the standard library only. The formulas hold for Gated DeltaNet, KDA, Mamba-1 and Mamba-2,
which differ in names only. A Mamba-2 with g groups, h heads of p channels and N states has g key
heads of dimension N and h value heads of dimension p. Mamba-1 convolves its inner channels only,
so it has no key heads.
"""

from __future__ import annotations

from dataclasses import dataclass

from simulator.base.errors import UsageError, did_you_mean


@dataclass(frozen=True, slots=True)
class RecurrentLayers:
    """The recurrent layers of a model, all of one shape.

    Parameters
    ----------
    layers
        Number of layers.
    key_heads, key_dim, value_heads, value_dim
        Heads and dimensions. The state of a layer is `value_heads` matrices of shape
        (`key_dim`, `value_dim`).
    kernel
        Width of the short convolution; its last `kernel - 1` inputs are part of the state.
    ssm_dtype_bytes, conv_dtype_bytes
        Bytes per number of the state matrices and of the convolution inputs.
    chunk
        Tokens per chunk of the chunked scan; states at its multiples come at no cost.
    """

    layers: int
    key_heads: int
    value_heads: int
    key_dim: int = 128
    value_dim: int = 128
    kernel: int = 4
    ssm_dtype_bytes: int = 4
    conv_dtype_bytes: int = 2
    chunk: int = 64

    @property
    def conv_channels(self) -> int:
        """Channels of the short convolution of one layer."""
        return 2 * self.key_heads * self.key_dim + self.value_heads * self.value_dim

    @property
    def ssm_bytes(self) -> int:
        """Bytes of the state matrices of all layers."""
        elements = self.value_heads * self.key_dim * self.value_dim
        return self.layers * elements * self.ssm_dtype_bytes

    @property
    def conv_bytes(self) -> int:
        """Bytes of the stored convolution inputs of all layers."""
        return self.layers * self.conv_channels * (self.kernel - 1) * self.conv_dtype_bytes


@dataclass(frozen=True, slots=True)
class AttentionLayers:
    """The attention layers of a model, all of one shape.

    Parameters
    ----------
    layers, heads, kv_heads, head_dim
        As in the model's configuration; `heads` is 0 if only sizes are known.
    latent_dim
        Numbers stored per token and layer by latent attention in place of keys and values; 0 if the
        attention is not latent.
    dtype_bytes
        Bytes per number.
    """

    layers: int
    heads: int
    kv_heads: int
    head_dim: int = 256
    latent_dim: int = 0
    dtype_bytes: int = 2

    @property
    def kv_bytes_per_token(self) -> int:
        """KV bytes of one token, all layers."""
        elements = self.latent_dim or 2 * self.kv_heads * self.head_dim
        return self.layers * elements * self.dtype_bytes

    @property
    def pair_flops(self) -> int:
        """FLOPs of one pair of query token and context token, all layers."""
        return self.layers * 4 * self.heads * self.head_dim


@dataclass(frozen=True, slots=True)
class FeedForward:
    """The gated feed-forward block of every layer; with experts, one more expert is shared.

    Parameters
    ----------
    width
        Inner width; of one expert if there are experts.
    experts, active
        Number of routed experts, and of those used per token; 0 for a dense block.
    """

    width: int
    experts: int = 0
    active: int = 0

    def parameters(self, hidden: int, routed: float) -> float:
        """Return the matrix parameters of one layer, counting `routed` of its routed experts."""
        if not self.experts:
            return 3 * hidden * self.width
        return 3 * hidden * self.width * (routed + 1) + hidden * (self.experts + 1)


@dataclass(frozen=True, slots=True)
class Geometry:
    """The dimensions of a hybrid model, and the sizes and FLOPs computed from them.

    Parameters
    ----------
    name
        Name in `MODELS`.
    recurrent, attention
        Its two kinds of layers.
    hidden, feed_forward
        Hidden width and feed-forward block; 0 and None if only sizes are known, in which case FLOPs
        raise UsageError.
    """

    name: str
    recurrent: RecurrentLayers
    attention: AttentionLayers
    hidden: int = 0
    feed_forward: FeedForward | None = None

    @property
    def state_bytes(self) -> int:
        """Bytes of one checkpoint (the recurrent state of all layers)."""
        return self.recurrent.ssm_bytes + self.recurrent.conv_bytes

    @property
    def kv_bytes_per_token(self) -> int:
        """KV bytes of one token, all layers."""
        return self.attention.kv_bytes_per_token

    @property
    def pair_flops(self) -> int:
        """FLOPs of one pair of query token and context token; UsageError if unknown."""
        self._known_feed_forward()
        return self.attention.pair_flops

    @property
    def active_parameters(self) -> int:
        """Matrix parameters used per token (with active experts), without embeddings and head."""
        return round(self.touched_parameters(self._known_feed_forward().active))

    @property
    def parameters(self) -> int:
        """All matrix parameters, without embeddings and output head."""
        return round(self.touched_parameters(self._known_feed_forward().experts))

    @property
    def linear_flops_per_token(self) -> int:
        """FLOPs per token without attention scores: matrix products and the chunked scan.

        The scan of a chunk of C tokens with key and value dimensions d_k and d_v costs, per token
        and value head, 4 C d_k + C (d_k + d_v) + 6 d_k d_v + 2 C d_v.
        """
        shape = self.recurrent
        chunk, key, value = shape.chunk, shape.key_dim, shape.value_dim
        scan = 4 * chunk * key + chunk * (key + value) + 6 * key * value + 2 * chunk * value
        return 2 * self.active_parameters + shape.layers * shape.value_heads * scan

    def touched_parameters(self, routed: float) -> float:
        """Return the matrix parameters read if `routed` experts of every layer are used.

        Raises
        ------
        UsageError
            If only the sizes of this model are known.
        """
        block = self._known_feed_forward()
        layers = self.recurrent.layers + self.attention.layers
        mixers = self._recurrent_parameters() + self._attention_parameters()
        return mixers + layers * block.parameters(self.hidden, routed)

    def _known_feed_forward(self) -> FeedForward:
        """Return the feed-forward block; raise UsageError if it is unknown."""
        if self.feed_forward is None:
            raise UsageError(
                f"model '{self.name}': its sizes are known, its FLOPs are not, so no times can be "
                f"told: sizes:model={self.name} simulates hit rates and memory without them"
            )
        return self.feed_forward

    def _recurrent_parameters(self) -> int:
        """Return the parameters of the recurrent layers: input, output and gate projections."""
        shape = self.recurrent
        values = shape.value_heads * shape.value_dim
        columns = shape.conv_channels + 2 * values + 2 * shape.value_heads
        return shape.layers * self.hidden * columns

    def _attention_parameters(self) -> int:
        """Return the parameters of the attention layers: queries and their gate, KV, output."""
        shape = self.attention
        columns = (3 * shape.heads + 2 * shape.kv_heads) * shape.head_dim
        return shape.layers * self.hidden * columns


def find_model(name: str) -> Geometry:
    """Return the geometry of a known model by its name.

    Raises
    ------
    UsageError
        If there is no model of this name.
    """
    if name not in MODELS:
        raise UsageError(
            f"unknown model '{name}'{did_you_mean(name, sorted(MODELS))} (of any other, "
            "sizes:config=CONFIG.JSON tells the sizes)"
        )
    return MODELS[name]


def _qwen(
    name: str,
    hidden: int,
    layers: tuple[int, int],
    feed_forward: FeedForward,
    attention_heads: tuple[int, int],
    recurrent_heads: tuple[int, int],
) -> Geometry:
    """Return a Qwen3.5 or Qwen3-Next: three Gated DeltaNet layers per gated attention layer."""
    return Geometry(
        name,
        RecurrentLayers(layers[0], *recurrent_heads),
        AttentionLayers(layers[1], *attention_heads),
        hidden,
        feed_forward,
    )


# Dimensions from the published configurations of the models.
_GEOMETRIES = (
    _qwen("qwen3.5-0.8b", 1024, (18, 6), FeedForward(3584), (8, 2), (16, 16)),
    _qwen("qwen3.5-2b", 2048, (18, 6), FeedForward(6144), (8, 2), (16, 16)),
    _qwen("qwen3.5-4b", 2560, (24, 8), FeedForward(9216), (16, 4), (16, 32)),
    _qwen("qwen3.5-9b", 4096, (24, 8), FeedForward(12288), (16, 4), (16, 32)),
    _qwen("qwen3.5-27b", 5120, (48, 16), FeedForward(17408), (24, 4), (16, 48)),
    _qwen("qwen3.5-35b-a3b", 2048, (30, 10), FeedForward(512, 256, 8), (16, 2), (16, 32)),
    _qwen("qwen3.5-122b-a10b", 3072, (36, 12), FeedForward(1024, 256, 8), (32, 2), (16, 64)),
    _qwen("qwen3.5-397b-a17b", 4096, (45, 15), FeedForward(1024, 512, 10), (32, 2), (16, 64)),
    _qwen("qwen3-next-80b-a3b", 2048, (36, 12), FeedForward(512, 512, 10), (16, 2), (16, 32)),
    Geometry(
        "nemotron-nano-9b-v2",
        RecurrentLayers(27, 8, 128, key_dim=128, value_dim=80),
        AttentionLayers(4, 0, 8, head_dim=128),
    ),
    Geometry(
        "nemotron-3-super-120b",
        RecurrentLayers(40, 8, 128, key_dim=128, value_dim=64),
        AttentionLayers(8, 0, 2, head_dim=128),
    ),
    Geometry(
        "nemotron-3-nano-30b-a3b",
        RecurrentLayers(23, 8, 64, key_dim=128, value_dim=64),
        AttentionLayers(6, 0, 2, head_dim=128),
    ),
    Geometry(
        "granite-4.0-h-small",
        RecurrentLayers(36, 1, 128, key_dim=128, value_dim=64),
        AttentionLayers(4, 0, 8, head_dim=128),
    ),
    Geometry(
        "falcon-h1-7b",
        RecurrentLayers(44, 1, 24, key_dim=256, value_dim=128),
        AttentionLayers(44, 0, 2, head_dim=128),
    ),
    Geometry(
        "jamba-v0.1",
        RecurrentLayers(28, 0, 8192, key_dim=16, value_dim=1),
        AttentionLayers(4, 0, 8, head_dim=128),
    ),
    Geometry(
        "kimi-linear-48b",
        RecurrentLayers(20, 32, 32),
        AttentionLayers(7, 0, 0, latent_dim=576),
    ),
)
MODELS: dict[str, Geometry] = {geometry.name: geometry for geometry in _GEOMETRIES}
