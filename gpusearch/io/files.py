"""Files as bytes and lines: compression by content, lines on ``\\n`` only, nothing half-written."""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import re
import sys
import tempfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import IO, BinaryIO, cast

from gpusearch.errors import NO_ROOM, InputError

#: What separates tokens: KenLM's word borders. All else, a no-break space too, is part of a word.
BLANKS = " \t\r\0"
_BLANKS = re.compile(f"[{BLANKS}]+")
# What the decompressors raise on a file that is cut off or corrupted (gzip.BadGzipFile is an OSError).
_DAMAGED = (EOFError, lzma.LZMAError, zlib.error, OSError)
_standard_inputs_read: list[object] = []  # the last of them, kept so that another one is never taken for it


def wrong_line(what: str, path: str | Path, number: int, line: str, expected: str) -> InputError:
    """The error of a line that is none of its form; `what` says why."""
    return InputError(what, path=path, line=number, found=repr(line[:60]), expected=expected)


def split_blank(text: str) -> list[str]:
    """Tokens of a line, split at :data:`BLANKS` only."""
    return [token for token in _BLANKS.split(text) if token]


@contextmanager
def open_bytes(path: str | Path) -> Iterator[BinaryIO]:
    """Open a plain, .gz, .bz2 or .xz file for reading, told apart by content; ``-`` is standard input.

    Raises:
        InputError: a file that cannot be read; standard input for the second time.
    """
    if str(path) == "-":
        if sys.stdin in _standard_inputs_read:
            raise InputError("can be read once only, and was read already", path=path, expected="files for the others")
        _standard_inputs_read[:] = [sys.stdin]
        yield _decompressed(sys.stdin.buffer)
        return
    with _opened(path) as raw:
        yield _decompressed(raw)


def _opened(path: str | Path) -> BinaryIO:
    try:
        return open(path, "rb")
    except OSError as error:
        raise InputError(f"cannot read the file ({error.strerror})", path=path) from None


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


def check_rereadable(path: str | Path) -> None:
    """Find out whether a file can be read, and again later.

    Raises:
        InputError: a file that cannot be read, standard input, or a pipe such as ``<(zcat text.gz)``.
    """
    standard_input = str(path) == "-"
    if standard_input or Path(path).is_fifo():
        raise InputError(
            "is read more than once here",
            path=path,
            found=None if standard_input else "a pipe",
            expected="a file, compressed or not",
        )
    _opened(path).close()


def read_bytes(path: str | Path) -> bytes:
    """The whole of a file, decompressed."""
    with open_bytes(path) as stream:
        try:
            return stream.read()
        except _DAMAGED as error:
            raise InputError(f"damaged compressed file ({error})", path=path) from None


def read_blocks(path: str | Path, size: int = 1 << 20) -> Iterator[bytes]:
    """A file, decompressed, in blocks of whole lines of about ``size`` bytes; without a byte order mark.

    Raises:
        InputError: a damaged compressed file.
    """
    line = 0
    with open_bytes(path) as stream:
        try:
            block = stream.read(size).removeprefix(b"\xef\xbb\xbf")
            while block:
                block += stream.readline()
                yield block
                line += block.count(b"\n")
                block = stream.read(size)
        except _DAMAGED as error:
            hint = f"the first {line} lines can be read" if line else None
            raise InputError(f"damaged compressed file ({error})", path=path, hint=hint) from None


def read_lines(path: str | Path) -> Iterator[str]:
    """Lines of a UTF-8 text file, without the newline and without the carriage return of a CRLF file.

    Raises:
        InputError: a byte sequence that is not UTF-8 (names the line), a damaged compressed file.
    """
    with open_bytes(path) as stream:
        yield from decode_lines(stream, path)


def decode_lines(stream: Iterable[bytes], path: str | Path) -> Iterator[str]:
    """As :func:`read_lines`, from a binary file that is open already; ``path`` is for the messages."""
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
    except _DAMAGED as error:
        raise InputError(f"damaged compressed file ({error})", path=path, line=number + 1) from None


def check_writable(path: str | Path) -> None:
    """Find out whether `replaced` can write a file, before the long work whose result it is for.

    Raises:
        InputError: no such folder, no permission, or a folder in its place.
    """
    path = Path(path)
    if str(path) != "-" and not _is_stream(path):
        descriptor, temporary = _temporary(path)
        os.close(descriptor)
        os.unlink(temporary)


def check_outputs(outputs: Iterable[str | Path | None], inputs: Iterable[str | Path | None] = ()) -> None:
    """As :func:`check_writable` of several files, none of which may be written over another one or over an input.

    Args:
        outputs, inputs: None and ``-`` are no files.

    Raises:
        InputError: see :func:`check_writable`; an output that is an input or another output, by whatever path.
    """
    others = [(Path(path), "read as well") for path in inputs if path is not None and str(path) != "-"]
    for path in (Path(path) for path in outputs if path is not None and str(path) != "-"):
        check_writable(path)
        for other, what in others:
            if _same(path, other):
                raise InputError(f"would be written over what is {what}", path=path, expected="another file")
        others.append((path, "written by another option"))


def _same(first: Path, other: Path) -> bool:
    """Whether two paths are one file, there or not. Devices and pipes lose nothing by being named twice."""
    if _is_stream(first):
        return False
    if first.exists() and other.exists():
        return first.samefile(other)
    return first.resolve() == other.resolve()


def _is_stream(path: Path) -> bool:
    """Whether a path is a device or pipe, such as /dev/null: it must not be replaced by a file."""
    return path.is_char_device() or path.is_fifo()


def _temporary(path: Path) -> tuple[int, str]:
    """An open file beside the path, and its name."""
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        return tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise InputError(f"cannot write the file ({error.strerror})", path=path) from None


def _compressed(raw: IO[bytes], suffix: str) -> AbstractContextManager[IO[bytes]]:
    """What compresses into a file as its name says; the file itself where it says nothing of that."""
    if suffix == ".gz":
        packed: object = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0, compresslevel=6)
    elif suffix == ".bz2":
        packed = bz2.BZ2File(raw, "wb")
    elif suffix == ".xz":
        packed = lzma.LZMAFile(raw, "wb")  # noqa: SIM115 (the caller's with closes it)
    else:
        return nullcontext(raw)
    return cast(AbstractContextManager[IO[bytes]], packed)


@contextmanager
def replaced(path: str | Path) -> Iterator[IO[bytes]]:
    """A binary file that takes its place under ``path`` only when the block ends without an error.

    Names that end in ``.gz``, ``.bz2`` or ``.xz`` are compressed, with no name and no time in the header, so that
    equal content gives equal bytes; ``-`` is standard output.

    Raises:
        InputError: no such folder, no permission, a folder in its place, a full disk.
    """
    try:
        with _replaced(Path(path)) as stream:
            yield stream
    except OSError as error:
        if error.errno not in NO_ROOM:
            raise
        name = "standard output" if str(path) == "-" else path
        raise InputError(f"cannot write the file ({error.strerror})", path=name) from None


@contextmanager
def _replaced(path: Path) -> Iterator[IO[bytes]]:
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    if _is_stream(path):
        with open(path, "wb") as stream:
            yield stream
        return
    descriptor, temporary = _temporary(path)
    try:
        with os.fdopen(descriptor, "wb") as raw, _compressed(raw, path.suffix) as stream:
            yield stream
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
