"""The tensors behind a cache's books: KV of runs, states of checkpoints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from torch import Tensor

from calibration.models.states import ModelCache, Snapshot
from simulator.entry import Checkpoint, KvRun
from simulator.integrity import IntegrityError
from simulator.pool import Pool
from simulator.world import Sizes


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """Keys and values of the tokens `(start, stop]` of a run, layer by layer."""

    start: int
    stop: int
    tensors: tuple[Tensor, ...]

    def up_to(self, stop: int) -> _Rows:
        """Return a copy without what lies beyond `stop`: a view would keep all of it alive."""
        kept = tuple(tensor[..., : stop - self.start, :].clone() for tensor in self.tensors)
        return _Rows(self.start, stop, kept)


class Holdings:
    """Holds for every entry of a cache what it stands for, and lets go when the cache does."""

    def __init__(self) -> None:
        self._rows: dict[KvRun, _Rows] = {}
        self._states: dict[Checkpoint, Snapshot] = {}

    @property
    def state_bytes(self) -> int:
        """Bytes of one state, 0 while none is held."""
        return next((state.size_bytes for state in self._states.values()), 0)

    @property
    def size_bytes(self) -> int:
        """Bytes of all tensors."""
        rows = (tensor for held in self._rows.values() for tensor in held.tensors)
        kv_bytes = sum(tensor.numel() * tensor.element_size() for tensor in rows)
        return kv_bytes + sum(state.size_bytes for state in self._states.values())

    def state(self, checkpoint: Checkpoint) -> Snapshot:
        """Return the state of a checkpoint."""
        return self._states[checkpoint]

    def load(self, cache: ModelCache, run: KvRun, stop: int) -> None:
        """Write the KV of the first `stop` tokens of the path up from `run` into a cache."""
        for above in _path(run):
            held = self._rows[above]
            end = min(held.stop, stop)
            for place, rows in zip(cache.kv_rows(held.start, end), held.tensors, strict=True):
                place.copy_(rows[..., : end - held.start, :])

    def keep(
        self,
        cache: ModelCache,
        end: KvRun,
        written: Sequence[Checkpoint],
        states: Mapping[int, Snapshot],
    ) -> None:
        """Copy what has become resident on the path up from `end`, and let go of what has left.

        Parameters
        ----------
        cache
            Holds the KV of the whole path.
        end
            The run in which prompt and answer end.
        written
            Checkpoints that have been stored.
        states
            The states that were captured, by position.
        """
        self._let_go()
        for run in _path(end):
            held = self._rows.get(run)
            if run.kv_end > run.start and (held is None or held.stop < run.kv_end):
                rows = cache.kv_rows(run.start, run.kv_end)
                self._rows[run] = _Rows(run.start, run.kv_end, tuple(row.clone() for row in rows))
        for checkpoint in written:
            if checkpoint.resident:
                self._states[checkpoint] = states[checkpoint.position]

    def check(self, pool: Pool, sizes: Sizes) -> None:
        """Compare what is held with the books of the cache.

        Raises
        ------
        IntegrityError
            If a token or a state is held that the cache does not count, or the other way round.
        """
        tokens = sum(held.stop - held.start for held in self._rows.values())
        counted = pool.kv_bytes, pool.checkpoints
        if counted != (tokens * sizes.kv_bytes_per_token, len(self._states)):
            raise IntegrityError(
                f"the prototype holds KV of {tokens} tokens and {len(self._states)} states, which "
                f"is not what the cache counts: {pool.kv_bytes} bytes of KV and "
                f"{pool.checkpoints} states"
            )

    def _let_go(self) -> None:
        """Drop what the cache has evicted since."""
        for checkpoint in [known for known in self._states if not known.resident]:
            del self._states[checkpoint]
        for run, held in list(self._rows.items()):
            if run.kv_end == run.start:
                del self._rows[run]
            elif run.kv_end < held.stop:
                self._rows[run] = held.up_to(run.kv_end)


def _path(run: KvRun) -> Iterator[KvRun]:
    """Yield `run` and the runs above it, without the root."""
    while run.stop:
        yield run
        run = run.parent
