from __future__ import annotations

from reports.study.documentation import FILE, document
from reports.study.file import known_keys
from reports.study.generated import generator_fields


def test_the_committed_file_is_what_the_models_say() -> None:
    again = "python -m reports.study.documentation writes it again"
    assert FILE.read_text(encoding="utf-8") == document(), again


def test_every_key_has_a_row_with_a_sentence() -> None:
    rows = [line for line in document().splitlines() if line.startswith("| `")]
    sentences = {row.split("|")[1].strip(" `"): row.split("|")[-2].strip() for row in rows}
    keys = {key.rpartition(".")[2] for key in known_keys(generator_fields())}
    assert keys == set(sentences)
    assert [key for key, sentence in sentences.items() if not sentence.endswith(".")] == []
    assert "1 to 1,073,741,824" in next(row for row in rows if row.startswith("| `block`"))
