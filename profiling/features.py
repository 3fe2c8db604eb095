"""What features of the document cost a search, and how that grows with the document.

usage: python -m profiling.features PARITY WORK [--space SPACE] [--seconds 4] [--only NAME ...] [--docent] [--keep]

The newstest2012 model on its shortest and its longest document (175 and 1,755 words), one lane and one thread, a
thousand proposals a word from a random start. Without SPACE, as `gpusearch train-lsa` makes it, the semantic language
model has 30 random dimensions for all words but the 200 most frequent ones of the options, which are its stop words.
The model's own language model stands for one of reversed sentences, and for one of selected words: every tenth of the
options' words. References are those of the documents, consensus is with Moses' n-best list, and a glossary pairs words
of source and options by their rank. The trees of cohesion are made up: random projective ones over the words of each
sentence, with verbs and nouns anywhere. The documents have no tags, so well-formedness costs a look for some.

With --docent stands beside them what PARITY/README.md says of Docent, measured with the same model and documents and no
feature of the document.
"""

from __future__ import annotations

import argparse
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from gpusearch.config import load_config
from gpusearch.features.builtin import COHESION
from gpusearch.features.load import with_document, with_features
from gpusearch.features.semantic import SemanticSpace, save_space
from gpusearch.kernels.semantic import BINS, VECTOR_BITS
from gpusearch.model.model import Model, load_model
from gpusearch.model.problem import build_problem
from gpusearch.search.bench import measure
from profiling.results import keep
from profiling.throughput import Documents, Report
from tests.parity_model import NEWSTEST, newstest_documents, write_newstest

DIMENSIONS, STOP_WORDS = 30, 200
# Proposals a word before it is measured, so that chains on both documents have come equally far.
SETTLE = 1000
# Verbs and nouns among the words of the trees.
PARTS = {"VERB": 0.15, "NOUN": 0.25, "X": 0.6}
LM = f"{NEWSTEST}.lm.arpa.gz"
_RATE = r"([\d,]+-[\d,]+) on a ([\d,]+)-word"
DOCENT = re.compile(f"Steps per CPU second: {_RATE} document, {_RATE} one")
TEXT, REFERENCE, NBEST = "docs.txt", "docs.ref.txt", "moses.nolr.nbest.gz"
# Weights like those of a tuned model, so that chains walk as they do in use.
SETS: dict[str, dict[str, dict[str, Any]]] = {
    "none": {},
    "type-token-ratio": {"ttr": {"use": "type-token-ratio", "weights": 5.0}},
    "ovix": {"ovix": {"use": "ovix", "weights": 0.05}},
    "q-value-phrases": {"qp": {"use": "q-value-phrases", "weights": 5.0}},
    "q-value-words": {"qw": {"use": "q-value-words", "weights": 5.0}},
    "semantic-lm": {"topic": {"use": "semantic-lm", "weights": 0.1, "path": "space.npz"}},
    "sentence-length": {"length": {"use": "sentence-length", "weights": 0.1}},
    "reverse-lm": {"back": {"use": "reverse-lm", "weights": 0.1, "path": LM}},
    "gappy-lm": {"gap": {"use": "gappy-lm", "weights": [0.1, 0.1], "path": LM, "options.words": "words"}},
    "cache": {"cache": {"use": "cache", "weights": 0.2}},
    "consensus": {
        "consensus": {"use": "consensus", "weights": 0.2, "path": f"{NEWSTEST}.{NBEST}", "source": f"{NEWSTEST}.{TEXT}"}
    },
    "bleu-oracle": {
        "bleu": {
            "use": "bleu-oracle",
            "weights": 20.0,
            "path": f"{NEWSTEST}.{REFERENCE}",
            "source": f"{NEWSTEST}.{TEXT}",
        }
    },
    "glossary": {"terms": {"use": "glossary", "weights": 0.2, "path": "terms"}},
    "long-words": {"long": {"use": "long-words", "weights": 0.1}},
    "bracketing": {"brackets": {"use": "bracketing", "weights": 1.0}},
    "well-formedness": {"tags": {"use": "well-formedness", "weights": 1.0}},
    "sentence-parity": {"parity": {"use": "sentence-parity", "weights": 1.0}},
    **{name: {name: {"use": name, "weights": 0.2, "path": "trees.conllu"}} for name in COHESION},
}
EACH = list(SETS)[1:]
SETS["type-token-ratio, q-value-phrases, semantic-lm"] = {
    **SETS["type-token-ratio"],
    **SETS["q-value-phrases"],
    **SETS["semantic-lm"],
}
SETS["reverse-lm, gappy-lm, cache"] = {**SETS["reverse-lm"], **SETS["gappy-lm"], **SETS["cache"]}
SETS["consensus, bleu-oracle, glossary"] = {**SETS["consensus"], **SETS["bleu-oracle"], **SETS["glossary"]}
SETS["all"] = {name: entry for one in EACH for name, entry in SETS[one].items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parity", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--space", type=Path, help="of the semantic language model, of the target language")
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement")
    parser.add_argument("--only", choices=SETS, nargs="+", default=list(SETS), help="these sets of features alone")
    parser.add_argument("--docent", action="store_true", help="with what PARITY/README.md says of Docent beside")
    parser.add_argument("--keep", action="store_true", help="append the figures to results.csv")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    path = write_newstest(arguments.work, arguments.parity)
    settings = ["search.threads=1", "search.device=cpu"]
    model = load_model(load_config(path, settings))
    documents = newstest_documents(arguments.parity)
    space = arguments.work / "space.npz"
    if arguments.space:
        space.write_bytes(arguments.space.read_bytes())
    else:
        write_space(model, documents, space)
    targets = target_words(model, documents)
    (arguments.work / "words").write_text("\n".join(targets[::10]) + "\n", encoding="utf-8")
    sources = Counter(word for document in documents for sentence in document for word in sentence).most_common()
    terms = "".join(f"{source} ||| {target}\n" for (source, _), target in zip(sources, targets, strict=False))
    (arguments.work / "terms").write_text(terms, encoding="utf-8")
    write_trees(documents, arguments.work / "trees.conllu")
    for name in (TEXT, REFERENCE, NBEST):
        linked = arguments.work / f"{NEWSTEST}.{name}"
        linked.unlink(missing_ok=True)
        linked.symlink_to((arguments.parity / NEWSTEST / name).absolute())
    sizes = [sum(map(len, document)) for document in documents]
    ends = int(np.argmin(sizes)), int(np.argmax(sizes))
    if arguments.docent:
        rows = docent_rows(arguments.parity / "README.md")
        for row in rows:
            print(*row)
        if arguments.keep:
            keep(rows)
    for name in arguments.only:
        report = Report()
        with_set = arguments.work / "features.toml"
        with_set.write_text(path.read_text(encoding="utf-8") + toml(SETS[name]), encoding="utf-8")
        config = load_config(with_set, settings)
        made = with_features(load_model(config) if SETS[name] else model, config)
        rates = []
        for document in ends:
            batch = build_problem(made, [documents[document]], None, config.search, units="document")
            speed = measure(with_document(batch), config, made, lanes=1, seconds=arguments.seconds, settle=SETTLE)
            rates.append(speed.proposals_per_cpu_second)
            what = f"features: {name}, settled, a document of {sizes[document]:,} words"
            report.add(what, rates[-1], "proposals/CPU s")
        report.add(f"features: {name}, settled, cost a proposal, longest document / shortest", rates[0] / rates[1], "")
        if arguments.keep:
            keep(report.rows)


