"""What kernels keep of the features, in each of their forms, is what `value` says of the texts.

The readable twin reads form and tables from the records that kernels read: it would follow them into a wrong one.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.features.walks import walk

# An unknown word is copied: of three letters, and five bytes.
DOCUMENTS = (
    ("la maison bleue", "", "une maison .", "le petit chien ne dort pas .", "une été bleue", "dans la maison"),
    ("ne", "le chien dort dans la maison .", "la maison", "été", "", "le petit chien dort", "la maison bleue ."),
)
FEATURES = {
    "ttr": "use='type-token-ratio'",
    "ttr_docent": "use='type-token-ratio', options={form='docent'}",
    "ovix": "use='ovix'",
    "ovix_docent": "use='ovix', options={form='docent'}",
    "phrases": "use='q-value-phrases'",
    "phrases_docent": "use='q-value-phrases', options={form='docent'}",
    "words": "use='q-value-words'",
    "words_docent": "use='q-value-words', options={form='docent'}",
    "length": "use='sentence-length', options={identical=0.3}",
    "letters": "use='long-words', options={letters=5}",
    "bytes": "use='long-words', options={letters=5, form='docent'}",
    "balance": "use='bracketing', options={pairs=[['the', 'a'], ['house', 'small']]}",
    "parity": "use='sentence-parity'",
}
COHESION = ("coh1", "coh2", "coh3", "coh4", "coh5-verbs", "coh5-nouns")


def write_trees(path: Path) -> Path:
    """A tree for each sentence, with verbs and nouns anywhere."""
    rng = np.random.default_rng(1)
    trees = []
    for words in sorted({tuple(text.split()) for texts in DOCUMENTS for text in texts if text}):
        order = rng.permutation(len(words)).tolist()
        head = dict(zip(order, [0, *(order[int(rng.integers(0, k))] + 1 for k in range(1, len(words)))], strict=True))
        kinds = rng.choice(["VERB", "NOUN", "X"], len(words))
        rows = [f"{k + 1}\t{word}\t_\t{kinds[k]}\t_\t_\t{head[k]}\t_\t_\t_\n" for k, word in enumerate(words)]
        trees.append("".join(rows) + "\n")
    path.write_text("".join(trees), encoding="utf-8")
    return path


@pytest.mark.parametrize("sign", ["", "-"])
def test_kernels_keep_the_values_of_texts(tmp_path: Path, sign: str) -> None:
    """At any step of a walk, but for what logarithms and quotients are rounded by."""
    trees = write_trees(tmp_path / "trees")
    written = FEATURES | {name: f"use='{name}', path='{trees}'" for name in COHESION}
    settings = [f"features.{name}={{{what}, weights={sign}1.0}}" for name, what in written.items()]
    seen = []
    for kept, of_text in walk(settings, documents=DOCUMENTS):
        np.testing.assert_allclose(kept, of_text, rtol=0, atol=1e-5)
        seen.append(tuple(kept.tolist()))
    columns = dict(zip(written, zip(*seen, strict=True), strict=True))
    assert len(set(columns.values())) == len(written), "no two of them are the same"
    assert all(len(set(column)) > 1 for column in columns.values()), columns
