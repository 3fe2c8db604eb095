"""Whole trainings on small texts."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import pytest

from gpusearch.config import load_config
from gpusearch.errors import InputError
from gpusearch.io.arpa import read_arpa
from gpusearch.io.files import read_lines
from gpusearch.io.phrase_table import read_phrase_table
from gpusearch.io.reordering_table import read_reordering_table
from gpusearch.text import make_processor
from gpusearch.train import work
from gpusearch.train.options import TrainOptions
from gpusearch.train.pipeline import train
from gpusearch.train.text import guess_language

PLAIN = TrainOptions(tokenizer="none", aligner="fast_align", order=2)


@pytest.fixture(scope="module")
def laws(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The first 300 pairs of the shipped example."""
    folder = tmp_path_factory.mktemp("laws")
    for language in ("fr", "en"):
        lines = islice(read_lines(repository / f"examples/laws/train.{language}"), 300)
        (folder / f"train.{language}").write_text("".join(f"{line}\n" for line in lines))
    return folder / "train.fr", folder / "train.en"


def write_pair(folder: Path, source: str, target: str) -> tuple[Path, Path]:
    (folder / "s").write_text(source)
    (folder / "t").write_text(target)
    return folder / "s", folder / "t"


def content(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name != "train.log.json"}


def test_the_folder_is_ready_for_decoding(laws: tuple[Path, Path], tmp_path: Path) -> None:
    output = tmp_path / "new" / "model"
    train(*laws, output, TrainOptions(order=3), threads=2)
    assert [path.name for path in output.parent.iterdir()] == ["model"]
    config = load_config(output / "model.toml")
    table = read_phrase_table(config.phrase_table[0].path, cache=False)
    assert len(config.phrase_table[0].weights) == len(config.phrase_table[0].columns) == table.log_scores.shape[1] == 4
    reordering = read_reordering_table(config.reordering_model[0].path)
    assert reordering.log_scores.shape == (len(table.log_scores), len(config.reordering_model[0].weights))
    assert read_arpa(config.language_model[0].path).order == 3
    processor = make_processor(config.text, "source")
    tokens = processor.to_tokens("Le ministre peut, par règlement, prendre toute mesure.")
    assert tokens[0] == "le"
    assert table.lookup(tokens[1:2])[1] > 0
    facts = json.loads((output / "train.json").read_text())
    assert facts["counts"]["numbers"]["sentence_pairs"] == 300
    assert facts["counts"]["tables"]["rows"] == len(table.log_scores)
    assert facts["settings"]["seed"] == 1 and facts["packages"].keys() >= {"sil-thot", "duckdb"}
    log = json.loads((output / "train.log.json").read_text())
    assert log.keys() == {
        "text",
        "numbers",
        "alignment",
        "lexicon",
        "extraction",
        "counting",
        "tables",
        "language model",
    }
    assert all(stage["peak_megabytes"] > 0 and stage["seconds"] > 0 for stage in log.values())


@pytest.mark.parametrize("aligner", ["fast_align", "eflomal"])
def test_equal_bytes_for_any_number_of_threads(aligner: str, laws: tuple[Path, Path], tmp_path: Path) -> None:
    for threads in (1, 2):
        train(*laws, tmp_path / f"{threads}", TrainOptions(aligner=aligner, order=3), threads=threads)
    assert content(tmp_path / "1") == content(tmp_path / "2")


