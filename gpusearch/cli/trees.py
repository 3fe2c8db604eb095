"""`--trees`: where features of cohesion find the trees of the source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from gpusearch.cli.options import check_has_use, overrides_of
from gpusearch.config import load_config
from gpusearch.features.builtin import COHESION
from gpusearch.io.corpus import Corpus


def tree_settings(config: Path, overrides: Sequence[str], trees: Path | None, corpus: Corpus) -> list[str]:
    """Overrides that name the trees for those features that have none; documents in CoNLL-U are their own trees.

    Raises:
        InputError: trees are given, and no feature looks at them.
    """
    features = load_config(config, overrides).features
    without = [name for name, one in features.items() if one.use in COHESION and one.path is None]
    use = "a feature of cohesion in [features] without trees of its own: " + ", ".join(COHESION)
    check_has_use("--trees", trees is not None, bool(without), use)
    if trees is None and corpus.format == "conllu" and corpus.path != "-":
        trees = Path(corpus.path)
    return [override for name in without for override in overrides_of(f"features.{name}", {"path": trees})]
