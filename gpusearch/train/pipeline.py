"""From two files of text to a folder that is ready for `gpusearch decode`, in stages that survive an interruption."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

import gpusearch
from gpusearch.config import (
    Config,
    LanguageModelConfig,
    PhraseTableConfig,
    ReorderingModelConfig,
    TextConfig,
    to_toml,
)
from gpusearch.cores import usable_cores
from gpusearch.errors import InputError
from gpusearch.io.files import check_rereadable, read_blocks
from gpusearch.io.json_files import write_json
from gpusearch.progress import SILENT, Progress
from gpusearch.train.ngram_settings import settle
from gpusearch.train.options import TrainOptions
from gpusearch.train.reordering import MODELS, model_type
from gpusearch.train.score import COLUMNS
from gpusearch.train.stages import Facts, Stages, remove, working_folder, working_place
from gpusearch.train.text import settle_text
from gpusearch.train.work import Work

# What the result depends on besides the settings.
_PACKAGES = ("duckdb", "numba", "numpy", "sacremoses", "sentencepiece", "sil-thot")


def train(
    source: Path,
    target: Path,
    output: Path,
    options: TrainOptions | None = None,
    *,
    threads: int | None = None,
    memory: str = "3GB",
    overwrite: bool = False,
    progress: Progress = SILENT,
) -> dict[str, Facts]:
    """Train a model from a text and its translation, line by line.

    The folder `output` appears when all is done. A training that was cut off goes on where its last stage ended, if
    it is started again with the same input and settings. The tables and the language model are the same bytes for
    any number of threads.

    Args:
        source, target: raw text, plain or compressed.
        output: the folder of the model; its parent is made where needed.
        threads: all cores where None.
        memory: what the counting engine may use; more goes to disk.
        overwrite: replace a model that is there.

    Returns:
        The records of the stages by name: seconds, CPU seconds, peak memory and facts such as counts.

    Raises:
        InputError: texts of different lengths, a pipe, a value that cannot be used, too little memory, an output that
            exists; texts without a phrase pair.
    """
    options = options or TrainOptions()
    options.check()
    settle(options.order, (), None, True, None, threads, memory)  # what it finds fault with comes last otherwise
    output = Path(os.path.realpath(output))
    inputs = [source, target, *([options.alignment] if options.alignment else []), *options.lm_text]
    _check_output(output, overwrite, inputs)
    for path in inputs:
        check_rereadable(path)
    model = working_place(output) / "model"
    text = settle_text(
        [source, target],
        tokenizer=options.tokenizer,
        languages=[options.source_language, options.target_language],
        truecase=options.truecase,
        lowercase=options.lowercase,
        folder=model,
    )
    plan = {
        "gpusearch": gpusearch.__version__,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in _PACKAGES},
        "settings": {key: _plain(value) for key, value in asdict(options).items()},
        "input": _inspect(source, target, options),
    }
    with working_folder(output, plan) as folder:
        model.mkdir(exist_ok=True)
        for left in (*folder.glob(".*"), *model.glob(".*")):  # half-written, by an attempt that was killed
            remove(left)
        stages = Stages(folder)
        work = Work(folder, model, text, options, threads or usable_cores(), memory, progress)
        work.run(stages, source, target)
        if not stages.records["tables"]["facts"]["rows"]:
            hint = "longer texts, --min-count 1, or an --alignment"
            raise InputError("no phrase pairs", path=source, found="0", expected="texts that can be aligned", hint=hint)
        (model / "model.toml").write_text(to_toml(_config(model, text, options), folder=model))
        counts = {name: record["facts"] for name, record in stages.records.items() if record["facts"]}
        write_json(model / "train.json", {**plan, "counts": counts})
        log = {name: {key: record[key] for key in record if key != "facts"} for name, record in stages.records.items()}
        write_json(model / "train.log.json", log)
        _put(model, output, folder / "replaced")
    return stages.records


def _check_output(output: Path, overwrite: bool, inputs: Sequence[Path]) -> None:
    """Refuse an output that is there; to replace, too, what is no model, or holds what is read."""
    if not output.exists() or (output.is_dir() and not any(output.iterdir())):
        return
    if not overwrite:
        raise InputError("the output exists", path=output, hint="name another folder, or give --overwrite")
    if not (output / "train.json").is_file():
        raise InputError("the output is no trained model, and is not replaced", path=output, hint="remove it yourself")
    for path in inputs:
        if output in Path(os.path.realpath(path)).parents:
            raise InputError("the output holds an input, and is not replaced", path=output, found=path.name)


def _config(model: Path, text: TextConfig, options: TrainOptions) -> Config:
    """The configuration of the model, with the default weights that Moses gives such models."""
    reordering = []
    if options.reordering is not None:
        columns = 2 * len(MODELS[options.reordering])
        reordering.append(
            ReorderingModelConfig(
                name="LexicalReordering0",
                path=model / "reordering-table.gz",
                type=model_type(options.reordering),
                weights=(0.3,) * columns,
            )
        )
    return Config(
        text=text,
        phrase_table=(
            PhraseTableConfig(
                name="TranslationModel0",
                path=model / "phrase-table.gz",
                weights=(0.2,) * len(COLUMNS),
                columns=COLUMNS,
            ),
        ),
        language_model=(LanguageModelConfig(name="LM0", path=model / "lm.arpa.gz", weight=0.5, order=options.order),),
        reordering_model=tuple(reordering),
    )


def _put(model: Path, output: Path, replaced: Path) -> None:
    """Move the finished folder to its place; what was there goes to `replaced`, which is removed with the rest."""
    if output.exists():
        output.rename(replaced)
    model.rename(output)


def _inspect(source: Path, target: Path, options: TrainOptions) -> list[Facts]:
    """Name, lines and hash of each input; the parallel ones must have equally many lines."""
    parallel = [source, target, *([options.alignment] if options.alignment else [])]
    facts = []
    for path in (*parallel, *options.lm_text):
        digest, lines = blake2b(digest_size=16), 0
        ended = True
        for block in read_blocks(path):
            digest.update(block)
            lines += block.count(b"\n")
            ended = block.endswith(b"\n")
        lines += not ended
        facts.append({"name": path.name, "lines": lines, "blake2b": digest.hexdigest()})
    for path, fact in zip(parallel, facts, strict=False):
        if fact["lines"] != facts[0]["lines"]:
            raise InputError(
                "not as many lines as the source text has",
                path=path,
                found=fact["lines"],
                expected=f"{facts[0]['lines']} as in {source}",
            )
    return facts


def _plain(value: Any) -> Any:
    """A setting as JSON: files by their names, since their content is stated with the input."""
    if isinstance(value, Path):
        return value.name
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
