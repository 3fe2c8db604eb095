"""The parity models as ``model.toml``: what their moses.ini says, written by hand.

    from tests.parity_model import write_newstest, write_laws
    path = write_newstest(tmp_path, parity)

Tests, profiling scripts and experiments share them; the tables stay where they are (absolute paths).
"""

from __future__ import annotations

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
path = "{folder}/phrase-table.gz"
weights = {translation}
table_limit = {table_limit}

[[language_model]]
name = "LM0"
path = "{folder}/lm.arpa.gz"
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


def newstest_toml(parity: Path, table_limit: int = 30) -> str:
    """Text of the newstest2012 model without lexicalised reordering (moses.nolr.ini)."""
    return _TEMPLATE.format(
        folder=(parity / NEWSTEST).resolve(),
        source="en",
        target="fr",
        translation="[0.1, 0.1, 0.2, 0.1]",
        table_limit=table_limit,
        language=0.3,
        word=-0.5,
        phrase=0.2,
        distortion=0.15,
    )


def laws_toml(parity: Path, table_limit: int = 20) -> str:
    """Text of the laws100k model with tuned weights (moses.tuned.ini), its reordering model left out."""
    return _TEMPLATE.format(
        folder=(parity / LAWS).resolve(),
        source="fr",
        target="en",
        translation="[0.10167589095725, 0.102575995056165, 0.175066123995294, 0.00200226157030475]",
        table_limit=table_limit,
        language=0.158732512578723,
        word=0.0378293177787978,
        phrase=-0.0744400108831368,
        distortion=0.0833332290496282,
    )


def write_newstest(folder: Path, parity: Path, table_limit: int = 30) -> Path:
    """Write the newstest2012 model as ``folder/model.toml`` and return its path."""
    return _write(folder, newstest_toml(parity, table_limit))


def write_laws(folder: Path, parity: Path, table_limit: int = 20) -> Path:
    """Write the laws100k model as ``folder/model.toml`` and return its path."""
    return _write(folder, laws_toml(parity, table_limit))


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


def _sentences(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").split("\n")
    return [[word for word in line.split(" ") if word] for line in lines[:-1]]


def _write(folder: Path, text: str) -> Path:
    path = folder / "model.toml"
    path.write_text(text, encoding="utf-8")
    return path
