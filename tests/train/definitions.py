"""Naive readings of the definitions of phrase extraction, orientations and scores: the oracles of the tests."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import prod

from tests.train.aligned_text import AlignedText, Point

Row = tuple[tuple[str, ...], tuple[str, ...], frozenset[Point], str, str]
M, S, L, R = "M", "S", "DL", "DR"
NAMES = (M, S, L, R)


def step(text: AlignedText, n: int, spans: tuple[int, int, int, int], neighbour: int) -> str:
    """Orientation towards the neighbouring target word, in the terms of the word-based model.

    The points of that word decide: a step is monotone if it has the point beside the corner where source and
    target go on together, and not the opposite one; swap, the other way round; else by where its points lie.
    """
    s1, s2, t1, _ = spans
    backward = neighbour < t1
    size = (len(text.source[n]), len(text.target[n]))
    points = set(text.points[n]) | {(-1, -1), size}  # the borders of the sentences count as aligned
    row = {s for s, t in points if t == neighbour}
    along, across = (s1 - 1, s2 + 1) if backward else (s2 + 1, s1 - 1)
    if along in row and across not in row:
        return M
    if across in row and along not in row:
        return S
    row -= {-1, size[0]}
    left, right = any(s < s1 - 1 for s in row), any(s > s2 + 1 for s in row)
    if along in row and across in row:
        return R
    comes_from_right, goes_left = backward and right and not left, not backward and left and not right
    return L if comes_from_right or goes_left else R


def phrase_pairs(text: AlignedText, longest: int) -> list[Row]:
    """Every pair of spans, tested by the definition."""
    rows = []
    for n, (source, target) in enumerate(zip(text.source, text.target, strict=True)):
        for s1, s2, t1, t2 in product(range(len(source)), range(len(source)), range(len(target)), range(len(target))):
            if not (0 <= s2 - s1 < longest and 0 <= t2 - t1 < longest):
                continue
            inside = [(s, t) for s, t in text.points[n] if s1 <= s <= s2 and t1 <= t <= t2]
            crossing = [(s, t) for s, t in text.points[n] if (s1 <= s <= s2) != (t1 <= t <= t2)]
            if inside and not crossing:
                spans = (s1, s2, t1, t2)
                rows.append(
                    (
                        tuple(source[s1 : s2 + 1]),
                        tuple(target[t1 : t2 + 1]),
                        frozenset((s - s1, t - t1) for s, t in inside),
                        step(text, n, spans, t1 - 1),
                        step(text, n, spans, t2 + 1),
                    )
                )
    return rows


def word_probabilities(text: AlignedText) -> tuple[dict[tuple[str, str], float], dict[tuple[str, str], float]]:
    """w(f|e) and w(e|f), by (f, e), with NULL for the partner of a word that has none."""
    both: Counter[tuple[str, str]] = Counter()
    for source, target, points in zip(text.source, text.target, text.points, strict=True):
        both.update((source[s], target[t]) for s, t in points)
        both.update((f, "NULL") for s, f in enumerate(source) if all(s != point[0] for point in points))
        both.update(("NULL", e) for t, e in enumerate(target) if all(t != point[1] for point in points))
    source_total: Counter[str] = Counter()
    target_total: Counter[str] = Counter()
    for (f, e), count in both.items():
        source_total[f] += count
        target_total[e] += count
    inverse = {(f, e): count / target_total[e] for (f, e), count in both.items()}
    direct = {(f, e): count / source_total[f] for (f, e), count in both.items()}
    return inverse, direct


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def scores(text: AlignedText, longest: int) -> dict[tuple[tuple[str, ...], tuple[str, ...]], list[float]]:
    """p(f|e), lex(f|e), p(e|f), lex(e|f) of each phrase pair (Koehn et al. 2003)."""
    rows = phrase_pairs(text, longest)
    pairs = Counter((row[0], row[1]) for row in rows)
    source_total, target_total = Counter(row[0] for row in rows), Counter(row[1] for row in rows)
    inverse, direct = word_probabilities(text)
    result = {}
    for (source, target), count in pairs.items():
        alignment = most_frequent_alignment(rows, source, target)
        lex_f = [
            mean([inverse[f, target[t]] for s2, t in alignment if s2 == s] or [inverse.get((f, "NULL"), 0.0)])
            for s, f in enumerate(source)
        ]
        lex_e = [
            mean([direct[source[s], e] for s, t2 in alignment if t2 == t] or [direct.get(("NULL", e), 0.0)])
            for t, e in enumerate(target)
        ]
        result[source, target] = [
            count / target_total[target],
            prod(lex_f),
            count / source_total[source],
            prod(lex_e),
        ]
    return result


def most_frequent_alignment(rows: list[Row], source: tuple[str, ...], target: tuple[str, ...]) -> frozenset[Point]:
    """Of the alignments of a pair; of several, the one that comes first."""
    seen = [row[2] for row in rows if row[:2] == (source, target)]
    return max(dict.fromkeys(seen), key=seen.count)
