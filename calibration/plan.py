"""The plan of a calibration: what is measured, in order of importance; needs no torch.

If the time budget is too short, later blocks are dropped first:

1. prefill: without context (the table F); over contexts at fixed numbers of tokens (the
   coefficients e and g); and held-out points, which the fit does not use
2. copies of states: within the device, to and from the host, and a file
3. decode: one token for each of several sequences
4. graphs: shortest pass time without kernel launches (CUDA only)
5. cuts: prefills cut into pieces, among them recomputation before a suffix
6. batches of prompts
7. overlap: a prefill with a concurrent copy (CUDA only)
8. the rest of the grid of contexts and tokens

Blocks 1 and 2 are required for a profile. If time is short they get fewer repetitions, then fewer
items: items are in order of importance, and the first few, the core, are always kept. Repetitions
within a block are shuffled, so that a temporary slowdown affects all items equally.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

Kind = Literal["prefill", "held-out", "decode", "cut", "batch", "graph", "overlap", "copy"]

FEWEST_REPETITIONS = 3
MIB = 2**20
OTHER_REPETITIONS = 5
HELD_OUT_POINTS = 24
CORE_PREFILLS = 18  # six without context, six with context, six held out
GRAPH_TOKENS = 512


@dataclass(frozen=True, slots=True)
class Item:
    """One quantity to time.

    Parameters
    ----------
    kind
        Purpose of the measurement.
    c
        Tokens of context.
    pieces
        Tokens of each pass; more than one if the prefill is cut.
    batch
        Sequences per pass.
    way, size_bytes
        For copies: kind ("d2d", "d2h", "h2d", "d2h-pageable", "h2d-pageable", "write" or "read")
        and size.
    """

    kind: Kind
    c: int = 0
    pieces: tuple[int, ...] = ()
    batch: int = 1
    way: str = ""
    size_bytes: int = 0

    @property
    def n(self) -> int:
        """Tokens of all passes together."""
        return sum(self.pieces)

    @property
    def name(self) -> str:
        """Name of the item in the journal of measurements."""
        if self.kind == "copy":
            return f"copy {self.way} {self.size_bytes}"
        even = len(self.pieces) > 1 and len(set(self.pieces)) == 1
        passes = f"{len(self.pieces)}x{self.pieces[0]}" if even else "+".join(map(str, self.pieces))
        return f"{self.kind} {self.way} c={self.c} n={passes} batch={self.batch}".replace("  ", " ")


@dataclass(frozen=True, slots=True)
class PlanBlock:
    """A group of measurements whose repetitions are shuffled; the most important come first.

    A profile requires the first `core` items. A block with `core` > 0 is essential.
    """

    name: str
    items: tuple[Item, ...]
    repetitions: int
    core: int = 0

    @property
    def essential(self) -> bool:
        """Whether the block contains measurements that a profile requires."""
        return self.core > 0


@dataclass(frozen=True, slots=True)
class MeasuringGrid:
    """Contexts, token counts and repetitions to measure on one kind of device."""

    contexts: tuple[int, ...]
    tokens: tuple[int, ...]
    swept: tuple[int, ...]
    batches: tuple[int, ...]
    whole: int
    state_mib: tuple[float, ...]
    repetitions: int
    warm_ups: int
    cuda: bool = False

    def within(self, most_tokens: int) -> MeasuringGrid:
        """Return the grid without points that need more than `most_tokens` tokens."""
        return replace(
            self,
            tokens=tuple(n for n in self.tokens if n <= most_tokens),
            contexts=tuple(c for c in self.contexts if c + max(self.swept) <= most_tokens),
        )


_SMALL = (2, 16, 64, 65, 128, 192, 256, 384, 512, 768, 1024)
CUDA_GRID = MeasuringGrid(
    contexts=(1024, 4096, 16_384, 65_536, 131_072),
    tokens=(*_SMALL, 2048, 4096, 8192),
    swept=(1, 64, 512, 2048),
    batches=(2, 4, 8, 16),
    whole=8192,
    state_mib=(1.5, 6, 18.6, 49.1, 98, 183),  # state sizes, from the smallest model to the largest
    repetitions=10,
    warm_ups=3,
    cuda=True,
)
# The torch fallback of the delta rule pads to chunks of 64 tokens, so F has steps there.
CPU_GRID = MeasuringGrid(
    contexts=(512, 1024, 2048, 4096),
    tokens=(2, 16, 64, 65, 128, 129, 192, 193, 256, 257, 320, 384, 512, 768, 1024),
    swept=(1, 64, 256, 512),
    batches=(2, 4),
    whole=1024,
    state_mib=(1.5, 6, 18.6, 49.1),
    repetitions=12,  # the minimum is used
    warm_ups=1,
)


def grid_for(device: str, most_tokens: int) -> MeasuringGrid:
    """Return the measuring grid for a device, limited to `most_tokens` tokens of a model."""
    return (CUDA_GRID if device.startswith("cuda") else CPU_GRID).within(most_tokens)


def blocks_of(grid: MeasuringGrid, state_bytes: int, seed: int) -> list[PlanBlock]:
    """Return all blocks of measurements, the most important first.

    Parameters
    ----------
    grid
        Contexts and token counts.
    state_bytes
        Bytes of a state, for the copies that run beside a prefill.
    seed
        Seed of the held-out points.
    """
    prefills, copies = _prefills(grid, seed), _copies(grid)
    rest = [Item("prefill", c, (n,)) for c in grid.contexts for n in grid.tokens]
    core_copies = 2 * len({item.way for item in copies})
    items: list[tuple[str, Sequence[Item], int]] = [
        ("prefill", prefills, min(CORE_PREFILLS, len(prefills))),
        ("copies", copies, core_copies),
        ("decode", _decode(grid), 0),
        ("graphs", _graphs(grid), 0),
        ("cuts", _cuts(grid), 0),
        ("batches", _batches(grid), 0),
        ("overlap", _overlap(grid, state_bytes), 0),
        ("rest of the grid", [item for item in rest if item not in prefills], 0),
    ]
    return [
        PlanBlock(name, tuple(chosen), _repetitions(grid, name), core=core)
        for name, chosen, core in items
        if chosen
    ]


def _prefills(grid: MeasuringGrid, seed: int) -> list[Item]:
    """Return the prefills for fit and validation; any leading part of them is well spread."""
    table = _spread([Item("prefill", 0, (n,)) for n in grid.tokens])
    swept = [Item("prefill", c, (n,)) for n in grid.swept for c in grid.contexts]
    sweep = list(dict.fromkeys([*_corners(grid), *_spread(swept)]))
    kinds = [table, sweep, held_out(grid, seed)]
    longest = max(map(len, kinds))
    return [kind[at] for at in range(longest) for kind in kinds if at < len(kind)]


def _corners(grid: MeasuringGrid) -> list[Item]:
    """Return prefills at the extremes of context and token count, which separate e from g.

    They are the coefficients per pair of tokens and per context token.
    """
    tokens, contexts = (grid.swept[-1], grid.swept[0]), (grid.contexts[-1], grid.contexts[0])
    return [Item("prefill", c, (n,)) for n in tokens for c in contexts]


def _spread(items: Sequence[Item]) -> list[Item]:
    """Order items coarse to fine: last, first, then repeatedly the middle of each gap."""
    order: list[int] = []
    gaps = [(0, len(items) - 1)]
    for low, high in gaps:  # the list grows during the loop
        middle = (low + high) // 2
        order += [high, low, middle]
        if high - low > 1:
            gaps += [(low, middle), (middle, high)]
    return [items[at] for at in dict.fromkeys(order) if at >= 0]


def _repetitions(grid: MeasuringGrid, block: str) -> int:
    """Return how often each item of a block is measured; those for the fit most often."""
    return grid.repetitions if block == "prefill" else min(grid.repetitions, OTHER_REPETITIONS)


def held_out(grid: MeasuringGrid, seed: int) -> list[Item]:
    """Return random prefills for validation, log-uniform, none with a token count of the grid."""
    random = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=tuple(b"held-out")))
    most_n, most_c = max(grid.tokens), max(grid.contexts, default=0)
    chosen: dict[int, Item] = {}
    while len(chosen) < min(HELD_OUT_POINTS, most_n // 4):
        n = round(np.exp(random.uniform(np.log(2), np.log(most_n))))
        behind = most_c and random.random() < 0.75
        c = round(np.exp(random.uniform(np.log(64), np.log(most_c)))) if behind else 0
        if n not in grid.tokens:
            chosen.setdefault(n, Item("held-out", c, (n,)))
    return list(chosen.values())


def _copies(grid: MeasuringGrid) -> list[Item]:
    """Return the copies to time, by size and kind."""
    host = ("d2h", "h2d", "d2h-pageable", "h2d-pageable") if grid.cuda else ()
    sizes = (grid.state_mib[-1], *grid.state_mib[:-1])  # two sizes determine latency and bandwidth
    return [
        Item("copy", way=way, size_bytes=round(mib * MIB) // 4096 * 4096)
        for mib in sizes
        for way in ("d2d", *host, "write", "read")
    ]


def _decode(grid: MeasuringGrid) -> list[Item]:
    """Return the decode steps to time."""
    contexts = grid.contexts[:1] + grid.contexts[2:3]
    return [Item("decode", c, (1,), batch) for batch in (1, *grid.batches) for c in contexts]


def _graphs(grid: MeasuringGrid) -> list[Item]:
    """Return the CUDA graphs to time."""
    chosen = [n for n in grid.tokens if n <= GRAPH_TOKENS] if grid.cuda else []
    return [Item("graph", 0, (n,)) for n in chosen]


def _cuts(grid: MeasuringGrid) -> list[Item]:
    """Return one long prefill cut evenly, and recomputations of several lengths before a suffix."""
    even = [every for every in (512, 256, 128, 64) if every < grid.whole]
    behind = min(grid.contexts, default=0)
    cut = [Item("cut", 0, (every,) * (grid.whole // every)) for every in even]
    return cut + [Item("cut", behind, (replay, 64)) for replay in (64, 192, 448) if behind]


def _batches(grid: MeasuringGrid) -> list[Item]:
    """Return the batched prefills to time."""
    return [Item("batch", 0, (n,), batch) for n in (64, 512) for batch in grid.batches]


def _overlap(grid: MeasuringGrid, state_bytes: int) -> list[Item]:
    """Return the prefills with a concurrent copy to time."""
    if not grid.cuda:
        return []
    sides = ("d2h", "h2d")
    return [Item("overlap", 0, (2048,), way=way, size_bytes=state_bytes) for way in sides]
