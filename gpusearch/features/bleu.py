"""BLEU of the translation against references, for the best translation that a model can reach (oracle).

Papineni et al. 2002, section 2.3, as sacreBLEU has it (Post 2018): n-grams of 1 to 4 words, matches and n-grams summed
over the document, the closest reference length of each sentence.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gpusearch.errors import InputError
from gpusearch.features.automata import Items, Words, make_clipped
from gpusearch.features.by_source import numbered, of_source
from gpusearch.features.material import Material
from gpusearch.features.protocol import OfTexts, OneValue, Room, Scope, Tokens
from gpusearch.features.text import Document
from gpusearch.kernels import bleu as kernels
from gpusearch.kernels.clipped import GROUPS
from gpusearch.kernels.exponential import exponential_table
from gpusearch.kernels.records import UNIT_PLACES
from gpusearch.model.entries import offsets_of

# So that numbers of n-grams, with what smoothing adds, stay below 2^22 in the kernels.
MOST_WORDS, MOST_SMOOTH = 1 << 21, 1 << 20


@dataclass(frozen=True)
class BleuOracle(OfTexts):
    """BLEU of the document, from 0 to 1, on the model's tokens.

    It is the number that an evaluation gives, so by default nothing is smoothed: 0 where no four words in a row match.
    A search for short documents begins there, on a plain; ``smooth = 0.01`` leads it off.
    """

    path: Path
    """Documents with references; with `source` the references alone."""
    source: Path | None = None
    """The documents that they are references of."""
    smooth: float = 0.0
    """Added to matches and n-grams of 2 to 4 words, as sacreBLEU's add-k does."""

    def of_texts(self, source: Tokens, target: Tokens) -> Bleu:
        """See `OfTexts`.

        Raises:
            InputError: files that cannot be read or do not fit each other, no references.
        """
        from gpusearch.io.documents import attach_references, read_documents  # imports lxml

        corpus = read_documents(self.path if self.source is None else self.source)
        if self.source is not None:
            attach_references(corpus, self.path)
        found: dict[Words, dict[Words, None]] = {}
        for segment in (segment for document in corpus.documents for segment in document.segments):
            if segment.reference is not None:
                of_segment = found.setdefault(tuple(source(segment.source)), {})
                of_segment[tuple(target(segment.reference))] = None
        if not found:
            raise InputError(
                "documents without references", path=self.path, found=f"{corpus.format} without any",
                expected="JSONL, TSV, WMT XML with references, or the option source",
            )  # fmt: skip
        return Bleu({words: tuple(several) for words, several in found.items()}, self.smooth, str(self.path))


@dataclass(frozen=True, eq=False)
class Bleu(OneValue):
    """BLEU with references that are found by the source words of a sentence."""

    references: Mapping[Words, tuple[Words, ...]]
    smooth: float = 0.0
    path: str = ""
    """Where the references come from, for messages."""
    scope: ClassVar[Scope] = Scope.DOCUMENT
    counts: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        if (
            isinstance(self.smooth, bool)
            or not isinstance(self.smooth, int | float)
            or not 0 <= self.smooth < MOST_SMOOTH
        ):
            expected = f"a number from 0 to {MOST_SMOOTH}"
            raise InputError("unusable smooth of bleu-oracle", found=repr(self.smooth), expected=expected)

    def references_of(self, source: Sequence[str]) -> tuple[Words, ...]:
        """The different references of a sentence; none of one without words.

        Raises:
            InputError: the file has none; shows the sentence and the one that is most like it.
        """
        return of_source(self.references, source, self.path, "reference") if source else ()

    def record(self, room: Room) -> kernels.Bleu:
        """See `gpusearch.features.protocol.Feature`."""
        most = int(room.material.problem.unit[:, UNIT_PLACES].max(initial=0))
        if most >= MOST_WORDS:
            raise InputError(
                "a document too long for bleu-oracle", found=f"{most} words", expected=f"below {MOST_WORDS}"
            )
        of_sentence, sources = numbered(room.material.sentences)
        references = [self.references_of(source) for source in sources]
        lengths = [sorted({len(one) for one in several}) for several in references]
        of_each = [lengths[number] for number in of_sentence]
        return kernels.Bleu(
            matches=make_clipped(room, of_sentence, [_items(several) for several in references]),
            number=np.array(
                [room.keep_sums(kernels.BLEU_SUMS), round(self.smooth * (1 << kernels.SMOOTH_BITS))], np.int64
            ),
            length=np.array([length for several in of_each for length in several], np.int32),
            first=offsets_of(np.array([len(several) for several in of_each], np.int64)),
            table=exponential_table().copy(),
        )

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        matches, totals, of_reference = [0] * GROUPS, [0] * GROUPS, 0
        for sentence in document:
            references, words = self.references_of(sentence.source), tuple(sentence.words)
            counts, limits = ngrams(words), limits_of(references)
            for ngram, count in counts.items():
                matches[len(ngram) - 1] += min(count, limits[ngram])
                totals[len(ngram) - 1] += count
            of_reference += _closest(sorted(len(one) for one in references), len(words))
        added = [0.0, *[self.smooth] * (GROUPS - 1)]
        if not matches[0] or any(many + more == 0 for many, more in zip(matches, added, strict=True)):
            return 0.0
        logs = [math.log((m + k) / (n + k)) for m, n, k in zip(matches, totals, added, strict=True)]
        return math.exp(sum(logs) / GROUPS + min(0.0, 1 - of_reference / totals[0]))

    def fingerprint(self) -> bytes:
        """See `gpusearch.features.protocol.Feature`."""
        return blake2b(repr((self.smooth, sorted(self.references.items()))).encode(), digest_size=8).digest()

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See `gpusearch.features.protocol.Feature`."""
        return np.ones(len(material.problem.unit))


def ngrams(words: Words, orders: int = GROUPS) -> Counter[Words]:
    """How often each n-gram of up to so many words occurs."""
    return Counter(words[k : k + n] for n in range(1, orders + 1) for k in range(len(words) - n + 1))


def limits_of(references: Sequence[Words]) -> Counter[Words]:
    """Of each n-gram how often a reference has it, of several references the one that has it most."""
    limits: Counter[Words] = Counter()
    for reference in references:
        limits |= ngrams(reference)
    return limits


def _closest(lengths: Sequence[int], words: int) -> int:
    """Of rising lengths the one that is closest, the first of several; 0 where there are none."""
    return min(lengths, key=lambda length: abs(length - words), default=0)


def _items(references: Sequence[Words]) -> Items:
    """An item an n-gram; its group is its order."""
    limits = limits_of(references)
    return Items([*limits], range(len(limits)), [*limits.values()], [len(ngram) - 1 for ngram in limits])
