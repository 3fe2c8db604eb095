"""The total score that settings of the search reach against the CPU seconds that they take: a table and its figure.

usage: python -m profiling.search_quality parity PARITY WORK [--model newstest | newstest-lr | laws | laws-lr] [...]
       python -m profiling.search_quality model MODEL.toml SOURCE [--docids FILE] [--documents N] [...]

The first form takes a parity model (WORK is a folder for compiled tables), whose table begins with Moses' figures; the
second any model and source documents. Points are what a file says (profiling/search_quality.toml), or those of them
that --only, a regular expression, is found in, as in `--only "presets|beam|sweep: 64 x"`. Of the `[search]` group of
the model, the distortion limit, its check and the first jump count; the rest is that of each point.

Each point is a run of its own from the start (so that any policy, recombination included, counts whole), for each of
--seeds; its total is the sum over all sentences; one thread. A point that NAME.csv has already is not measured again:
remove the file to begin anew. NAME.svg is drawn from NAME.csv (profiling/quality_figure.py).
"""

from __future__ import annotations

import argparse
import re
import time
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from configs.experiment import spread
from gpusearch.config import Config, SearchConfig, load_config
from gpusearch.decoder import Decoder
from gpusearch.io.documents import read_documents
from gpusearch.model.model import Model, load_model
from gpusearch.search.run import search_documents
from profiling.parity import MODELS, SLACK, Documents, above_and_below
from profiling.quality_figure import draw_table
from profiling.quality_table import Row, add_row, read_rows
from profiling.results import measured_now

POINTS = Path(__file__).with_suffix(".toml")
SPACE = {"distortion_limit", "distortion_check", "first_jump"}
"""Keys of `[search]` that say which derivations there are."""
HERE: dict[str, Any] = {"threads": 1, "device": "cpu"}


@dataclass
class Workload:
    """What is searched: a model, and documents as lists of sentences of source tokens."""

    name: str
    config: Config
    model: Model
    documents: Documents
    ids: list[str | None]
    moses: NDArray[np.float64] | None = None
    """Its total of each sentence, nats."""
    runs: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Moses' total and CPU seconds by setting."""

    def measure(self, series: str, setting: str, settings: dict[str, Any], seed: int) -> Row:
        """The total that a point reaches, and its CPU seconds of options, search, recombination and sweep."""
        kept = {key: getattr(self.config.search, key) for key in SPACE}
        search = SearchConfig.model_validate({**HERE, **kept, **settings, "seed": seed})
        config = self.config.model_copy(update={"search": search})
        self._warm(config)
        begin = time.process_time()
        result = search_documents(self.model, config, self.documents, self.ids)
        seconds = time.process_time() - begin
        scores = np.array([sentence.score for found in result.documents for sentence in found.best.sentences])
        above, below = (None, None) if self.moses is None else above_and_below(scores, self.moses, SLACK)
        return Row(*measured_now(), series, setting, written(settings), str(seed), scores.sum(), seconds, above, below)

    def _warm(self, config: Config) -> None:
        """Compile, or load what was compiled, by a sentence."""
        search_documents(self.model, config, [[min((s for d in self.documents for s in d if s), key=len)]])


def main(argv: list[str] | None = None) -> None:
    arguments = _parser().parse_args(argv)
    with open(arguments.points, "rb") as stream:
        points = tomllib.load(stream)
    test_set = _parity(arguments) if arguments.kind == "parity" else _documents(arguments)
    arguments.output.mkdir(parents=True, exist_ok=True)
    path = arguments.output / f"{arguments.name or test_set.name}.csv"
    known = {(row.settings, row.seed) for row in read_rows(path)} if path.exists() else set()
    if not known:
        for setting, (total, seconds) in test_set.runs.items():
            add_row(path, Row("", "", "see the parity data", "Moses", setting, "", "", total, seconds))
    for seed in arguments.seeds:
        for series, settings in points.items():
            for setting, values in settings.items():
                wanted = re.search(arguments.only, f"{series}: {setting}")
                if wanted and (written(values), str(seed)) not in known:
                    row = test_set.measure(series, setting, values, seed)
                    add_row(path, row)
                    print(row, flush=True)
    draw_table(path)


def written(settings: dict[str, Any]) -> str:
    """Settings in one line, equal for equal ones."""
    return " ".join(f"{key}={value}" for key, value in sorted(settings.items()))


def _parity(arguments: argparse.Namespace) -> Workload:
    arguments.work.mkdir(parents=True, exist_ok=True)
    parity = MODELS[arguments.model]
    config = parity.config(arguments.work, arguments.parity)
    documents = parity.documents(arguments.parity)
    moses = parity.moses(arguments.parity)
    return Workload(arguments.model, config, load_model(config), documents, [None] * len(documents), moses, parity.runs)


def _documents(arguments: argparse.Namespace) -> Workload:
    decoder = Decoder(load_config(arguments.config))
    corpus = read_documents(arguments.source, docids=arguments.docids)
    corpus.documents = spread(corpus.documents, arguments.documents)
    ids = [document.id for document in corpus.documents]
    return Workload(arguments.source.stem, decoder.config, decoder.model, decoder.tokens(corpus), ids)


def _parser() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(add_help=False)
    options.add_argument("--points", type=Path, default=POINTS, metavar="FILE", help="settings to compare (TOML)")
    options.add_argument("--only", default="", metavar="REGEX", help="of the points, as 'series: setting'; all")
    options.add_argument("--seeds", type=int, nargs="+", default=[1])
    options.add_argument("-o", "--output", type=Path, default=Path(__file__).with_name("quality"), metavar="FOLDER")
    options.add_argument("--name", help="of the table and the figure; of the model or the source, where not given")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(dest="kind", required=True)
    parity = kinds.add_parser("parity", parents=[options], help="a parity model")
    parity.add_argument("parity", type=Path, metavar="PARITY")
    parity.add_argument("work", type=Path, metavar="WORK")
    parity.add_argument("--model", choices=MODELS, default="newstest")
    model = kinds.add_parser("model", parents=[options], help="any model and documents")
    model.add_argument("config", type=Path, metavar="MODEL.toml")
    model.add_argument("source", type=Path, metavar="SOURCE", help="documents, as for gpusearch decode")
    model.add_argument("--docids", type=Path, metavar="FILE", help="the document id of each line of text")
    model.add_argument("--documents", type=int, metavar="N", help="N of the documents, evenly spread")
    return parser


if __name__ == "__main__":
    main()
