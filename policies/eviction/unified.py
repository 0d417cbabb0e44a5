"""Eviction of the state that is expected to save least, by all points that it serves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from typing import ClassVar, Final

from policies.eviction.states_first import StatesFirst
from policies.orders.heaps import in_order
from policies.orders.lineage import takes_kv
from policies.orders.outlook import Outlook
from policies.parameters import require
from policies.worth.points import ReturnPoint
from policies.worth.rates import NEVER
from policies.worth.worth import AIM, SharedWorth, in_tokens, saving_by
from simulator.plugins.context import CacheContext
from simulator.plugins.entries import Checkpoint, Entry
from simulator.plugins.protocols import Overlap
from simulator.trace.grid import Grid

MOST_POINTS: Final = 4  # that a state serves: of twice as many, those of least rate are forgotten

Place = tuple[float, int, int, Checkpoint]  # worth, number of the state, time, state


class Service:
    """The points that a state serves, and what it is worth for them.

    Parameters
    ----------
    number
        That of the state, by the time at which it was stored.

    Attributes
    ----------
    points
        The points from which a prompt would resume here.
    worth
        What it saves, per byte and request.
    freed
        Bytes that leave with it.
    due
        The request at which its worth changes with age.
    clock
        The time at which it was given its place in the order, 0 where it has none.
    waits
        Whether its worth must be computed anew.
    """

    __slots__ = ("clock", "due", "freed", "number", "points", "waits", "worth")

    def __init__(self, number: int) -> None:
        self.number = number
        self.points: list[ReturnPoint] = []
        self.worth = 0.0
        self.freed = 1
        self.due = self.clock = 0
        self.waits = False


class Unified(StatesFirst):
    """Evict the state that is expected to save least per byte and time, with its KV.

    A state serves the points to which prompts return and from which they would resume there: its
    own position, and those below it whose states have left or were never stored. How soon prompts
    return to a point is learned from all requests, whatever was cached, by where it lies, how its
    request began (as a new prompt, as a second, third or later turn, or beside another), how often
    it was used, and the time since. A state is worth the sum of its points' rates, times what is
    saved between the next state above and its position; its bytes are its own and those of the KV
    that serves it alone, as of the last time that anything near it changed. When it leaves, the
    state above serves its points. KV behind the last state of a path saves nothing and goes first.
    In a pool of KV alone, KV leaves by last use.

    Parameters
    ----------
    aim
        What is saved: tokens, or seconds of prefill.

    Source: this project; docs/placement.md has the derivation and its measurements. The rate is
    that of J. C. Gittins, "Bandit processes and dynamic allocation indices", Journal of the Royal
    Statistical Society B 41(2), 1979.

    Examples
    --------
    A chat is continued again and again, and a long prompt by nobody; then room is needed:

    >>> from policies.tryout import serve
    >>> prompts = ["ab", "abcd", "abcdef", "longprompt", "abcdefgh", "new"]
    >>> serve(prompts, eviction="unified", capacity_bytes=24, state_bytes=2).kv
    ['abcdefgh', 'longp', 'new']
    """

    hits_paths: ClassVar[bool] = False

    def __init__(self, aim: str = "tokens") -> None:
        super().__init__()
        require(aim in AIM, "aim", " or ".join(AIM), aim)
        self.asked = False  # whether room was ever needed
        self._free_bytes: Callable[[], int] = int
        self._aim = aim
        self._saving: Callable[[int, int], float] = in_tokens
        self._worth = SharedWorth(Grid())
        self._points = self._worth.points
        self._states: dict[Checkpoint, None] = {}
        self._waiting: list[Checkpoint] = []  # states to weigh before the next decision
        self._heap: list[Place] = []  # outdated places among them
        self._limit = 64
        self._due: dict[int, list[Checkpoint]] = {}  # states to weigh anew, by request
        self._clock = self._number = self._now = self._learned = 0
        self._evicts_states = True

    def begin(self, context: CacheContext) -> None:
        """Read sizes and costs, and meet the other policies of the cache."""
        super().begin(context)
        self._saving = saving_by(self._aim, context)
        self._free_bytes = context.free_bytes
        self._worth = worth = SharedWorth.of(context)
        self._points = worth.points
        self._evicts_states = context.orders_states and context.capacity_bytes is not None
        if self._evicts_states:
            worth.order = self

    # --- requests -----------------------------------------------------------------------------

    def observe(self, overlap: Overlap) -> None:
        """Note the points that the request uses and makes; weigh states whose worth changes."""
        points = self._points
        if not self._evicts_states:
            self._worth.observe(overlap)
            return
        self._serve_fresh()
        points.observe(overlap)
        if points.used:
            for state in points.used:
                self._note(state)
            points.used.clear()
        while self._now < points.now:  # the placer may have reported some
            self._now = now = self._now + 1
            for state in self._due.pop(now, ()):
                service = state.policy_data
                if service is not None and service.due == now:
                    self._note(state)
        if self._learned != points.rates.learned:
            self._learned = points.rates.learned
            for state in self._states:
                self._note(state)

    def _serve_fresh(self) -> None:
        """Give the points of the last request to the states that serve them."""
        fresh = self._points.fresh
        for point in fresh:
            if point.server is not None:  # the state at its position
                continue
            position, span = point.position, point.span
            while span.start >= position and span.stop:
                span = span.parent
            state = span.deepest_checkpoint(position)
            while state is None:
                span = span.parent
                state = span.deepest_checkpoint(position)
            if state.policy_data is not None:
                self._serve(state, point)
        fresh.clear()

    def _serve(self, state: Checkpoint, point: ReturnPoint) -> None:
        """Serve a point from a state; of too many, the best are served."""
        service: Service = state.policy_data
        point.server = state
        service.points.append(point)
        if len(service.points) > 2 * MOST_POINTS:
            points = sorted(service.points, key=self._points.rate_of, reverse=True)
            service.points = points[:MOST_POINTS]
            for forgotten in points[MOST_POINTS:]:
                forgotten.server = None
        self._note(state)

    # --- entries ------------------------------------------------------------------------------

    def _add(self, state: Checkpoint) -> None:
        """Add a state; it takes over what it serves better than the one above."""
        self._number = number = self._number + 1
        state.policy_data = service = Service(number)
        self._states[state] = None
        for changed in self._lineage.add(state):
            self._note(changed)
        above = self._lineage.state_above(state)
        if above is not None and above.policy_data is not None:
            self._take_over(state, service, above)
        for point in self._points.points_of(state):
            self._move(point, state)
        self._note(state)

    def _move(self, point: ReturnPoint, state: Checkpoint) -> None:
        """Serve a point from the state that serves it best."""
        server = point.server
        if server is state:
            return
        if server is not None:
            server.policy_data.points.remove(point)
            self._note(server)
        point.server = state
        state.policy_data.points.append(point)

    def _take_over(self, state: Checkpoint, service: Service, above: Checkpoint) -> None:
        """Serve from a new state what lies below it and was served from the one above."""
        kept: list[ReturnPoint] = []
        position, span = state.position, state.span
        for point in above.policy_data.points:
            below = point.span
            if point.position >= position:
                while below.start >= position:
                    below = below.parent
                if below is span:
                    point.server = state
                    service.points.append(point)
                    continue
            kept.append(point)
        if service.points:
            above.policy_data.points = kept
            self._note(above)

    def _use(self, state: Checkpoint) -> None:
        """Do nothing: a use of a state is one of a point that it serves."""

    def _reopen(self, state: Checkpoint) -> None:
        if not state.policy_data.clock:
            self._note(state)

    def _forget(self, state: Checkpoint) -> None:
        """Forget a state; the one above serves its points."""
        service: Service = state.policy_data
        state.policy_data = None
        del self._states[state]
        above = self._lineage.state_above(state)
        for changed in self._lineage.remove(state):
            self._note(changed)
        for point in service.points:
            point.server = None
            if above is not None and above.policy_data is not None:
                self._serve(above, point)

    # --- the order ----------------------------------------------------------------------------

    def victim(self) -> Entry | None:
        """Return what goes next; from then on room has its price."""
        self.asked = True
        return super().victim()

    def _least(self) -> Checkpoint | None:
        if self._waiting:
            self._settle()
        heap = self._heap
        while heap:
            *_, clock, state = heap[0]
            service = state.policy_data
            if service is not None and service.clock == clock:
                if not state.pins:
                    return state
                service.clock = 0
            heappop(heap)
        return None

    def _in_order(self, outlook: Outlook) -> Iterator[Checkpoint]:
        if self._waiting:
            self._settle()
        for *_, clock, state in in_order(self._heap):
            service = state.policy_data
            if service is not None and service.clock == clock and outlook.evictable(state):
                yield state

    def losses_of(self, rooms: Sequence[int]) -> list[float]:
        """Return what is lost a request where room is made for so many bytes, each ascending.

        What is free costs nothing. KV that saves nothing is not counted as room, since it may be
        the next prompt's.
        """
        if self._waiting:
            self._settle()
        heap = self._heap
        losses: list[float] = []
        loss, freed, wanted = 0.0, self._free_bytes(), rooms[0]
        while freed >= wanted:
            losses.append(0.0)
            if len(losses) == len(rooms):
                return losses
            wanted = rooms[len(losses)]
        # The heap is walked from the least worth up, without changing it (`orders.heaps.in_order`).
        reached = [(heap[0], 0)] if heap else []
        while reached:
            (worth, _, clock, state), at = reached[0]
            service: Service | None = state.policy_data
            if service is not None and service.clock == clock and not state.pins:
                while freed + service.freed >= wanted:
                    losses.append(loss + worth * (wanted - freed))
                    if len(losses) == len(rooms):
                        return losses
                    wanted = rooms[len(losses)]
                freed += service.freed
                loss += worth * service.freed
            below = 2 * at + 1
            if below < len(heap):
                heapreplace(reached, (heap[below], below))
                if below + 1 < len(heap):
                    heappush(reached, (heap[below + 1], below + 1))
            else:
                heappop(reached)
        return losses + [loss] * (len(rooms) - len(losses))

    def _note(self, state: Checkpoint) -> None:
        service: Service | None = state.policy_data
        if service is not None and not service.waits:
            service.waits = True
            self._waiting.append(state)

    def _settle(self) -> None:
        """Weigh the waiting states, and give them their places, except those in use."""
        points, above = self._points, self._lineage.above
        rates, until = points.rates.rate, points.rates.until
        now, heap, saving, freed_bytes = points.now, self._heap, self._saving, self._freed_bytes
        for state in self._waiting:
            service: Service | None = state.policy_data
            if service is None or not service.waits:
                continue
            service.waits = False
            rate, due = 0.0, NEVER
            for point in service.points:
                kind, last = point.kind, point.last
                bits = (now - last).bit_length()
                rate += rates[kind][bits]
                change = last + until[kind][bits]
                if change < due:
                    due = change
            start = above[state]
            service.freed = freed = freed_bytes(state, start)
            worth = rate * saving(start, state.position) / freed
            if due != service.due:
                service.due = due
                if due < NEVER:
                    self._due.setdefault(due, []).append(state)
            if state.pins:
                service.clock = 0
            elif worth != service.worth or not service.clock:
                self._clock = service.clock = clock = self._clock + 1
                heappush(heap, (worth, service.number, clock, state))
            service.worth = worth
        self._waiting.clear()
        if len(heap) > self._limit:
            self._compact()

    def _compact(self) -> None:
        """Drop outdated places, so that the heap is at most twice as long as needed."""
        self._heap = [
            item
            for item in self._heap
            if item[3].policy_data is not None and item[3].policy_data.clock == item[2]
        ]
        heapify(self._heap)
        self._limit = 2 * len(self._heap) + 64

    def _freed_bytes(self, state: Checkpoint, above: int) -> int:
        """Return the bytes that leave with a state: its own, and the KV that serves it alone."""
        size_bytes, span = state.size_bytes, state.span
        if self.orders_kv and takes_kv(state):
            while above < span.start and span.parent.children_resident == 1:
                span = span.parent
            start = above if above > span.start else span.start
            size_bytes += (state.position - start) * self._kv_bytes
        return size_bytes or 1
