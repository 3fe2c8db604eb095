"""Tokenising files: the same lines in the same order for any number of processes."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from gpusearch.errors import InputError
from gpusearch.text import tokenize_file
from gpusearch.text.processor import BlankProcessor, MosesProcessor


def test_one_line_for_each_line(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes("L’eau (1).\n\n \nb\u2028c\x0bd\r\nlast".encode())
    assert tokenize_file(tmp_path / "in", tmp_path / "out", MosesProcessor("fr")) == 5
    assert (tmp_path / "out").read_bytes() == "L’ eau ( 1 ) .\n\n\nb c d\nlast\n".encode()


def test_empty_file(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"")
    assert tokenize_file(tmp_path / "in", tmp_path / "out", BlankProcessor(), threads=2) == 0
    assert (tmp_path / "out").read_bytes() == b""


def test_processes_do_not_change_the_result(tmp_path: Path) -> None:
    lines = [f"Line {number}, (it’s) {'x ' * (number % 7)}." for number in range(25_000)]
    (tmp_path / "in.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    for threads in (1, 2):
        out = tmp_path / f"out{threads}.gz"
        assert tokenize_file(tmp_path / "in.gz", out, BlankProcessor(lowercase=True), threads) == len(lines)
    assert (tmp_path / "out1.gz").read_bytes() == (tmp_path / "out2.gz").read_bytes()
    assert gzip.decompress((tmp_path / "out2.gz").read_bytes()).startswith(b"line 0, (it\xe2\x80\x99s) .\nline 1,")


def test_nothing_half_written(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"good\n\xff\n")
    with pytest.raises(InputError, match="in:2: not UTF-8"):
        tokenize_file(tmp_path / "in", tmp_path / "out", BlankProcessor())
    assert [path.name for path in tmp_path.iterdir()] == ["in"]
