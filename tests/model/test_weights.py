"""Integer weights and values, and the check that sums cannot overflow."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.errors import InputError
from gpusearch.model.weights import (
    SUM_LIMIT,
    VALUE_UNITS,
    Features,
    check_range,
    integer_values,
    integer_weight,
    make_features,
)


def features(weight: float = 0.5) -> Features:
    return make_features(
        [("TM0", (), (weight, 0.25)), ("TM1", ("direct",), (0.125,))],
        [("LM0", 0.5), ("LM1", -0.25)],
        word_penalty=-1.0,
        phrase_penalty=0.2,
        unknown_word=100.0,
        distortion=0.3,
    )


def test_features_stand_in_the_order_of_a_state() -> None:
    made = features()
    assert made.names == (
        "TM0.0",
        "TM0.1",
        "TM1.direct",
        "WordPenalty",
        "PhrasePenalty",
        "UnknownWord",
        "Distortion",
        "LM0",
        "LM1",
    )
    assert made.option_values == 6
    assert made.weights.tolist() == [0.5, 0.25, 0.125, -1.0, 0.2, 100.0, 0.3, 0.5, -0.25]


def test_output_groups_tables_as_lists_and_others_as_numbers() -> None:
    grouped = features().grouped(range(9))
    assert list(grouped) == [
        "TM0",
        "TM1",
        "WordPenalty",
        "PhrasePenalty",
        "UnknownWord",
        "Distortion",
        "LM0",
        "LM1",
    ]
    assert grouped["TM0"] == [0.0, 1.0]
    assert grouped["TM1"] == [2.0]
    assert grouped["LM1"] == 8.0


def test_two_features_of_one_name_are_refused() -> None:
    with pytest.raises(InputError, match="two features are called WordPenalty"):
        make_features([("WordPenalty", (), (1.0,))], [], word_penalty=0, phrase_penalty=0, unknown_word=0, distortion=0)


@given(st.floats(-2047.0, 2047.0))
def test_a_value_and_a_weight_are_within_half_a_unit(number: float) -> None:
    assert abs(integer_weight("x", number) - number * VALUE_UNITS) <= 0.5
    assert abs(int(integer_values([number])[0]) - number * VALUE_UNITS) <= 0.5


@pytest.mark.parametrize("number", [2048.0, -2049.0, float("nan"), float("inf")])
def test_what_does_not_fit_names_the_feature(number: float) -> None:
    with pytest.raises(InputError, match=r"weight of feature TM0\.0 is out of range"):
        integer_weight("TM0.0", number)
    with pytest.raises(InputError, match="a value of feature TM0 is out of range"):
        integer_values([0.0, number], "TM0")


@given(st.lists(st.floats(0, 2.0**70), min_size=9, max_size=9))
def test_check_range_passes_exactly_what_cannot_overflow(bounds: list[float]) -> None:
    made = features()
    largest = np.array([bounds])
    score = sum(abs(int(w)) * bound for w, bound in zip(made.integer_weights, bounds, strict=True))
    if score < SUM_LIMIT * 0.999 and max(bounds) < SUM_LIMIT * 0.999:
        check_range(made, largest, ["document 1"])
    if score > SUM_LIMIT * 1.001 or max(bounds) > SUM_LIMIT * 1.001:
        with pytest.raises(InputError, match="may exceed the range of exact scores in document 1"):
            check_range(made, largest, ["document 1"])


def test_check_range_names_the_feature_that_adds_most() -> None:
    largest = np.full((2, 9), float(VALUE_UNITS))
    largest[1, 5] = 2.0**40
    with pytest.raises(
        InputError, match=r"feature UnknownWord may exceed .* in document 2; .*shorter documents"
    ) as error:
        check_range(features(), largest, ["document 1", "document 2"])
    # 100 times 2^40 is 25 times the limit: all weights times 0.03 are small enough, and a little more would not be.
    assert "; multiply all weights by 0.03, which leaves the result as it is, or cut" in str(error.value)
    check_range(scaled(0.03), largest, ["document 1", "document 2"])
    with pytest.raises(InputError, match=r"by 0\.9,"):
        check_range(scaled(0.041), largest, ["document 1", "document 2"])


def scaled(factor: float) -> Features:
    made = features()
    return replace(made, integer_weights=np.rint(made.integer_weights * factor).astype(np.int64))
