from __future__ import annotations

import json
from itertools import takewhile

from hypothesis import given
from hypothesis import strategies as st

from workloads.inspection import overlaps
from workloads.opening import open_trace
from workloads.prefixes.id_tree import IdTree

rows = st.lists(
    st.tuples(
        st.integers(0, 2),  # session
        st.lists(st.integers(0, 2), max_size=4),  # ids
        st.integers(1, 5),  # tokens of the last block
        st.integers(0, 3),  # output
    ),
    min_size=1,
    max_size=12,
)


def spelled(turns, block):
    """Return the tokens of each prompt, one by one: blocks by id, answers by row."""
    context = {}
    for number, (session, ids, last, output) in enumerate(turns):
        length = block * len(ids[:-1]) + min(last, block) if ids else last
        added = [("id", key, at) for key in ids for at in range(block)][:length]
        added += [("new", number, at) for at in range(length - len(added))]
        prompt = [*context.get(session, []), *added]
        context[session] = [*prompt, *(("answer", number, at) for at in range(output))]
        yield prompt, length, context[session]


def common(one, other):
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


@given(rows, st.integers(1, 4))
def test_prompts_share_what_their_tokens_share(tmp_path_factory, turns, block):
    path = tmp_path_factory.mktemp("rows") / "t.jsonl"
    written = list(spelled(turns, block))
    named = [
        {"session_id": session, "input_length": length, "output_length": output, "hash_ids": ids}
        for (session, ids, _, output), (_, length, _) in zip(turns, written, strict=True)
    ]
    path.write_text("\n".join(map(json.dumps, named)))
    trace = open_trace(path, block=block, rows="incremental")
    assert trace.problem() is None
    assert trace.prompt_tokens.tolist() == [len(prompt) for prompt, *_ in written]
    for at, (prompt, *_) in enumerate(written):
        best = max((common(prompt, whole) for *_, whole in written[:at]), default=0)
        assert overlaps(trace)[at] == best


def test_nodes_end_only_where_something_ends_or_parts():
    tree = IdTree()
    one = tree.place(None, [1, 2, 3], 12, 4)
    other = tree.place(None, [1, 2, 4], 10, 4)
    tree.add(one, tree.extend(one, 5))
    tree.add(other, other)
    interned = tree.intern(None, None)
    assert interned.tree.stop.tolist() == [0, 8, 12, 17, 10]
    assert interned.leaf.tolist() == [2, 4]


def test_a_partial_block_is_the_start_of_a_longer_one():
    tree = IdTree()
    ends = [tree.place(None, [1], tokens, 8) for tokens in (3, 8, 5, 8)]
    for end in ends:
        tree.add(end, end)
    assert tree.intern(None, None).tree.stop.tolist() == [0, 3, 5, 8]
    assert ends[1] == ends[3]
