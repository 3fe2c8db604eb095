"""What a run of the sampler ends with: whether its chains agree, how much they are worth, how often operators move."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gpusearch.candidates.ess import effective_sample_size
from gpusearch.candidates.samples import OF_GIBBS, Samples, UnitSamples
from gpusearch.io.json_files import write_json
from gpusearch.search.diagnostics import agreement, nested_r_hat, split_r_hat
from gpusearch.search.result import exchanges

FILE = "diagnostics.json"
# Above it chains disagree: Gelman & Rubin's 1.1 is too lenient, 1.01 (Vehtari et al. 2021) is for final results.
DISAGREEMENT = 1.05
# And so do they where their halves have less than this of their phrases in common, though scores may be alike: no
# decision over phrases would come out the same.
LEAST_AGREEMENT = 0.5


@dataclass(frozen=True)
class UnitReport:
    """Of the scores of a unit's chains, and of its phrases."""

    document: int
    segment: int
    words: int
    split_r_hat: float
    nested_r_hat: float
    ess: float
    """Bulk effective sample size of the scores, of rounds * chains draws."""
    agreement: float
    """Overlap of two halves of the chains in the phrases over source words, 0 to 1."""

    @property
    def r_hat(self) -> float:
        """The greater one of the two, of those that are known; else 0."""
        return float(np.nanmax([self.split_r_hat, self.nested_r_hat, 0.0]))

    @property
    def disagrees(self) -> bool:
        """Whether the chains have not come to one distribution, of scores or of phrases."""
        return self.r_hat > DISAGREEMENT or self.agreement < LEAST_AGREEMENT


@dataclass(frozen=True)
class Report:
    """Of a folder of samples."""

    rounds: int
    chains: int
    units: list[UnitReport] = field(default_factory=list)
    acceptance: dict[str, dict[str, float]] = field(default_factory=dict)
    """For each operator the share of its draws that are empty, and of the others the share that changes the state."""
    swaps: list[float] = field(default_factory=list)
    """Where chains exchange temperatures: for each pair of neighbours the share that is accepted."""

    def lines(self) -> list[str]:
        """The report as text."""
        lines = []
        for name, values in self.acceptance.items():
            lines.append(f"{name:12} {100 * values['moved']:5.1f} % moved  {100 * values['empty']:5.1f} % empty")
        if self.swaps:
            lines.append(exchanges(self.swaps))
        if self.units:
            for name in ("split_r_hat", "nested_r_hat", "ess", "agreement"):
                found = np.array([getattr(unit, name) for unit in self.units])
                known = found[~np.isnan(found)]
                if len(known):
                    low, middle, high = np.quantile(known, [0, 0.5, 1])
                    lines.append(f"{name:12} {middle:9.4g} median  {low:9.4g} least  {high:9.4g} greatest")
        return lines

    def warning(self) -> str:
        """What to tell the user where chains disagree; else nothing."""
        bad = [unit for unit in self.units if unit.disagrees]
        if not bad:
            return ""
        worst = max(bad, key=lambda unit: (unit.r_hat, -unit.agreement))
        return (
            f"the chains disagree in {len(bad)} of {len(self.units)} units (R-hat above {DISAGREEMENT} or agreement "
            f"below {LEAST_AGREEMENT}; worst: {worst.r_hat:.3g} and {worst.agreement:.3g} in document "
            f"{worst.document + 1}, segment {worst.segment + 1}, {worst.words} words): "
            "take more iterations, a longer burn-in or a smaller scale"
        )

    def note(self) -> str:
        """What to tell the user where nothing is known of how well chains agree; else nothing."""
        silent = sum(np.isnan([u.split_r_hat, u.nested_r_hat, u.agreement]).all() for u in self.units)
        if not silent:
            return ""
        return (
            f"whether the chains agree cannot be said of {silent} of {len(self.units)} units: that takes two chains, "
            f"or four samples of each ({self.chains} x {self.rounds} here)"
        )

    def write(self, folder: Path) -> None:
        """Write `diagnostics.json`; NaN and infinity are null."""
        row: dict[str, Any] = asdict(self)
        for unit in row["units"]:
            for key, value in unit.items():
                unit[key] = value if np.isfinite(value) else None
        write_json(folder / FILE, row)


def report(samples: Samples, superchain: NDArray[np.int64]) -> Report:
    """Diagnose a folder of samples.

    Args:
        superchain: [C] the superchain of each chain, which share a first translation.
    """
    units, rounds = [], 0
    tally = np.zeros((len(samples.operators), 3), np.int64)
    swaps = np.zeros((2, max(samples.levels - 1, 0)), np.int64)
    for unit in samples:
        rounds = max(rounds, len(unit))
        tally += unit.rounds[-1]["tally"]
        if samples.levels > 1:
            swaps += unit.rounds[-1]["swaps"]
        units.append(_unit_report(unit, superchain))
    acceptance = {}
    for name, (empty, stayed, moved) in zip(samples.operators, tally.tolist(), strict=True):
        if len(samples.operators) > len(OF_GIBBS) and empty + stayed + moved == 0:
            continue  # an operation with no share
        acceptance[name] = {
            "empty": empty / max(1, empty + stayed + moved),
            "moved": moved / max(1, stayed + moved),
        }
    return Report(rounds, samples.chains, units, acceptance, (swaps[1] / np.maximum(swaps[0], 1)).tolist())


def _unit_report(unit: UnitSamples, superchain: NDArray[np.int64]) -> UnitReport:
    score = unit.score
    span = unit.options.span
    return UnitReport(
        unit.document,
        unit.first_segment,
        sum(len(words) for words in unit.sources),
        split_r_hat(score),
        nested_r_hat(score, superchain),
        effective_sample_size(score),
        agreement(unit.rounds["option"], span[:, 1] - span[:, 0]),
    )
