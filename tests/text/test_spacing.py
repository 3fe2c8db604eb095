"""Blanks between tokens on the way back: rules, what is learned, and the file of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.errors import InputError
from gpusearch.text.segmentation import MosesSegmenter
from gpusearch.text.spacing import Spacing, read_spacing, train_spacing

BY_RULES = [
    ("en", "The Minister’s (and Canada's) “words”, in paragraph 3(1)(e): and/or $5; the members’ 10%!"),
    ("en", "He said \"so\" and 'no'; then [sic] {x} A/B 66° 2 (two)."),
    ("fr", "L’utilisation d'une « forêt » : 10 % ; alinéa 3(1) ! Oui ? (et/ou)"),
    ("fr", "Voir https://a.org/b?c=d, l’adresse a@b.org."),
    ("de", "Er sagte: „So“, nicht anders."),
    ("it", "L’acqua dell’isola, un po’ di tutto."),
]


@pytest.mark.parametrize(("language", "text"), BY_RULES)
def test_rules(language: str, text: str) -> None:
    assert Spacing(language).join(MosesSegmenter(language).tokens(text)) == text


STYLES = [
    ("fr", ["Mot\u00a0; mot\u00a0: «\u00a0mot\u00a0», 5\u202f000\u00a0$, 10\u00a0%."] * 3),
    ("fr", ["Mot; mot : « mot », 5 000 $, 10%."] * 3),
    ("en", ["Section 2 (1) - not 2(a) - has 5 % of f(x)."] * 3),
    ("de", ["Er sagte: „So“ 14½–13½ z.B. USA:s ..."] * 3),
    ("en", ["Latitude 66°22′40″ north, preadv2(iov[0]), C++ and/or Python/C."] * 3),
]


@pytest.mark.complaint(25)
@pytest.mark.parametrize(("language", "lines"), STYLES)
def test_style_of_the_text_is_learned(language: str, lines: list[str], tmp_path: Path) -> None:
    """No-break spaces, too: they separate tokens, and come back where the training text has them."""
    tokens = MosesSegmenter(language).tokens(lines[0])
    assert train_spacing(lines, language, tmp_path / "spacing").join(tokens) == lines[0]
    assert read_spacing(tmp_path / "spacing", language).join(tokens) == lines[0]


def test_rare_contexts_are_left_to_the_rules() -> None:
    assert train_spacing(["a ,b"] * 2, "en").join(["a", ",", "b"]) == "a, b"
    assert train_spacing(["a ,b"] * 3, "en").join(["a", ",", "b"]) == "a ,b"


def test_limit() -> None:
    assert train_spacing(["a ,b"] * 3 + ["a, b"] * 9, "en", limit=3).join(["a", ",", "b"]) == "a ,b"


@given(lines=st.lists(st.text(alphabet="aB1.,(-’'\"@/| \u00a0", max_size=12), max_size=12))
def test_file_round_trip(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    """The file is plain, sorted text; reading it gives what was written, whatever the tokens."""
    folder = tmp_path_factory.mktemp("spacing")
    spacing = train_spacing(lines * 3, "en", folder / "a")
    train_spacing(lines[::-1] * 3, "en", folder / "b")
    rows = (folder / "a").read_bytes().split(b"\n")
    assert rows[:-1] == sorted(rows[:-1]) and (folder / "a").read_bytes() == (folder / "b").read_bytes()
    assert read_spacing(folder / "a", "en").gaps == spacing.gaps


@given(st.lists(st.text(alphabet="aB1.,(-’'\"@/|[]", min_size=1, max_size=3), max_size=8))
def test_tokens_are_never_changed(tokens: list[str]) -> None:
    text = Spacing("fr").join(tokens)
    assert text.replace(" ", "") == "".join(token if token != "@-@" else "-" for token in tokens)


@pytest.mark.parametrize("line", ["a b c d\twide", "a b c\tblank", "", "a b c d blank"])
def test_faulty_file(tmp_path: Path, line: str) -> None:
    (tmp_path / "spacing").write_text(f"any word word any\tblank\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_spacing(tmp_path / "spacing", "en")
    assert str(error.value) == (
        f"{tmp_path / 'spacing'}:2: not a spacing file; found {line!r}; "
        "expected four kinds of tokens, a tab, one of none, blank, no-break, narrow-no-break"
    )
