"""How launches on a GPU are shaped, and how many lanes fit: arithmetic, so it needs no GPU."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.search.cuda import Device, lanes_that_fit, launch_shape, resident_threads
from gpusearch.search.state import make_state
from tests.paths import Case

H100 = Device(processors=132, threads=resident_threads(166))


@pytest.mark.parametrize(
    ("registers", "warps"), [(166, 12), (168, 12), (169, 8), (128, 16), (96, 20), (80, 24), (64, 32), (32, 64), (1, 64)]
)
def test_resident_threads(registers: int, warps: int) -> None:
    """As the occupancy calculator of CUDA has it for compute capability 9.0, registers being the only limit."""
    assert resident_threads(registers) == warps * 32


@pytest.mark.parametrize(
    ("lanes", "width", "blocks"),
    [
        (1, 256, 1),
        (64, 256, 64),
        (132, 256, 132),
        (133, 128, 133),
        (396, 128, 396),
        (397, 64, 397),
        (1584, 32, 1584),
        (1600, 32, 800),
        (40_000, 32, 1539),
    ],
)
def test_few_lanes_get_wide_blocks(lanes: int, width: int, blocks: int) -> None:
    """The device is filled with as many proposals as it can hold; lanes beyond that are spread evenly."""
    assert launch_shape(lanes, H100) == (blocks, width)


@given(
    lanes=st.integers(1, 10**6),
    processors=st.integers(1, 200),
    registers=st.integers(16, 255),
    speculation=st.none() | st.integers(1, 5000),
)
def test_blocks_are_resident_and_reach_every_lane(
    lanes: int, processors: int, registers: int, speculation: int | None
) -> None:
    device = Device(processors, resident_threads(registers))
    blocks, threads = launch_shape(lanes, device, speculation)
    assert 1 <= threads <= min(1024, device.threads)
    assert speculation is None or threads == min(speculation, 1024, device.threads)
    assert 1 <= blocks <= lanes
    # Work space is made for the resident threads; a block takes whole warps.
    assert blocks * -(-threads // 32) * 32 <= processors * device.threads


def test_lanes_that_fit_have_room_for_the_largest_unit() -> None:
    problem, _, values = Case(1, sentences=(3, 30, 0, 7), units="sentence").problem()
    free = 10_000_000
    lanes = lanes_that_fit(problem, values, free)
    units = [1] * lanes
    taken = sum(field.nbytes for field in make_state(problem, units, units, values))
    assert taken <= free < taken * (lanes + 1) / lanes * 1.01
    assert lanes_that_fit(problem, values, 0) == 0
