"""Allocation of the beam's arrays (`kernels/beam_records.py`)."""

from __future__ import annotations

import math

import numpy as np

from gpusearch.kernels.beam_records import BEAM_CURSORS, LOWEST, Beam, BeamResult, BeamWork
from gpusearch.kernels.records import (
    DOCUMENT_MARKS,
    LONGEST,
    ORIENTATIONS,
    SENTENCE_WORDS,
    Problem,
    Search,
    each_active,
)

# Look-ups that a thread remembers: 16 bytes each, a language model.
MEMO = 1 << 14
# More places than a stack has room for, so that it is thinned out once in a while only.
SPARE = 4


def make_beam(problem: Problem, number: np.ndarray) -> Beam:
    """The beam's view of a problem, empty: ``view_options`` and ``rank_spans`` fill it."""
    options, spans, words = len(problem.option_place), len(problem.span) - 1, problem.target_word.shape
    turns = ORIENTATIONS if problem.reordering else 1
    return Beam(
        number=number,
        estimate=np.zeros(options, np.int64),
        bound=np.zeros(options, np.int64),
        best=np.zeros(spans, np.int64),
        most=np.zeros(spans, np.int64),
        forward=np.zeros(spans, np.int64),
        ranked=np.zeros((turns, options), np.int32),
        key=np.zeros((turns, options), np.int64),
        word_state=np.zeros(words, np.int32),
        word_slack=np.zeros(words, np.int32),
        goal=np.full(len(problem.sentence), LOWEST, np.int64),
    )


def make_result(problem: Problem) -> BeamResult:
    """Results of all sentences of a problem; that of an empty one is right already."""
    sentences = len(problem.sentence)
    longest = int(problem.sentence[:, SENTENCE_WORDS].max(initial=0))
    return BeamResult(
        option=np.full((sentences, longest), -1, np.int32),
        length=np.zeros(sentences, np.int32),
        score=np.zeros(sentences, np.int64),
        evaluated=np.zeros(sentences, np.int64),
    )


def work_shapes(
    problem: Problem, search: Search, *, stack: int, pops: int, window: int, arcs: int = 0
) -> dict[str, tuple[type[np.integer], tuple[int, ...]]]:
    """Type and shape of each array of a thread's work space that has room for any sentence of the problem.

    Args:
        stack: most hypotheses of a stack.
        pops: most expansions of a stack; 0: no limit.
        window: how far behind the gap a phrase may end.
        arcs: arcs of a search graph; 0: none is kept.
    """
    models = problem.language.info.shape[0]
    words = int(problem.sentence[:, SENTENCE_WORDS].max(initial=0))
    kept = 2 + words * stack
    held = stack + stack // SPARE + 16
    grids = min(int(search.number[LONGEST]), words) * stack * max(1, min(window, words)) + 1
    slots = grids + pops
    long, short = np.int64, np.int32
    of_document: dict[str, tuple[type[np.integer], tuple[int, ...]]] = {}
    if problem.document:
        features = len(list(each_active(problem.document.features)))
        of_document = {
            "grid_gain": (long, (grids,)),
            "missing": (short, (features, int(problem.document.number[DOCUMENT_MARKS]))),
        }
    return {
        **of_document,
        "cursor": (long, (BEAM_CURSORS,)),
        "future": (long, ((words + 1) ** 2,)),
        "excess": (long, ((words + 1) ** 2,)),
        "stack": (long, (words + 2,)),
        "score": (long, (kept,)),
        "reach": (long, (kept,)),
        "option": (short, (kept,)),
        "back": (short, (kept,)),
        "state": (short, (models, kept)),
        "group_first": (long, (kept + 1,)),
        "group_gap": (long, (kept,)),
        "group_mask": (long, (kept,)),
        "group_end": (long, (kept,)),
        "group_left": (long, (kept,)),
        "group_future": (long, (kept,)),
        "held_total": (long, (held,)),
        "held_option": (short, (held,)),
        "held_back": (short, (held,)),
        "held_state": (short, (models, held)),
        "held_gap": (long, (held,)),
        "held_mask": (long, (held,)),
        "held_end": (long, (held,)),
        "held_left": (long, (held,)),
        "held_future": (long, (held,)),
        "table": (short, (1 << (2 * held).bit_length(),)),
        "order": (long, (held,)),
        "place": (short, (held,)),
        "grid_base": (long, (grids,)),
        "grid_group": (short, (grids,)),
        "grid_span": (short, (grids,)),
        "grid_turn": (short, (grids,)),
        "grid_least": (long, (grids,)),
        "heap_key": (long, (slots,)),
        "heap_slot": (short, (slots,)),
        "slot_grid": (short, (slots,)),
        "slot_row": (short, (slots,)),
        "slot_column": (short, (slots,)),
        "fresh": (short, (models,)),
        "memo_key": (long, (models, MEMO)),
        "memo_value": (long, (models, MEMO)),
        "arc_target": (short, (arcs,)),
        "arc_source": (short, (arcs,)),
        "arc_option": (short, (arcs,)),
        "arc_gain": (long, (arcs,)),
    }


def work_bytes(problem: Problem, search: Search, *, stack: int, pops: int, window: int) -> int:
    """Memory of `make_work`."""
    shapes = work_shapes(problem, search, stack=stack, pops=pops, window=window).values()
    return sum(math.prod(shape) * np.dtype(kind).itemsize for kind, shape in shapes)


def make_work(problem: Problem, search: Search, *, stack: int, pops: int, window: int, arcs: int = 0) -> BeamWork:
    """Work space of one thread; the arguments are those of `work_shapes`."""
    shapes = work_shapes(problem, search, stack=stack, pops=pops, window=window, arcs=arcs)
    # Pages that are not used take no memory: `zeros` writes to none of them.
    work = BeamWork(**{name: np.zeros(shape, kind) for name, (kind, shape) in shapes.items()})
    work.memo_key[:] = -1
    return work
