"""Whether tags such as ``[b]`` and ``[/b]`` are nested well, over the document (Docent's well-formedness-model)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gpusearch.features.material import Material
from gpusearch.features.protocol import OneValue, Room, Scope
from gpusearch.features.text import Document
from gpusearch.kernels import well_formedness as kernels
from gpusearch.kernels.records import UNIT_PLACES
from gpusearch.model.entries import offsets_of

Tag = tuple[str, bool]
"""Its name, and whether it closes."""


@dataclass(frozen=True)
class WellFormedness(OneValue):
    """-(conflicts). A conflict is a closing tag that is not the one of the last tag that is open, and an opening tag
    that nothing closes.

    Words ``[name]`` open a tag, words ``[/name]`` close it. A closing tag that is a conflict is passed over: in
    ``[a] [b] [/a] [/b]`` it is ``[/a]``, then ``[/b]`` closes ``[b]``, and ``[a]`` stays open: two conflicts.
    """

    scope: ClassVar[Scope] = Scope.DOCUMENT
    counts: ClassVar[tuple[str, ...]] = ()

    def tag_of(self, word: str) -> Tag | None:
        """The tag that a word is; None of other words, brackets without a name among them."""
        if not (word.startswith("[") and word.endswith("]")):
            return None
        name = word[1:-1].removeprefix("/")
        return (name, word[1] == "/") if name else None

    def record(self, room: Room) -> kernels.WellFormedness:
        """See `gpusearch.features.protocol.Feature`."""
        material = room.material
        tags = [self.tag_of(word) for word in material.words]
        numbers = {name: k for k, name in enumerate(dict.fromkeys(tag[0] for tag in tags if tag), start=1)}
        signed = [0 if tag is None else numbers[tag[0]] * (-1 if tag[1] else 1) for tag in tags]
        code = np.array(signed, np.int32)
        places, _ = material.target_places()
        codes, counts = code[material.word[places]], material.sums((code != 0).astype(np.int64))
        most = material.most_of_sentences(counts)
        column, columns = material.columns(most + kernels.LEFT)
        room.need_work(int(most.max(initial=0) + material.of_units(most.tolist()).max(initial=0)))
        number = np.array([room.keep_sums(1), most.max(initial=0)], np.int64)
        return kernels.WellFormedness(number, column + room.keep_counts(columns), offsets_of(counts), codes[codes != 0])

    def value(self, document: Document) -> float:
        """See `gpusearch.features.protocol.Feature`."""
        conflicts, names = 0, list[str]()
        for tag in (tag for sentence in document for word in sentence.words if (tag := self.tag_of(word))):
            name, closes = tag
            if not closes:
                names.append(name)
            elif names and names[-1] == name:
                names.pop()
            else:
                conflicts += 1
        return -float(conflicts + len(names))

    def largest(self, material: Material) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See `gpusearch.features.protocol.Feature`."""
        return material.problem.unit[:, UNIT_PLACES].astype(np.float64)
