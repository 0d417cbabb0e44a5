"""The shared prefix cache, into which any placer, admission and eviction policy plugs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from simulator.attribution import Match, match
from simulator.entry import Checkpoint, Entry, KvRun, with_position
from simulator.errors import UsageError
from simulator.integrity import check_integrity
from simulator.prefix_tree import PrefixTree
from simulator.protocols import AdmissionPolicy, EvictionPolicy, Overlap, Placer, Prefix
from simulator.runs import Runs
from simulator.store import Store
from simulator.world import World


@dataclass(slots=True)
class Grant:
    """What a running request was granted, and what it will leave behind.

    Parameters
    ----------
    leaf
        The run in which its prompt ends.
    match
        Its resume point, and the tokens lost.
    session, label
        As in the trace.
    positions
        Where its states are captured: ascending, in `(resume, prompt_tokens]`.
    floored
        The positions that were wanted between those, before they were floored.
    written
        The checkpoints that it has stored.
    """

    leaf: KvRun
    match: Match
    session: int
    label: int
    positions: list[int]
    floored: list[int]
    written: list[Checkpoint]


class PolicyCache:
    """A cache ruled by policies.

    A request is admitted when its prefill starts, published when it ends, then released.

    Parameters
    ----------
    tree
        The prompts of the trace.
    world
        Bytes, costs and capacity; policies that do not look ahead are not shown its trace.
    placer, admission, eviction
        The policies.
    """

    def __init__(
        self,
        tree: PrefixTree,
        world: World,
        placer: Placer,
        admission: AdmissionPolicy,
        eviction: EvictionPolicy,
    ) -> None:
        self.grid = world.grid
        self.runs = Runs(tree)
        self.store = Store(world.sizes, world.capacity_bytes, admission, eviction)
        self._placer = placer
        self._granted: dict[int, Grant] = {}
        for policy in (placer, admission, eviction):
            policy.begin(world if policy.clairvoyant else replace(world, trace=None))

    def admit(self, node: int, session: int = -1, label: int = -1) -> Grant:
        """Match the prompt that ends at `node`, pin what it uses and plan its checkpoints."""
        leaf = self.runs.at(node)
        found = match(leaf, self.grid, implicit=self._placer.implicit)
        _mark_seen(leaf)
        found.kv_run.pins += 1
        if found.checkpoint is not None:
            found.checkpoint.pins += 1
        grant = Grant(leaf, found, session, label, [], [], [])
        if not self._placer.implicit:
            self._plan(grant)
        self._granted[id(grant)] = grant
        return grant

    def publish(self, grant: Grant) -> None:
        """Store what the prefill of `grant` has computed: it is visible from now on."""
        _mark_done(grant.leaf)
        self._store(grant)
        for position in grant.floored:
            run = _run_holding(grant.leaf, position)
            run.wanted = with_position(run.wanted, position)
        if self._placer.observes:
            found = grant.match
            observed = Overlap(found.done_overlap, grant.leaf.stop, grant.session, grant.label)
            self._placer.observe(observed)

    def release(self, grant: Grant) -> None:
        """Unpin what `grant` used and what it has stored."""
        del self._granted[id(grant)]
        for checkpoint in grant.written:
            self.store.unpin(checkpoint)
        self.store.unpin(grant.match.kv_run)
        if grant.match.checkpoint is not None:
            self.store.unpin(grant.match.checkpoint)

    def check(self) -> None:
        """Recount everything from scratch.

        Raises
        ------
        IntegrityError
            If bytes, closure, pins or capacity are not what they should be.
        """
        pinned: list[Entry] = []
        for grant in self._granted.values():
            pinned += [grant.match.kv_run, *grant.written]
            if grant.match.checkpoint is not None:
                pinned.append(grant.match.checkpoint)
        check_integrity(self.runs, self.store, pinned)

    def _plan(self, grant: Grant) -> None:
        """Ask the placer, and floor what it wants."""
        found, stop = grant.match, grant.leaf.stop
        resume, grid = found.resume, self.grid
        prefix = Prefix(
            stop, resume, found.done_overlap, grid.step, grant.session, grant.label, grant.leaf
        )
        wanted = self._placer.place(prefix)
        if len(wanted) and wanted[-1] > stop:
            raise UsageError(f"the placer wants position {wanted[-1]} in a prompt of {stop} tokens")
        positions, deepest = grant.positions, resume
        for position in wanted:
            floored = grid.floor(position)
            if floored > deepest:
                positions.append(floored)
                deepest = floored
            if floored != position:
                grant.floored.append(position)

    def _store(self, grant: Grant) -> None:
        """Bring in KV and checkpoints from the root downwards, as deep as they fit.

        The order is that of the tokens, and the request's own states are pinned meanwhile, so
        that what a full cache can hold of an oversized prompt is a prefix to resume from.
        """
        store, missing = self.store, []
        run = grant.leaf
        while run.kv_end == run.start:
            missing.append(run)
            run = run.parent
        # With the deepest resident run pinned, all above it stay.
        deepest = pinned = run
        pinned.pins += 1
        pending = grant.positions[::-1]
        while pending and pending[-1] <= run.start:  # KV that was resident without a state
            position = pending.pop()
            self._add_checkpoint(grant, _run_holding(run, position), position)
        store.reserve(grant.leaf.stop - run.kv_end, len(pending))
        fresh: list[KvRun] = []
        whole = self._fill(grant, run, pending)
        while whole and missing:
            run = missing.pop()
            run.pins += 1
            whole = self._fill(grant, run, pending)
            if run.kv_end == run.start:
                run.pins -= 1
                break
            pinned.pins -= 1  # it stays, with KV below it
            pinned = run
            fresh.append(run)
        store.note_use(deepest, fresh, grant.match.checkpoint, grant.written)
        store.unpin(pinned)

    def _fill(self, grant: Grant, run: KvRun, pending: list[int]) -> bool:
        """Bring in the rest of `run` with its checkpoints; say whether it is whole."""
        while pending and pending[-1] <= run.stop:
            position = pending.pop()
            if not self.store.extend(run, position):
                return False
            self._add_checkpoint(grant, run, position)
        return self.store.extend(run, run.stop)

    def _add_checkpoint(self, grant: Grant, run: KvRun, position: int) -> None:
        checkpoint = self.store.add_checkpoint(run, position)
        if checkpoint is not None:
            grant.written.append(checkpoint)


def _mark_seen(run: KvRun) -> None:
    while not run.seen:
        run.seen = True
        run.parent.children_seen += 1
        run = run.parent


def _mark_done(run: KvRun) -> None:
    while not run.done:
        run.done = True
        run = run.parent


def _run_holding(run: KvRun, position: int) -> KvRun:
    """Return the run of the path up from `run` in which token `position` lies."""
    while run.start >= position:
        run = run.parent
    return run