def test_a_training_that_was_cut_off_goes_on(
    laws: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is there until all is; what was finished is not done again; the result is that of an unbroken run."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    def never(*_: object, **__: object) -> None:
        raise AssertionError("done again")

    train(*laws, tmp_path / "unbroken", TrainOptions(order=3))
    for stage in ("_extract", "_write_tables"):
        with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
            patch.setattr(work.Work, stage, interrupt)
            train(*laws, tmp_path / "broken", TrainOptions(order=3))
        assert not (tmp_path / "broken").exists()
        monkeypatch.setattr(work, "align", never)
    monkeypatch.setattr(work.Work, "_count", never)
    train(*laws, tmp_path / "broken", TrainOptions(order=3))
    assert content(tmp_path / "broken") == content(tmp_path / "unbroken")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken", "unbroken"]


def test_an_unusable_amount_of_memory_is_found_first(tmp_path: Path) -> None:
    pair = write_pair(tmp_path, "a\n", "x\n")
    with pytest.raises(InputError, match="unusable amount of memory; found 'lots'; expected such as 3GB or 500MB"):
        train(*pair, tmp_path / "model", PLAIN, memory="lots")


def test_an_output_that_exists_is_replaced_only_if_asked_for(tmp_path: Path) -> None:
    pair = write_pair(tmp_path, "a b\nb\n", "x y\ny\n")
    output = tmp_path / "model"
    output.mkdir()
    train(*pair, output, PLAIN)
    (output / "mine").touch()
    with pytest.raises(InputError, match="the output exists; name another folder, or give --overwrite"):
        train(*pair, output, PLAIN)
    assert (output / "mine").exists()
    train(*pair, output, PLAIN, overwrite=True)
    assert not (output / "mine").exists()
    assert (output / "model.toml").exists()


def test_only_a_model_that_holds_no_input_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    pair = write_pair(folder, "a b\nb\n", "x y\ny\n")
    with pytest.raises(InputError, match="the output is no trained model, and is not replaced"):
        train(*pair, folder, PLAIN, overwrite=True)
    with pytest.raises(InputError, match="the output is no trained model"):
        train(*pair, pair[0], PLAIN, overwrite=True)
    (folder / "train.json").touch()
    with pytest.raises(InputError, match=f"the output holds an input, and is not replaced; found {pair[0].name}"):
        train(*pair, folder, PLAIN, overwrite=True)
    assert pair[0].read_text() == "a b\nb\n"


def test_a_link_stays_one(tmp_path: Path) -> None:
    pair = write_pair(tmp_path, "a b\nb\n", "x y\ny\n")
    (tmp_path / "disk").mkdir()
    (tmp_path / "model").symlink_to(tmp_path / "disk")
    train(*pair, tmp_path / "model", PLAIN)
    assert (tmp_path / "model").is_symlink() and (tmp_path / "disk/model.toml").exists()


def test_texts_without_a_phrase_pair_make_no_model(tmp_path: Path) -> None:
    pair = write_pair(tmp_path, "a b\nb\n", "x y\ny\n")
    (tmp_path / "points").write_text("\n\n")
    options = replace(PLAIN, alignment=tmp_path / "points")
    with pytest.raises(InputError, match="no phrase pairs; found 0"):
        train(*pair, tmp_path / "model", options)
    assert not (tmp_path / "model").exists()


@pytest.mark.complaint(29)
def test_the_smallest_text_makes_a_model(tmp_path: Path) -> None:
    """complaints.md 29: too little text for the discounts of the language model is no reason to stop."""
    pair = write_pair(tmp_path, "a\n", "x\n")
    records = train(*pair, tmp_path / "model", PLAIN)
    assert records["language model"]["facts"]["discount_fallback"]
    rows = gzip.decompress((tmp_path / "model/phrase-table.gz").read_bytes())
    assert rows == b"a ||| x ||| 1 1 1 1 ||| 0-0 ||| 1 1 1\n"


@pytest.mark.complaint(25)
@pytest.mark.complaint(26)
def test_words_and_lines_end_where_those_of_other_tools_do(tmp_path: Path) -> None:
    """complaints.md 25, 26: no-break spaces, line separators and other such characters are part of words."""
    odd = ["10\u00a0000", "a\u2028b", "c\x0bd", "e\x85f", "g\x1ch", "i\u3000j"]
    text = " ".join(odd)
    pair = write_pair(tmp_path, f"{text}\n", f"{text}\n")
    (tmp_path / "a").write_text(" ".join(f"{i}-{i}" for i in range(len(odd))) + "\n")
    train(*pair, tmp_path / "model", replace(PLAIN, alignment=tmp_path / "a", max_phrase_length=1))
    rows = gzip.decompress((tmp_path / "model/phrase-table.gz").read_bytes()).decode().split("\n")
    assert [row.split(" ||| ")[:2] for row in rows[:-1]] == [[word, word] for word in sorted(odd)]


def test_empty_sentences_are_left_out_and_counted(tmp_path: Path) -> None:
    pair = write_pair(tmp_path, "a\n\nb c\n", "x\ny\n\n")
    facts = train(*pair, tmp_path / "model", PLAIN)["numbers"]["facts"]
    assert (facts["lines"], facts["sentence_pairs"], facts["left_out_empty"]) == (3, 1, 2)


def test_more_text_goes_into_the_language_model_only(tmp_path: Path) -> None:
    pair = write_pair(tmp_path, "a\n", "x\n")
    (tmp_path / "more").write_text("x <s> new\n")
    train(*pair, tmp_path / "model", replace(PLAIN, lm_text=(tmp_path / "more",)))
    assert "new" in read_arpa(tmp_path / "model/lm.arpa.gz").vocabulary
    assert b"new" not in gzip.decompress((tmp_path / "model/phrase-table.gz").read_bytes())


@pytest.mark.parametrize(
    ("changed", "rows"),
    [({}, 6), ({"min_count": 2}, 1), ({"significance": "alpha+epsilon"}, 1), ({"significance": "alpha-epsilon"}, 4)],
)
def test_pruning(tmp_path: Path, changed: dict[str, Any], rows: int) -> None:
    """Five sentence pairs: a and x meet twice (-ln p is ln 10, above alpha = ln 5); the pairs of b c and y z are seen
    once, their phrases nowhere else (alpha itself); d and e share the translation v (ln 5/2)."""
    pair = write_pair(tmp_path, "a\na\nb c\nd\ne\n", "x\nx\ny z\nv\nv\n")
    (tmp_path / "a").write_text("0-0\n0-0\n0-0 1-1\n0-0\n0-0\n")
    options = replace(PLAIN, alignment=tmp_path / "a", **changed)
    records = train(*pair, tmp_path / "model", options)
    facts = records["tables"]["facts"]
    assert len(gzip.decompress((tmp_path / "model/phrase-table.gz").read_bytes()).splitlines()) == rows
    assert (facts["pairs"], facts["rows"]) == (6, rows)
    assert facts["rare"] + facts["insignificant"] == 6 - rows


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"aligner": "giza"}, "unknown aligner; found 'giza'; expected fast_align | hmm | eflomal"),
        ({"reordering": "hier"}, "unknown reordering model; found 'hier'; expected msd | mslr"),
        ({"max_phrase_length": 9}, "unusable maximum phrase length; found 9; expected 1 to 8"),
        ({"significance": "beta"}, "unusable significance threshold; found 'beta'; expected alpha, "),
        ({"tokenizer": "moses"}, "the source language is not known; found no two-letter code in the name s; "),
        (
            {"alignment": Path("/dev/null")},
            "/dev/null: not as many lines as the source text has; found 0; expected 1 as in ",
        ),
        (
            {"aligner": "hmm", "max_sentence_length": 201},
            "unusable maximum sentence length; found 201; expected 1 to 200",
        ),
        ({"order": 10}, "unusable order of the language model; found 10; expected 2 to 9"),
        ({"lm_tool": "lmplz"}, "lmplz is not on the PATH; "),
        ({"seed": 2**32}, "unusable seed; found 4294967296; expected 0 to 4294967295"),
        ({"alignment": Path("-")}, "standard input: is read more than once here; expected a file"),
        ({"lm_text": (Path("-"),)}, "standard input: is read more than once here; expected a file"),
        ({"lm_text": (Path("/"),)}, "/: cannot read the file (Is a directory)"),
        ({"alignment": Path("nowhere")}, "nowhere: cannot read the file (No such file or directory)"),
    ],
)
def test_faults_are_found_before_the_work_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], message: str
) -> None:
    monkeypatch.setenv("PATH", "")
    pair = write_pair(tmp_path, "a\n", "x\n")
    with pytest.raises(InputError) as caught:
        train(*pair, tmp_path / "model", replace(PLAIN, **changed))
    assert str(caught.value).startswith(message)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["s", "t"]


