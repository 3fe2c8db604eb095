"""Language models by lmplz: how it is called, what is made of its answer; and the program itself where it is there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpusearch.errors import GpusearchError, InputError
from gpusearch.io.arpa import read_arpa
from gpusearch.train.language_model import LanguageModelReport, train_language_model
from tests.lmplz import NEEDS_LMPLZ

STATISTICS = """=== 1/5 Counting and sorting n-grams ===
Unigram tokens 3 types 6
=== 2/5 Calculating and sorting adjusted counts ===
Chain sizes: 1:72 2:1000
Statistics:
1 6 D1=0.5 D2=1 D3+=1.5
2 3/5 D1=0.612022 D2=0.920765 D3+=1.5082
"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a stand-in for lmplz, which keeps its arguments and the text, and writes a line for a model."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "lmplz"
    script.write_text(
        f"""#!{sys.executable}
import pathlib, sys
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
here = pathlib.Path(__file__).parent
(here / "arguments").write_text(" ".join(sys.argv[1:]))
(here / "text").write_bytes(pathlib.Path(options["--text"]).read_bytes())
if (here / "fail").exists():
    sys.exit("first\\nsecond\\nno memory")
pathlib.Path(options["--arpa"]).write_text("the model\\n")
sys.stderr.write({STATISTICS!r})
"""
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def train(folder: Path, **options: Any) -> LanguageModelReport:
    (folder / "a").write_text("so it")
    (folder / "b").write_text("is\n")
    return train_language_model([folder / "a", folder / "b"], 2, folder / "lm.arpa", tool="lmplz", **options)


def test_the_program_gets_text_and_options(tmp_path: Path, program: Path) -> None:
    report = train(tmp_path, memory="1.5GB", prune=[0, 1], vocabulary=tmp_path / "words", skip_symbols=True)
    assert (tmp_path / "lm.arpa").read_text() == "the model\n"
    assert (program / "text").read_text() == "so it\nis\n"
    words = (program / "arguments").read_text().split(" ")
    assert words[:2] == ["--order", "2"]
    assert words[words.index("--memory") + 1] == "1500000000b"
    rest = f"--prune 0 1 --limit_vocab_file {tmp_path}/words --skip_symbols --discount_fallback 0.5 1.0 1.5"
    assert " ".join(words).endswith(rest)
    assert report.tool == "lmplz" and report.tokens == 3
    assert report.counts == (6, 3)
    assert report.discounts == ((0.5, 1, 1.5), (0.612022, 0.920765, 1.5082))
    assert report.fallback == (1,)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "bin", "lm.arpa"]


def test_the_program_gets_reversed_text(tmp_path: Path, program: Path) -> None:
    train(tmp_path, reverse=True)
    assert (program / "text").read_text() == "it so\nis\n"


def test_options_that_are_not_set_are_not_given(tmp_path: Path, program: Path) -> None:
    train(tmp_path, discount_fallback=None)
    assert "--memory 3000000000b" in (program / "arguments").read_text()
    assert not {"--prune", "--limit_vocab_file", "--skip_symbols", "--discount_fallback"} & set(
        (program / "arguments").read_text().split(" ")
    )


def test_its_failure_is_ours(tmp_path: Path, program: Path) -> None:
    (program / "fail").touch()
    with pytest.raises(GpusearchError, match=r"lmplz failed \(exit code 1\): first second no memory"):
        train(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "bin"]


def test_a_program_that_is_absent_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError) as caught:
        train(tmp_path)
    assert str(caught.value) == "lmplz is not on the PATH; install KenLM's programs, or leave --lm-tool out"


@NEEDS_LMPLZ
@pytest.mark.parametrize(
    ("order", "prune", "limited"), [(1, (), False), (4, (), False), (5, (0, 0, 1), False), (3, (0, 1, 2), True)]
)
def test_the_program_itself_agrees_with_us(
    tmp_path: Path, parity: Path, order: int, prune: tuple[int, ...], limited: bool
) -> None:
    text = parity / "kneser-ney" / "text.en"
    options: dict[str, Any] = {"prune": prune, "memory": "200MB"}
    if limited:
        words = set(text.read_text(encoding="utf-8").replace("\n", " ").split(" "))
        options["vocabulary"] = tmp_path / "words"
        options["vocabulary"].write_text("\n".join(sorted(words)[::2]), encoding="utf-8")
    reports = [train_language_model([text], order, tmp_path / tool, tool=tool, **options) for tool in ("own", "lmplz")]
    assert reports[0].counts == reports[1].counts
    np.testing.assert_allclose(reports[0].discounts, reports[1].discounts, rtol=1e-5)
    ours, theirs = (read_arpa(tmp_path / tool, cache=False) for tool in ("own", "lmplz"))
    assert list(ours.vocabulary) == list(theirs.vocabulary)
    for n in range(order):
        np.testing.assert_array_equal(ours.ids[n], theirs.ids[n])
        np.testing.assert_allclose(ours.log10_probability[n], theirs.log10_probability[n], rtol=0, atol=1e-6)
        np.testing.assert_allclose(ours.log10_backoff[n], theirs.log10_backoff[n], rtol=0, atol=1e-6)
