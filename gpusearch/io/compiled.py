"""The compiled form of a table, kept beside it, so that the second load takes seconds.

Beside ``phrase-table.gz`` stands the folder ``phrase-table.gz.gpusearch`` with one entry for each content and set of
reader options: arrays as NumPy files, mapped into memory when they are loaded, and ``index.json`` with a checksum
of each. Nothing in it is ever executed (no pickle), and what does not fit its checksum is made anew. It may be
deleted at any time.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import logging
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from gpusearch.errors import InputError
from gpusearch.io.compilation import Array

logger = logging.getLogger(__name__)
Table = TypeVar("Table")

# Raised whenever arrays of equal names come to mean something else.
FORMAT = 2
_NAME = re.compile(r"[a-z0-9_]+")


class Bundle(NamedTuple):
    """What a table consists of: arrays by name, and JSON values by name."""

    arrays: dict[str, Array]
    attributes: dict[str, Any]


def through_cache(
    path: str | Path,
    kind: str,
    options: Mapping[str, Any],
    read: Callable[[], Bundle],
    build: Callable[[Bundle], Table],
) -> Table:
    """The table that ``build`` makes of the compiled form, or, where there is none, of what ``read`` returns.

    An entry is found by the BLAKE2b hash of the file's bytes, the kind of table, the reader's options and the format.
    Standard input and pipes have no compiled form. Where none can be written, a line in the log says so.

    Args:
        path: the table's file.
        kind: what is made of it, such as ``"phrase-table"``.
        options: the reader's options that shape the result (JSON values).
        read: reads the file.
        build: makes the table; raises ValueError or KeyError where the arrays do not fit together.
    """
    if not Path(path).is_file():
        return build(read())
    folder = Path(f"{path}.gpusearch")
    try:
        content = _file_digest(path)
    except OSError as error:
        raise InputError(f"cannot read the file ({error.strerror})", path=path) from None
    key = {
        "format": FORMAT,
        "byteorder": sys.byteorder,
        "kind": kind,
        "content": content,
        "options": dict(options),
    }
    entry = folder / _digest(json.dumps(key, sort_keys=True).encode())
    if entry.exists():
        try:
            return build(_load(entry))
        except (OSError, ValueError, KeyError, TypeError) as error:
            logger.warning("%s: damaged compiled form, made anew (%s)", entry, error)
            _remove(entry)
    before = os.stat(path)
    bundle = read()
    table = build(bundle)
    after = os.stat(path)
    if (before.st_mtime_ns, before.st_size) != (after.st_mtime_ns, after.st_size):
        logger.info("%s: changed while it was read, no compiled form is kept", path)
        return table
    try:
        _save(folder, entry, bundle, content)
    except OSError as error:
        logger.info("%s: no compiled form can be kept (%s)", folder, error.strerror or error)
    return table


def _digest(data: bytes | memoryview) -> str:
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def _file_digest(path: str | Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()


def _remove(entry: Path) -> None:
    """Take away what can be taken away of an entry, be it a folder or not."""
    if entry.is_dir():
        shutil.rmtree(entry, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            entry.unlink()


def _save(folder: Path, entry: Path, bundle: Bundle, content: str) -> None:
    """Write the entry under another name, then rename it; entries of other contents of the file are removed."""
    if not folder.parent.stat().st_mode & 0o222:  # nobody is meant to write here, not even those who could
        raise PermissionError(errno.EACCES, "the folder is read-only")
    folder.mkdir(exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=folder, prefix=".new-"))
    try:
        digests = {}
        for name, array in bundle.arrays.items():
            np.save(temporary / f"{name}.npy", array, allow_pickle=False)
            digests[name] = _file_digest(temporary / f"{name}.npy")
        body = json.dumps({"content": content, "arrays": digests, "attributes": bundle.attributes}, sort_keys=True)
        index = json.dumps({"digest": _digest(body.encode()), "body": body})
        (temporary / "index.json").write_text(index, encoding="utf-8")
        temporary.chmod(0o777 & ~_umask())
        for other in folder.iterdir():
            if other not in (entry, temporary) and _content(other) != content:
                _remove(other)
        if not entry.exists():  # or else another process was quicker
            temporary.rename(entry)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _umask() -> int:
    umask = os.umask(0)
    os.umask(umask)
    return umask


def _content(entry: Path) -> str | None:
    """Hash of the file that an entry was made from; the entry itself for one that is being written or is damaged."""
    try:
        body: dict[str, Any] = _index(entry)
        return str(body["content"])
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _index(entry: Path) -> dict[str, Any]:
    index = json.loads((entry / "index.json").read_text(encoding="utf-8"))
    if _digest(index["body"].encode()) != index["digest"]:
        raise ValueError("index.json does not fit its checksum")
    body: dict[str, Any] = json.loads(index["body"])
    return body


def _load(entry: Path) -> Bundle:
    body = _index(entry)
    arrays = {}
    for name, digest in body["arrays"].items():
        if not _NAME.fullmatch(name):
            raise ValueError(f"array name {name!r}")
        file = entry / f"{name}.npy"
        if _file_digest(file) != digest:
            raise ValueError(f"{file.name} does not fit its checksum")
        arrays[name] = np.asarray(np.load(file, mmap_mode="r", allow_pickle=False))
    return Bundle(arrays, body["attributes"])
