"""Work in stages, each of which is done once: what was finished before an interruption is not done again."""

from __future__ import annotations

import fcntl
import json
import logging
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gpusearch.errors import InputError
from gpusearch.io.json_files import write_json
from gpusearch.table import aligned
from gpusearch.train.measure import measured

logger = logging.getLogger(__name__)

Facts = dict[str, Any]


class Stages:
    """The stages of one piece of work, with their traces in a folder.

    A stage takes its input from files in the folder and leaves its output there; when it has ended, its record
    says so. A stage that was cut off begins anew, so it must not mind what it left behind.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.records: dict[str, Facts] = {}

    def run(self, name: str, work: Callable[[], Facts | None], *, discard: Sequence[str] = ()) -> Facts:
        """Do a stage unless it is done, and return the facts that it states.

        Args:
            discard: names in the folder that no later stage needs; removed once the stage is on record.
        """
        record = self.folder / "finished" / f"{name}.json"
        if record.exists():
            self.records[name] = json.loads(record.read_text())
        else:
            with measured() as took:
                facts = work()
            self.records[name] = {
                "seconds": round(took.seconds, 4),
                "cpu_seconds": round(took.cpu_seconds, 4),
                "peak_megabytes": round(took.peak_bytes / 1e6),
                "facts": facts or {},
            }
            write_json(record, self.records[name])
        for left in discard:
            remove(self.folder / left)
        facts_of_stage: Facts = self.records[name]["facts"]
        return facts_of_stage


def stage_table(records: dict[str, Facts]) -> str:
    """Seconds, CPU seconds and peak memory of each stage, as lines of aligned columns."""
    rows = [("stage", "seconds", "CPU seconds", "peak MB")]
    rows += [
        (name, f"{record['seconds']:,.1f}", f"{record['cpu_seconds']:,.1f}", f"{record['peak_megabytes']:,}")
        for name, record in records.items()
    ]
    seconds, cpu = (sum(record[key] for record in records.values()) for key in ("seconds", "cpu_seconds"))
    peak = max((record["peak_megabytes"] for record in records.values()), default=0)
    rows.append(("total", f"{seconds:,.1f}", f"{cpu:,.1f}", f"{peak:,}"))
    return "\n".join(aligned(rows, "<>>>"))


def remove(path: Path) -> None:
    """Remove a file, or a folder with all in it, if it is there."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def working_place(output: Path) -> Path:
    """Where :func:`working_folder` puts its folder."""
    return output.with_name(f".{output.name}.partial")


@contextmanager
def working_folder(output: Path, plan: Facts) -> Iterator[Path]:
    """A hidden folder beside `output` for the stages of `plan`, kept if the block fails, removed if it succeeds.

    What an earlier attempt left there is used if its plan was the same, and dropped if it was another one.

    Raises:
        InputError: another process works on the same output, or the place cannot be written to.
    """
    folder = working_place(output)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = open(folder / "lock", "wb")  # noqa: SIM115 (closed below; only the opening belongs in the try)
    except OSError as error:
        raise InputError(f"cannot write here ({error.strerror})", path=folder) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InputError("another training writes to the same place", path=output) from None
        _begin(folder, plan)
        yield folder
        shutil.rmtree(folder)


def _begin(folder: Path, plan: Facts) -> None:
    record = folder / "plan.json"
    if record.exists() and json.loads(record.read_text()) == json.loads(json.dumps(plan)):
        return
    if record.exists():
        logger.warning("%s: left by a training of other input or settings; dropped", folder)
    for entry in folder.iterdir():
        if entry.name != "lock":
            remove(entry)
    (folder / "finished").mkdir()
    write_json(record, plan)