@pytest.mark.parametrize("tokenizer", ["none", "moses"])
def test_texts_are_files_that_can_be_read_again(tmp_path: Path, tokenizer: Literal["none", "moses"]) -> None:
    """What is wrong with a file is said before what is missing in its name."""
    options = replace(PLAIN, tokenizer=tokenizer)
    os.mkfifo(tmp_path / "pipe")
    source, target = write_pair(tmp_path, "a\n", "x\n")
    for pair in ((tmp_path / "pipe", target), (source, tmp_path / "pipe")):
        with pytest.raises(InputError, match="pipe: is read more than once here; found a pipe; expected a file"):
            train(*pair, tmp_path / "model", options)
    with pytest.raises(InputError, match="absent: cannot read the file"):
        train(source, tmp_path / "absent", tmp_path / "model", options)


@pytest.mark.parametrize(
    ("text", "found"), [("", "0 lines, 0 with an empty"), ("\n \n", "2 lines, 2 with an empty side, 0 with more")]
)
def test_texts_without_a_pair_are_named(tmp_path: Path, text: str, found: str) -> None:
    pair = write_pair(tmp_path, text, text)
    with pytest.raises(InputError, match=f"^{pair[0]}: no sentence pair can be used; found {found}"):
        train(*pair, tmp_path / "model", PLAIN)


