"""What is given to `gpusearch sample` takes effect, or is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusearch.candidates.samples import read_samples
from gpusearch.cli.main import run
from tests.tiny import TINY


def sample(folder: Path, *more: str) -> int:
    (folder / "in").write_text("la maison bleue\nune maison\n", encoding="utf-8")
    short = ("--chains", "4", "--iterations", "4", "--burn-in", "2", "--threads", "1", "--quiet")
    return run(["sample", "-c", str(TINY), "-o", str(folder / "out"), *short, *more, str(folder / "in")])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--scan", "random", "--method", "metropolis"), "--scan would have no effect; expected --method gibbs"),
        (("--scan", "sequential", "--method", "tempering"), "--scan would have no effect"),
        (("--set", "sample.resegment=2", "--method", "metropolis"), "--set sample.resegment would have no effect"),
        (("--set", "sample.proposals=5"), "expected --method metropolis or tempering"),
        (("--set", "search.operations.swap=9"), "expected --method metropolis or tempering"),
        (("--set", "search.tempering.levels=3"), "expected --method tempering"),
        (("--set", "search.tempering.cold=0.1", "--method", "tempering"), "expected gpusearch decode"),
        (("--set", "search.steps = 7"), "--set search.steps would have no effect; expected gpusearch decode"),
        (("--set", "search.policy=sweep"), "expected gpusearch decode"),
        (("--set", "sample.anneal_last=0.1"), "expected gpusearch decode"),
        (("--set", "search.beam.stack_size=5"), "expected search.initial = beam"),
        (("--set", "search.initial_file=in"), "expected search.initial = file or saved"),
        (("--set", "sample.superchains=3"), "expected a divisor of the 4 chains"),
        (("--unit", "sentence", "--set", "features.ttr=type-token-ratio"), "--unit would have no effect"),
        (("--set", "sample.unit=sentence", "--set", "features.ttr=type-token-ratio"), "looks at whole documents"),
    ],
)
def test_what_would_have_no_effect_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: tuple[str, ...], message: str
) -> None:
    assert sample(tmp_path, *given) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_what_has_an_effect_is_not(tmp_path: Path) -> None:
    given = ("scan=sequential", "unit=sentence", "superchains=2", "resegment=4")
    assert sample(tmp_path, *[part for one in given for part in ("--set", f"sample.{one}")]) == 0
    header = read_samples(tmp_path / "out").header["sample"]
    assert {key: header[key] for key in ("scan", "superchains", "resegment")} == {
        "scan": "sequential",
        "superchains": 2,
        "resegment": 4,
    }


def test_chains_begin_with_a_translation_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Or what fits the documents no more is refused."""
    start = tmp_path / "start"
    start.write_text("the |0-0| blue house |1-2|\na house |0-1|\n", encoding="utf-8")
    initial = ("--set", "search.initial=file", "--set", f"search.initial_file={start}")
    only_change = [part for name in ("swap", "resegment") for part in ("--set", f"search.operations.{name}=0")]
    assert sample(tmp_path, *initial, "--method", "metropolis", *only_change) == 0
    samples = read_samples(tmp_path / "out")
    assert samples.header["start"] is not None
    spans = [{tuple(map(tuple, unit.options.span[row[row >= 0]].tolist())) for row in unit.derivations(0)
              .reshape(-1, unit.derivations(0).shape[-1])} for unit in samples]  # fmt: skip
    assert spans == [{((0, 1), (1, 3))}, {((0, 2),)}]
    capsys.readouterr()
    start.write_text("the |0-0|\n", encoding="utf-8")
    assert sample(tmp_path, *initial, "--resume") == 2
    assert "another number of sentences" in capsys.readouterr().err
