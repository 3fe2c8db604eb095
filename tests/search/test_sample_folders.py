"""Folders of samples: their faults, starts that fail, runs that are gone on with, and what they have room for."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from gpusearch.candidates.sample_options import write_options
from gpusearch.candidates.samples import (
    HEADER,
    RoundWriter,
    complete_rounds,
    read_samples,
    round_type,
    unit_paths,
)
from gpusearch.errors import InputError
from gpusearch.model.model import Model, load_model
from gpusearch.model.tableless import Constraint
from gpusearch.search import run
from gpusearch.search.sample_room import Need
from gpusearch.search.sampling import sample_documents
from gpusearch.search.saved import Given
from tests.search.sampling import DOCUMENTS, TEMPERING, TOKENS, content, model, sample, settings

__all__ = ["model"]  # a fixture


def test_faults_of_the_folder(model: Model, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no samples\.json there"):
        read_samples(tmp_path)
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "other").touch()
    with pytest.raises(InputError, match="not empty"):
        sample(model, settings(), tmp_path / "s")
    sample(model, settings(), tmp_path / "t")
    with pytest.raises(InputError, match="--resume"):
        sample(model, settings(), tmp_path / "t")
    with pytest.raises(InputError, match="sample differs"):
        sample(model, settings("sample.scale=2.0"), tmp_path / "t", resume=True)
    (tmp_path / "file").touch()
    for resume in (False, True):
        with pytest.raises(InputError, match=r"file: cannot make the folder \(File exists\)"):
            sample(model, settings(), tmp_path / "file", resume=resume)
    with pytest.raises(InputError, match="cannot make the folder"):
        sample(model, settings(), tmp_path / "none" / "t")


def test_chains_without_number_are_too_large() -> None:
    """Not a traceback from NumPy."""
    for chains, levels in ((100_000_000, 1), (1_000_000, 100)):
        with pytest.raises(InputError, match="take fewer chains"):
            round_type(chains, 40, 15, levels=levels)


def test_files_of_another_unit_are_found_out(model: Model, tmp_path: Path) -> None:
    """Whichever of the three files it is."""
    written = sample(model, settings("sample.scan=sequential"), tmp_path / "s")
    own, other = (unit_paths(written.folder, number) for number in (0, 1))
    whole = {path: path.read_bytes() for path in own}
    assert written.unit(0) is not None
    for mine, others in zip(own[:2], other[:2], strict=True):
        mine.write_bytes(others.read_bytes())
        with pytest.raises(InputError, match="not fit each other"):
            written.unit(0)
        mine.write_bytes(whole[mine])
    own[0].write_bytes(whole[own[0]].replace(b'"document": 0', b'"document": 7'))
    with pytest.raises(InputError, match="not fit each other"):
        written.unit(0)


@pytest.mark.parametrize("resume", [False, True])
def test_a_start_that_fails_bars_no_other(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, resume: bool
) -> None:
    """What is found out before the first sample leaves a folder in which any run may begin."""
    with monkeypatch.context() as patches:
        patches.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=0))
        with pytest.raises(InputError, match="not enough room on the disk"):
            sample(model, settings(), tmp_path / "s", resume=resume)
    far = Given([[[[], [], []]], [[[]]], [[[]]]])
    with pytest.raises(InputError):
        sample(model, settings(), tmp_path / "s", resume=resume, given=far)
    assert not content(tmp_path / "s")
    sample(model, settings("search.chains=2"), tmp_path / "s", resume=resume)


def test_what_a_killed_run_leaves_half_written_is_removed(model: Model, tmp_path: Path) -> None:
    """Its header, before there is anything else; or any file of a run that had begun."""
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / f".{HEADER}.x1").write_bytes(b"{")
    with pytest.raises(InputError, match=r"not empty.*--resume"):
        sample(model, settings(), folder)
    sample(model, settings(), folder, resume=True)
    expected = content(folder)
    assert sorted(expected)[0] == HEADER
    for name in (f".{HEADER}.x2", ".unit-000001.json.x3", ".unit-000001.options.npz.x4", ".diagnostics.json.x5"):
        (folder / name).write_bytes(b"{")
    sample(model, settings(), folder, resume=True)
    assert content(folder) == expected
    other = tmp_path / "other"
    other.mkdir()
    (other / ".unit-cell").touch()  # none of ours
    with pytest.raises(InputError, match="not empty"):
        sample(model, settings(), other, resume=True)
    assert (other / ".unit-cell").exists()


@pytest.mark.parametrize("method", ["gibbs", "tempering"])
def test_what_a_run_takes_is_known_before_it_begins(
    model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """All batches together; a run that has less of it begins none of them."""
    monkeypatch.setattr(run, "BATCH_WORDS", 1)
    config, needs = settings(f"sample.method={method}", *TEMPERING), list[Need]()
    for number, order in enumerate((slice(None), slice(None, None, -1))):  # the largest document first, and last
        folder = tmp_path / f"s{number}"
        told = [TOKENS[order], DOCUMENTS[order], [None] * 3]
        sample_documents(model, config, *told, folder, announce=needs.append)
        assert needs[-1].disk == sum(len(data) for name, data in content(folder).items() if name.endswith(".rounds"))
        for what, place, free in (
            ("memory", "gpusearch.search.sample_room.free_bytes", lambda: needs[-1].memory - 1),
            ("room on the disk", "shutil.disk_usage", lambda _: SimpleNamespace(free=needs[-1].disk - 1)),
        ):
            with monkeypatch.context() as patches:
                patches.setattr(place, free)
                with pytest.raises(InputError, match=f"not enough {what}"):
                    sample_documents(model, config, *told, tmp_path / "t")
            assert not content(tmp_path / "t")
        with monkeypatch.context() as patches:
            patches.setattr("gpusearch.search.sample_room.free_bytes", lambda: needs[-1].memory)
            patches.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=0))
            sample_documents(model, config, *told, folder, resume=True)  # all is there already
    assert len(needs) == 2 and needs[0] == needs[1] and needs[0].memory > 0


def test_going_on_sees_all_that_shapes_a_run(model: Model, tmp_path: Path) -> None:
    """Settings of first translations, tokens of the same text, constraints, what becomes of unknown words."""
    folder = tmp_path / "s"
    sample(model, settings(), folder)
    expected = content(folder)
    for setting in ("option_draw=uniform", "option_temperature=0.7", "option_uniform=0.2", "compat=docent"):
        with pytest.raises(InputError, match=r"of another run \(search differs\)"):
            sample(model, settings(f"search.{setting}"), folder, resume=True)
    marked = settings("text.mark_unknown=true")
    with pytest.raises(InputError, match=r"of another run \(unknown_words differs\)"):
        sample(load_model(marked), marked, folder, resume=True)
    forbidden = {(2, 0): [Constraint(0, 1, forbidden=(("the",),))]}
    with pytest.raises(InputError, match=r"of another run \(input differs\)"):
        sample(model, settings(), folder, resume=True, constraints=forbidden)
    other_tokens = [*TOKENS[:2], [["le", "chat", "."]]]
    with pytest.raises(InputError, match=r"of another run \(input differs\)"):
        sample_documents(model, settings(), other_tokens, DOCUMENTS, ["a", None, "b"], folder, resume=True)
    assert content(folder) == expected
    sample(model, settings(), tmp_path / "c", constraints=forbidden)
    sample(model, settings(), tmp_path / "c", constraints=forbidden, resume=True)
    unit = read_samples(folder).unit(0)
    assert unit is not None
    options = unit_paths(folder, 0)[1]
    write_options(options, replace(unit.options, hash=unit.options.hash[::-1]))
    with pytest.raises(InputError, match="samples of other translation options"):
        sample(model, settings(), folder, resume=True)


@contextmanager
def largest_file(size: int) -> Iterator[None]:
    """What is written beyond so many bytes of a file is cut off, as by a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_round_for_which_there_is_no_room_is_none(tmp_path: Path) -> None:
    """It is told, and nothing comes behind what is there of it; when there is room the next run goes on."""
    kind = round_type(1000, 20, 3)
    writer = RoundWriter(tmp_path / "u.rounds", kind)
    with largest_file(kind.itemsize * 3 // 2):
        writer.append({"iteration": 1})
        with pytest.raises(OSError, match="No space left"):
            writer.append({"iteration": 2})
    writer.close()
    assert (tmp_path / "u.rounds").stat().st_size == kind.itemsize * 3 // 2
    again = RoundWriter(tmp_path / "u.rounds", kind)
    assert again.count == 1 and again.last is not None and again.last["iteration"] == 1
    again.append({"iteration": 2})
    again.close()
    assert complete_rounds(tmp_path / "u.rounds", kind)["iteration"].tolist() == [1, 2]
