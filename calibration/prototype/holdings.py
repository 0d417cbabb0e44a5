"""The tensors of the entries in a simulated cache: KV and recurrent states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from torch import Tensor

from calibration.models.states import ModelCache, Snapshot
from simulator.cache.integrity import IntegrityError
from simulator.cache.policy_cache import PolicyCache
from simulator.plugins.entries import Checkpoint


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Keys and values of the tokens `(start, stop]`, layer by layer."""

    start: int
    stop: int
    tensors: tuple[Tensor, ...]

    def up_to(self, stop: int) -> _Rows:
        """Return a copy of the tokens up to `stop`; a view would keep all memory in use."""
        kept = tuple(tensor[..., : stop - self.start, :].clone() for tensor in self.tensors)
        return _Rows(self.start, stop, kept)


class Holdings:
    """The KV and states, as tensors, of all entries of a simulated cache; freed on eviction.

    KV is stored by node of the trace's prefix tree, since the cache's own KV spans may be split
    while they are resident.

    Parameters
    ----------
    books
        The simulated cache that decides.
    """

    def __init__(self, books: PolicyCache) -> None:
        self._books = books
        self._spans = books.tree
        self._rows: dict[int, _Rows] = {}
        self._states: dict[Checkpoint, Snapshot] = {}

    @property
    def state_bytes(self) -> int:
        """Bytes of one state, 0 if none is stored."""
        return next((state.size_bytes for state in self._states.values()), 0)

    def state(self, checkpoint: Checkpoint) -> Snapshot:
        """Return the state of a checkpoint."""
        return self._states[checkpoint]

    def load(self, cache: ModelCache, node: int, stop: int) -> None:
        """Copy the KV of the first `stop` tokens on the path to `node` into a model's cache."""
        for above in self._spans.prefixes.path(node):
            start = int(self._spans.prefixes.start[above])
            if start >= stop:
                break
            held = self._rows[above]
            end = min(held.stop, stop)
            for place, rows in zip(cache.kv_rows(start, end), held.tensors, strict=True):
                place.copy_(rows[..., : end - start, :])

    def keep(
        self,
        cache: ModelCache,
        node: int,
        written: Iterable[Checkpoint],
        states: Mapping[int, Snapshot],
    ) -> None:
        """Copy newly resident entries on the path to `node`, and free evicted ones.

        Parameters
        ----------
        cache
            Model cache with the KV of the whole path.
        node
            The node at which prompt and answer end.
        written
            Checkpoints stored by the request.
        states
            Their states, by position.
        """
        self._let_go()
        for above in self._spans.prefixes.path(node):
            start, end = int(self._spans.prefixes.start[above]), self._resident_end(above)
            held = self._rows.get(above)
            if end > (start if held is None else held.stop):
                rows = tuple(row.clone() for row in cache.kv_rows(start, end))
                self._rows[above] = _Rows(start, end, rows)
        for checkpoint in written:
            if checkpoint.resident:
                self._states[checkpoint] = states[checkpoint.position]

    def check(self) -> None:
        """Compare the stored tensors with the cache's counts.

        Raises
        ------
        IntegrityError
            If the counts of tokens or states differ.
        """
        tokens = sum(held.stop - held.start for held in self._rows.values())
        size_bytes = tokens * self._books.residency.layout.kv_bytes_per_token
        states, _, counted_bytes = self._books.usage()
        if (states, counted_bytes) != (len(self._states), size_bytes):
            raise IntegrityError(
                f"the prototype holds KV of {tokens} tokens and {len(self._states)} states, the "
                f"cache counts {counted_bytes} bytes of KV and {states} states"
            )

    def _let_go(self) -> None:
        """Free the tensors of entries that the cache has evicted."""
        for checkpoint in [known for known in self._states if not known.resident]:
            del self._states[checkpoint]
        for node, held in list(self._rows.items()):
            end = self._resident_end(node)
            if end == held.start:
                del self._rows[node]
            elif end < held.stop:
                self._rows[node] = held.up_to(end)

    def _resident_end(self, node: int) -> int:
        """Return the position at which a node's resident KV ends; its start if none is resident."""
        start, stop = int(self._spans.prefixes.start[node]), int(self._spans.prefixes.stop[node])
        span = self._spans.covering(node)
        return start if span is None else min(max(span.kv_end, start), stop)
