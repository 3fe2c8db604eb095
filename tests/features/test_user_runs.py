"""Features that users write in runs of the sampler and of `gpusearch bench`: tried, known again, refused."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import gpusearch
from gpusearch.cli.main import run
from gpusearch.config import load_config, with_search
from gpusearch.errors import InputError
from gpusearch.features.batch import Reader
from gpusearch.features.load import made_feature, with_features
from gpusearch.model.model import load_model
from gpusearch.search.judged import served
from tests.features.user_features import AT, MODULE, TEXTS, WORTH, Write, built, of, write
from tests.tiny import TINY

__all__ = ["write"]  # a fixture


WRONG = """
class Wrong:
    scope = "document"

    def full(self, state):
        return (state.words >= 0).sum(axis=1)

    def delta(self, state, proposal):
        return (proposal.added >= 0).sum(axis=1)
"""


@pytest.mark.parametrize("method", ["gibbs", "metropolis", "tempering"])
def test_features_are_tried_before_they_are_sampled(
    write: Write, capsys: pytest.CaptureFixture[str], method: str
) -> None:
    write(WRONG)
    Path("documents.txt").write_text("la maison\nune maison bleue\n", encoding="utf-8")
    command = ["sample", "-c", str(TINY), "--set", f"features.x={MODULE}:Wrong", "-o", "out", "--method", method]
    assert run([*command, "--quiet", "--chains", "2", "--iterations", "4", "--burn-in", "2", "documents.txt"]) == 2
    assert re.search(f"delta of feature x is not the difference of full {AT}", capsys.readouterr().err)


def test_features_are_tried_before_they_are_measured(write: Write, capsys: pytest.CaptureFixture[str]) -> None:
    write(WRONG)
    Path("documents.txt").write_text("la maison\nune maison bleue\n", encoding="utf-8")
    assert run(["bench", "-c", str(TINY), "--set", f"features.x={MODULE}:Wrong", "documents.txt"]) == 2
    said = capsys.readouterr()
    assert said.out == "" and re.search(f"delta of feature x is not the difference of full {AT}", said.err)


HOLDING = """
import numpy as np


class Holding:
    scope = "document"

    def __init__(self, path=None, letters=3):
        self.model, self.letters = object(), letters
        self.long = np.arange(5000)

    def prepare(self, preparation):
        self.words = preparation.words

    def full(self, state):
        return [0.0] * len(state)
"""


def fingerprint(*settings: str) -> bytes:
    config, _, _ = built(of("Holding", *settings))
    return made_feature("x", config.features["x"], config.text).feature.fingerprint()


def test_a_feature_is_known_by_its_code_and_options(write: Write) -> None:
    """Not by what it holds or was told; `model_hash` and `sample --resume` go by that."""
    write(HOLDING)
    first = fingerprint()
    _, batch, _ = built(of("Holding"))
    (named,) = batch.options.model.document
    assert named.feature.fingerprint() == first == fingerprint()
    Path("data").write_text("one", encoding="utf-8")
    with_file = fingerprint("features.x.path=data")
    others = {first, with_file, fingerprint("features.x.options={letters=4}")}
    Path("data").write_text("two", encoding="utf-8")
    others.add(fingerprint("features.x.path=data"))
    write(HOLDING.replace("[0.0]", "[0.25]"))
    assert len({*others, fingerprint()}) == 5


def test_sampling_with_a_feature_that_holds_a_model_goes_on(write: Write) -> None:
    write(HOLDING)
    Path("documents.txt").write_text("la maison\nune maison bleue\n", encoding="utf-8")
    command = ["sample", "-c", str(TINY), "--set", f"features.x={MODULE}:Holding", "-o", "out", "--chains", "2"]
    command += ["--iterations", "4", "--burn-in", "2", "--quiet", "documents.txt"]
    assert run(command) == 0
    assert run([*command, "--resume"]) == 0


def test_words_that_nobody_looks_at_are_not_read(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    """A feature that says what changes costs what changes: documents are read for `full` alone."""
    write(WORTH)
    read: list[int] = []
    whole = Reader._rows

    def counted(self: Reader, *arguments: Any) -> Any:
        read.append(1)
        return whole(self, *arguments)

    monkeypatch.setattr(Reader, "_rows", counted)
    counts = {}
    for steps in (10, 40):
        read.clear()
        decoder = gpusearch.load(TINY, of("Tight", "features.x.weights=0.5"))
        decoder.decode(TEXTS, chains=2, steps_per_word=float(steps))
        counts[steps] = len(read)
    assert counts[10] == counts[40] > 0


@pytest.mark.parametrize(
    ("settings", "found"),
    [
        (["search.policy=sweep"], 'policy = "sweep"'),
        (["search.final_sweep=true"], "final_sweep = true"),
        (["search.lattice.every=50"], "lattice.every = 50"),
    ],
)
def test_what_features_in_python_cannot_have_is_refused(write: Write, settings: list[str], found: str) -> None:
    write(WORTH)
    with pytest.raises(InputError, match=f"feature x is written in Python; found {found}"):
        gpusearch.load(TINY, of("Words", *settings)).decode(TEXTS, chains=2)


@pytest.mark.parametrize(
    ("of_model", "settings"),
    [
        (["search.policy=sweep"], {"method": "gibbs"}),
        (["search.policy=sweep"], {"method": "beam"}),
        (["search.lattice.every=50"], {"method": "beam"}),
        (["search.lattice.every=50"], {"recombine": "best-unit"}),
    ],
    ids=str,
)
def test_what_is_not_in_use_is_not_refused(write: Write, of_model: list[str], settings: dict[str, Any]) -> None:
    """Policies are those of searches, rounds those of the lattice."""
    write(WORTH)
    config = with_search(load_config(TINY, of("Words", *of_model)), settings)
    assert served(with_features(load_model(config), config), config).search.recombine == "best-unit"


def test_what_a_preset_asks_for_gives_way(write: Write) -> None:
    write(WORTH)
    decoded = gpusearch.load(TINY, of("Words", "search.preset=best")).decode(TEXTS, chains=2, steps_per_word=2.0)
    assert "recombine:best-unit" in decoded.signature and "final_sweep" not in decoded.signature
