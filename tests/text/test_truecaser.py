"""Truecasing and its way back."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.errors import InputError
from gpusearch.text.truecaser import read_truecaser, restore, train_truecaser

LINES = [
    "The Act of the House .",
    "In the Act : the act of NATO . Then the bank acts .",
    '" Canada " and the McDonald bank',
    "items of a list",
]


def words(line: str) -> list[str]:
    return line.split(" ")


def tokens(lines: list[str]) -> list[list[str]]:
    return list(map(words, lines))


def test_counts_what_is_not_first_in_a_sentence() -> None:
    """First words count in lower case only; the most frequent form comes first, then the lower-cased."""
    forms = train_truecaser(tokens(LINES)).forms
    assert forms["act"] == {"Act": 2, "act": 1}
    assert forms["the"] == {"the": 5}
    assert forms["nato"] == {"NATO": 1}
    assert forms["items"] == {"items": 1}
    assert "in" not in forms and "then" not in forms and "canada" not in forms  # first words only
    assert "." not in forms and '"' not in forms
    assert next(iter(train_truecaser([["x", "Bank", "bank"]]).forms["bank"])) == "bank"


def test_changes_capitalised_first_words_only() -> None:
    truecaser = train_truecaser(tokens(LINES))
    assert truecaser.apply(words("The THE Bank . The bank")) == words("the THE Bank . the bank")
    assert truecaser.apply(["NATO", "Acts"]) == ["NATO", "Acts"]
    assert truecaser.apply(["McDonald"]) == ["McDonald"]
    assert truecaser.apply(["(", "“", "The", "Unknown"]) == ["(", "“", "the", "Unknown"]
    assert truecaser.apply(["Unknown"]) == ["Unknown"]
    assert truecaser.apply([]) == []


def test_unknown_forms_of_known_words_on_demand() -> None:
    """`BANK` was never seen, `bank` was: on the source side it is looked up as `bank`."""
    truecaser = train_truecaser(tokens(LINES))
    line = words("a BANK Act act Bank XY")
    assert truecaser.apply(line, known_forms=True) == words("a bank Act act bank XY")
    assert truecaser.apply(line) == line


def test_restore() -> None:
    line = words("the bank . « the NATO ? iPhone is : so . l’ eau")
    assert restore(line) == words("The bank . « The NATO ? iPhone is : so . L’ eau")
    assert restore(line, initial_capital=False) == words("the bank . « The NATO ? iPhone is : so . L’ eau")
    assert restore(["ǆ"]) == ["ǅ"]
    assert restore([]) == []


any_word = st.sampled_from(words("the The THE act Act ACT bank . ? ! ( « 1 NATO iPhone été Été"))


@given(st.lists(st.lists(any_word, max_size=8), max_size=8), st.lists(any_word, max_size=8))
def test_way_back_gives_what_was_written(lines: list[list[str]], line: list[str]) -> None:
    """Where sentences begin with a capital (or a digit): restore(apply(x)) == x, trained on anything."""
    line = restore(line)
    assert restore(train_truecaser(lines).apply(line)) == line


odd_words = st.text(alphabet="aAbBÉé.|[(1)/’\u00a0", min_size=1, max_size=4)


@given(lines=st.lists(st.lists(odd_words, max_size=6), max_size=6))
def test_file_round_trip(tmp_path_factory: pytest.TempPathFactory, lines: list[list[str]]) -> None:
    """A model is a text file, whatever its words look like, and independent of the order of the lines."""
    folder = tmp_path_factory.mktemp("truecaser")
    written = train_truecaser(lines, folder / "a")
    train_truecaser(lines[::-1], folder / "b")
    assert (folder / "a").read_bytes() == (folder / "b").read_bytes()
    read = read_truecaser(folder / "a").forms
    assert {word: list(forms.items()) for word, forms in read.items()} == {
        word: list(forms.items()) for word, forms in written.forms.items()
    }


def test_format_is_moses(tmp_path: Path) -> None:
    train_truecaser(tokens(LINES), tmp_path / "model")
    text = (tmp_path / "model").read_text(encoding="utf-8")
    assert "Act (2/3) act (1)\n" in text and "the (5/5)\n" in text
    assert text.split("\n")[:-1] == sorted(text.split("\n")[:-1], key=str.lower)


@pytest.mark.parametrize("line", ["word", "word (x)", "word (1/1) other", "", "word 3"])
def test_faulty_file(tmp_path: Path, line: str) -> None:
    (tmp_path / "model").write_text(f"the (5/5)\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_truecaser(tmp_path / "model")
    assert str(error.value) == (
        f"{tmp_path / 'model'}:2: not a truecaser model; found {line!r}; "
        "expected word (count/all) other-form (count) ..."
    )
