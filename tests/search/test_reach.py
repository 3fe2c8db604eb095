"""First translations that break the distortion limit."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

from gpusearch.config import SearchConfig, load_config
from gpusearch.errors import InputError
from gpusearch.kernels import reference
from gpusearch.model.model import Model, load_model
from gpusearch.model.problem import Batch, build_problem
from gpusearch.search.reach import check_reach
from gpusearch.search.settings import make_search
from tests.tiny import TINY


@pytest.fixture(scope="module")
def model() -> Model:
    return load_model(load_config(TINY))


def in_orders(model: Model, *orders: str) -> tuple[Batch, list[NDArray[np.int32]]]:
    """A batch of sentences of one-word phrases, put in the orders given: a digit a word."""
    batch = build_problem(model, [[["maison"] * len(order) for order in orders]])
    return batch, [
        np.array([batch.options.in_span(number, int(word), int(word) + 1)[0] for word in order], np.int32)
        for number, order in enumerate(orders)
    ]


@pytest.mark.parametrize(
    ("orders", "settings", "message"),
    [
        (("0123", "", "201"), {"distortion_limit": 3}, None),
        (("", "012", "3012"), {}, r"document 1, sentence 3 breaks .* found a jump of 3 words at \|3-3\|; expected .*2"),
        (("2013",), {}, r"sentence 1 breaks .* found a jump of 3 words at \|0-0\|; expected at most 2; raise search"),
        (("3012",), {"first_jump": False}, r"found a jump of 4 words at \|0-0\|"),
        (("1023", "2103"), {"distortion_limit": -1}, None),
        (("01", "10"), {"distortion_limit": 0}, r"sentence 2 breaks .* found a jump of 1 words at \|1-1\|"),
        (("1203",), {"distortion_limit": 3, "distortion_check": "moses"}, None),
        (("12304",), {"distortion_limit": 4}, None),
        (("2103",), {}, None),
        (("2103",), {"distortion_check": "moses"}, r"found 3 words beyond the first gap at \|2-2\|"),
    ],
)  # fmt: skip
def test_what_is_refused(
    model: Model, orders: tuple[str, ...], settings: dict[str, object], message: str | None
) -> None:
    """Jumps, the first one where it counts, and Moses' look ahead; the sentence and the phrase are named."""
    batch, derivations = in_orders(model, *orders)
    config = SearchConfig.model_validate({"distortion_limit": 2} | settings)
    if message is None:
        check_reach(batch, derivations, config)
    else:
        with pytest.raises(InputError, match=message):
            check_reach(batch, derivations, config)


@pytest.mark.parametrize("first_jump", [True, False])
@pytest.mark.parametrize("check", ["jump", "moses"])
def test_it_refuses_what_the_search_would(model: Model, check: str, first_jump: bool) -> None:
    """All orders of four words, under all limits, against the readable twin of the kernels."""
    for limit in range(5):
        config = SearchConfig.model_validate(
            {"distortion_limit": limit, "distortion_check": check, "first_jump": first_jump}
        )
        for order in permutations("0123"):
            batch, derivations = in_orders(model, "".join(order))
            search = make_search(config, longest=batch.options.longest, values=7, distortion_weight=0)
            options = derivations[0].tolist()
            allowed = max(reference.jumps(batch.problem, search, options)) <= limit
            allowed &= check == "jump" or reference.is_within_reach(batch.problem, search, options)
            try:
                check_reach(batch, derivations, config)
            except InputError:
                assert not allowed, (order, limit)
            else:
                assert allowed, (order, limit)
