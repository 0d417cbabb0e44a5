"""The shared prefix cache, into which any placer, admission and eviction policy plugs."""

from __future__ import annotations

from dataclasses import replace

from simulator.attribution import match
from simulator.entry import Entry, KvRun, with_position
from simulator.errors import UsageError
from simulator.grant import Grant
from simulator.integrity import check_integrity
from simulator.prefix_tree import PrefixTree
from simulator.protocols import AdmissionPolicy, EvictionPolicy, Overlap, Placer, Prefix
from simulator.runs import Runs
from simulator.store import Store
from simulator.world import World


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
        self._implicit = placer.implicit
        self._step = world.grid.step
        self._granted: dict[int, Grant] = {}
        for policy in (placer, admission, eviction):
            policy.begin(world if policy.clairvoyant else replace(world, trace=None))

    def admit(self, node: int, session: int = -1, label: int = -1) -> Grant:
        """Match the prompt that ends at `node`, pin what it uses and plan its checkpoints."""
        leaf = self.runs.at(node)
        grant = match(leaf, self.grid, implicit=self._implicit)
        grant.session, grant.label = session, label
        _mark_seen(leaf)
        grant.kv_run.pins += 1
        if grant.checkpoint is not None:
            grant.checkpoint.pins += 1
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
            self._placer.observe(
                Overlap(
                    grant.done_overlap,
                    grant.leaf.stop,
                    grant.session,
                    grant.label,
                    grant.leaf,
                    grant.kv_depth,
                    grant.resume,
                    len(grant.written),
                )
            )

    def release(self, grant: Grant) -> None:
        """Unpin what `grant` used."""
        del self._granted[id(grant)]
        self.store.unpin(grant.kv_run, grant.checkpoint)

    def check(self) -> None:
        """Recount everything from scratch.

        Raises
        ------
        IntegrityError
            If bytes, closure, pins or capacity are not what they should be.
        """
        running = self._granted.values()
        pinned: list[Entry] = [grant.kv_run for grant in running]
        pinned += [grant.checkpoint for grant in running if grant.checkpoint is not None]
        check_integrity(self.runs, self.store, pinned)

    def _plan(self, grant: Grant) -> None:
        """Ask the placer, and floor what it wants."""
        stop, deepest, grid = grant.leaf.stop, grant.resume, self.grid
        prefix = Prefix(
            stop, deepest, grant.done_overlap, self._step, grant.session, grant.label, grant.leaf
        )
        wanted = self._placer.place(prefix)
        if len(wanted) and wanted[-1] > stop:
            raise UsageError(f"the placer wants position {wanted[-1]} in a prompt of {stop} tokens")
        for position in wanted:
            floored = grid.floor(position)
            if floored > deepest:
                grant.positions.append(floored)
                deepest = floored
            if floored != position:
                grant.floored.append(position)

    def _store(self, grant: Grant) -> None:
        """Bring in the KV of the whole path and the planned checkpoints."""
        store, missing = self.store, []
        run = grant.leaf
        while run.kv_end == run.start:
            missing.append(run)
            run = run.parent
        missing.reverse()
        run.pins += 1  # with the deepest resident run pinned, all above it stay
        if store.make_room_for(grant.leaf.stop - run.kv_end, len(grant.positions)):
            store.fill(run, missing)
            self._add_checkpoints(grant)
            fresh = missing
        else:
            fresh = self._store_what_fits(grant, run, missing)
        store.note_use(run, fresh, grant.checkpoint, grant.written)
        store.unpin(run, None)

    def _add_checkpoints(self, grant: Grant) -> None:
        """Store the planned checkpoints; the KV of the path is there, and room."""
        run = grant.leaf
        for position in reversed(grant.positions):
            while run.start >= position:
                run = run.parent
            checkpoint = self.store.add_checkpoint(run, position)
            if checkpoint is not None:
                grant.written.append(checkpoint)
        grant.written.reverse()

    def _store_what_fits(self, grant: Grant, run: KvRun, missing: list[KvRun]) -> list[KvRun]:
        """Bring in KV and checkpoints in the order of the tokens, until no more fit.

        The request's own states are pinned meanwhile, so that what a full cache can hold of an
        oversized prompt is a prefix to resume from. Returns the runs that have come in.
        """
        pending = grant.positions[::-1]
        while pending and pending[-1] <= run.start:  # KV that was resident without a state
            position = pending.pop()
            self._add_pinned(grant, _run_holding(run, position), position)
        whole = self._extend(grant, run, pending)
        fresh: list[KvRun] = []
        for below in missing:
            if not whole:
                break
            below.pins += 1
            whole = self._extend(grant, below, pending)
            if below.kv_end > below.start:
                fresh.append(below)
            else:
                below.pins -= 1
        for below in fresh:
            below.pins -= 1
        for checkpoint in grant.written:
            checkpoint.pins -= 1
        return fresh

    def _extend(self, grant: Grant, run: KvRun, pending: list[int]) -> bool:
        """Bring in the rest of `run` with its checkpoints; say whether it is whole."""
        while pending and pending[-1] <= run.stop:
            position = pending.pop()
            if not self.store.extend(run, position):
                return False
            self._add_pinned(grant, run, position)
        return self.store.extend(run, run.stop)

    def _add_pinned(self, grant: Grant, run: KvRun, position: int) -> None:
        checkpoint = self.store.add_checkpoint(run, position)
        if checkpoint is not None:
            checkpoint.pins += 1
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
