"""Utilities by name, functions, files of scores, and means of several."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from gpusearch.errors import InputError
from gpusearch.mbr.bleu import Bleu
from gpusearch.mbr.chrf import Chrf
from gpusearch.mbr.matrix import utilities
from gpusearch.mbr.named import NAMED, TextSettings, make_utility
from gpusearch.mbr.utility import add

TEXTS = ["a b c d", "a b c", "", "b a c d e"]
FUNCTIONS = """import numpy
def shared(hypotheses, references):
    return [[len(set(one.split()) & set(other.split())) for other in references] for one in hypotheses]
def narrow(hypotheses, references):
    return [[1.0] for _ in hypotheses]
def undefined(hypotheses, references):
    return [[float("nan")] * len(references) for _ in hypotheses]
def ragged(hypotheses, references):
    return [[1.0] * place for place, _ in enumerate(hypotheses)]
def failing(hypotheses, references):
    return [[1 / 0] * len(references) for _ in hypotheses]
def masked(hypotheses, references):
    return numpy.ma.masked_less(numpy.ones((len(hypotheses), len(references))), 2)
number = 3
"""


def test_names() -> None:
    """Each with a signature that tells settings apart and fits into a longer one."""
    signatures = {make_utility([name], how).signature for name in NAMED for how in (None, TextSettings(lowercase=True))}
    assert len(signatures) == 2 * len(NAMED) and not any("|" in one for one in signatures)
    assert make_utility(["bleu"]).signature == "BLEU,case:mixed,eff:yes,tok:13a,smooth:exp"
    assert make_utility(["bleu-add"]).signature == "BLEU,case:mixed,eff:yes,tok:13a,smooth:add-k[0.01]"
    assert make_utility(["chrf++"]).signature == "chrF2++,case:mixed,eff:yes,nc:6,nw:2,space:no"


def test_function_of_the_present_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_utilities.py").write_text(FUNCTIONS, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    path = list(sys.path)
    utility = make_utility(["own_utilities:shared"])
    assert sys.path == path
    assert utilities(utility, TEXTS, TEXTS[:2]).tolist() == [[4, 3], [3, 3], [0, 0], [4, 3]]
    assert utility.signature == "own_utilities.shared"
    for name, message in (
        ("narrow", r"found shape (4, 1); expected finite numbers (4, 2)"),
        ("undefined", "found NaN or infinity; expected finite numbers (4, 2)"),
        ("masked", "utilities of own_utilities.masked; found MaskedArray: masked items; expected numbers"),
        ("ragged", "utilities of own_utilities.ragged; found list: "),
        (
            "failing",
            f"{tmp_path / 'own_utilities.py'}:11: utility own_utilities.failing fails; found ZeroDivisionError",
        ),
    ):
        with pytest.raises(InputError) as error:
            utilities(make_utility([f"own_utilities:{name}"]), TEXTS, TEXTS[:2])
        assert message in str(error.value)


def test_functions_that_cannot_be_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is wrong with the module or the name of one, it is said."""
    (tmp_path / "other_utilities.py").write_text("number = 3\n", encoding="utf-8")
    (tmp_path / "broken_utilities.py").write_text("number = 3\nnumber = (\n", encoding="utf-8")
    (tmp_path / "raising_utilities.py").write_text("number = 3\nnumber.nothing\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    for name, message in (
        ("other_utilities:number", "utility other_utilities:number cannot be called; found int"),
        ("other_utilities:absent", "other_utilities has no absent"),
        ("no_such_module:f", "cannot import no_such_module; found ModuleNotFoundError"),
        (":f", "not the name of an object; found ':f'; expected module:object"),
        ("other_utilities:", "not the name of an object; found 'other_utilities:'"),
        (".other_utilities:f", "not the name of an object"),
        ("broken_utilities:f", "broken_utilities.py:2: the import of broken_utilities fails; found SyntaxError"),
        ("raising_utilities:f", "raising_utilities.py:2: the import of raising_utilities fails; found AttributeError"),
    ):
        with pytest.raises(InputError) as error:
            make_utility([name])
        assert message in str(error.value)


def test_mean_of_several() -> None:
    parts = [utilities(make_utility([name]), TEXTS, TEXTS) for name in ("chrf", "bleu", "ter")]
    together = make_utility(["chrf", "bleu@2", "ter@0.5"])
    np.testing.assert_allclose(utilities(together, TEXTS, TEXTS), (parts[0] + 2 * parts[1] + 0.5 * parts[2]) / 3.5)
    assert together.signature.startswith("1*(chrF2,") and "+2*(BLEU," in together.signature


def test_mean_adds_up_segments_member_by_member() -> None:
    """Statistics of an ensemble are those of its members, so documents come out as the mean of the members'."""
    members = [Chrf(), Bleu()]
    first, second = ["a b c d", "a b d"], ["x y", "x y z z z"]
    rows = np.arange(2)

    def whole(utility: Chrf | Bleu) -> np.ndarray:
        both = (utility.prepare(texts, 0).statistics(rows, rows) for texts in (first, second))
        return utility.score(add(*both)).numpy()

    ensemble = make_utility(["chrf", "bleu"])
    assert ensemble.width == sum(member.width for member in members)
    both = (ensemble.prepare(texts, 0).statistics(rows, rows) for texts in (first, second))
    expected = (whole(Chrf()) + whole(Bleu())) / len(members)
    np.testing.assert_allclose(ensemble.score(add(*both)).numpy(), expected)


