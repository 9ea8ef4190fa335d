"""Measured choice, and what is kept of it."""

import json
import os

import numpy as np
import pytest

import faro


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FARO_CACHE", str(tmp_path / "faro"))


def test_a_measured_plan_moves_right_and_is_remembered(own_folder):
    x = np.arange(64 * 96, dtype=np.int32).reshape(64, 96)
    for known in (1, 1):
        p = faro.plan("transpose", x, measure=True)
        assert (p(x) == x.T).all()
        assert "measured choice" in p.explain()
        assert len(json.loads(faro.export_wisdom())["entries"]) == known


def test_what_is_told_is_taken_elsewhere_and_forgotten(own_folder, tmp_path, monkeypatch):
    faro.plan("bit_reversal(12)", itemsize=8, measure=True)
    told = faro.export_wisdom()
    assert faro.import_wisdom(told) == 0
    monkeypatch.setenv("FARO_CACHE", str(tmp_path / "another"))
    assert json.loads(faro.export_wisdom())["entries"] == []
    assert faro.import_wisdom(told) == 1
    assert faro.export_wisdom() == told
    assert faro.forget_wisdom() == 1
    assert not os.path.exists(tmp_path / "another" / "wisdom.json")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 1, "entries": [1]}'])
def test_other_texts_are_refused_and_change_nothing(own_folder, text):
    with pytest.raises(faro.FaroFileError, match="wisdom"):
        faro.import_wisdom(text)
    assert json.loads(faro.export_wisdom())["entries"] == []


def test_measured_choice_is_a_cpus(own_folder):
    with pytest.raises(faro.FaroError):
        faro.plan("bit_reversal(12)", itemsize=8, engine="cuda", measure=True)
