"""Files as bytes: compressed by name, whole or not at all, standard input once and standard output."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gpusearch.errors import InputError
from gpusearch.io.files import check_outputs, check_rereadable, check_writable, read_bytes, replaced


@pytest.mark.parametrize(
    ("suffix", "unpack"), [("", bytes), (".gz", gzip.decompress), (".bz2", bz2.decompress), (".xz", lzma.decompress)]
)
def test_a_name_says_how_its_file_is_compressed(tmp_path: Path, suffix: str, unpack: Callable[[bytes], bytes]) -> None:
    """What is read in a compressed form is written in it too, with equal bytes for equal content."""
    written = []
    for name in ("one", "other"):
        with replaced(tmp_path / f"{name}{suffix}") as stream:
            stream.write(b"text\n" * 1000)
        written.append((tmp_path / f"{name}{suffix}").read_bytes())
    assert unpack(written[0]) == b"text\n" * 1000 == read_bytes(tmp_path / f"one{suffix}")
    assert written[0] == written[1]


@pytest.mark.parametrize("suffix", ["", ".gz", ".bz2", ".xz"])
def test_a_file_that_is_not_finished_is_not_there(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(ZeroDivisionError), replaced(tmp_path / f"new{suffix}") as stream:
        stream.write(b"half")
        _ = 1 / 0
    assert list(tmp_path.iterdir()) == []


def test_a_dash_is_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    check_writable("-")
    with replaced("-") as stream:
        stream.write(b"text\n")
    assert capsysbinary.readouterr().out == b"text\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.complaint(33)
def test_standard_input_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two names `-` on a command line are a mistake that is said, not a crash or an empty file."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"text")))
    assert read_bytes("-") == b"text"
    with pytest.raises(InputError, match=r"^standard input: can be read once only, and was read already; "):
        read_bytes("-")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"other")))
    assert read_bytes("-") == b"other"


def test_pipes_are_not_read_twice(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "file").touch()
    check_rereadable(tmp_path / "file")
    with pytest.raises(InputError, match=r"pipe: is read more than once here; found a pipe; expected a file"):
        check_rereadable(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"^standard input: is read more than once here; expected a file"):
        check_rereadable("-")
    with pytest.raises(InputError, match=r"nothing: cannot read the file"):
        check_rereadable(tmp_path / "nothing")


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="a device of Linux")
def test_a_full_disk_is_reported() -> None:
    """At whatever time it is found out: here as the file is closed."""
    with pytest.raises(InputError, match=r"/dev/full: cannot write the file \(No space left on device\)"):  # noqa: SIM117
        with replaced("/dev/full") as stream:
            stream.write(b"a")


def test_no_file_is_written_over_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever path leads to it, and also where it is not there yet; devices may be named twice."""
    monkeypatch.chdir(tmp_path)
    Path("in").write_text("a\n")
    Path("link").symlink_to("in")
    os.link("in", "hard")
    for path in ("in", "./in", tmp_path / "in", "link", "hard"):
        with pytest.raises(InputError, match="would be written over what is read as well"):
            check_outputs(["other", path], [None, "-", "in"])
    with pytest.raises(InputError, match=r"new: would be written over what is written by another option"):
        check_outputs(["new", Path("other"), "./new"], ["in"])
    with pytest.raises(InputError, match="cannot write the file"):
        check_outputs(["none/new"])
    check_outputs([None, "-", "-", "new", "/dev/null", "/dev/null"], ["in", "/dev/null"])
    assert sorted(os.listdir()) == ["hard", "in", "link"]
