"""Word borders: sacremoses' own, on the raw text, with nothing escaped, changed or lost."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacremoses import MosesTokenizer

from gpusearch.text.segmentation import MosesSegmenter

ENGLISH, FRENCH = MosesSegmenter("en"), MosesSegmenter("fr")

CASES = [
    (ENGLISH, "Minister’s", ["Minister", "’s"]),
    (ENGLISH, "Minister's", ["Minister", "'s"]),
    (FRENCH, "l’utilisation d'été", ["l’", "utilisation", "d'", "été"]),
    (FRENCH, "« mot »", ["«", "mot", "»"]),
    (FRENCH, "«\u00a0mot\u00a0», 5\u202f000\u00a0$", ["«", "mot", "»", ",", "5", "000", "$"]),
    (ENGLISH, "paragraph 2(1)", ["paragraph", "2", "(", "1", ")"]),
    (ENGLISH, "5,000.5 net-zero Mr. Smith", ["5,000.5", "net-zero", "Mr.", "Smith"]),
    (ENGLISH, "a|b [X] x&y <a> &lt;", [*"a|b[X]x&y<a>&", "lt", ";"]),
    (ENGLISH, "wait... DOTMULTI DOTDOTMULTI.", ["wait", "...", "DOTMULTI", "DOTDOTMULTI", "."]),
    (ENGLISH, "See https://a.org/b-c?d=e&f, please", ["See", "https://a.org/b-c?d=e&f", ",", "please"]),
    (ENGLISH, "(www.a.org/x_y).", ["(", "www.a.org/x_y", ")", "."]),
    (ENGLISH, "mail john.doe+x@mail.example.org.", ["mail", "john.doe+x@mail.example.org", "."]),
    (ENGLISH, "bell\x07 \x1c end", ["bell", "end"]),
    (FRENCH, "l'e\u0301te\u0301, g\u0303 x\u0323\u0301y", ["l'", "e\u0301te\u0301", ",", "g\u0303", "x\u0323\u0301y"]),
    (ENGLISH, " \t\u00a0", []),
    (ENGLISH, "", []),
]


@pytest.mark.parametrize(("segmenter", "raw", "tokens"), CASES)
def test_tokens(segmenter: MosesSegmenter, raw: str, tokens: list[str]) -> None:
    assert segmenter.tokens(raw) == tokens


@given(st.text() | st.text(alphabet="aZé9.,'’\"-/:@()|[]&<> \u00a0\u2028\x1d", max_size=30))
def test_tokens_are_the_text_without_white_space(raw: str) -> None:
    """Nothing is escaped, normalised or dropped but white space and controls; spans are in order."""
    spans = FRENCH.spans(raw)
    kept = "".join(raw[start:stop] for start, stop in spans)
    assert kept == "".join(c for c in raw if not c.isspace() and ord(c) >= 32)
    assert all(start < stop for start, stop in spans)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))


@pytest.mark.complaint(25)
@given(st.text(alphabet="ab1,.\u00a0\u202f\u2009\u3000\u0085\u2028 \t", max_size=20))
def test_no_token_holds_white_space(raw: str) -> None:
    """Complaint 25: tools that split on blanks and those that split on all white space agree."""
    tokens = ENGLISH.tokens(raw)
    assert " ".join(tokens).split() == " ".join(tokens).split(" ") or not tokens


@pytest.mark.complaint(24)
def test_no_escapes() -> None:
    """Complaint 24: no `&apos;`, `&#91;` or `&#124;` ever gets into the tokens, nor out of them."""
    assert ENGLISH.tokens("it's | [b] &apos;") == ["it", "'s", "|", "[", "b", "]", "&", "apos", ";"]


def test_hyphens_are_split_on_demand_only() -> None:
    splitting = MosesSegmenter("en", split_hyphens=True)
    expected = ["net", "@-@", "zero", "-", "a", "@-@", "b", "@-@", "c", "-x", "http://a-b.org/c-d"]
    raw = "net-zero - a-b-c -x http://a-b.org/c-d"
    assert ENGLISH.tokens(raw) == raw.split(" ")
    assert splitting.tokens(raw) == expected
    assert splitting.tokens("@-@") == ["@", "-", "@"]
    assert splitting.tokens("e\u0301-e\u0301") == ["e\u0301", "@-@", "e\u0301"]


@pytest.mark.parametrize("language", ["fr", "en"])
def test_equals_sacremoses_on_real_text(shared_data: Path, language: str) -> None:
    """Where the text has no typographic apostrophe, and no address, the borders are sacremoses'."""
    lines = (shared_data / "tiny.fr-en" / f"test.{language}").read_text(encoding="utf-8").split("\n")
    moses, segmenter = MosesTokenizer(language), MosesSegmenter(language)
    for line in lines:
        plain = line.replace("’", "'")
        assert segmenter.tokens(plain) == moses.tokenize(plain, escape=False)
        assert [token.replace("’", "'") for token in segmenter.tokens(line)] == segmenter.tokens(plain)