def docent_rows(readme: Path) -> list[tuple[str, str, str]]:
    """Docent's steps by CPU second, as the README of the parity data has them."""
    found = DOCENT.search(" ".join(readme.read_text(encoding="utf-8").split()))
    if found is None:
        raise SystemExit(f"{readme}: no steps per CPU second of Docent")
    rates, words = found.group(1, 3), found.group(2, 4)
    return [
        (f"features: none, Docent by the parity data's README, a document of {many} words", rate, "steps/CPU s")
        for rate, many in zip(rates, words, strict=True)
    ]


def toml(entries: dict[str, dict[str, Any]]) -> str:
    """A `[features]` group."""
    lines = []
    for name, entry in entries.items():
        lines.append(f"\n[features.{name}]")
        lines += [f"{key} = {value!r}" for key, value in entry.items()]
    return "\n".join(lines) + "\n"


def target_words(model: Model, documents: Documents) -> list[str]:
    """Words of a seventh of the options, the most frequent first."""
    options = build_problem(replace(model, document=()), documents).options
    counts = Counter(word for option in range(0, len(options), 7) for word in options.target(option))
    return [word for word, _ in counts.most_common()]


def write_trees(documents: Documents, path: Path) -> None:
    """A made-up tree for each sentence: any word of a range heads it, and so on for the words on either side of it."""
    rng = np.random.default_rng(1)
    blocks = []
    for words in dict.fromkeys(tuple(sentence) for document in documents for sentence in document if sentence):
        head = [0] * len(words)
        open_ranges = [(0, len(words), 0)]
        while open_ranges:
            begin, end, above = open_ranges.pop()
            if begin < end:
                root = int(rng.integers(begin, end))
                head[root] = above
                open_ranges += [(begin, root, root + 1), (root + 1, end, root + 1)]
        kinds = rng.choice(list(PARTS), len(words), p=list(PARTS.values()))
        rows = enumerate(zip(words, kinds, head, strict=True), start=1)
        blocks.append("".join(f"{k}\t{word}\t_\t{kind}\t_\t_\t{to}\t_\t_\t_\n" for k, (word, kind, to) in rows))
    path.write_text("\n".join(blocks) + "\n", encoding="utf-8")


def write_space(model: Model, documents: Documents, path: Path) -> None:
    """A space on the target words of the documents' options."""
    words = target_words(model, documents)
    rng = np.random.default_rng(1)
    vector = rng.normal(size=(len(words) - STOP_WORDS, DIMENSIONS))
    vector *= (1 << VECTOR_BITS) / np.linalg.norm(vector, axis=1, keepdims=True)
    space = SemanticSpace(
        content=tuple(words[STOP_WORDS:]),
        stop=tuple(words[:STOP_WORDS]),
        vector=np.rint(vector).astype(np.int16),
        stop_value=np.full(STOP_WORDS, -5.0),
        histogram=np.linspace(-12, -7, BINS),
        first=-9.0,
        unknown=-15.0,
        history=30,
        lowercase=False,
    )
    save_space(space, path)


if __name__ == "__main__":
    main()
