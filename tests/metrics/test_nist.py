"""NIST against numbers worked by hand, and against another implementation's (nltk 3.10.4, stored)."""

from __future__ import annotations

from math import exp, log, log2
from pathlib import Path

import pytest

from gpusearch.metrics import Nist


def nist(hypotheses: list[str], references: list[str] | list[list[str]], **options: bool) -> float:
    count = 1 if isinstance(references[0], str) else len(references[0])
    metric = Nist(reference_count=count, **options)
    return metric.score(metric.statistics(hypotheses, references).sum(axis=0))


def test_worked_by_hand() -> None:
    """References of 8 words: a 3 times, b and c 2, d 1; `a b`, `b c`, `a b c` twice, all else once.

    The first hypothesis matches a, b and `a b` (2 of 3 times b follows a), the second all of its reference.
    """
    a, b, c, d, ab, bc, cd = log2(8 / 3), log2(8 / 2), log2(8 / 2), log2(8 / 1), log2(3 / 2), log2(2 / 2), log2(2 / 1)
    abc, bcd, abcd = log2(2 / 2), log2(2 / 1), log2(2 / 1)
    metric = Nist()
    rows = metric.statistics(["a b d", "a b c d"], ["a b c a", "a b c d"])
    assert rows[0].tolist() == pytest.approx([a + b, ab, 0, 0, 0, *(3, 2, 1, 0, 0), 4])
    assert rows[1].tolist() == pytest.approx([a + b + c + d, ab + bc + cd, abc + bcd, abcd, 0, *(4, 3, 2, 1, 0), 4])
    averages = (2 * a + 2 * b + c + d) / 7 + (2 * ab + bc + cd) / 5 + (abc + bcd) / 3 + abcd / 1
    penalty = exp(log(0.5) * (log(7 / 8) / log(3 / 2)) ** 2)
    assert metric.score(rows.sum(axis=0)) == pytest.approx(averages * penalty)


@pytest.mark.parametrize(("length", "factor"), [(8, 1.0), (9, 1.0), (6, 0.5), (0, 0.0)])
def test_penalty_is_a_half_at_two_thirds(length: int, factor: float) -> None:
    """Doddington (2002), equation 3: the factor of a text of 2/3 of the reference's length is 0.5."""
    words = ["w"] * length
    reference = "w x x x x x x x x" if length == 6 else "w x x x x x x x"
    unpenalised = log2(len(reference.split()) / 1) / max(length, 1)
    assert nist([" ".join(words)], [reference]) == pytest.approx(unpenalised * factor)


def test_odd_blanks() -> None:
    """Words end at every white space of Unicode, as in sacreBLEU's BLEU and mteval's own splitting at ``\\s``."""
    assert nist(["a\u00a0b\u3000c"], ["a b c d"]) == nist(["a b c"], ["a b c d"]) > 0


# nltk.translate.nist_score.corpus_nist of nltk 3.10.4, one reference, the words as here.
GUIDE = "It is a guide to action which ensures that the military always obeys the commands of the party"
TROOPS = "It is to insure the troops forever hearing the activity guidebook that party direct"
ACTION = "It is a guide to action that ensures that the military will forever heed Party commands"
FORCES = "It is the guiding principle which guarantees the military forces always being under the command of the Party"
ARMY = "It is the practical guide for the army always to heed the directions of the party"
STORED = [
    ([GUIDE], [ACTION], 2.4477124183006533),
    ([GUIDE], [FORCES], 1.8692762262113523),
    ([GUIDE], [ARMY], 2.0065359477124183),
    ([TROOPS], [ACTION], 1.5238801960560475),
    ([TROOPS], [FORCES], 0.6939578160701716),
    ([TROOPS], [ARMY], 1.3251132139617805),
    ([GUIDE, TROOPS], [ACTION, FORCES], 2.0933221467066634),
]


@pytest.mark.parametrize(("hypotheses", "references", "score"), STORED)
def test_equals_nltk(hypotheses: list[str], references: list[str], score: float) -> None:
    assert nist(hypotheses, references) == pytest.approx(score, abs=1e-12)


def test_equals_nltk_on_real_text(shared_data: Path) -> None:
    """259 references, and hypotheses made of them by rule: nltk has 10.246821303668794."""
    text = (shared_data / "tiny.fr-en" / "test.en").read_text(encoding="utf-8")
    references = text.split("\n")[:-1]
    hypotheses = [spoiled(place, line) for place, line in enumerate(references)]
    assert nist(hypotheses, references) == pytest.approx(10.246821303668794, abs=1e-12)
    assert nist(hypotheses, references, lowercase=True) == pytest.approx(10.195698018609937, abs=1e-9)


def spoiled(place: int, line: str) -> str:
    """A line with every seventh word missing, some first words exchanged, some lines longer."""
    words = [word for index, word in enumerate(line.split(" ")) if (index + place) % 7]
    if place % 3 == 0:
        words[:2] = words[1::-1]
    if place % 5 == 0:
        words.append("the")
    return " ".join(words)


def test_several_references_are_mteval_s() -> None:
    """As in mteval-v13a matches are clipped by the greatest count in a reference, lengths are averages."""
    metric = Nist(reference_count=2)
    rows = metric.statistics(["a a b c"], [["a x", "a a b y"]])
    # 6 words: a 3 times, b, x, y once; 2-grams `a x`, `a a`, `a b`, `b y` once.
    a, b, ab, aa = log2(6 / 3), log2(6), log2(3), log2(3)
    aab = log2(1 / 1)
    assert rows.tolist()[0] == pytest.approx([2 * a + b, ab + aa, aab, 0, 0, *(4, 3, 2, 1, 0), 3.0])


def test_weights_of_a_given_corpus() -> None:
    """With the corpus fixed, statistics of parts are rows of the statistics of the whole."""
    references = ["a b c a", "a b c d", "e e"]
    hypotheses = ["a b d", "a b c d", "e f"]
    whole = Nist().statistics(hypotheses, references)
    fixed = Nist(corpus=references)
    for place in range(3):
        part = fixed.statistics(hypotheses[place : place + 1], references[place : place + 1])
        assert part.tolist() == whole[place : place + 1].tolist()
    assert Nist(corpus=["z"]).statistics(["a"], ["a"])[0, 0] == 0.0


def test_signature() -> None:
    assert Nist(lowercase=True, reference_count=4).signature.startswith("nrefs:4|case:lc|tok:13a|n:5|version:")
