"""SentencePiece models: trained here, equal for equal text, and nothing lost on the way back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.errors import InputError
from gpusearch.text.subwords import Subwords, train_sentencepiece

LINES = ["le ministre de la forêt", "la forêt du ministre", "les forêts, l’eau\u00a0: 2(1)", "ministre"] * 5


@pytest.fixture(scope="module")
def subwords(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Subwords]:
    yield train_sentencepiece(LINES, tmp_path_factory.mktemp("model") / "m.model", vocabulary_size=60)


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_equal_text_gives_equal_files(tmp_path: Path, kind: str) -> None:
    for name in ("a", "b"):
        train_sentencepiece(LINES, tmp_path / name, vocabulary_size=30, kind=kind)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert str(tmp_path).encode() not in (tmp_path / "a").read_bytes()


def test_pieces(subwords: Subwords) -> None:
    assert subwords.split("le ministre") == ["▁le", "▁ministre"]
    assert subwords.split("") == subwords.split(" \t") == []


@given(
    st.lists(st.text(st.characters(exclude_characters=" \t\r\0▁", exclude_categories=["Cs"]), min_size=1, max_size=6))
)
def test_nothing_is_lost(subwords: Subwords, words: list[str]) -> None:
    """Any characters, known to the model or not, `<s>` and `</s>` as well: only repeated blanks are."""
    text = " ".join(words)
    pieces = subwords.split(text)
    assert subwords.join(pieces) == text
    assert all(piece and not set(piece) & {" ", "\t"} for piece in pieces)


def test_join_keeps_unknown_pieces(subwords: Subwords) -> None:
    """Words that were copied through from the source are pieces of another model."""
    assert subwords.join(["▁Xyz", "ab", "<s>", "<unk>", "▁▁", "▁forêt"]) == "Xyzab<s><unk>   forêt"


def test_pieces_of_bytes(tmp_path: Path) -> None:
    """A given model may spell unknown characters in bytes."""
    from sentencepiece import SentencePieceTrainer

    prefix = tmp_path / "bytes"
    SentencePieceTrainer.train(
        sentence_iterator=iter(LINES),
        model_prefix=str(prefix),
        model_type="bpe",
        vocab_size=310,
        byte_fallback=True,
        minloglevel=2,
    )
    subwords = Subwords(f"{prefix}.model")
    assert "<0xE6>" in subwords.split("forêt 日本")
    assert subwords.join(subwords.split("forêt 日本")) == "forêt 日本"
    assert subwords.join(["▁a", "<0xE6>"]) == "a�"  # half a character, as a search may leave it


CANNOT = "cannot train a SentencePiece model on this text; found vocabulary_size"
FAULTS = [
    ({"vocabulary_size": 10_000}, f"{CANNOT} 10000; expected at most "),
    ({"vocabulary_size": 9}, f"{CANNOT} 9; expected at least "),
    ({"kind": "word"}, "unknown kind of SentencePiece model; found 'word'; expected bpe | unigram"),
]


@pytest.mark.parametrize(("options", "message"), FAULTS)
def test_faults_of_training(tmp_path: Path, options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as error:
        train_sentencepiece(LINES, tmp_path / "m", **options)  # type: ignore[arg-type]  # on purpose
    assert str(error.value).startswith(message)
    assert not (tmp_path / "m").exists()


def test_faulty_files(tmp_path: Path) -> None:
    (tmp_path / "m").write_text("no model", encoding="utf-8")
    with pytest.raises(InputError, match="m: not a SentencePiece model; found"):
        Subwords(tmp_path / "m")
    with pytest.raises(InputError, match="n: cannot read the file; expected a SentencePiece model"):
        Subwords(tmp_path / "n")
    with pytest.raises(InputError, match="cannot train a SentencePiece model on this text"):
        train_sentencepiece(["", " "], tmp_path / "k")
