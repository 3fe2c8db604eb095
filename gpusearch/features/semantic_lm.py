"""The semantic document language model as a feature (Hardmeier et al. 2012, section 4.3, equation 15)."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from gpusearch.errors import InputError
from gpusearch.features.material import Material
from gpusearch.features.protocol import OneValue, Room, Scope
from gpusearch.features.semantic import VALUE_UNITS, SemanticSpace, load_space
from gpusearch.features.semantic_lift import lifts
from gpusearch.features.text import Document
from gpusearch.io.phrase_table import PhraseTable
from gpusearch.kernels import semantic_document as kernels
from gpusearch.kernels.records import UNIT_PLACES, UNIT_SENTENCES
from gpusearch.kernels.semantic import SEMANTIC_HISTORY, UNKNOWN

# A space that knows a smaller share of a model's words is told, and one that loses a larger share by their case alone.
LEAST_KNOWN, MOST_LOST = 0.25, 0.1
# How many words a message names.
_EXAMPLES = 5

logger = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class SemanticLanguageModel(OneValue):
    """ln of the probability of a translated document under a space that `gpusearch train-lsa` made."""

    space: SemanticSpace
    path: str = ""
    """Where it comes from, for messages."""
    scope: ClassVar[Scope] = Scope.DOCUMENT
    counts: ClassVar[tuple[str, ...]] = ()

    def record(self, room: Room) -> kernels.SemanticDocument:
        """See `gpusearch.features.protocol.Feature`."""
        material, model = room.material, self.space.kernel
        places = int(material.problem.unit[:, UNIT_PLACES].max(initial=1))
        words = max(1, material.longest_sentence)
        number = np.zeros(kernels.SEMANTIC_NUMBERS, np.int64)
        number[kernels.CODES], number[kernels.CELLS] = room.keep_counts(places), room.keep_counts(places)
        for column in (kernels.CONTENT, kernels.BEFORE, kernels.BEHIND):
            number[column] = room.keep_counts(int(material.problem.unit[:, UNIT_SENTENCES].max(initial=1)))
        number[kernels.MOST_WORDS] = words
        sign = -1 if room.weights and room.weights[0] < 0 else 1
        number[kernels.BEST] = sign * (sign * model.value).max()
        room.need_work(model.vector.shape[1] + 3 * (words + int(model.number[SEMANTIC_HISTORY])))
        codes = self.space.codes(material.words)[material.word]
        return kernels.SemanticDocument(model, codes, lifts(model, sign), number)

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        return self.space.document_score(sentence.words for sentence in document)

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See `gpusearch.features.protocol.Feature`."""
        model = self.space.kernel
        every = np.concatenate((model.value, model.fixed))
        return material.problem.unit[:, UNIT_PLACES] * float(np.abs(every).max()) / VALUE_UNITS

    def fingerprint(self) -> bytes:
        """See `gpusearch.features.protocol.Feature`."""
        words = "\n".join((f"{self.space.lowercase}", *self.space.content, "", *self.space.stop))
        digest = blake2b(words.encode(), digest_size=8)
        for array in (self.space.vector, *self.space.kernel[1:]):
            digest.update(np.ascontiguousarray(array).tobytes())
        return digest.digest()

    def check_words(self, name: str, tables: Sequence[PhraseTable]) -> None:
        """Hold the space against the target words of a model; what follows is of those with a letter that are no stop
        words, each as often as phrases have it.

        Args:
            name: of the feature, for messages.

        Raises:
            InputError: none of them is in the space. Where few are, or many are but for their case, the log says so.
        """
        counts = _words_of(tables)
        telling = [word for word in counts if any(map(str.isalpha, word))]
        codes = dict(zip(telling, self.space.codes(telling).tolist(), strict=True))
        content = {word.lower() for word in self.space.content}
        total = known = known_in_lower_case = 0
        unknown = Counter[str]()
        for word, code in codes.items():
            if code >= UNKNOWN:
                total += counts[word]
                known += counts[word] * (code >= 0)
                known_in_lower_case += counts[word] * (code >= 0 or word.lower() in content)
                if code == UNKNOWN:
                    unknown[word] = counts[word]
        if known >= LEAST_KNOWN * total and known_in_lower_case - known <= MOST_LOST * total:
            return
        many = "none" if not known else "few" if known < LEAST_KNOWN * total else "in another case only some"
        examples = " ".join(word for word, _ in unknown.most_common(_EXAMPLES))
        fault = InputError(
            f"the space of {name} knows {many} of the words that the model translates into",
            path=self.path or None,
            found=f"{known / total:.0%}, in lower case {known_in_lower_case / total:.0%}; not {examples}",
            expected=f"{LEAST_KNOWN:.0%} or more, and no more than {MOST_LOST:.0%} lost by case",
            hint="are both of the target language, and tokenised and cased in the same way?",
        )
        if not known:
            raise fault
        logger.warning("%s", fault)


def _words_of(tables: Sequence[PhraseTable]) -> Counter[str]:
    """How often the target phrases of tables have each word."""
    found = Counter[str]()
    for table in tables:
        counts = np.bincount(table.target_words, minlength=len(table.target_vocabulary)).tolist()
        for word, count in zip(table.target_vocabulary, counts, strict=True):
            found[word] += count
    return found


def semantic_language_model(path: str | Path) -> SemanticLanguageModel:
    """The model of a file.

    Raises:
        InputError: it cannot be read, or is no such model.
    """
    return SemanticLanguageModel(load_space(path), str(path))
