"""The `[search]` group as integers."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np

from gpusearch.config import OperationsConfig, SearchConfig
from gpusearch.kernels.records import (
    DISTORTION_LIMIT,
    DISTORTION_WEIGHT,
    FIRST_JUMP,
    LONGEST_DRAW,
    MOSES_CHECK,
    MOVE_DISTANCE,
    OPERATIONS,
    RESEGMENT_BLOCK,
    SWAP_DISTANCE,
)
from gpusearch.search.settings import NO_LIMIT, ONE, make_search
from tests.random_problem import PlainOperations, PlainSettings, random_settings

SIZES = {"longest": 3, "values": 6, "distortion_weight": 77}


def test_plain_settings_of_the_tests_mean_what_a_configuration_means() -> None:
    """They stand in for `SearchConfig` where pydantic is absent."""
    for seed in range(20):
        plain = random_settings(seed)
        config = SearchConfig(**(asdict(plain) | {"operations": OperationsConfig(**asdict(plain.operations))}))
        for mine, other in zip(make_search(plain, **SIZES), make_search(config, **SIZES), strict=True):
            assert np.array_equal(mine, other)


def test_numbers() -> None:
    search = make_search(PlainSettings(distortion_limit=4, distortion_check="moses", first_jump=False), **SIZES)
    assert search.number[DISTORTION_LIMIT] == 4
    assert search.number[DISTORTION_WEIGHT] == 77 << 20
    assert search.number[MOSES_CHECK] == 1
    assert search.number[FIRST_JUMP] == 0


def test_no_limit_makes_no_check() -> None:
    search = make_search(PlainSettings(distortion_limit=-1, distortion_check="moses"), **SIZES)
    assert search.number[DISTORTION_LIMIT] == NO_LIMIT
    assert search.number[MOSES_CHECK] == 0


def test_operations_of_share_0_are_never_drawn() -> None:
    """The draw takes the first operation whose sum lies above the word: equal sums are passed over."""
    shares = PlainOperations(**dict.fromkeys(PlainOperations().shares(), 0) | {"swap": 1, "permute": 3})
    summed = make_search(PlainSettings(operations=shares), **SIZES).operation
    assert summed.tolist() == [0, ONE // 4, ONE // 4, ONE, ONE, ONE, ONE, ONE]
    assert len(summed) == OPERATIONS


def test_survival_is_a_geometric_row_for_each_draw() -> None:
    operations = PlainOperations(swap_decay=0.25, block_decay=0.5, move_decay=0.0)
    survival = make_search(PlainSettings(operations=operations), **SIZES).survival
    assert survival.shape[1] == LONGEST_DRAW + 1
    assert survival[SWAP_DISTANCE, :3].tolist() == [ONE, ONE >> 2, ONE >> 4]
    assert survival[RESEGMENT_BLOCK, :3].tolist() == [ONE, ONE >> 1, ONE >> 2]
    assert survival[MOVE_DISTANCE, :3].tolist() == [ONE, 0, 0]
