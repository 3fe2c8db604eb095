"""The parity models as ``model.toml``: what their moses.ini says, written by hand.

    from tests.parity_model import write_newstest, write_laws
    path = write_newstest(tmp_path, parity)

Tests, profiling scripts and experiments share them. The tables are linked into the folder that is given, so that
their compiled forms stand there, not among the data: give the same folder again to load them in seconds.
"""

from __future__ import annotations

import gzip
import re
from dataclasses import dataclass
from pathlib import Path

NEWSTEST = "newstest2012.en-fr"
LAWS = "laws100k.fr-en"

_TEMPLATE = """\
[text]
tokenizer = "none"
source_language = "{source}"
target_language = "{target}"

[[phrase_table]]
name = "TranslationModel0"
path = "{data}.phrase-table.gz"
weights = {translation}
table_limit = {table_limit}

[[language_model]]
name = "LM0"
path = "{data}.lm.arpa.gz"
weight = {language}
order = 5

[weights]
word_penalty = {word}
phrase_penalty = {phrase}
distortion = {distortion}
unknown_word = 100.0

[search]
distortion_limit = 6
"""


_REORDERING = """
[[reordering_model]]
name = "LexicalReordering0"
path = "{data}.reordering-table.gz"
type = "wbe-msd-bidirectional-fe-allff"
weights = {weights}
"""


def write_newstest(folder: Path, parity: Path, table_limit: int = 30, *, reordering: bool = False) -> Path:
    """Write the newstest2012 model without lexicalised reordering (moses.nolr.ini), or with it (moses.ini)."""
    text = _TEMPLATE.format(
        data=NEWSTEST,
        source="en",
        target="fr",
        translation="[0.1, 0.1, 0.2, 0.1]",
        table_limit=table_limit,
        language=0.3,
        word=-0.5,
        phrase=0.2,
        distortion=0.15,
    )
    if reordering:
        text += _REORDERING.format(data=NEWSTEST, weights=[0.05] * 6)
    return _write(folder, parity / NEWSTEST, text)


def write_laws(folder: Path, parity: Path, table_limit: int = 20, *, reordering: bool = False) -> Path:
    """Write the laws100k model with tuned weights (moses.tuned.ini), with its reordering model or without."""
    text = _TEMPLATE.format(
        data=LAWS,
        source="fr",
        target="en",
        translation="[0.10167589095725, 0.102575995056165, 0.175066123995294, 0.00200226157030475]",
        table_limit=table_limit,
        language=0.158732512578723,
        word=0.0378293177787978,
        phrase=-0.0744400108831368,
        distortion=0.0833332290496282,
    )
    if reordering:
        weights = (0.116398963386023, -0.0362633098229208, 0.0150639203689325)
        weights += (0.021994000362932, 0.0585055294563736, -0.0161189347335198)
        text += _REORDERING.format(data=LAWS, weights=list(weights))
    return _write(folder, parity / LAWS, text)


def newstest_documents(parity: Path) -> list[list[list[str]]]:
    """The ten newstest2012 documents as lists of sentences of words."""
    folder = parity / NEWSTEST
    sizes: list[int] = []
    for line in (folder / "docs.sizes").read_text().split("\n"):
        if line:
            sizes.append(int(line.split()[1]))
    sentences = _sentences(folder / "docs.txt")
    documents: list[list[list[str]]] = []
    position = 0
    for words in sizes:
        # docs.sizes counts words, not sentences.
        document: list[list[str]] = []
        while words > 0:
            document.append(sentences[position])
            words -= len(sentences[position])
            position += 1
        assert words == 0, "docs.sizes does not fit docs.txt"
        documents.append(document)
    assert position == len(sentences)
    return documents


def laws_documents(parity: Path) -> list[list[list[str]]]:
    """The forty laws100k test documents as lists of sentences of words."""
    folder = parity / LAWS
    sentences = _sentences(folder / "test.fr")
    names = (folder / "test.docs").read_text().split("\n")[: len(sentences)]
    documents: list[list[list[str]]] = []
    last = None
    for name, sentence in zip(names, sentences, strict=True):
        if name != last:
            documents.append([])
            last = name
        documents[-1].append(sentence)
    return documents


@dataclass(frozen=True)
class Derivation:
    """A line of a Moses n-best list with its segmentation."""

    sentence: int
    phrases: list[tuple[int, int, list[str]]]
    """Source words ``start .. stop - 1`` and target words of each phrase, in target order."""
    features: dict[str, list[float]]
    total: float


def read_nbest(path: Path) -> list[Derivation]:
    """Read an n-best list that Moses wrote with segmentation (and maybe markers of it in the text)."""
    derivations = []
    for line in gzip.decompress(path.read_bytes()).decode("utf-8").split("\n")[:-1]:
        number, text, scores, total, segmentation, *_ = line.split(" ||| ")
        words = [word for word in text.split(" ") if word and not re.fullmatch(r"\|\d+-\d+\|", word)]
        phrases = []
        for part in segmentation.split():
            (start, stop), (first, last) = (_range(side) for side in part.split("="))
            phrases.append((start, stop, words[first:last]))
        features: dict[str, list[float]] = {}
        for field in scores.split():
            if field.endswith("="):
                name = field.removesuffix("=")
                features[name] = []
            else:
                features[name].append(float(field))
        derivations.append(Derivation(int(number), phrases, features, float(total)))
    return derivations


def read_trace(path: Path) -> list[list[tuple[int, int, list[str]]]]:
    """Read the phrases of translations with segmentation (``words |i-j| words |i-j|``), a sentence a line."""
    result = []
    for line in path.read_text(encoding="utf-8").split("\n")[:-1]:
        phrases, words = [], []
        for word in line.split():
            marker = re.fullmatch(r"\|(\d+)-(\d+)\|", word)
            if marker:
                phrases.append((int(marker[1]), int(marker[2]) + 1, words))
                words = []
            else:
                words.append(word)
        result.append(phrases)
    return result


def _range(written: str) -> tuple[int, int]:
    first, _, last = written.partition("-")
    return int(first), int(last or first) + 1


def _sentences(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").split("\n")
    return [[word for word in line.split(" ") if word] for line in lines[:-1]]


def _write(folder: Path, data: Path, text: str) -> Path:
    for name in ("phrase-table.gz", "lm.arpa.gz", "reordering-table.gz"):
        link = folder / f"{data.name}.{name}"
        if not link.exists():
            link.symlink_to((data / name).resolve())
    path = folder / f"{data.name}{'.lr' if 'reordering_model' in text else ''}.toml"
    path.write_text(text, encoding="utf-8")
    return path
