"""What is said of positions, and which engine setting is nearest: documents and questions."""

from __future__ import annotations

import pytest

from calibration.catalogue import open_profile
from reports.results.positions.engines import Nearest, block_tokens
from tests.reports.results.positions.traces import positions, questions

LENGTHS = (100, 230, 370)
END = "TensorRT-LLM with an offset of 0 tokens from the end"


@pytest.mark.parametrize(
    ("placer", "words"),
    [
        ("last", "stores 1.00 states a request: all at the end of the prompt"),
        (
            "branch",
            "stores 1.33 states a request: 75 % at the end of the prompt, 25 % where prompts were "
            "seen to diverge",
        ),
        ("block:size=1000", "stores 1.33 states a request: nearly all every 1,000 tokens"),
        (
            "from_end:offsets=50",
            "stores 1.00 states a request: nearly all 50 tokens before the end of the prompt",
        ),
        (
            "from_end:offsets=20+50",
            "stores 2.00 states a request: nearly all 20 and 50 tokens before the end of the "
            "prompt",
        ),
        ("offsets:start=1234", "stores 0.33 states a request: "),
        ("none", "stores no states"),
        ("dense", "holds a state at every position at no cost: it stores none"),
    ],
)
def test_words_by_hand(placer: str, words: str) -> None:
    assert positions(placer, questions(LENGTHS)).words.startswith(f"`{placer}` {words}")


def test_what_follows_no_rule_is_told_by_its_quartiles() -> None:
    words = positions("balanced:budget=40", questions((107,))).words
    assert words == "`balanced:budget=40` stores 40.00 states a request: all evenly over the prompt"
    few = positions("dyadic:first=512", questions((100,))).words  # 512, 1024, 2048, 4096
    assert few.endswith(": all elsewhere (half of them between 22 % and 62 % of the prompt)")


def test_a_period_that_floors_hide_is_not_made_up() -> None:
    """On a grid of 512 nearly every period near 1,024 would fit."""
    trace = questions((20_000,), granularity=512)
    assert "1,0" not in positions("interval:every=1000", trace).words


@pytest.mark.parametrize(
    ("placer", "setting"),
    [
        ("last", "SGLang with `no_buffer` and `--chunked-prefill-size 8192`"),  # one chunk each
        ("branch", f"{END} and branch snapshots"),
        ("block:size=1000", "TensorRT-LLM with an interval of 1,000 tokens"),
        ("from_end:offsets=90", "TensorRT-LLM with offsets of 90 tokens from the end"),
    ],
)
def test_the_nearest_setting_by_hand(placer: str, setting: str) -> None:
    nearest = positions(placer, questions(LENGTHS)).nearest
    assert nearest == Nearest(setting, 1.0, 1.0, 0.0, 64)
    assert nearest.words() == (
        f"nearest of the engine settings compared: {setting} would give 100 % of these positions "
        "(to within 64 tokens)"
    )


def test_what_a_setting_leaves_out_and_what_it_adds_is_said() -> None:
    """Five states, four of them 20 tokens before an end, as the last 64 of a chunk of SGLang.

    The chunks begin at the resume point, 0 or 1,000, and that at 1,000 is none of theirs.
    """
    nearest = positions("offsets:start=1000,end=20", questions((120, 230, 370, 400))).nearest
    chunks = "SGLang with `extra_buffer` and `--chunked-prefill-size 8192`"
    assert nearest == Nearest(chunks, 8 / 9, 4 / 5, 0.0, 64)
    more = Nearest("An engine", 0.7, 0.9, 0.25, 528).words()
    assert more == (
        "nearest of the engine settings compared: An engine would give 90 % of these positions "
        "(to within 528 tokens), and 0.25 more a request"
    )


def test_what_is_near_to_nothing_is_called_so() -> None:
    nearest = positions("random:budget=4,seed=3", questions(LENGTHS)).nearest
    assert nearest is not None
    assert nearest.agreement < 2 / 3
    assert nearest.words().startswith("no engine setting is near; of those compared ")


@pytest.mark.parametrize(
    ("model", "block"),
    [("9b", 528), ("27b", 784), ("35b-a3b", 1056), ("122b-a10b", 2096), ("397b-a17b", 2096)],
)
def test_the_block_of_vllm_is_that_of_its_documentation(model: str, block: int) -> None:
    assert block_tokens(open_profile(f"analytic:model=qwen3.5-{model}")) == block


def test_every_position_of_the_grid_is_a_period_too() -> None:
    """Whatever points of the prompt its positions fall on."""
    lain = positions("block:size=64", questions(LENGTHS), alignment=64)
    assert lain.words.endswith(" states a request: nearly all every 64 tokens")
    assert lain.nearest is not None
    assert lain.nearest.setting == "TensorRT-LLM with an interval of 64 tokens"
