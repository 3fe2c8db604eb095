"""Values of the built-in features against numbers worked by hand."""

from __future__ import annotations

import math

import pytest

from gpusearch.errors import InputError
from gpusearch.features.q_value import QValueOfPhrases, QValueOfWords
from gpusearch.features.sentence_length import SentenceLength
from gpusearch.features.simple import Bracketing, LongWords, SentenceParity
from gpusearch.features.text import Phrase, Sentence
from gpusearch.features.type_token import Ovix, TypeTokenRatio
from tests.features.documents import document

# Eight words, five of them different; an empty sentence counts for nothing.
HOUSES = document(
    "la = the | maison = house | bleue = blue", "", "une = a | maison = house", "la = the | maison = big house"
)


def test_type_token_ratio() -> None:
    assert TypeTokenRatio().value(HOUSES) == 5 / 8
    assert TypeTokenRatio(form="docent").value(HOUSES) == pytest.approx(math.log(5 / 8))
    assert TypeTokenRatio().value(document("ne =")) == 0
    assert TypeTokenRatio(form="docent").value(document("ne =")) == 0


def test_ovix() -> None:
    """Equation 1 by hand: N = 8, V = 5: 2.0794 / ln (2 - 1.6094 / 2.0794) = 2.0794 / ln 1.2260 = 10.205."""
    assert Ovix().value(HOUSES) == pytest.approx(10.205, abs=1e-3)
    # Docent's: -2.0794 / ln (2 - 1.6094 / 2.1972) = -2.0794 / ln 1.2675.
    assert Ovix(form="docent").value(HOUSES) == pytest.approx(-8.7712, abs=1e-3)


@pytest.mark.parametrize(
    ("words", "paper", "docent"),
    [
        ("", 0, 0),
        ("x", 0, 0),
        ("x x", 1, -1),  # ln 2 / ln 2: one type
        ("x y", 0, -math.log(2) / math.log(2 - math.log(2) / math.log(3))),
        ("x y z", math.log(3) / math.log(2 - math.log(2) / math.log(3)), None),  # as if V were 2
    ],
)
def test_ovix_where_it_is_not_defined(words: str, paper: float, docent: float | None) -> None:
    text = document(f"a = {words}")
    assert Ovix().value(text) == pytest.approx(paper)
    if docent is not None:
        assert Ovix(form="docent").value(text) == pytest.approx(docent)


# Two translations of "maison", two sources of "house": f = 2 for la = the, 1 for each of the others.
TERMS = document("la = the | maison = house", "la = the | maison = home", "foyer = house")


def test_q_value_of_phrases() -> None:
    """la/the 2 / (1 + 1), twice; maison/house 1 / (2 + 2); maison/home 1 / (2 + 1); foyer/house 1 / (1 + 2)."""
    mean = (2 * 1 + 1 / 4 + 1 / 3 + 1 / 3) / 5
    assert QValueOfPhrases().value(TERMS) == pytest.approx(mean)
    assert QValueOfPhrases(form="docent").value(TERMS) == pytest.approx(math.log(mean))
    assert QValueOfPhrases().value(document("")) == 0


def test_q_value_of_words() -> None:
    """The paper: a source word with all that it is aligned to; Docent: a target word. What is unaligned is left out."""
    phrase = Phrase(0, 3, ("does", "not", "sleep"), ((0, 1), (1, 2), (2, 1)))
    text = [Sentence(("ne", "dort", "pas"), (phrase,)), Sentence(("ne",), (Phrase(0, 1, ("not",), ((0, 0),)),))]
    # ne/not twice, dort/sleep, pas/not: n(not) = 2.
    assert QValueOfWords().value(text) == pytest.approx((2 * 2 / 3 + 1 / 2 + 1 / 3) / 4)
    # "ne pas"/not, dort/sleep, ne/not.
    assert QValueOfWords(form="docent").value(text) == pytest.approx(math.log((1 / 3 + 1 / 2 + 1 / 3) / 3))


def test_small_features() -> None:
    """As Docent has them; its bytes where they are asked for."""
    text = document("a b = été ( soleil ) (", "c = ( x »", "")
    assert LongWords(letters=5).value(text) == -1
    assert LongWords(letters=5, form="docent").value(text) == -2  # accents take two bytes
    assert Bracketing().value(text) == -(2 + 1)
    assert Bracketing(pairs=(("(", ")"),)).value(text) == -2
    for pairs in ((('"', '"'),), (("(", ")", ")"),), (("(", ["]"]),), ("()",), 3):
        with pytest.raises(InputError, match="two different words each"):
            Bracketing(pairs=pairs)
    assert SentenceParity().value(document("a = x", "b = x y", "c = x y z", "", "d =")) == -2


def test_sentence_length() -> None:
    """As Docent has it: ln p of equal lengths, or of the side, and of a geometric distance."""
    feature = SentenceLength(identical=0.5, shorter=0.3, decay_shorter=0.25, decay_longer=0.5)
    assert feature.value(document("a b = x y")) == pytest.approx(math.log(0.5))
    assert feature.value(document("a b c = x")) == pytest.approx(math.log(0.3 * 0.25 * 0.75))
    assert feature.value(document("a = x y z w")) == pytest.approx(math.log(0.2 * 0.5 * 0.5**2))
    assert feature.value(HOUSES) == pytest.approx(2 * math.log(0.5) + math.log(0.2 * 0.5))
    assert SentenceLength(decay_shorter=0.999).log(-60) == -100


@pytest.mark.parametrize(
    "options", [{"identical": 0.0}, {"shorter": 1.0}, {"decay_longer": 2.0}, {"identical": 0.6, "shorter": 0.5}]
)
def test_sentence_length_takes_probabilities(options: dict[str, float]) -> None:
    with pytest.raises(InputError, match=r"between 0 and 1|below 1"):
        SentenceLength(**options)


def test_type_token_ratio_has_two_forms() -> None:
    with pytest.raises(InputError, match="expected paper or docent"):
        TypeTokenRatio(form="root")
