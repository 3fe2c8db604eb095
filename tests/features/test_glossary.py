"""Glossaries: terms found in the source, translations in the target, and files that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from gpusearch.errors import InputError
from gpusearch.features import user
from gpusearch.features.glossary import Glossary, read_glossary
from tests.features.documents import document

TEXT = """\
# wine
vin ||| wine
vin rouge ||| red wine
vin rouge ||| claret

rouge vin ||| reversed
"""


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


@pytest.fixture
def made(tmp_path: Path) -> Glossary:
    return read_glossary(write(tmp_path / "terms", TEXT))


def test_terms_of_a_source_leftmost_and_longest_first(made: Glossary) -> None:
    assert made.terms_of(["le", "vin", "rouge", "vin", "rouge", "et", "vin"]) == {("vin", "rouge"): 2, ("vin",): 1}
    assert made.terms_of(["rouge", "vin", "rouge"]) == {("rouge", "vin"): 1}
    assert made.terms_of([]) == {}


def test_values_by_hand(made: Glossary) -> None:
    """A term counts as often as it occurs on both sides; a translation of no term of the sentence counts nothing."""
    assert made.value(document("vin rouge = red wine")) == 1
    assert made.value(document("vin rouge = claret | vin rouge = red wine")) == 2
    assert made.value(document("vin rouge = claret | vin = claret")) == 1  # "vin" is not "wine"
    assert made.value(document("vin rouge = wine")) == 0
    assert made.value(document("vin = wine wine")) == 1
    assert made.value(document("eau = wine", "vin = water", "")) == 0
    assert made.value(document("vin = red | rouge = wine")) == 1  # wherever the words come from
    hard = Glossary(made.terms, "hard")
    assert hard.value(document("vin rouge = claret | vin = claret", "vin = water", "eau = water")) == -200
    assert hard.value(document("vin = wine", "")) == 0


def test_translations_that_end_together_count_once() -> None:
    """Else "white house" would be two houses."""
    made = Glossary({("maison",): (("house",), ("white", "house"))})
    text = "maison = white house | et = and | maison = home"
    assert made.value(document(text)) == 1
    assert made.value(document("maison = white house | et = and | maison = house")) == 2


def test_without_case(tmp_path: Path) -> None:
    path = write(tmp_path / "terms", "Vin ||| Wine\n")
    assert read_glossary(path).value(document("vin = wine")) == 0
    assert read_glossary(path, lowercase=True).value(document("VIN = wINE")) == 1


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("vin wine", "'vin wine'"),
        ("vin ||| wine ||| red", "3 fields"),
        ("vin |||", "no translation"),
        ("||| wine", "no term"),
        ("vin|||wine", r"'vin\|\|\|wine'"),
    ],
)
def test_faulty_lines(tmp_path: Path, line: str, found: str) -> None:
    path = write(tmp_path / "terms", f"# comment\n\neau ||| water\n{line}\n")
    expected = rf"terms:4: not a line of a glossary; found {found}; expected term \|\|\| translation$"
    with pytest.raises(InputError, match=expected):
        read_glossary(path)


def test_other_faults(tmp_path: Path) -> None:
    path = write(tmp_path / "terms", "# nothing\n")
    with pytest.raises(InputError, match=r"terms: a glossary without terms; expected term \|\|\| translation"):
        read_glossary(path)
    with pytest.raises(InputError, match="unknown form of glossary; found 'soft'; expected reward or hard"):
        read_glossary(path, form="soft")
    with pytest.raises(InputError, match="unusable lowercase of glossary; found 'yes'; expected true or false"):
        user.made("terms", read_glossary, {"path": path, "lowercase": "yes"})


def test_the_fingerprint_is_of_content(made: Glossary) -> None:
    other = Glossary(made.terms | {("x",): (("y",),)})
    assert len({made.fingerprint(), other.fingerprint(), Glossary(made.terms, "hard").fingerprint()}) == 3
