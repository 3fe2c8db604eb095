"""Files as bytes and lines: compression by content, lines on ``\\n`` only, nothing half-written."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO, cast

from gpusearch.errors import InputError

_BLANKS = re.compile("[ \t]+")


def split_blank(text: str) -> list[str]:
    """Tokens of a line, split on blank and tab only: a no-break space is part of a word, as in Moses and KenLM."""
    return [token for token in _BLANKS.split(text) if token]


@contextmanager
def open_bytes(path: str | Path) -> Iterator[BinaryIO]:
    """Open a plain, .gz, .bz2 or .xz file for reading, told apart by content; ``-`` is standard input."""
    if str(path) == "-":
        yield _decompressed(sys.stdin.buffer)
        return
    try:
        raw = open(path, "rb")
    except OSError as error:
        raise InputError(f"cannot read the file ({error.strerror})", path=path) from None
    with raw:
        yield _decompressed(raw)


def _decompressed(raw: BinaryIO) -> BinaryIO:
    buffered = io.BufferedReader(cast(io.RawIOBase, raw), 1 << 20)
    head = buffered.peek(6)[:6]
    if head.startswith(b"\x1f\x8b"):
        return cast(BinaryIO, gzip.GzipFile(fileobj=buffered))
    if head.startswith(b"BZh"):
        return cast(BinaryIO, bz2.BZ2File(buffered))
    if head.startswith(b"\xfd7zXZ\x00"):
        return cast(BinaryIO, lzma.LZMAFile(buffered))
    return cast(BinaryIO, buffered)


def read_lines(path: str | Path) -> Iterator[str]:
    """Lines of a UTF-8 text file, without the newline and without the carriage return of a CRLF file.

    Raises:
        InputError: a byte sequence that is not UTF-8 (names the line), a damaged compressed file.
    """
    with open_bytes(path) as stream:
        number = 0
        try:
            for raw in stream:
                number += 1
                try:
                    line = raw.decode("utf-8")
                except UnicodeDecodeError as error:
                    raise InputError(
                        "not UTF-8",
                        path=path,
                        line=number,
                        found=f"byte 0x{raw[error.start]:02x} in column {error.start + 1}",
                        expected="UTF-8 text",
                    ) from None
                line = line.removesuffix("\n").removesuffix("\r")
                yield line.removeprefix("\ufeff") if number == 1 else line
        except (EOFError, gzip.BadGzipFile, lzma.LZMAError, OSError) as error:
            raise InputError(f"damaged compressed file ({error})", path=path, line=number + 1) from None


@contextmanager
def replaced(path: str | Path) -> Iterator[IO[bytes]]:
    """A binary file that takes its place under ``path`` only when the block ends without an error.

    Names that end in ``.gz`` are compressed, with no name and no time in the header, so that equal content
    gives equal bytes.
    """
    path = Path(path)
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as raw:
            if path.suffix == ".gz":
                with gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6) as packed:
                    yield cast(IO[bytes], packed)
            else:
                yield raw
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
