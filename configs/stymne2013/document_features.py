"""Table 7 of Stymne, Hardmeier, Tiedemann and Nivre (2013): features of whole documents, one at a time.

usage: python -m configs.stymne2013.document_features -c model.toml FOLDER... [-o OUTPUT] [--chains 16] [--documents N]

Type-token ratio (TTR), OVIX, Q-value over words (QW) and over phrases (QP), as in its section 5.4, added to the
features of the model. The paper tunes all weights; here those of the model stay, and each half of the documents gets
the weight of the feature that is best on the other half (configs/added_features.py). Writes document_features.md.
"""

from __future__ import annotations

from collections.abc import Sequence

from configs.added_features import Added, added_parser, write_results
from configs.experiment import command

FEATURES = (
    Added("TTR", "type-token-ratio", (-300.0, -50.0, 50.0, 300.0)),
    Added("OVIX", "ovix", (-2.0, -0.4, 0.4, 2.0)),
    Added("QW", "q-value-words", (-20.0, -4.0, 4.0, 20.0)),
    Added("QP", "q-value-phrases", (-20.0, -4.0, 4.0, 20.0)),
)
"""Weights change the score of a document by some nats to some tens of nats."""


def main(argv: Sequence[str] | None = None) -> None:
    arguments = added_parser(__doc__ or "", "stymne2013").parse_args(argv)
    write_results("document_features", FEATURES, arguments)


if __name__ == "__main__":
    command(main)