def test_a_mean_scores_statistics_wherever_they_were_made() -> None:
    """Each utility says how many tensors its statistics are; nothing is learnt from texts that were made ready."""
    rows = np.arange(len(TEXTS))
    parts = {}
    for name in NAMED:
        utility = make_utility([name])
        parts[name] = utility.prepare(TEXTS, 0).statistics(rows, rows)
        assert len(parts[name]) == utility.width
    together = make_utility(list(NAMED)).score(tuple(one for part in parts.values() for one in part))
    expected = sum(make_utility([name]).score(part) for name, part in parts.items()) / len(parts)
    np.testing.assert_allclose(together.numpy(), expected.numpy(), rtol=1e-12)


def external(path: Path, texts: Sequence[str], segment: int) -> list[list[float]]:
    pairs = make_utility([str(path)]).prepare(texts, segment)
    rows = np.arange(len(texts))
    utility = make_utility([str(path)])
    return utility.score(pairs.statistics(rows, rows)).tolist()


def test_scores_of_a_file(tmp_path: Path) -> None:
    pairs = tmp_path / "pairs.tsv"
    pairs.write_text("0\ta b\ta b\t1\n0\ta b\tc\t.25\n0\tc\ta b\t-2\n0\tc\tc\t1e0\n1\tc\t7\n", encoding="utf-8")
    assert external(pairs, ["c", "a b"], 0) == [[1, -2], [0.25, 1]]
    assert external(pairs, ["c"], 1) == [[7]]
    with pytest.raises(InputError) as error:
        external(pairs, ["c", "d"], 1)
    assert "no score of segment 1; found the hypothesis 'd' with the reference 'c'" in str(error.value)
    matrix = tmp_path / "pairs.npz"
    np.savez(matrix, **{"3.texts": np.array(["c", "a b"]), "3.utilities": np.array([[1.0, 2.0], [3.0, 4.0]])})
    assert external(matrix, ["a b", "c"], 3) == [[4, 3], [2, 1]]


@pytest.mark.parametrize("line", ["0\ta", "x\ta\tb\t1", "0\ta\tb\tnan", "0\ta\tb\tone", "0\ta\tb\t2"])
def test_faulty_lines_of_scores(line: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.tsv"
    path.write_text(f"0\ta\tb\t1\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"scores\.tsv:2: not a line of scores"):
        make_utility([str(path)])


def test_a_score_may_repeat_but_not_differ(tmp_path: Path) -> None:
    """Which of two scores holds is not for us to say."""
    path = tmp_path / "scores.tsv"
    path.write_text("0\ta\t1\n0\ta\t1.0\n1\ta\t2\n0\ta\ta\t3\n", encoding="utf-8")
    assert external(path, ["a"], 0) == [[3]] and external(path, ["a"], 1) == [[2]]
    path.write_text("0\ta\t1\n0\tb\t1\n0\ta\t2\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"scores\.tsv:3: .*the same texts had the score 1 before"):
        make_utility([str(path)])


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 no zip"])
def test_faulty_npz(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "scores.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match="not the file that was expected"):
        make_utility([str(path)])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"0.utilities": [1.0, 2.0]}, "(0.utilities: float64 [2]); expected what --save-matrix writes of sentences"),
        ({"0.utilities": [["1", "2"], ["3", "4"]]}, "(0.utilities: <U1 [2, 2])"),
        ({"0.utilities": [[1.0, 2.0]]}, "utilities of segment 0; found shape (1, 2); expected finite numbers (2, 2)"),
        ({"0.utilities": [[1.0, 2.0], [3.0, float("nan")]]}, "utilities of segment 0; found NaN or infinity; expected"),
        ({"0.texts": ["a", "a"]}, "two scores of the same texts of segment 0; found 'a' with 'a'"),
        ({"0.texts": [1, 2]}, "(0.texts: int64 [2])"),
        ({"0.texts": "a"}, "(0.texts: <U1 [])"),
        ({"1.utilities": np.eye(2)}, "(KeyError: \"There is no item named '1.texts.npy' in the archive\")"),
        ({"x.utilities": np.eye(2), "x.texts": ["a", "b"]}, "utilities of no segment; found 'x.utilities'"),
    ],
)
def test_utilities_that_are_none(arrays: dict[str, object], message: str, tmp_path: Path) -> None:
    path = tmp_path / "scores.npz"
    np.savez(path, **{"0.texts": np.array(["a", "b"]), "0.utilities": np.eye(2)} | arrays)
    with pytest.raises(InputError) as error:
        make_utility([str(path)])
    assert str(error.value).startswith(f"{path}: ") and message in str(error.value)


def test_faulty_names() -> None:
    with pytest.raises(InputError, match="unknown utility; found 'blue'"):
        make_utility(["blue"])
    for weight in ("0", "-1", "x", "inf", ""):
        with pytest.raises(InputError, match="weight of a utility"):
            make_utility([f"bleu@{weight}"])
    with pytest.raises(InputError, match="unknown tokenizer of sacreBLEU; found '14a'"):
        make_utility(["bleu"], TextSettings(tokenize="14a")).prepare(["a"], 0)


@pytest.mark.parametrize("name", ["ter", "chrf"])
def test_no_aggregation_without_counts(name: str) -> None:
    pairs = make_utility([name]).prepare(["a", "b"], 0)
    if name == "chrf":
        assert pairs.expected(np.arange(2), np.ones(2), np.zeros(2))[2].shape == (6, 2, 1)
        return
    with pytest.raises(InputError, match="cannot be aggregated"):
        pairs.expected(np.arange(2), np.ones(2), np.zeros(2))
