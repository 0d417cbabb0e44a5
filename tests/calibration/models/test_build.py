from __future__ import annotations

from pathlib import Path

import pytest

from tests.calibration.tiny import (  # first: it skips where torch is absent
    tiny_config,
    tiny_model,
    torch,
)

# isort: split
from calibration.models.build import build, load
from calibration.models.hybrid import HybridModel
from simulator.base.errors import DataError


def test_weights_depend_on_the_seed_alone() -> None:
    config = tiny_config("qwen3.5")
    one, same, other = (build(config, seed=seed) for seed in (1, 1, 2))
    for left, right in zip(one.parameters(), same.parameters(), strict=True):
        assert torch.equal(left, right)
    assert not torch.equal(one.lm_head.weight, other.lm_head.weight)


def test_nothing_is_left_as_memory_had_it() -> None:
    # Built in memory filled with NaN: what `to_empty` leaves must be filled.
    config = tiny_config("qwen3.5")
    torch.utils.deterministic.fill_uninitialized_memory = True
    torch.use_deterministic_algorithms(True)
    try:
        model = build(config)
    finally:
        torch.use_deterministic_algorithms(False)
    for tensor in (*model.parameters(), *model.buffers()):
        assert bool(torch.isfinite(tensor).all())
    frequencies = dict(model.named_buffers())["model.rotary_emb.inv_freq"]
    assert frequencies[0] == 1
    assert bool((frequencies[:-1] > frequencies[1:]).all())


def test_decays_are_as_slow_as_those_of_trained_models() -> None:
    model = build(tiny_config("qwen3.5"))
    decays = [p.exp() for name, p in model.named_parameters() if name.endswith("A_log")]
    assert len(decays) == 3
    for rates in decays:
        assert float(rates.min()) == pytest.approx(1e-4)
        assert float(rates.max()) == pytest.approx(0.05)


def test_a_local_folder_gives_its_own_weights(tmp_path: Path) -> None:
    saved = tiny_model("qwen3.5")
    saved.module.save_pretrained(tmp_path)
    loaded = HybridModel(load(tmp_path, device="cpu", dtype=torch.float32))
    tokens = saved.random_tokens(20, seed=3)
    left, right = (m.forward(m.new_cache(20), tokens) for m in (saved, loaded))
    assert torch.allclose(left, right, rtol=0, atol=1e-6)
    for one, other in zip(saved.module.parameters(), loaded.module.parameters(), strict=True):
        assert torch.equal(one, other)


def test_folders_without_safetensors_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"expected a folder with a config\.json"):
        load(tmp_path, device="cpu", dtype=torch.float32)
    tiny_config("qwen3.5").save_pretrained(tmp_path)
    (tmp_path / "pytorch_model.bin").write_bytes(b"\x80\x04.")
    with pytest.raises(DataError, match=r"expected weights as \*\.safetensors, found none"):
        load(tmp_path, device="cpu", dtype=torch.float32)
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(DataError, match="holds no model that can be loaded") as caught:
        load(tmp_path, device="cpu", dtype=torch.float32)
    assert "\n" not in str(caught.value)


def test_a_folder_of_another_make_is_refused(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "abacus"}', encoding="utf-8")
    (tmp_path / "model.safetensors").write_bytes(b"")
    with pytest.raises(DataError, match="holds no model that can be loaded"):
        load(tmp_path, device="cpu", dtype=torch.float32)