def test_too_little_memory_is_an_error_and_more_goes_on(laws: tuple[Path, Path], tmp_path: Path) -> None:
    options = TrainOptions(tokenizer="none", aligner="fast_align", order=2)
    with pytest.raises(InputError, match=r"not enough memory to count; .*, of 1KB; give more \(--memory\)"):
        train(*laws, tmp_path / "model", options, memory="1KB")
    train(*laws, tmp_path / "model", options)
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_what_a_killed_training_left_half_written_does_not_come_along(tmp_path: Path) -> None:
    """A process that is killed cannot take its temporary files away: the next one does."""
    pair = write_pair(tmp_path, "a\n", "x\n")
    kill = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    script = f"""
from pathlib import Path
from gpusearch.train import language_model, pipeline, tables, work
from gpusearch.train.options import TrainOptions
def kill(*_, **__):
    {kill}
{{patch}}
pipeline.train(Path({str(pair[0])!r}), Path({str(pair[1])!r}), Path({str(tmp_path / "model")!r}), {PLAIN!r})
"""
    for patch in ("tables.table_rows = kill", "language_model.write_ngrams = kill"):
        done = subprocess.run([sys.executable, "-c", script.format(patch=patch)], check=False)
        assert done.returncode == -signal.SIGKILL
        assert list((tmp_path / ".model.partial" / "model").glob(".*"))
    train(*pair, tmp_path / "model", PLAIN)
    assert not list((tmp_path / "model").glob(".*"))


@pytest.mark.parametrize(
    ("name", "language"),
    [
        ("train.fr", "fr"),
        ("fr.txt", "fr"),
        ("news.en.gz", "en"),
        ("text.xz", None),
        ("corpus.fra", None),
        ("FR.txt", None),
    ],
)
def test_languages_are_read_from_file_names(name: str, language: str | None) -> None:
    assert guess_language(Path(name)) == language
