"""The readers on files that others made (skipped where they are not there)."""

from __future__ import annotations

import re
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest

from gpusearch.io.documents import attach_references, read_documents, write_documents


@pytest.fixture(scope="module")
def unpacked(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Folder of a corpus, unpacked."""
    root = tmp_path_factory.mktemp("corpora")

    def unpack(name: str) -> Path:
        with tarfile.open(shared_data / f"{name}.tar.xz") as archive:
            archive.extractall(root, filter="data")
        return root / name

    return unpack


def lines(path: Path) -> list[str]:
    return path.read_bytes().decode().split("\n")[:-1]


def test_mteval_with_references(parity: Path, tmp_path: Path) -> None:
    """Ten documents of news, as one file of text has them; written and read again they are the same."""
    folder = parity / "newstest2012.en-fr"
    corpus = read_documents(folder / "docs.src.xml")
    attach_references(corpus, folder / "docs.ref.xml")
    segments = [segment for document in corpus.documents for segment in document.segments]
    assert (corpus.format, len(corpus.documents), len(segments)) == ("mteval", 10, 311)
    assert corpus.documents[0].id == "denik.cz/2011/11/15/33709.html"
    assert [segment.source for segment in segments] == lines(folder / "docs.txt")
    assert [segment.reference for segment in segments] == lines(folder / "docs.ref.txt")
    texts = [[segment.reference or "" for segment in document.segments] for document in corpus.documents]
    write_documents(corpus, texts, tmp_path / "out.xml")
    again = read_documents(tmp_path / "out.xml")
    for before, after in zip(corpus.documents, again.documents, strict=True):
        assert (after.id, after.attributes) == (before.id, before.attributes)
        assert [(item.id, item.source) for item in after.segments] == [
            (item.id, item.reference) for item in before.segments
        ]


@pytest.mark.parametrize("language", ["en", "fr", "de", "sv", "es", "cs"])
def test_universal_dependencies(unpacked: Callable[[str], Path], tmp_path: Path, language: str) -> None:
    """1000 sentences in 397 documents: ids and texts as in the text files, also from the word forms alone."""
    folder = unpacked("pud")
    trees = folder / f"test.conllu.{language}"
    corpus = read_documents(trees)
    found = [(document.id, item.id, item.source) for document in corpus.documents for item in document.segments]
    columns = [lines(folder / name) for name in ("test.docs", "test.ids", f"test.{language}")]
    assert found == list(zip(*columns, strict=True))
    assert len(corpus.documents) == 397
    forms = tmp_path / "forms"
    forms.write_bytes(re.sub(rb"(?m)^# text = .*\n", b"", trees.read_bytes()))
    from_forms = [item.source for document in read_documents(forms).documents for item in document.segments]
    assert from_forms == columns[2]


def test_universal_dependencies_without_documents(unpacked: Callable[[str], Path]) -> None:
    folder = unpacked("partut.fr-en")
    assert len(read_documents(folder / "all.conllu.en").documents) == 1
    corpus = read_documents(folder / "all.conllu.en", docids=folder / "all.docs")
    assert len(corpus.documents) == 8
    assert [item.source for document in corpus.documents for item in document.segments] == lines(folder / "all.en")


def test_documents_of_a_translated_set(unpacked: Callable[[str], Path]) -> None:
    folder = unpacked("ntrex")
    corpus = read_documents(folder / "test.en", docids=folder / "test.docs")
    attach_references(corpus, folder / "test.de", docids=folder / "test.docs")
    assert (len(corpus.documents), sum(len(document.segments) for document in corpus.documents)) == (
        123,
        1997,
    )
    assert corpus.documents[-1].segments[-1].reference == lines(folder / "test.de")[-1]
