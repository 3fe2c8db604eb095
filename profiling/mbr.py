"""Utilities of all pairs of a sentence's samples, in CPU seconds on one thread, beside fastChrF and sacreBLEU.

usage: python -m profiling.mbr [LIST ...] [--samples 1024] [--fastchrf-samples 1024] [--sacrebleu-pairs 5000] [--keep]

Each LIST is an n-best list in Moses' format; of its sentences the one with the longest texts among those that have the
samples is taken. Such a list is made, for instance, by

    gpusearch decode -c examples/laws/model/model.toml --method beam --nbest-list LIST --nbest-size 1024 --distinct \\
        -o /dev/null examples/laws/test.fr

The first row needs no list: sentences that have nothing to do with each other (the target side of examples/laws), with
which little is saved. Times are of everything from the texts on. fastChrF is left out where it is not installed; it and
sacreBLEU run on as many samples or pairs as are given, scaled to the same number of pairs.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from gpusearch.candidates.draws import Draws
from gpusearch.candidates.pool import candidates
from gpusearch.io.nbest import read_n_best
from gpusearch.mbr.bleu import Bleu
from gpusearch.mbr.chrf import Chrf
from gpusearch.mbr.expected import aggregate
from gpusearch.mbr.matrix import utilities
from gpusearch.mbr.utility import Utility
from profiling.results import keep

EXAMPLE = Path(__file__).parent.parent / "examples" / "laws" / "train.en"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lists", type=Path, nargs="*")
    parser.add_argument("--samples", type=int, default=1024)
    parser.add_argument("--fastchrf-samples", type=int, default=1024)
    parser.add_argument("--sacrebleu-pairs", type=int, default=5000)
    parser.add_argument("--keep", action="store_true", help="append the figures to results.csv")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    os.environ["RAYON_NUM_THREADS"] = "1"  # fastChrF reads it as it begins
    utilities(Chrf(), ["a"], ["b"])  # torch starts
    sets = {"unlike sentences": unlike(arguments.samples)}
    sets |= {path.name: longest(path, arguments.samples) for path in arguments.lists}
    rows = []
    for label, texts in sets.items():
        characters = np.mean([len(text) for text in texts])
        print(f"{label}: {len(texts)} texts of {characters:.0f} characters and {len(texts)} references")
        for what, seconds in measured(texts, arguments.fastchrf_samples, arguments.sacrebleu_pairs):
            print(f"  {what:42} {seconds:10.3f} CPU s", flush=True)
            rows.append((f"mbr, {len(texts)} x {len(texts)}, {label}: {what}", f"{seconds:.3f}", "CPU s"))
    if arguments.keep:
        keep(rows)


def measured(texts: list[str], fast: int, pairs: int) -> list[tuple[str, float]]:
    """What was run on N texts, and its CPU seconds for N^2 pairs."""
    rows = []
    named: dict[str, Utility] = {"BLEU": Bleu(), "chrF": Chrf(), "chrF++": Chrf(word_order=2)}
    for name, utility in named.items():
        rows.append((f"{name}, all pairs", timed(lambda utility=utility: utilities(utility, texts, texts))))
    found = candidates(Draws(texts, np.zeros(len(texts)), np.arange(len(texts))), "multiplicity")

    def aggregated(utility: Utility) -> None:
        aggregate(utility, utility.prepare(found.texts, 0), found.pool, np.arange(len(found.texts)))

    rows.append(("BLEU, aggregated references", timed(lambda: aggregated(Bleu()))))
    rows.append(("chrF, aggregated references", timed(lambda: aggregated(Chrf()))))
    if importlib.util.find_spec("fastchrf") is not None:
        import fastchrf

        few = texts[:fast]
        scale = (len(texts) / len(few)) ** 2
        rows.append(("fastChrF, pairwise", scale * timed(lambda: fastchrf.pairwise_chrf([few], [few]))))
        rows.append(("fastChrF, aggregated", timed(lambda: fastchrf.aggregate_chrf([texts], [texts]))))
    from sacrebleu.metrics import BLEU, CHRF

    places = np.random.default_rng(1).integers(len(texts), size=(pairs, 2))
    chosen = [(texts[one], texts[other]) for one, other in places.tolist()]
    for name, metric in (("BLEU", BLEU(effective_order=True)), ("chrF", CHRF())):
        seconds = timed(lambda metric=metric: [metric.sentence_score(one, [other]) for one, other in chosen])
        rows.append((f"sacreBLEU, {name}, pair by pair", seconds * len(texts) ** 2 / pairs))
    return rows


def timed(work: Callable[[], object]) -> float:
    begin = time.process_time()
    work()
    return time.process_time() - begin


def unlike(samples: int) -> list[str]:
    """Different sentences of 100 to 200 characters."""
    lines = dict.fromkeys(EXAMPLE.read_text(encoding="utf-8").split("\n"))
    return [line for line in lines if 100 <= len(line) <= 200][:samples]


def longest(path: Path, samples: int) -> list[str]:
    """The samples of the sentence with the longest texts of 200 characters at most."""
    found: dict[int, dict[str, None]] = defaultdict(dict)
    for entry in read_n_best(path):
        found[entry.sentence][" ".join(entry.words)] = None
    enough = [list(texts)[:samples] for texts in found.values() if len(texts) >= samples]
    if not enough:
        raise SystemExit(f"{path}: no sentence has {samples} different translations")
    lengths = [float(np.mean([len(text) for text in texts])) for texts in enough]
    short = [number for number, length in enumerate(lengths) if length <= 200]
    return enough[max(short or range(len(enough)), key=lengths.__getitem__)]


if __name__ == "__main__":
    main()
