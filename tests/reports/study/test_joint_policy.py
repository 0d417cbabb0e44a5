"""`policy.all` and `--policy`: placer, eviction and admission of a study set at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reports.api import Study
from reports.study.cells import expand
from reports.study.layers import read_settings
from reports.study.own_policies import doubts, with_own_placers
from reports.study.settings import Settings, to_toml
from simulator.base.errors import UsageError

UNIFIED = ("unified", "unified", "unified")
ALL = "policy.all"


def laid(file: Path | None = None, **flags: Any) -> Settings:
    """Return settings of a file with flags over it, as in policy_all=..."""
    names = {key: key.replace("_", ".") for key in flags}
    given = [
        (names[key], value, "--" + names[key].rpartition(".")[2].replace("all", "policy"))
        for key, value in flags.items()
    ]
    return read_settings(file, given)


def policies(settings: Settings) -> list[tuple[str, str, str]]:
    rows = (cell.study.policy for cell in expand(settings)[1])
    return [(row.placer, row.eviction, row.admission) for row in rows]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "study.toml"


def test_it_sets_every_kind_that_has_a_policy_of_the_name() -> None:
    assert policies(laid(policy_all="unified")) == [UNIFIED]
    assert policies(laid(policy_all="marconi")) == [("marconi", "marconi", "always")]
    assert policies(laid(policy_all="value")) == [("adaptive", "value", "value")]


def test_its_parameters_go_to_those_that_have_them() -> None:
    assert policies(laid(policy_all="unified:aim=seconds,rate=1")) == [
        ("unified:rate=1.0,aim=seconds", "unified:aim=seconds", "unified")
    ]


def test_the_result_is_that_of_three_settings() -> None:
    each = laid(policy_placer="unified", policy_eviction="unified", policy_admission="unified")
    ((one,), (three,)) = expand(laid(policy_all="unified"))[1], expand(each)[1]
    assert one.identity == three.identity


def test_a_kind_that_is_asked_for_by_itself_stays_so() -> None:
    alone = laid(policy_all="unified", policy_eviction="lru")
    assert policies(alone) == [("unified", "lru", "unified")]
    varied = laid(policy_all="unified", grid_policy_placer=["last", "unified"])
    assert policies(varied) == [("last", "unified", "unified"), UNIFIED]


def test_a_grid_varies_whole_policies(file: Path) -> None:
    file.write_text('[grid]\n"policy.all" = ["unified", "adaptive+lru", "marconi"]\n')
    rows = [UNIFIED, ("adaptive", "lru", "always"), ("marconi", "marconi", "always")]
    study, cells = expand(read_settings(file))
    assert [(*vars_of(cell.study.policy),) for cell in cells] == rows
    assert [tuple(cell.choice.values()) for cell in cells] == rows
    assert [*cells[0].choice] == ["policy.placer", "policy.eviction", "policy.admission"]
    file.write_text(to_toml(study.absolute()))
    assert policies(read_settings(file)) == rows
    assert policies(laid(file, policy_eviction="fifo"))[1] == ("adaptive", "fifo", "always")


def vars_of(policy: Any) -> tuple[str, str, str]:
    return policy.placer, policy.eviction, policy.admission


def test_a_resolved_grid_keeps_the_kinds_that_are_set_by_themselves(file: Path) -> None:
    file.write_text(
        '[policy]\nadmission = "tinylfu"\n[grid]\n"policy.all" = ["unified", "last+fifo"]\n'
    )
    rows = policies(read_settings(file))
    assert rows == [("unified", "unified", "tinylfu"), ("last", "fifo", "tinylfu")]
    file.write_text(to_toml(expand(read_settings(file))[0].absolute()))
    assert policies(read_settings(file)) == rows


def test_a_flag_replaces_what_the_study_says_of_its_kinds(file: Path) -> None:
    file.write_text(
        '[policy]\neviction = "fifo"\nadmission = "tinylfu"\n'
        '[grid]\n"policy.placer" = ["last", "branch"]\n[study]\nbaseline = "last"\n'
    )
    settings = with_own_placers(laid(file, policy_all="unified"))
    assert policies(settings) == [UNIFIED]
    (note,) = settings.notes
    assert note.endswith("it is not among the placers of --policy")
    assert policies(laid(file, policy_all="value"))[0] == ("last", "value", "value")
    assert policies(with_own_placers(laid(file, grid_policy_all=["marconi", "clairvoyant"]))) == [
        ("marconi", "marconi", "tinylfu"),
        ("clairvoyant", "clairvoyant", "tinylfu"),
    ]
    kept = with_own_placers(laid(file, grid_policy_all=["last+lru", "marconi"]))
    assert kept.notes == ()
    assert with_own_placers(laid(file, grid_policy_all=["value", "unified"])).notes == ()
    file.write_text('[policy]\nall = "unified"\n')
    assert policies(laid(file, policy_placer="last")) == [("last", "unified", "unified")]
    assert policies(laid(file, policy_all="adaptive+lru")) == [("adaptive", "lru", "always")]
    assert len(policies(laid(file, grid_policy_all=["marconi", "clairvoyant"]))) == 2


def test_a_class_of_ones_own_in_a_pair_is_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "from policies.eviction import Lru\nclass Odd(Lru):\n    def on_hits(self, entry): ...\n"
    (tmp_path / "odd_in_a_pair.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    pair = "last+odd_in_a_pair:Odd"
    for settings in (laid(policy_all=pair), laid(grid_policy_all=[pair, "unified"])):
        (doubt,) = doubts(settings)
        assert "on_hits" in doubt


def test_a_study_in_python_takes_it_and_replaces_it() -> None:
    study = Study({ALL: "unified"})
    assert tuple(study.settings["policy"].values()) == UNIFIED
    placer = study.with_settings({"policy.placer": "last"})
    assert tuple(placer.settings["policy"].values()) == ("last", "unified", "unified")
    other = placer.with_settings({ALL: "marconi"})
    assert tuple(other.settings["policy"].values()) == ("marconi", "marconi", "unified")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '[policy]\nall = "unified:rate=0"\n',
            "study.toml: 'policy.all': placer 'unified:rate=0': rate: expected above 0 and at "
            "most 1000000, found 0.0 (line 2)",
        ),
        ('[policy]\nall = "unifid"\n', "study.toml: 'policy.all': policy 'unifid': unknown name"),
        ('[policy]\nall = "lru"\n', "it names an eviction policy alone; expected a name of"),
        ("[policy]\nall = 4\n", "study.toml: 'policy.all': expected a valid string, found 4"),
        (
            '[policy]\nall = "marconi"\n[grid]\n"policy.all" = ["unified"]\n',
            "'policy.all' is both set and varied by the grid (line 2)",
        ),
        (
            '[grid]\n"policy.all" = ["unified", "last+nothing"]\n',
            "study.toml: [grid]: 'policy.all': eviction 'nothing': unknown name 'nothing'",
        ),
        (
            '[grid]\n"policy.all" = ["unified", "unifid"]\n',
            "study.toml: [grid]: 'policy.all': policy 'unifid': unknown name 'unifid'; did you "
            "mean 'unified'? (line 2)",
        ),
        ('[grid]\n"policy.all" = ["unified", 4]\n', "'policy.all': expected a valid string"),
        ('[grid]\n"policy.all" = ["unified", "unified"]\n', "the grid holds the same cell twice"),
    ],
)
def test_what_is_wrong_with_it_is_one_line(text: str, message: str, file: Path) -> None:
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        expand(read_settings(file))
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
