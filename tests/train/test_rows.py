"""Table rows as text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gpusearch.train.corpus import number_words
from gpusearch.train.rows import PhraseText, table_rows, write_probability


def written(value: float) -> str:
    out = np.zeros(32, np.uint8)
    return bytes(out[: write_probability(value, out, 0)]).decode()


@given(st.floats(1e-300, 1.0))
@example(1e-5)
@example(0.0001)
@example(0.00099999951)
@example(0.9999996)
@example(1 / 1024)
def test_probabilities_read_as_with_six_digits(value: float) -> None:
    """As printf's %g writes them, but for values so near to a tie that the last digit may go either way."""
    assert float(written(value)) == pytest.approx(float(f"{value:.6g}"), rel=1.01e-6)
    if abs(value * 1e9 % 1 - 0.5) > 1e-3 and value > 1e-3:
        assert written(value) == f"{value:.6g}"


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1"), (0.5, "0.5"), (1 / 3, "0.333333"), (2e-5, "2e-05"), (1.234567e-10, "1.23457e-10"), (0.0, "0")],
)
def test_probabilities_are_written_short(value: float, text: str) -> None:
    assert written(value) == text


def test_counts_of_integers_give_the_usual_text() -> None:
    """All ratios of small counts, the common case, to the last digit."""
    for total in range(1, 200):
        for count in range(1, total + 1):
            assert written(count / total) == f"{count / total:.6g}"


def test_rows_of_any_length_fit() -> None:
    """A word longer than the buffer and its neighbours; a full row and one of scores only."""
    long = "x" * (1 << 24)
    source, target = number_words([["a", long]]), number_words([["é", "b"]])
    places = (np.array([0, 0, 1]), np.array([0, 0, 1]))
    lengths = (np.array([1, 2, 1]), np.array([1, 2, 1]))
    scores = np.array([[0.5, 1.0], [0.25, 1.0], [1.0, 1.0]])
    alignment = np.array([1, 1 | 1 << 9, 1], np.uint64)
    counts = np.array([[2, 1], [4, 1], [1, 1]])
    texts = PhraseText(source), PhraseText(target)
    full = b"".join(table_rows(*texts, places, lengths, scores, alignment, counts)).decode()
    assert full.split("\n") == [
        "a ||| é ||| 0.5 1 ||| 0-0 ||| 2 1",
        f"a {long} ||| é b ||| 0.25 1 ||| 0-0 1-1 ||| 4 1",
        f"{long} ||| b ||| 1 1 ||| 0-0 ||| 1 1",
        "",
    ]
    short = b"".join(table_rows(*texts, places, lengths, scores)).decode()
    assert short == full.replace(" ||| 0-0 ||| 2 1", "").replace(" ||| 0-0 1-1 ||| 4 1", "").replace(
        " ||| 0-0 ||| 1 1", ""
    )
