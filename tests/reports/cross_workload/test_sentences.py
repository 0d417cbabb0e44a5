from __future__ import annotations

import json
from pathlib import Path

from reports.cross_workload import overview_of
from reports.cross_workload.sentences import sentences
from reports.cross_workload.stored import as_json
from reports.pages.study import study_report
from reports.report.store import store
from reports.results.comparison import compare
from tests.reports.cross_workload.workloads import Cells, several, with_foresight

ALIKE = {"a": (0.2, 0.6, 0.4), "b": (0.1, 0.5, 0.3)}


def sentences_of(cells_and_manifest: Cells) -> list[str]:
    worlds = compare(*cells_and_manifest)
    return sentences(overview_of(worlds), worlds)


def test_who_is_first_how_sure_and_whether_workloads_agree() -> None:
    first, by_ttft, agreed, claims = sentences_of(several(ALIKE))
    assert first == (
        "By token hit rate, over 2 workloads (4 places), branch ranks first: mean rank "
        "1.0 [1.0, 1.0] of 3; next sqrt with 2.0 [2.0, 2.0]."
    )
    assert by_ttft.startswith("By mean TTFT, over 2 workloads (4 places), branch ranks first")
    assert agreed == (
        "That the workloads agree on the order cannot be told from chance "
        "(Kendall's W 1.00, p = 0.17)."
    )
    # 2 policies x 2 capacities x 2 workloads x 2 metrics, and the best less its one other rival
    assert claims.startswith("18 of 18 differences are significant after Holm's correction")


def test_agreement_beyond_chance_is_told() -> None:
    alike = dict.fromkeys("abcd", (0.2, 0.6, 0.4))
    agreed = sentences_of(several(alike))[2]
    assert agreed == (
        "The workloads agree on the order more than chance explains (Kendall's W 1.00, p = 0.0046)."
    )


def test_equal_ranks_are_shared() -> None:
    first = sentences_of(several({"a": (0.2, 0.6, 0.4), "b": (0.5, 0.1, 0.3)}))[0]
    assert "last, branch and sqrt share the first rank: mean rank 2.0 of 3." in first


def test_foresight_and_the_room_up_to_it() -> None:
    cells, manifest = several({"a": (0.2, 0.3, 0.6)})
    (room, claims) = sentences_of((with_foresight(cells, 0.2), manifest))
    assert room == (
        "Of the room between last · lru and sqrt · clairvoyant, which looks ahead, sqrt · lru "
        "takes 66.7 % [66.6, 66.8] at 2 GiB."
    )
    assert "differences are significant after Holm's correction" in claims


def test_the_file_holds_every_comparison(tmp_path: Path) -> None:
    cells, manifest = several(ALIKE)
    report = study_report(cells, manifest)
    store(report, tmp_path)
    document = json.loads((tmp_path / "differences.json").read_text())
    answers = document["sentences"][: len(ALIKE)]
    assert all(answer.startswith("At ") for answer in answers)
    worlds = compare(cells, manifest)
    assert document == json.loads(json.dumps(as_json(worlds, overview_of(worlds), answers)))
    assert document["comparisons_corrected_for"] == len(document["differences"]) == 18
    row = document["differences"][0]
    point = compare(cells, manifest)[0].points["branch", "2 GiB"]
    assert (row["policy"], row["less"], row["capacity"]) == ("branch", "last", "2 GiB")
    assert point.token_hit_rate_difference is not None
    assert row["value"] == point.token_hit_rate_difference.value
    assert row["p_holm"] >= row["p_value"]
    assert row["verdict"] == "better"
    assert [each["policy"] for each in document["rankings"][0]["ranks"]] == [
        "branch",
        "sqrt",
        "last",
    ]
