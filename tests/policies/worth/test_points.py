"""Points to which prompts return, by worked examples and against a model over token tuples."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policies.worth.kinds import BESIDE, FRESH, LABELS, LATER
from policies.worth.rates import LEAST_STEP
from tests.policies.worth.known import Known, kind_of, what

# --- worked examples: kind, number of waits, label, position, and the request of the last use ----


def test_turns_of_a_chat_are_told_apart_and_each_end_is_used_once() -> None:
    chat = ["abcdefghijkl"[:stop] for stop in (2, 4, 6, 8, 10)]
    assert Known(chat).serve_all().made() == [
        ("prompt 0", 1, -1, 2, 2),
        ("prompt 1", 1, -1, 4, 3),
        ("prompt 2", 1, -1, 6, 4),
        ("prompt 3", 1, -1, 8, 5),
        ("prompt 3", 0, -1, 10, 5),  # later turns are alike
    ]


def test_a_prompt_that_brings_more_than_it_shares_begins_anew() -> None:
    made = Known(["ab", "abcde"]).serve_all().made()
    assert made[0] == ("prompt 0", 1, -1, 2, 2)  # but it has returned
    assert made[1] == ("prompt 0", 0, -1, 5, 2)


def test_a_branch_is_a_point_from_the_second_prompt_on() -> None:
    assert Known(["abcdefgh", "abcdWXYZ", "abcdPQRS", "abcdMNOP"]).serve_all().made() == [
        ("prompt 0", 0, -1, 8, 1),
        ("branch", 2, -1, 4, 4),
        ("prompt 4", 0, -1, 8, 2),
        ("prompt 4", 0, -1, 8, 3),
        ("prompt 4", 0, -1, 8, 4),
    ]


def test_an_inside_waits_for_its_first_divergence_alone() -> None:
    known = Known(["abcdefgh", "abcdWXYZ", "abcPQRST", "abcdefghi"]).serve_all()
    insides = [wait for wait in known.log() if what(wait[0])[0].startswith("within")]
    turns = [(what(kind)[0], begun, ended) for kind, begun, ended in insides]
    assert turns == [
        ("within 0", 1, 2),  # the third prompt leaves it, too, at another point
        ("within 4", 2, None),
        ("within 0", 3, None),
        ("within 1", 4, None),
    ]


def test_what_continues_a_branch_is_a_second_turn() -> None:
    made = Known(["abcdefgh", "abcdWXYZ", "abcdWXYZuv"]).serve_all().made()
    assert made[-2:] == [("prompt 4", 1, -1, 8, 3), ("prompt 1", 0, -1, 10, 3)]


def test_a_repeated_prompt_returns_to_the_token_before_its_end_once_that_is_known_to_be() -> None:
    assert Known(["abcd", "abcd", "wxyz", "wxyz", "wxyz"]).serve_all().made() == [
        ("prompt 0", 0, -1, 4, 1),  # no prompt resumes at the very end of its like
        ("prompt 0", 0, -1, 4, 3),
        ("last token", 2, -1, 3, 5),
    ]


def test_answers_have_ends_and_insides_of_their_own() -> None:
    prompts = ["abcd", "abcdxyef", "abcdxyefuzz"]
    assert Known(prompts, answers=["xy", "uv", ""]).serve_all().made() == [
        ("prompt 0", 0, -1, 4, 1),
        ("answer 0", 1, -1, 6, 2),
        ("prompt 1", 0, -1, 8, 2),
        ("answer 1", 0, -1, 10, 2),
        ("branch", 0, -1, 9, 3),
        ("prompt 4", 0, -1, 11, 3),
    ]


def test_labels_are_told_apart_up_to_a_number() -> None:
    labels = [0, LABELS - 1, LABELS, -1]
    made = Known(["ab", "cd", "ef", "gh"], labels=labels).serve_all().made()
    assert [label for _, _, label, *_ in made] == [0, LABELS - 1, -1, -1]


def test_a_branch_has_the_label_of_the_request_in_which_prompts_part() -> None:
    made = Known(["abcd", "abXY"], labels=[2, 5]).serve_all().made()
    assert made[1] == ("branch", 0, 2, 2, 2)


def test_where_positions_are_rounded_down_what_leaves_behind_them_returns_to_the_end() -> None:
    known = Known(["abcdefghij", "abcdefghiJ", "abcdefghijkl"], alignment=4).serve_all()
    made = known.made()
    assert made[0] == ("prompt 0", 2, -1, 8, 3)  # both have
    assert "branch" not in {kind for kind, *_ in made}
    # On the path of the third prompt two spans end behind that point: it counts once.
    assert [position for position, *_ in known.learner.asked[2]] == [12, 10]


# --- candidates ----------------------------------------------------------------------------------


def expect(points, name, stage=0, label=-1):
    """Return the uses, and the uses a request, to expect of a point that begins to wait."""
    kind = kind_of(name, stage, label)
    return points.rates.uses[kind], points.rates.rate[kind][0]


def test_candidates_of_a_second_turn() -> None:
    known = Known(["abcd", "abcdefgh"]).serve_all()
    assert known.learner.asked == [
        [(4, *expect(known.points, "prompt 0"))],
        [(8, *expect(known.points, "prompt 1")), (4, *expect(known.points, "prompt 0", 1))],
    ]


def test_candidates_where_a_prompt_diverges_are_the_branch_to_be_or_its_next_wait() -> None:
    known = Known(["abcdefgh", "abcdWXYZ", "abcdPQRS"]).serve_all()
    end = (8, *expect(known.points, "prompt 4"))
    assert known.learner.asked[1:] == [
        [end, (4, *expect(known.points, "branch"))],
        [end, (4, *expect(known.points, "branch", 1))],
    ]


def test_candidates_of_an_answer_and_of_a_prompt_that_may_be_repeated() -> None:
    known = Known(["ab", "ab", "wxyz"], answers=["", "", "uv"]).serve_all()
    assert known.learner.asked[2] == [
        (6, *expect(known.points, "answer 0")),
        (4, *expect(known.points, "prompt 0")),
        (3, *expect(known.points, "last token")),
    ]


def test_of_points_above_the_age_counts() -> None:
    """The prompt that comes third passes the end of the first, to which it does not return."""
    known = Known(["abcd", "abcdefgh", "abcdefghijkl"]).serve_all()
    first = known.points.all[0]
    before = known.points.rates.rate[first.kind]
    # At request 3 (two were observed before) its last use, by the second, was that moment.
    assert known.learner.asked[2][2] == (4, known.points.rates.uses[first.kind], before[0])
    assert known.points.rate_of(first) == before[1]  # an age of 1 now


# --- told more than once -------------------------------------------------------------------------

TEXTS = ["abcd", "abcdxyef", "abQR", "abcd", "abcdxyefuvgh"]
ANSWERS = ["xy", "uv", "", "xz", "mn"]


@pytest.mark.parametrize("chunk", [None, 1, 3, 5])
def test_requests_in_chunks_that_are_told_twice_are_learned_once(chunk: int | None) -> None:
    plain = Known(TEXTS, ANSWERS).serve_all()
    told = Known(TEXTS, ANSWERS, twice=True).serve_all(chunk)
    assert told.points.now == len(TEXTS)
    assert told.made() == plain.made()
    assert told.log() == plain.log()


def test_requests_that_overlap_in_time_are_counted_once() -> None:
    known = Known(["abcdef", "uvwxyz"], twice=True)
    first, second = (known.cache.admit(request) for request in (0, 1))
    for upto in (3, 6):  # in turns, and each is told of at its first chunk and at its last
        for running in (first, second):
            known.step(running, upto)
    assert known.points.now == 2
    assert [position for *_, position, _ in known.made()] == [6, 6]


# --- the model -----------------------------------------------------------------------------------


@dataclass(eq=False)
class Part:
    """What a prompt or an answer has added: its label, how it began, and its points."""

    start: int
    stop: int
    label: int
    turns: int
    points: dict[str, list] = field(default_factory=dict)  # each: kind's name, stage, begun
    left: bool = False


class Model:
    """The same once more, over texts: who has brought a token, and what became of it."""

    def __init__(self):
        self.now = 0
        self.log = []
        self.texts = []  # with answers
        self.parts = []  # of each text: that of its prompt and of its answer, None where nothing
        self.branches = {}
        self.repeats = False

    def begin(self, part, name, kind):
        part.points[name] = [kind, 0, self.now, part.label]

    def use(self, point):
        kind, stage, begun, label = point
        self.log.append((kind_of(kind, stage, label), begun, self.now))
        point[1:3] = [min(stage + 1, 3), self.now]

    def serve(self, prompt, answer, label):
        self.now += 1
        label = label if label < LABELS else -1
        depth = max((d for d in range(len(prompt) + 1) if self.knows(prompt[:d])), default=0)
        turns = FRESH
        if depth:
            part = self.part_at(prompt[:depth])
            inside = depth < part.stop
            if 2 * depth >= len(prompt):
                later = 1 if part.turns == BESIDE else min(part.turns + 1, LATER)
                turns = BESIDE if inside else later
            self.meet(prompt, depth, part)
        added = [None, None]
        if len(prompt) > depth:
            added[0] = self.add("prompt", depth, len(prompt), label, turns)
            if self.repeats:
                self.begin(added[0], "last", "last token")
        if answer:
            added[1] = self.add("answer", len(prompt), len(prompt + answer), label, turns)
        self.texts.append(prompt + answer)
        self.parts.append(added)

    def meet(self, prompt, depth, part):
        if depth < part.stop:
            branch = self.branches.get(prompt[:depth])
            if branch is None:
                self.branches[prompt[:depth]] = ["branch", 0, self.now, part.label]
            else:
                self.use(branch)
            if not part.left:
                part.left = True
                kind, _, begun, label = part.points.pop("within")
                self.log.append((kind_of(kind, 0, label), begun, self.now))
        elif len(prompt) > depth:
            self.use(part.points["end"])
        else:
            self.repeats = True
            if "last" in part.points:
                self.use(part.points["last"])

    def add(self, name, start, stop, label, turns):
        part = Part(start, stop, label, turns)
        self.begin(part, "end", f"{name} {turns}")
        self.begin(part, "within", f"within {turns}")
        return part

    def knows(self, text):
        return any(known.startswith(text) for known in self.texts)

    def part_at(self, text):
        first = next(i for i, known in enumerate(self.texts) if known.startswith(text))
        prompt, answer = self.parts[first]
        return prompt if prompt is not None and len(text) <= prompt.stop else answer

    def waits(self):
        parts = [part for pair in self.parts for part in pair if part is not None]
        points = [point for part in parts for point in part.points.values()]
        points += self.branches.values()
        waiting = [(kind_of(kind, stage, label), at, None) for kind, stage, at, label in points]
        return sorted(self.log + waiting, key=str)


@st.composite
def requests(draw):
    """Draw prompts, most of which go on from a part of an earlier text, with answers and labels."""
    texts, chosen = [""], []
    for number in range(draw(st.integers(1, 14))):
        known = draw(st.sampled_from(texts))
        cut = draw(st.one_of(st.just(len(known)), st.integers(0, len(known))))
        new = draw(st.text("ab", max_size=5))
        prompt = (known[:cut] + new) or "a"
        answer = chr(1000 + number) * draw(st.integers(0, 3))
        texts += [prompt, prompt + answer]
        chosen.append((prompt, answer, draw(st.integers(-1, LABELS + 1))))
    return chosen


@settings(max_examples=300)
@given(chosen=requests())
def test_all_waits_are_those_of_the_model(chosen):
    prompts, answers, labels = zip(*chosen, strict=True)
    model = Model()
    for request in chosen:
        model.serve(*request)
    known = Known(prompts, answers, labels).serve_all()
    assert sorted(known.log(), key=str) == model.waits()


# --- learning ------------------------------------------------------------------------------------


def test_it_learns_that_chats_go_on_and_documents_do_not() -> None:
    """Each chat has three turns, one right after another; then comes a prompt on its own."""
    prompts, labels = [], []
    for number in range(60):
        chat = chr(2000 + number) * 9
        prompts += [chat[:3], chat[:6], chat, chr(4000 + number) * 5]
        labels += [0, 0, 0, 1]
    points = Known(prompts, labels=labels).serve_all().points
    assert points.rates.learned > 1
    assert points.now >= LEAST_STEP
    turns = [points.rates.uses[kind_of(f"prompt {turn}", 0, 0)] for turn in range(3)]
    assert min(turns[:2]) > 0.8
    assert turns[2] < 0.4  # after the last turn nobody comes
    assert points.rates.uses[kind_of("prompt 0", 0, 1)] < 0.5
    soon, late = (points.rates.rate[kind_of("prompt 0", 0, 0)][bits] for bits in (1, 4))
    assert soon > 10 * late  # who has not come after eight requests does not come
    assert points.rates.uses[kind_of("prompt 0", 0, 5)] == points.rates.uses[kind_of("prompt 0")]
