"""Table 1 with its third row: the beam, hill climbing from its result, and the same with the semantic language model.

usage: python -m configs.hardmeier2012.semantic_model -c model.toml --space space.npz FOLDER... [-o OUTPUT]

The space is what `gpusearch train-lsa` makes of documents in the target language. The paper chooses the weight by a
grid on newstest2009; here each half of the documents gets the one that is best on the other half
(configs/added_features.py). Writes semantic_model.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from configs.added_features import Added, added_parser, write_results
from configs.experiment import command

WEIGHTS = (0.02, 0.05, 0.1, 0.2, 0.5)


def main(argv: Sequence[str] | None = None) -> None:
    parser = added_parser(__doc__ or "", "hardmeier2012")
    parser.add_argument("--space", type=Path, required=True, metavar="FILE", help="of `gpusearch train-lsa`")
    parser.add_argument("--weights", type=float, nargs="+", default=WEIGHTS)
    arguments = parser.parse_args(argv)
    semantic = Added("semantic-lm", "semantic-lm", arguments.weights, arguments.space)
    write_results("semantic_model", [semantic], arguments)


if __name__ == "__main__":
    command(main)
