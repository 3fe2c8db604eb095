"""The compiled form beside a table: used where it fits the content, made anew where it does not, never trusted."""

from __future__ import annotations

import gzip
import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gpusearch.io import arpa as arpa_module
from gpusearch.io import compiled
from gpusearch.io import phrase_table as phrase_module
from gpusearch.io import reordering_table as reordering_module
from gpusearch.io.arpa import read_arpa
from gpusearch.io.phrase_table import read_phrase_table
from gpusearch.io.reordering_table import read_reordering_table

TEXT = "b ||| x y ||| 0.5 1 ||| 0-1\na b ||| ||| 0.25 1\nb ||| z ||| 0.125 0\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "table.gz"
    path.write_bytes(gzip.compress(TEXT.encode()))
    return path


@pytest.fixture
def no_parsing(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Call it, and from then on a reader that parses text fails the test."""

    def forbid() -> None:
        def fail(*arguments: object) -> None:
            raise AssertionError("the text was parsed")

        monkeypatch.setattr(phrase_module, "RowReader", fail)
        monkeypatch.setattr(reordering_module, "RowReader", fail)
        monkeypatch.setattr(arpa_module, "_ArpaReader", fail)

    return forbid


def entries(path: Path) -> list[Path]:
    return sorted(Path(f"{path}.gpusearch").iterdir())


def contents(table: Any) -> dict[str, Any]:
    """All that a table holds."""
    found = {}
    for name, value in vars(table).items():
        parts = value if isinstance(value, tuple) else (value,)
        for number, part in enumerate(parts):
            part = getattr(part, "sequences", part)
            if hasattr(part, "slots"):
                found |= {f"{name}.{k}": v.tolist() for k, v in vars(part).items()}
            else:
                found[f"{name}.{number}"] = part.tolist() if isinstance(part, np.ndarray) else part
    return found


@pytest.mark.complaint(19)
@pytest.mark.parametrize("kind", ["phrase", "reordering", "arpa"])
def test_second_load_does_not_parse(path: Path, parity: Path, kind: str, no_parsing: Callable[[], None]) -> None:
    """Complaint 19: the second load maps the compiled form into memory, and the table is the same."""
    reader: Callable[..., Any] = {"phrase": read_phrase_table, "reordering": read_reordering_table, "arpa": read_arpa}[
        kind
    ]
    if kind == "arpa":
        shutil.copy(parity / "kneser-ney" / "lm.o3.arpa.gz", path)
    afresh = contents(reader(path, cache=False))
    assert not Path(f"{path}.gpusearch").exists()
    assert contents(reader(path)) == afresh
    no_parsing()
    assert contents(reader(path)) == afresh
    with pytest.raises(AssertionError):
        reader(path, cache=False)


def test_content_counts_not_name_or_time(path: Path, no_parsing: Callable[[], None]) -> None:
    """The same bytes under a new date are known; other bytes of the same size and date are not."""
    path.write_text(TEXT)
    read_phrase_table(path)
    times = os.stat(path).st_mtime_ns
    path.write_text(TEXT.replace("0.125", "0.375"))
    os.utime(path, ns=(times, times))
    assert read_phrase_table(path).log_scores[1, 0] == np.float32(np.log(0.375))
    assert len(entries(path)) == 1  # that of the old content is gone
    path.touch()
    no_parsing()
    assert read_phrase_table(path).log_scores[1, 0] == np.float32(np.log(0.375))


def test_options_have_entries_of_their_own(path: Path, no_parsing: Callable[[], None]) -> None:
    options: list[dict[str, Any]] = [{}, {"unescape": True}, {"lenient": True}, {"scores": 2}]
    for option in options:
        read_phrase_table(path, **option)
    read_reordering_table(path)
    assert len(entries(path)) == 5
    no_parsing()
    for option in options:
        read_phrase_table(path, **option)
    assert read_phrase_table(path, columns=["p", "q"]).columns == ("p", "q")
    assert len(entries(path)) == 5


def _flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "a bit is flipped": lambda entry: _flip(entry / "log_scores.npy"),
    "a bit of the index is flipped": lambda entry: _flip(entry / "index.json"),
    "a file is cut": lambda entry: os.truncate(entry / "target_words.npy", 130),
    "a file is empty": lambda entry: os.truncate(entry / "sources_data.npy", 0),
    "a file is missing": lambda entry: (entry / "row_offsets.npy").unlink(),
    "no index": lambda entry: (entry / "index.json").unlink(),
    "the index is no JSON": lambda entry: (entry / "index.json").write_text("{"),
    "the index is another JSON": lambda entry: (entry / "index.json").write_text("[]"),
    "the index is not UTF-8": lambda entry: (entry / "index.json").write_bytes(b"\xff"),
    "a file in place of the entry": lambda entry: (shutil.rmtree(entry), entry.write_text("x")),
}


@pytest.mark.complaint(19)
@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_form_is_made_anew(
    path: Path, damage: str, caplog: pytest.LogCaptureFixture, no_parsing: Callable[[], None]
) -> None:
    """Complaint 19: a compiled form that does not fit its checksums is not trusted."""
    expected = contents(read_phrase_table(path))
    (entry,) = entries(path)
    DAMAGES[damage](entry)
    assert contents(read_phrase_table(path)) == expected
    assert [(r.levelno, r.getMessage().split(" (")[0]) for r in caplog.records] == [
        (logging.WARNING, f"{entry}: damaged compiled form, made anew")
    ]
    no_parsing()
    assert contents(read_phrase_table(path)) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("row_offsets", [0, 2, 9]),
        ("row_offsets", [0, 3, 2]),
        ("target_words", [0, 1, 7]),
        ("target_words", [0, 1, -1]),
        ("sources_data", [0, 0, 5]),
        ("sources_slots", [0, 0, 0, 0]),
        ("sources_slots", [0, 1, 2, -1]),
        ("sources_slots", [0, 1]),
        ("log_scores", [[1.0, 1.0]]),
        ("alignment_offsets", [0, 1, 1]),
    ],
)
def test_arrays_that_do_not_fit_together_are_refused(path: Path, name: str, value: list[Any]) -> None:
    """With the right checksums, too: compiled look-ups must not be led out of their arrays."""
    expected = contents(read_phrase_table(path))
    (entry,) = entries(path)
    bundle = compiled._load(entry)
    content = compiled._index(entry)["content"]
    shutil.rmtree(entry)
    bad = bundle.arrays | {name: np.array(value, bundle.arrays[name].dtype)}
    compiled._save(entry.parent, entry, compiled.Bundle(bad, bundle.attributes), content)
    assert contents(read_phrase_table(path)) == expected


def test_pickles_are_not_opened(path: Path) -> None:
    """An array file that holds pickled objects is a damaged one."""
    expected = contents(read_phrase_table(path))
    (entry,) = entries(path)
    body = compiled._index(entry)
    bundle = compiled._load(entry)
    with open(entry / "log_scores.npy", "wb") as file:
        np.save(file, np.array([print], object), allow_pickle=True)
    digests = body["arrays"] | {"log_scores": compiled._file_digest(entry / "log_scores.npy")}
    text = compiled.json.dumps({"content": body["content"], "arrays": digests, "attributes": bundle.attributes})
    index = compiled.json.dumps({"digest": compiled._digest(text.encode()), "body": text})
    (entry / "index.json").write_text(index)
    with pytest.raises(ValueError, match=r"[Oo]bject"):
        compiled._load(entry)
    assert contents(read_phrase_table(path)) == expected


def test_folder_that_cannot_be_written_is_no_fault(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """The table is read, and a line at level info says why the next load will take as long."""
    Path(f"{path}.gpusearch").write_text("a file is in the way")
    caplog.set_level(logging.INFO)
    assert len(read_phrase_table(path)) == 3
    assert [(r.levelno, r.getMessage()) for r in caplog.records] == [
        (logging.INFO, f"{path}.gpusearch: no compiled form can be kept (File exists)")
    ]


def test_read_only_folder_stays_as_it_is(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """For the superuser too, whom the system would let write."""
    caplog.set_level(logging.INFO)
    path.parent.chmod(0o555)
    try:
        assert len(read_phrase_table(path)) == 3
    finally:
        path.parent.chmod(0o755)
    assert [(r.levelno, r.getMessage()) for r in caplog.records] == [
        (logging.INFO, f"{path}.gpusearch: no compiled form can be kept (the folder is read-only)")
    ]
    assert not Path(f"{path}.gpusearch").exists()


def test_nothing_half_written_is_left(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(compiled.np, "save", full)
    assert len(read_phrase_table(path)) == 3
    assert entries(path) == []


def test_file_that_changes_while_it_is_read_leaves_no_form(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Slow(phrase_module.RowReader):
        def read(self) -> Any:
            rows = super().read()
            path.write_text(TEXT + TEXT)
            return rows

    monkeypatch.setattr(phrase_module, "RowReader", Slow)
    caplog.set_level(logging.INFO)
    assert len(read_phrase_table(path)) == 3
    assert not Path(f"{path}.gpusearch").exists()
    assert "changed while it was read" in caplog.text
