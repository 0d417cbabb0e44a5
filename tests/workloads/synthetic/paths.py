"""Overlaps of generated traffic by the plainest code: sets of keys."""

from __future__ import annotations

from workloads.synthetic.traffic import NO_KEY, Traffic


def overlaps_by_sets(traffic: Traffic, order: list[int]) -> list[int]:
    """Return the overlap of each request with all before it, their answers included.

    Every key names a prefix; the one above it follows from the row in which it first stands.
    """
    depth = {-1: 0}
    above: dict[int, int] = {}
    seen = {-1}
    overlaps = []
    for request in order:
        row = zip(traffic.keys[request].tolist(), traffic.stops[request].tolist(), strict=True)
        parts = [(key, stop) for key, stop in row if stop > 0]
        first = parts[0][0]
        last = above.get(first, -1)
        for key, stop in parts:
            assert depth.setdefault(key, stop) == stop
            assert above.setdefault(key, last) == last
            last = key
        node = last
        while node not in seen:
            node = above[node]
        overlaps.append(depth[node])
        answer = int(traffic.answer_key[request])
        if answer != NO_KEY:
            above[answer] = last
            depth[answer] = depth[last] + int(traffic.output_tokens[request])
            last = answer
        while last not in seen:
            seen.add(last)
            last = above[last]
    return overlaps
