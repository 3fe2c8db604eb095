"""The words of a model file that KenLM reads: ARPA, or one of KenLM's binary forms (probing, trie, quantised)."""

from __future__ import annotations

import mmap
import struct
from pathlib import Path

from gpusearch.errors import InputError
from gpusearch.io.files import BLANKS, open_bytes, read_lines, split_blank

_MAGIC = b"mmap lm http://kheafield.com/code format version 5\n\0"
# After the magic bytes and values that show the machine's byte order: order (1 byte) at 88, whether the words are
# kept at 100, the number of words at 108. The words end the file, each with a zero byte behind it, <unk> first.
_ORDER, _HAS_WORDS, _WORDS, _HEADER = 88, 100, 108, 116


def is_kenlm_binary(path: str | Path) -> bool:
    """Whether a file is in one of KenLM's binary forms."""
    with open_bytes(path) as file:
        return file.read(7) == b"mmap lm"


def read_words(path: str | Path) -> list[str]:
    """The words of a model by KenLM's numbers (binary) or in the order of the file (ARPA).

    Raises:
        InputError: a file that is neither, another version of the binary form, one without its words.
    """
    return _binary_words(Path(path)) if is_kenlm_binary(path) else _arpa_words(path)


def _binary_words(path: Path) -> list[str]:
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        if data[: len(_MAGIC)] != _MAGIC or len(data) < _HEADER:
            raise InputError(
                "a binary language model of another version of KenLM",
                path=path,
                found=repr(data[: len(_MAGIC)]),
                expected="format version 5",
                hint="build it again from the ARPA file with build_binary",
            )
        (count,) = struct.unpack_from("=Q", data, _WORDS)
        # All words but <unk> end behind the zero byte of <unk>.
        end = len(data) - 1
        for _ in range(count - 1 if data[_HAS_WORDS] else 0):
            end = data.rfind(b"\0", 0, max(end, 0))
        words = data[max(end - 5, 0) : -1].split(b"\0")
    if len(words) != count or words[0] != b"<unk>":
        raise InputError(
            "a binary language model that does not keep its words",
            path=path,
            expected=f"{count} words at its end",
            hint="build it again from the ARPA file with build_binary",
        )
    try:
        return [word.decode() for word in words]
    except UnicodeDecodeError as error:
        raise InputError("a word of the language model is not UTF-8", path=path, found=repr(error.object)) from None


def _arpa_words(path: str | Path) -> list[str]:
    lines = enumerate(read_lines(path), 1)
    for number, line in lines:
        if line.strip(BLANKS) == "\\1-grams:":
            break
        if number == 1 and line.strip(BLANKS) not in ("\\data\\", ""):
            raise InputError("neither an ARPA file nor a KenLM binary", path=path, line=1, found=repr(line[:40]))
    words: list[str] = []
    for number, line in lines:
        fields = split_blank(line)
        if not fields:
            continue
        if fields[0].startswith("\\"):
            return words
        if len(fields) < 2:
            raise InputError(
                "not a unigram", path=path, line=number, found=repr(line), expected="log10 probability, word"
            )
        words.append(fields[1])
    raise InputError("\\1-grams: is missing, or the file ends in it", path=path)
