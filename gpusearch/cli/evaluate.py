"""`gpusearch eval`: scores of translations against references, and paired tests of two systems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gpusearch.cli.options import DocIds, check_has_use
from gpusearch.table import aligned

if TYPE_CHECKING:
    from gpusearch.io.translations import AlignedTexts
    from gpusearch.metrics import Metric, PairedBootstrap

_DEFAULT_METRICS = "bleu,chrf,ter,nist,dbleu"
RESAMPLES = 1000


def command(
    hypotheses: Annotated[Path, typer.Argument(metavar="HYP", help="Translations, in any form of documents.")],
    references: Annotated[
        list[Path],
        typer.Option("--ref", metavar="FILE", help="References. May be repeated: several for each segment."),
    ],
    docids: DocIds = None,
    paired: Annotated[
        Path | None,
        typer.Option(metavar="OTHER", help="Translations of another system, to test the difference with."),
    ] = None,
    metrics: Annotated[
        str,
        typer.Option(
            metavar="NAMES", help="With commas between them. ter is slow: thousands of segments take minutes."
        ),
    ] = _DEFAULT_METRICS,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Ignore case.")] = False,
    system: Annotated[
        str | None, typer.Option(metavar="NAME", help="Whose translations, where a WMT XML file has several.")
    ] = None,
    resamples: Annotated[
        int | None, typer.Option(min=1, help="Resamples of the paired bootstrap; 1000 where not given.")
    ] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Of both tests. 1 where not given.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object.")] = False,
) -> None:
    """Score translations: BLEU, chrF, TER (sacreBLEU), NIST and document BLEU, each with its signature.

    With --paired, a paired bootstrap and a randomisation test over documents (over segments where the files
    tell no documents apart), with 95 % intervals.
    """
    from gpusearch.cli.progress import terminal_progress
    from gpusearch.io.translations import align_translations
    from gpusearch.metrics.scoring import make_metrics

    check_has_use("--resamples", resamples is not None, paired is not None, "--paired")
    check_has_use("--seed", seed is not None, paired is not None, "--paired")
    systems = [hypotheses] if paired is None else [hypotheses, paired]
    aligned = align_translations(systems, references, docids, system)
    streams = aligned.texts[len(systems) :]
    made = make_metrics(
        [name.strip() for name in metrics.split(",") if name.strip()],
        [tuple(row) for row in zip(*streams, strict=True)],
        lowercase=lowercase,
    )
    rows = []
    with terminal_progress() as progress, progress.task("score", len(made), "metrics") as task:
        for metric in made:
            task.status(metric.name)
            rows.append(_score(metric, aligned, len(systems), resamples or RESAMPLES, 1 if seed is None else seed))
            task.advance()
    counts = {"segments": len(aligned.texts[0]), "documents": len(aligned.starts)}
    if as_json:
        record: dict[str, Any] = {"hypotheses": str(hypotheses), "references": [str(path) for path in references]}
        record |= {} if paired is None else {"paired": str(paired)}
        typer.echo(json.dumps(record | counts | {"metrics": [row.as_dict() for row in rows]}, ensure_ascii=False))
        return
    table = _score_table(rows) if paired is None else _paired_table(rows)
    typer.echo("\n".join(table))
    typer.echo("{segments} segments, {documents} documents".format(**counts))


@dataclass(frozen=True)
class _Row:
    """What is printed of one metric."""

    metric: Metric
    score: float
    unit: str
    test: PairedBootstrap | None = None
    randomization: float | None = None

    def as_dict(self) -> dict[str, Any]:
        record: dict[str, Any] = {"name": self.metric.name, "score": self.score, "signature": self.metric.signature}
        if self.test is None:
            return record
        return record | {
            "other": self.test.other,
            "difference": self.test.difference,
            "score_interval": self.test.score_interval,
            "other_interval": self.test.other_interval,
            "difference_interval": self.test.difference_interval,
            "p_bootstrap": self.test.p_value,
            "p_randomization": self.randomization,
            "unit": self.unit,
            "units": self.test.units,
            "resamples": self.test.resamples,
            "seed": self.test.seed,
        }


def _score(metric: Metric, aligned: AlignedTexts, systems: int, resamples: int, seed: int) -> _Row:
    from gpusearch.metrics.scoring import corpus_statistics
    from gpusearch.metrics.significance import approximate_randomization, paired_bootstrap

    references = [tuple(row) for row in zip(*aligned.texts[systems:], strict=True)]
    # A test needs several units: where there is one document, the segments are.
    by_document = systems == 1 or len(aligned.starts) > 1 or metric.unit == "document"
    starts = aligned.starts if by_document else None
    statistics = [corpus_statistics(metric, texts, references, starts) for texts in aligned.texts[:systems]]
    score = metric.score(statistics[0].sum(axis=0))
    unit = "document" if by_document else "segment"
    if systems == 1 or len(statistics[0]) < 2:
        return _Row(metric, score, unit)
    first, other = statistics
    return _Row(
        metric,
        score,
        unit,
        paired_bootstrap(first, other, metric.score, resamples=resamples, seed=seed),
        approximate_randomization(first, other, metric.score, seed=seed),
    )


def _score_table(rows: Sequence[_Row]) -> list[str]:
    cells = [[row.metric.name, _number(row.metric, row.score), row.metric.signature] for row in rows]
    return aligned(cells, "<><")


def _paired_table(rows: Sequence[_Row]) -> list[str]:
    table = [["", "score", "other", "difference", "95 % interval", "p boot", "p rand", "units", "signature"]]
    for row in rows:
        test, metric = row.test, row.metric
        if test is None:  # one document, and a metric of documents
            table.append([metric.name, _number(metric, row.score), *"------", metric.signature])
            continue
        low, high = (_number(metric, value, "+") for value in test.difference_interval)
        cells = [metric.name, _number(metric, test.score), _number(metric, test.other)]
        cells += [_number(metric, test.difference, "+"), f"[{low}, {high}]", f"{test.p_value:.3f}"]
        table.append([*cells, f"{row.randomization:.3f}", f"{test.units} {row.unit}s", metric.signature])
    return aligned(table, "<>>>>>>><")


def _number(metric: Metric, value: float, sign: str = "") -> str:
    return format(value, f"{sign}.{4 if metric.name == 'NIST' else 2}f")
