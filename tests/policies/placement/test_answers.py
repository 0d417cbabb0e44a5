"""What `adaptive` makes of known answers."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from calibration.catalogue import open_profile
from policies.registry import create
from policies.tryout import serve
from simulator.results.result import Result
from simulator.simulation import Scenario, simulate
from simulator.trace.trace import Trace
from workloads.arrivals import Poisson
from workloads.drift import Drift
from workloads.synthetic import read_generator

GIB = 2**30


def generated(text: str, requests: int = 4000, seed: int = 0) -> Trace:
    return read_generator(text).trace(requests, seed, Poisson(rate=5.0), Drift())


def replay(trace: Trace, placer: str, capacity_bytes: int | None = None) -> Result:
    scenario = Scenario(
        profile=open_profile("qwen3.5-9b-h200"),
        placer=partial(create, "placer", placer),
        eviction=partial(create, "eviction", "lru"),
        admission=partial(create, "admission", "always"),
        capacity_bytes=capacity_bytes,
        server="instant",
        alignment=1,
    )
    return simulate(trace, scenario)


def saved(result: Result) -> int:
    return int(result.columns["saved_tokens"].sum())


@pytest.mark.parametrize(
    "text",
    [
        "chats",
        "agents",
        "thoughts",
        "0.4 documents + 0.4 chats + 0.2 agents",
        "0.5 chats:turns_mean=12 + 0.5 thoughts:samples=2,depth=4",
        "agents:count=60,steps_mean=5,tool_tokens_median=80",
        "thoughts:samples=5,branching=1,depth=5,count=50",
    ],
)
def test_share_of_the_ideal_saving_where_answers_are_known(text: str) -> None:
    trace = generated(text)
    result = replay(trace, "adaptive")
    assert saved(result) >= 0.99 * saved(replay(trace, "dense"))
    assert result.columns["checkpoints_written"].mean() <= 1.2


@pytest.mark.parametrize("text", ["thoughts", "0.5 chats + 0.5 thoughts", "agents:steps_mean=5"])
def test_knowing_the_answers_helps_in_a_small_cache_too(text: str) -> None:
    trace = generated(text)
    stripped = replace(trace, after=None)
    known, unknown = (saved(replay(each, "adaptive", 16 * GIB)) for each in (trace, stripped))
    assert known >= 0.995 * unknown


def test_it_learns_which_end_the_prompts_of_a_label_return_to() -> None:
    # Chats go on behind their answers, questions about documents leave before the prompt's end.
    letters = "abcdefghijklmnopqrst"
    prompts, answers, labels = [], [], []
    for chat, document in zip(letters, letters.upper(), strict=True):
        prompts += [chat * 100, chat * 400, document * 1000 + "?" * 30, document * 1000 + "!" * 30]
        answers += [chat * 200, chat * 200, "yes" * 9, "not" * 9]
        labels += [0, 0, 1, 1]
    written = serve(prompts, placer="adaptive", answers=answers, labels=labels).written
    first_turn, last_turn, question, last_question = written[-4:]
    assert first_turn[-1] == 300  # behind the answer, and none behind the second
    assert last_turn == []
    assert question[0] == 1000
    assert last_question == []


def test_a_generation_prompt_that_the_history_does_not_repeat() -> None:
    # Each turn ends with three tokens behind which the model writes, and which the next omits.
    prompts, answers = [], []
    for chat in "abcdefghijklmnopqrst":
        prompts += [chat * n + "<a>" for n in (100, 400, 700)]
        answers += [chat.upper() * 200] * 3
    served = serve(prompts, placer="adaptive", answers=answers)
    assert served.written[-3:] == [[100], [400], [700]]
    assert served.saved[-3:] == [0, 100, 400]


def test_an_answer_that_the_history_cuts_short() -> None:
    # The last five tokens of each answer are not repeated.
    prompts, answers = [], []
    for chat in "abcdefghijklmnopqrst":
        prompts += [chat * n for n in (100, 400, 700)]
        answers += [chat * 200 + "<end>"] * 3
    served = serve(prompts, placer="adaptive", answers=answers)
    assert served.saved[-2:] == [300, 600]


def test_repeated_prompts_resume_one_token_before_their_end() -> None:
    prompts = [letter * 500 for letter in "abcdefghij" for _ in range(3)]
    served = serve(prompts, placer="adaptive", answers=["xyz"[i % 3] * 50 for i in range(30)])
    assert np.array(served.saved[-3:]).tolist() == [0, 499, 499]
