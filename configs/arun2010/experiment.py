"""What these experiments share: a test set sampled as Arun, Haddow, Koehn, Lopez, Dyer and Blunsom (2010) do.

Blocks are taken in sequence, a sample after each scan through all of them. The distortion limit has both of Moses'
checks, so that sampler, beam and enumeration are about the same derivations. Resegmentation, which closes the defect of
the paper's section 6, is left as it is by default.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from configs import experiment
from configs.experiment import MOSES, TestSet
from gpusearch.candidates.samples import Samples
from gpusearch.config import Config, SampleConfig, with_search
from gpusearch.decoder import Decoder
from gpusearch.model.model import Model
from gpusearch.search.sampling import sample_documents
from gpusearch.search.saved import Given

SAMPLER: dict[str, Any] = {"method": "gibbs", "scan": "sequential", "thin": 1, "unit": "sentence"}
"""Of the `[sample]` group."""
SPACE: dict[str, Any] = {"distortion_limit": 6, "distortion_check": "moses"}
"""Of the `[search]` group: which derivations there are."""
BEAM: dict[str, Any] = {**SPACE, "method": "beam", "beam": MOSES}


def make_parser(
    description: str, *, chains: int, iterations: int, burn_in: int, folders: str = "+", metrics: bool = False
) -> argparse.ArgumentParser:
    """The options that these experiments have; numbers are defaults."""
    parser = experiment.make_parser(description, "arun2010", folders=folders, metrics=metrics)
    parser.add_argument("--chains", type=int, default=chains, help="of each sentence")
    parser.add_argument("--iterations", type=int, default=iterations, help="of each chain, burn-in included")
    parser.add_argument("--burn-in", type=int, default=burn_in, help="iterations before the first sample")
    parser.add_argument("--seed", type=int, default=1)
    return parser


def open_decoder(arguments: argparse.Namespace) -> Decoder:
    """The decoder of the command line; makes the folder of results."""
    from gpusearch import load

    decoder = load(arguments.config)
    arguments.output.mkdir(parents=True, exist_ok=True)
    return decoder


def searching(config: Config, arguments: argparse.Namespace, settings: dict[str, Any]) -> Config:
    """A configuration with other values of `[search]`, on the CPU."""
    own = {"threads": arguments.threads, "device": "cpu", "seed": arguments.seed}
    return with_search(config, {**own, **settings})


def sampling(config: Config, arguments: argparse.Namespace, scale: float) -> Config:
    """A configuration with the sampler of the command line; each chain has a first translation of its own."""
    config = searching(config, arguments, {**SPACE, "chains": arguments.chains})
    own = {
        **SAMPLER,
        "iterations": arguments.iterations,
        "burn_in": arguments.burn_in,
        "scale": scale,
        "superchains": arguments.chains,
    }
    return config.model_copy(update={"sample": SampleConfig.model_validate(config.sample.model_dump() | own)})


@contextmanager
def sampled(
    model: Model,
    config: Config,
    documents: Sequence[Sequence[Sequence[str]]],
    ids: Sequence[str | None],
    given: Given | None = None,
) -> Iterator[Samples]:
    """Samples of documents, lists of sentences of source tokens, in a folder that is gone afterwards."""
    sources = [[" ".join(sentence) for sentence in document] for document in documents]
    with tempfile.TemporaryDirectory() as folder:
        yield sample_documents(model, config, documents, sources, ids, Path(folder), given=given)


def each_document(test_set: TestSet) -> Iterator[tuple[int, list[list[str]], str | None]]:
    """Number, source tokens and id of the documents, one by one: samples of all at once may not fit the disk."""
    for number, (tokens, name) in enumerate(zip(test_set.prepared.tokens, test_set.ids, strict=True)):
        yield number, tokens, name


def looks(most: int) -> list[int]:
    """Powers of two up to `most`, and `most`."""
    return sorted({*(1 << power for power in range(most.bit_length())), most})
