"""Mark-up in source text: what is a tag, what it says, and what is none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.errors import InputError
from gpusearch.text.xml_input import Marked, parse_marked


def test_translations_and_probabilities() -> None:
    found = parse_marked('a <x translation="b c||d" prob="0.7||0.3">e f</x> g <n english="h">i</n>')
    assert found.pieces == ("a ", "e f", " g ", "i", "")
    assert found.marked == (Marked(1, 2, ("b c", "d"), (0.7, 0.3)), Marked(3, 4, ("h",), (1.0,)))
    assert found.plain == "a e f g i"


def test_tags_inside_tags_and_tags_without_a_translation() -> None:
    found = parse_marked('<b><x translation="q">a <i>b</i></x></b> <br/>c')
    assert found.plain == "a b c"
    assert [(one.first, one.last) for one in found.marked] == [(2, 5)]


@pytest.mark.complaint(22)
def test_other_brackets() -> None:
    """Text with `<` and `>` as letters (Buckwalter) and tags in brackets of one's own."""
    found = parse_marked('>ly <x {{x translation="b"}}<lY{{/x}}', ("{{", "}}"))
    assert found.pieces == (">ly <x ", "<lY", "")
    assert found.marked == (Marked(1, 2, ("b",), (1.0,)),)


def test_brackets_may_be_equal() -> None:
    found = parse_marked('a |x translation="b"|c|/x| d', ("|", "|"))
    assert found.pieces == ("a ", "c", " d") and [one.translations for one in found.marked] == [("b",)]


@pytest.mark.complaint(6)
@pytest.mark.parametrize(
    "text", ["a < b > c", "<", "<>", "< x>", "<3", "x<y", "<x translation=b>", "[X][Y]", "a|b|c|d|e"]
)
def test_what_has_not_the_form_of_a_tag_is_text(text: str) -> None:
    assert parse_marked(text).pieces == (text,)


@pytest.mark.complaint(20)
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<x>a", r"a tag in line 3 without its end; found <x"),
        ("a</x>", r"the end of a tag in line 3 that was not opened; found </x>"),
        ("<x><y></x></y>", "the end of a tag in line 3 that was not opened; found </x>"),
        ('<x translation="a||b" prob="1">c</x>', "differ in number; found 1 probabilities; expected 2"),
        ('<x translation="a" prob="p">c</x>', "a probability in a tag of line 3; found 'p'"),
        ('<x translation="a" prob="-1">c</x>', "a probability in a tag of line 3"),
        ('<x translation="a" prob="nan">c</x>', "a probability in a tag of line 3"),
        ('<x translation="a" span="0-1">c</x>', 'a tag in line 3 with "span"'),
        ('<x translation="a" span="0-1"/> c', 'a tag in line 3 with "span"'),
        ("<wall/>", "a tag in line 3 that only Moses knows; found <wall/>"),
    ],
)
def test_faults_are_named(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_marked(text, name="line 3")


@pytest.mark.complaint(20)
@given(st.text('<>/x ="|tr1') | st.text('<x translation="a">b</x> </y><y prob="1">', max_size=60))
def test_any_text_is_cut_or_refused(text: str) -> None:
    """No text does worse than a message; what is cut loses its tags only."""
    try:
        found = parse_marked(text)
    except InputError:
        return
    rest = text
    for piece in found.pieces:
        assert piece in rest
        rest = rest[rest.index(piece) + len(piece) :]
