"""Subwords by SentencePiece: trained here or given as a model file."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from gpusearch.errors import InputError
from gpusearch.io.files import replaced, split_blank

_BLANK = "▁"
# What SentencePiece says of a size that the text does not allow, and what we say.
_BAD_SIZE = {
    re.compile(r"Vocabulary size too high \((\d+)\).*<= ?(\d+)"): "at most",
    re.compile(r"Vocabulary size is smaller than required_chars\. (\d+) vs (\d+)"): "at least",
}
_LONGEST_LINE = 1 << 20  # bytes; SentencePiece passes longer lines over in silence


class Subwords:
    """Splits text into pieces of a SentencePiece model and joins them again.

    Args:
        path: a model file of SentencePiece.

    Raises:
        InputError: there is no such file, or it is no such model.
    """

    def __init__(self, path: str | Path) -> None:
        from sentencepiece import SentencePieceProcessor

        self.path = Path(path)
        if not self.path.is_file():
            raise InputError("cannot read the file", path=path, expected="a SentencePiece model")
        try:
            self._model = SentencePieceProcessor(model_proto=self.path.read_bytes())
        except RuntimeError as error:
            raise InputError("not a SentencePiece model", path=path, found=str(error)) from None
        size = self._model.get_piece_size()
        pieces = (self._model.id_to_piece(i) for i in range(size) if self._model.is_byte(i))
        self._bytes = {piece: bytes([int(piece[3:5], 16)]) for piece in pieces}  # "<0x41>" -> b"A"

    def __reduce__(self) -> tuple[type[Subwords], tuple[Path]]:
        return Subwords, (self.path,)

    def split(self, text: str) -> list[str]:
        """Pieces of ``text``; a blank is the ``▁`` that begins a piece. Repeated blanks count as one."""
        return self._model.encode(" ".join(split_blank(text)), out_type=str)

    def join(self, pieces: Sequence[str]) -> str:
        """The text of pieces, of which any may be unknown to the model (words that were copied through)."""
        if not self._bytes.keys().isdisjoint(pieces):
            encoded = b"".join(self._bytes.get(piece, piece.encode()) for piece in pieces)
            return encoded.decode(errors="replace").replace(_BLANK, " ").strip(" ")
        return "".join(pieces).replace(_BLANK, " ").strip(" ")


def train_sentencepiece(
    lines: Iterable[str],
    path: str | Path,
    *,
    vocabulary_size: int = 16_000,
    kind: str = "bpe",
    lowercase: bool = False,
) -> Subwords:
    """Train a model on raw lines and write it.

    The model changes no character (SentencePiece's own normalisation is off), covers every character of the
    lines, and is the same, byte for byte, for equal lines: one thread, no paths inside.

    Args:
        lines: raw text.
        path: the model file to write.
        vocabulary_size: number of pieces.
        kind: ``bpe`` or ``unigram``.
        lowercase: lower-case the lines first.

    Raises:
        InputError: the text has too few different pieces for ``vocabulary_size``, or no line at all.
    """
    from sentencepiece import SentencePieceTrainer

    if kind not in ("bpe", "unigram"):
        raise InputError("unknown kind of SentencePiece model", found=repr(kind), expected="bpe | unigram")
    model = io.BytesIO()
    try:
        SentencePieceTrainer.train(
            sentence_iterator=_clean(lines, lowercase),
            model_writer=model,
            model_type=kind,
            vocab_size=vocabulary_size,
            character_coverage=1.0,
            normalization_rule_name="identity",
            max_sentence_length=_LONGEST_LINE,
            num_threads=1,
            minloglevel=2,
        )
    except RuntimeError as error:
        found, expected = str(error).strip(), None
        for pattern, bound in _BAD_SIZE.items():
            match = pattern.search(found)
            if match:
                found, expected = f"vocabulary_size {match[1]}", f"{bound} {match[2]} for it"
                break
        what = "cannot train a SentencePiece model on this text"
        raise InputError(what, found=found, expected=expected) from None
    with replaced(path) as stream:
        stream.write(model.getvalue())
    return Subwords(path)


def _clean(lines: Iterable[str], lowercase: bool) -> Iterator[str]:
    for line in lines:
        text = " ".join(split_blank(line))
        if text:
            yield text.lower() if lowercase else text
