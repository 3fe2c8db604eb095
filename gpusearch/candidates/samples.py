"""The samples of chains in a folder: what `gpusearch sample` writes, and readers of it (docs/samples.md: format).

Letters: ``R`` rounds (samples of a chain), ``C`` chains, ``P`` phrase slots of the unit, ``K`` feature values.
"""

from __future__ import annotations

import errno
import os
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.candidates.sample_options import OptionTable, read_options
from gpusearch.errors import InputError
from gpusearch.io.json_files import read_json
from gpusearch.model.weights import SCORE_UNITS, VALUE_UNITS

VERSION = 1
HEADER = "samples.json"
OUTCOMES = ("empty", "stayed", "moved")
# Rows of the tallies where a header has no names for them.
OF_GIBBS = ("retrans", "merge-split", "reorder", "resegment")

Join = Callable[[Sequence[str]], str]


def round_type(chains: int, slots: int, values: int, operators: int = len(OF_GIBBS), levels: int = 1) -> np.dtype[Any]:
    """A round of a unit: what all its chains are after the same number of iterations.

    Args:
        operators: rows of the tally.
        levels: where it is not 1, each chain is the cold end of a ladder of so many, all of which are kept.

    Raises:
        InputError: it would be larger than NumPy's types can be (2 GiB).
    """
    fields: list[tuple[Any, ...]] = [
        ("checksum", "<u4"),
        ("size", "<u4"),
        ("iteration", "<i8"),
        ("tally", "<i8", (operators, len(OUTCOMES))),
        ("score", "<i8", (chains,)),
        ("feature", "<i8", (chains, values)),
        ("option", "<i4", (chains, slots)),
    ]
    if levels > 1:
        fields += [
            ("swaps", "<i8", (2, levels - 1)),
            ("temperature", "<f8", (chains, levels)),
            ("level", "<i4", (chains * levels,)),
            ("replica", "<i4", (chains * levels, slots)),
        ]
    try:
        return np.dtype(fields)
    except ValueError as error:  # "dtype size ... too large"; none of the fields is wrong in another way
        raise InputError(
            f"samples of a unit that are too large ({error})",
            found=f"{chains * levels} chains of {slots} phrases",
            expected="less than 2 GiB a round",
            hint="take fewer chains",
        ) from None


def checksum(row: NDArray[Any]) -> int:
    """CRC-32 of a round's bytes behind the checksum itself."""
    return zlib.crc32(row.tobytes()[4:])


def unit_paths(folder: Path, unit: int) -> tuple[Path, Path, Path]:
    """Description, options and rounds of a unit."""
    stem = f"unit-{unit:06d}"
    return folder / f"{stem}.json", folder / f"{stem}.options.npz", folder / f"{stem}.rounds"


@dataclass(frozen=True, eq=False)
class SentenceSamples:
    """The samples of one sentence, chains side by side: ``M = R * C`` entries, round by round."""

    texts: list[str]
    """[M]"""
    score: NDArray[np.float64]
    """[M] nats; NaN where only the score of the whole document is known."""
    derivation: NDArray[np.int64]
    """[M] equal numbers for equal derivations."""
    chain: NDArray[np.int64]
    """[M]"""


@dataclass(frozen=True, eq=False)
class UnitSamples:
    """The samples of a unit, as many rounds as are complete now."""

    document: int
    first_segment: int
    sources: list[list[str]]
    """Source tokens of each of its sentences."""
    options: OptionTable
    rounds: NDArray[Any]
    """[R] of `round_type`."""

    def __len__(self) -> int:
        return len(self.rounds)

    @property
    def score(self) -> NDArray[np.float64]:
        """[C, R] in nats, unscaled."""
        return np.asarray(self.rounds["score"].T / SCORE_UNITS)

    @property
    def features(self) -> NDArray[np.float64]:
        """[R, C, K] in nats."""
        return np.asarray(self.rounds["feature"] / VALUE_UNITS)

    def derivations(self, sentence: int) -> NDArray[np.int32]:
        """[R, C, slots]: rows of `options` in target order, -1 behind; `sentence` counts within the unit."""
        first = sum(len(words) + 1 for words in self.sources[:sentence])
        return np.asarray(self.rounds["option"][:, :, first : first + len(self.sources[sentence]) + 1])

    def is_consistent(self, slots: int) -> bool:
        """Whether the unit has so many slots, samples consist of its options, and in those of the first and the last
        round the options of each sentence cover each of its words once.

        Files that were exchanged are so as a whole: those two rounds tell it, at no cost beside reading them all.
        """
        every, table = self.rounds["option"], self.options
        if slots != sum(len(words) + 1 for words in self.sources) or (every.size and not len(table.sentence)):
            return False
        if every.min(initial=-1) < -1 or every.max(initial=-1) >= len(table.sentence):
            return False
        for sentence, words in enumerate(self.sources):
            rows = self.derivations(sentence)
            rows = np.concatenate([rows[:1], rows[-1:]]).reshape(-1, len(words) + 1)
            if (table.sentence[rows[rows >= 0]] != sentence).any():
                return False
            of_word = np.arange(len(words))
            spans = np.where(rows[:, :, None] >= 0, table.span[rows], 0)
            covered = (spans[:, :, :1] <= of_word) & (of_word < spans[:, :, 1:])
            if (spans > len(words)).any() or (covered.sum(axis=1) != 1).any():
                return False
        return True

    def of_sentence(self, sentence: int, join: Join | None = None) -> SentenceSamples:
        """Texts, scores and derivations of a sentence.

        Args:
            join: makes a text of target tokens; where it is None a blank stands between them.
        """
        rows = self.derivations(sentence)
        count, chains, slots = rows.shape
        distinct, number = np.unique(rows.reshape(-1, slots), axis=0, return_inverse=True)
        join = join or " ".join
        texts = [
            join([word for option in options if option >= 0 for word in self.options.target(option)])
            for options in distinct.tolist()
        ]
        number = number.reshape(-1).astype(np.int64)
        whole = len(self.sources) == 1
        score = np.asarray(self.score.T.reshape(-1)) if whole else np.full(count * chains, np.nan)
        return SentenceSamples([texts[k] for k in number.tolist()], score, number, np.tile(np.arange(chains), count))


