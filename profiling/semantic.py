"""Whether the semantic document language model sees what belongs together: the words of held-out documents in their own
document, and where the sentences of all documents are shuffled.

usage: python -m profiling.semantic CORPUS [--language en] [--documents N] [--keep]

CORPUS is a folder with train, dev and test, each ``SPLIT.LANGUAGE`` and ``SPLIT.docs``, such as laws.fr-en. The space
is trained on train, its histogram on dev. Prints perplexity a content word, and a paired test over the documents of
test.
"""

from __future__ import annotations

import argparse
import time
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpusearch.features.semantic import SemanticSpace
from gpusearch.io.documents import read_documents
from gpusearch.text.processor import MosesProcessor
from gpusearch.train.lsa import train_lsa
from profiling.results import keep

Tokenised = list[list[list[str]]]
"""``[document][sentence]``: tokens."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--language", default="en")
    parser.add_argument("--documents", type=int, help="train on the first so many documents")
    parser.add_argument("--keep", action="store_true", help="append the figures to results.csv")
    arguments = parser.parse_args()
    train, dev, test = (
        tokenised(arguments.corpus, split, arguments.language, arguments.documents if split == "train" else None)
        for split in ("train", "dev", "test")
    )
    began = time.process_time()
    space = train_lsa(flat(train), flat(dev))
    seconds = time.process_time() - began
    own, shuffled = mean_scores(space, test), shuffled_mean_scores(space, test)
    p_value = paired_test(own, shuffled)
    print(f"{len(train)} documents, {len(space.content)} words, {len(space.stop)} stop words, {seconds:.1f} CPU s")
    print("perplexity a content word, mean over documents (of ln)")
    print(f"  own document         {np.exp(-own.mean()):9.1f}")
    print(f"  sentences shuffled   {np.exp(-shuffled.mean()):9.1f}")
    better = np.count_nonzero(own > shuffled)
    print(f"better in {better} of {len(own)} documents; Wilcoxon, one-sided: p = {p_value:.2g}")
    if arguments.keep:
        name = f"semantic LM {arguments.corpus.name}"
        perplexity = f"{name}, perplexity a content word"
        keep(
            [
                (f"train-lsa {arguments.corpus.name}", f"{seconds:.1f}", "CPU s"),
                (f"train-lsa {arguments.corpus.name}: documents", f"{len(train)}", ""),
                (f"train-lsa {arguments.corpus.name}: tokens", f"{sum(map(len, flat(train)))}", ""),
                (f"train-lsa {arguments.corpus.name}: words of the space", f"{len(space.content)}", ""),
                (perplexity, f"{np.exp(-own.mean()):.1f}", ""),
                (f"{perplexity}, sentences shuffled", f"{np.exp(-shuffled.mean()):.1f}", ""),
                (f"{name}, more probable as they are", f"{better} of {len(own)}", "documents"),
                (f"{name}, Wilcoxon's signed-rank test, one-sided", f"{p_value:.2g}", "p"),
            ]
        )


def tokenised(corpus: Path, split: str, language: str, most: int | None = None) -> Tokenised:
    """Documents of a split in Moses' tokens."""
    moses = MosesProcessor(language)
    documents = read_documents(corpus / f"{split}.{language}", docids=corpus / f"{split}.docs").documents
    return [[moses.to_tokens(segment.source) for segment in one.segments] for one in islice(documents, most)]


def flat(documents: Tokenised) -> list[list[str]]:
    """All tokens of each document."""
    return [[token for sentence in document for token in sentence] for document in documents]


def mean_scores(space: SemanticSpace, documents: Tokenised) -> NDArray[np.float64]:
    """Mean score of the content words of each document, nats."""
    return _means(space, documents, [[number] * len(document) for number, document in enumerate(documents)])


def shuffled_mean_scores(space: SemanticSpace, documents: Tokenised, seed: int = 1) -> NDArray[np.float64]:
    """The same words, but in documents of the same lengths made of the sentences of all, in a random order."""
    places = [(number, sentence) for number, document in enumerate(documents) for sentence in range(len(document))]
    order = iter(np.random.default_rng(seed).permutation(len(places)).tolist())
    drawn = [[places[next(order)] for _ in document] for document in documents]
    mixed = [[documents[number][sentence] for number, sentence in document] for document in drawn]
    return _means(space, mixed, [[number for number, _ in document] for document in drawn])


def _means(space: SemanticSpace, documents: Tokenised, owner: list[list[int]]) -> NDArray[np.float64]:
    """Mean score of the content words that belong to each document; `owner` says which each sentence is of."""
    codes, scores, owners = [], [], []
    for document, numbers in zip(documents, owner, strict=True):
        codes.append(space.codes(word for sentence in document for word in sentence))
        scores.append(space.word_scores(codes[-1]))
        owners += [number for sentence, number in zip(document, numbers, strict=True) for _ in sentence]
    content = np.concatenate(codes) >= 0
    where, values = np.array(owners)[content], np.concatenate(scores)[content]
    return np.bincount(where, values, len(documents)) / np.bincount(where, minlength=len(documents))


def paired_test(own: NDArray[np.float64], shuffled: NDArray[np.float64]) -> float:
    """p of Wilcoxon's signed-rank test that the words of documents do not score higher in their own document."""
    from scipy.stats import wilcoxon

    return float(wilcoxon(own, shuffled, alternative="greater").pvalue)


if __name__ == "__main__":
    main()
