"""Table 1 with its third row: the beam, hill climbing from its result, and the same with the semantic language model.

usage: python -m configs.hardmeier2012.semantic_model -c model.toml --space space.npz FOLDER... [-o OUTPUT]

The space is what `gpusearch train-lsa` makes of documents in the target language. The paper tunes the weight with the
others; here it is chosen from a grid on every second document (configs/added_features.py). Writes semantic_model.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from configs.added_features import HEADER, Added, added_parser, rows
from configs.experiment import write_table

WEIGHTS = (0.02, 0.05, 0.1, 0.2, 0.5)


def main(argv: Sequence[str] | None = None) -> None:
    parser = added_parser(__doc__ or "", "hardmeier2012")
    parser.add_argument("--space", type=Path, required=True, metavar="FILE", help="of `gpusearch train-lsa`")
    parser.add_argument("--weights", type=float, nargs="+", default=WEIGHTS)
    arguments = parser.parse_args(argv)
    arguments.output.mkdir(parents=True, exist_ok=True)
    table = arguments.output / "semantic_model.md"
    table.unlink(missing_ok=True)
    semantic = Added("semantic-lm", "semantic-lm", arguments.weights, arguments.space)
    for folder in arguments.data:
        title = f"{folder.resolve().name}, held-out documents."
        write_table(table, title, HEADER, rows(folder, [semantic], arguments))


if __name__ == "__main__":
    main()