@dataclass(frozen=True, eq=False)
class Samples:
    """A folder of samples."""

    folder: Path
    header: dict[str, Any]

    @property
    def units(self) -> int:
        """Number of units; one that has not begun has no samples."""
        return int(self.header["units"])

    @property
    def chains(self) -> int:
        """Chains of each unit."""
        return int(self.header["chains"])

    @property
    def documents(self) -> list[dict[str, Any]]:
        """Of each document its ``id`` and its ``segments``: raw text of each source segment."""
        return list(self.header["documents"])

    @cached_property
    def features(self) -> list[str]:
        """Names of the feature values."""
        return list(self.header["features"])

    @property
    def operators(self) -> tuple[str, ...]:
        """Names of the rows of the tallies."""
        return tuple(self.header.get("operators", OF_GIBBS))

    @property
    def levels(self) -> int:
        """Chains that stand behind each chain of samples: those of its ladder, or itself."""
        return int(self.header.get("levels", 1))

    def round_type(self, slots: int) -> np.dtype[Any]:
        """Type of the rounds of a unit with so many phrase slots."""
        return round_type(self.chains, slots, len(self.features), len(self.operators), self.levels)

    def unit(self, number: int) -> UnitSamples | None:
        """The samples of a unit; None where it has none yet."""
        description, options, rounds = unit_paths(self.folder, number)
        if not rounds.exists():
            return None
        row = read_json(description)
        kind = self.round_type(int(row["slots"]))
        unit = UnitSamples(
            int(row["document"]),
            int(row["first_segment"]),
            row["sources"],
            read_options(options, row["words"]),
            complete_rounds(rounds, kind),
        )
        if not (self._has_place(unit) and unit.is_consistent(int(row["slots"]))):
            raise InputError(
                "the files of a unit do not fit each other: some are of another unit, or of another run",
                path=description,
                expected=f"{options.name} and {rounds.name} as they were written with it",
                hint="sample anew",
            )
        return unit

    def _has_place(self, unit: UnitSamples) -> bool:
        """Whether its document and segments are there."""
        if not 0 <= unit.document < len(self.documents):
            return False
        segments = len(self.documents[unit.document]["segments"])
        return 0 <= unit.first_segment <= segments - len(unit.sources)

    def __iter__(self) -> Iterator[UnitSamples]:
        for number in range(self.units):
            unit = self.unit(number)
            if unit is not None and len(unit):
                yield unit


def is_samples(path: str | Path) -> bool:
    """Whether a path is a folder of samples."""
    return Path(path, HEADER).is_file()


def sample_files(path: str | Path) -> list[Path]:
    """The files that are read of a folder of samples; none where the path is no such folder."""
    return [Path(path, HEADER), *sorted(Path(path).glob("unit-*"))] if is_samples(path) else []


def read_samples(folder: str | Path) -> Samples:
    """Open a folder of samples; it may still be growing.

    Raises:
        InputError: no such folder, another version, damaged files.
    """
    folder = Path(folder)
    if not is_samples(folder):
        raise InputError(f"no {HEADER} there", path=folder, expected="a folder that gpusearch sample has made")
    header = read_json(folder / HEADER)
    if header.get("version") != VERSION:
        raise InputError("samples of another version", path=folder, found=header.get("version"), expected=VERSION)
    return Samples(folder, header)


def complete_rounds(path: Path, kind: np.dtype[Any]) -> NDArray[Any]:
    """The rounds of a file that are there as a whole: what was being written when a run ended is left out.

    Raises:
        InputError: a damaged round that others follow.
    """
    data = path.read_bytes()
    whole = len(data) // kind.itemsize
    rows = np.frombuffer(data, kind, whole)
    good = 0
    while good < whole and int(rows[good]["checksum"]) == checksum(rows[good]):
        good += 1
    if good < whole - 1:
        raise InputError("a damaged round of samples", path=path, found=f"round {good + 1} of {whole}")
    return rows[:good]


class RoundWriter:
    """Appends rounds to a unit's file, each in one write; first cuts off what an earlier run left half-written."""

    def __init__(self, path: Path, kind: np.dtype[Any]) -> None:
        self.kind = kind
        self.last: NDArray[Any] | None = None
        """The last round that was there before."""
        self.count = 0
        if path.exists():
            rows = complete_rounds(path, kind)
            self.count = len(rows)
            self.last = rows[-1].copy() if len(rows) else None
            os.truncate(path, len(rows) * kind.itemsize)
        self._stream = open(path, "ab", buffering=0)  # noqa: SIM115 (closed by close)

    def append(self, fields: dict[str, Any]) -> None:
        """Write a round.

        Raises:
            OSError: no room for the whole of it.
        """
        row = np.zeros((), self.kind)
        for name, value in fields.items():
            row[name] = value
        row["size"] = self.kind.itemsize
        row["checksum"] = checksum(row)
        data = row.tobytes()
        if self._stream.write(data) < len(data):  # a full disk; one behind it would make it a damaged round
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), self._stream.name)
        self.count += 1

    def close(self) -> None:
        """Close the file."""
        self._stream.close()
