"""Consensus with translations that are known already: expected linear BLEU (Tromble et al. 2008).

Linear BLEU of a translation E (section 3): theta_0 |E| + sum over n-grams w of theta_|w| count_w(E) [w occurs in the
other translation]. Expected over samples (section 4) the bracket is p(w), the share of samples that contain w.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gpusearch.errors import InputError
from gpusearch.features.automata import Words, make_automata
from gpusearch.features.bleu import ngrams
from gpusearch.features.by_source import numbered, of_source
from gpusearch.features.material import Material
from gpusearch.features.protocol import OfTexts, OneValue, Room, Scope, Tokens
from gpusearch.features.sampled import Known, read_known
from gpusearch.features.text import Document
from gpusearch.kernels import consensus as kernels
from gpusearch.kernels.records import UNIT_PLACES
from gpusearch.model.weights import VALUE_UNITS

ORDERS = 4


@dataclass(frozen=True)
class ConsensusOptions(OfTexts):
    """Where the samples are, and what n-grams of them are worth."""

    path: Path
    """A folder of samples, or a list or JSONL with n-best as `gpusearch mbr` reads them."""
    source: Path | None = None
    """For lists that have none: the source of each sentence."""
    thetas: Sequence[float] | None = None
    """theta_0 (of a word), and theta_1 .. theta_4 (of n-grams); where they are not given the three below make them."""
    precision: float = 0.85
    """Unigram precision p: theta_n = 1 / (4 T p r^(n-1))."""
    ratio: float = 0.72
    """Precision ratio r of an order and the one below it."""
    words: float = 1.0
    """T: theta_0 = -1 / T."""
    weighting: str | None = None
    """Of samples, as ``--weights`` of `gpusearch mbr`; multiplicity of samples, score of lists."""
    scale: float = 1.0
    """Of ``weighting = "score"``: flatter below 1."""

    def __post_init__(self) -> None:
        for name in ("precision", "ratio", "words", "scale"):
            if not _is_number(getattr(self, name)) or getattr(self, name) <= 0:
                found = repr(getattr(self, name))
                raise InputError(f"unusable {name} of consensus", found=found, expected="a number above 0")
        given = self.thetas
        if given is not None and not (isinstance(given, list | tuple) and len(given) == ORDERS + 1
                                      and all(_is_number(theta) for theta in given)):  # fmt: skip
            expected = "five numbers: of a word, and of n-grams of 1 to 4 words"
            raise InputError("unusable thetas of consensus", found=repr(given), expected=expected)

    def of_texts(self, source: Tokens, target: Tokens) -> Consensus:
        """See `OfTexts`.

        Raises:
            InputError: candidates that cannot be read or weighed, or have no source.
        """
        known = read_known(self.path, self.source, source, target, self.weighting, self.scale)
        thetas = self.thetas
        if thetas is None:
            of_unigram = 1 / (ORDERS * self.words * self.precision)
            thetas = [-1 / self.words, *(of_unigram / self.ratio**n for n in range(ORDERS))]
        return Consensus(known, tuple(float(theta) for theta in thetas), str(self.path))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


@dataclass(frozen=True, eq=False)
class Consensus(OneValue):
    """Expected linear BLEU of each sentence; an empty one is worth nothing."""

    known: Mapping[Words, Known]
    """Translations of each sentence, by its source words."""
    thetas: tuple[float, ...]
    path: str = ""
    """Where the translations come from, for messages."""
    scope: ClassVar[Scope] = Scope.SENTENCE
    counts: ClassVar[tuple[str, ...]] = ()
    _found: dict[Words, dict[Words, float]] = field(default_factory=dict, repr=False)

    def posteriors(self, source: Sequence[str]) -> dict[Words, float]:
        """p(w) of the n-grams of a sentence's translations.

        Raises:
            InputError: there are none of this sentence; shows the one that is most like it.
        """
        words = tuple(source)
        if words not in self._found:
            shares: defaultdict[Words, float] = defaultdict(float)
            if words:
                for text, weight in of_source(self.known, words, self.path, "translations"):
                    for ngram in ngrams(text, ORDERS):
                        shares[ngram] += weight
            self._found[words] = dict(shares)
        return self._found[words]

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        total = 0.0
        for sentence in document:
            shares, words = self.posteriors(sentence.source), tuple(sentence.words)
            total += self.thetas[0] * len(words)
            for ngram, count in ngrams(words, ORDERS).items():
                total += self.thetas[len(ngram)] * count * shares.get(ngram, 0.0)
        return total

    def record(self, room: Room) -> kernels.Consensus:
        """See `gpusearch.features.protocol.Feature`."""
        of_sentence, sources = numbered(room.material.sentences)
        shares = [self.posteriors(source) for source in sources]
        automata = make_automata(room, of_sentence, [[*several] for several in shares])
        worth = [
            [round(self.thetas[len(ngram)] * share * VALUE_UNITS) for ngram, share in several.items()]
            for several in shares
        ]
        of_word = round(self.thetas[0] * VALUE_UNITS)
        value = [
            of_word + sum(worth[number][pattern] for pattern in ends)
            for number, ends in zip(automata.list_of, automata.ends, strict=True)
        ]
        return kernels.Consensus(automata.ngrams, np.array(value, np.int64))

    def fingerprint(self) -> bytes:
        """See `gpusearch.features.protocol.Feature`."""
        return blake2b(repr((self.thetas, sorted(self.known.items()))).encode(), digest_size=8).digest()

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See `gpusearch.features.protocol.Feature`."""
        return material.problem.unit[:, UNIT_PLACES] * sum(abs(theta) for theta in self.thetas)
