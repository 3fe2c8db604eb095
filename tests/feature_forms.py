"""Features for random problems, as `random_features` writes them; by themselves, so that nothing need be installed."""

from __future__ import annotations

# Every feature that is built in, in every form. Compiled kernels depend on the types of the records alone, which are
# the same in all of these: tests that compile take one of them for another.
ALL = ("type-token-ratio", "sentence-length", "q-value-phrases", "semantic-lm", "coh3")
FORMS = (
    ALL,
    ("type-token-ratio:form=docent", "sentence-length", "q-value-phrases:form=docent", "semantic-lm", "coh1"),
    ("ovix", "sentence-length:identical=0.3", "q-value-words", "semantic-lm", "coh4"),
    ("ovix:form=docent", "sentence-length", "q-value-words:form=docent", "semantic-lm", "coh2"),
)
# Small ones, apart from those: what is checked of them is checked interpreted.
SMALL = ("long-words:letters=2", "bracketing", "sentence-parity")
