"""Features for random problems, as `random_features` writes them; by themselves, so that nothing need be installed."""

from __future__ import annotations

# Every feature that is built in, in every form. Compiled kernels depend on the types of the records alone, which are
# the same in all of these: tests that compile take one of them for another.
ALL = ("type-token-ratio", "sentence-length", "q-value-phrases", "semantic-lm", "coh3")
FORMS = (
    ALL,
    ("type-token-ratio:form=docent", "sentence-length", "q-value-phrases:form=docent", "semantic-lm", "coh1"),
    ("ovix", "sentence-length:identical=0.3", "q-value-words", "semantic-lm:history=30,dimensions=30", "coh4"),
    ("ovix:form=docent", "sentence-length", "q-value-words:form=docent", "semantic-lm", "coh2"),
)
# Small ones, and what counts words of one kind: kernels of their own, compiled under --full only.
SMALL = ("long-words:letters=2", "bracketing", "sentence-parity", "well-formedness", "coh5-verbs", "coh5-nouns")
# Beside them the compiled feature of docs/features.md, and one with counts, a bound and a state of its own
# (`tests/features/variety.py`). Kernels that these are part of are not kept (conftest: `of_users`).
PAGE, VARIETY = "page", "variety"
USERS = (*SMALL, PAGE, VARIETY)
# Those that tell sweeps their ceilings.
SWEPT = ("type-token-ratio", "sentence-length", "long-words:letters=3", "cache:letters=0")
SWEPT_FORMS = (*SWEPT, "type-token-ratio:form=docent", "cache:items=words,letters=0,window=1")
# With language models of their own, and the cache: kernels of their own, as the records are of other types.
ALONG = ("reverse-lm", "gappy-lm", "cache:letters=0")
ALONG_FORMS = (
    ALONG,
    ("reverse-lm:order=1", "gappy-lm:order=5,share=7", "cache:items=words,letters=3,window=2,decay=0.5"),
    ("reverse-lm:order=5", "gappy-lm:order=2,share=1", "cache:items=source-word-pairs,letters=0,window=1"),
    ("reverse-lm:order=2", "gappy-lm:order=4,inside=1", "cache:items=target-word-pairs,letters=2,decay=1"),
)
# N-grams of the target, apart as well: they are compiled under --full only.
NGRAMS = (
    ("consensus", "bleu-oracle", "glossary"),
    ("consensus", "bleu-oracle:smooth=0.5", "glossary:form=hard"),
)
