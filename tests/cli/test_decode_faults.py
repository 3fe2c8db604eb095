"""`gpusearch decode` with what it cannot work with: a message that says what and where, exit code 2, no output."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from gpusearch import decoder
from gpusearch.cli.main import run
from gpusearch.search import device
from gpusearch.search import run as search_run
from tests.tiny import TINY, copy_tiny


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("in").write_text("la maison bleue\nune maison\n\nle chien dort dans la maison\n", encoding="utf-8")
    Path("three.ids").write_text("a\na\nb\n")
    Path("twice.jsonl").write_text('{"doc_id": "a", "segments": []}\n' * 2)
    # Source words 0 1 2, and 0 .. 5 of the third sentence; the order of its last phrases breaks small limits.
    Path("good.trace").write_text("the |0-0| blue house |1-2|\na house |0-1|\nthe |0-0| dog |1-1| sleeps |2-2| "
                                  "in the house |3-5|\n")  # fmt: skip
    text = Path("good.trace").read_text()
    Path("far.trace").write_text(
        text.replace("the |0-0| dog", "in the house |3-5| the |0-0| dog").replace("|2-2| in the house |3-5|", "|2-2|")
    )
    Path("short.trace").write_text("the |0-0| blue house |1-2|\n")
    Path("gap.trace").write_text(text.replace("dog |1-1| ", ""))
    Path("other.trace").write_text(text.replace("sleeps", "barks"))
    Path("huge.trace").write_text(text.replace("|1-2|", "|1-999999999|"))
    Path("huger.trace").write_text(text.replace("|1-2|", f"|1-{'9' * 5000}|"))
    Path("beyond.trace").write_text(text.replace("|3-5|", "|3-6|"))
    Path("backwards.trace").write_text(text.replace("|3-5|", "|5-3|"))
    Path("plain.trace").write_text("the blue house\na house\nthe dog\n")
    Path("folder").mkdir()


FAULTS = [
    ("-x", "No such option"),
    ("--chains 0", "Invalid value for '--chains'"),
    ("--set search.chain=3", r"search.chain=3.*chains"),
    ("--set search.chains=many", r"search.chains"),
    ("--set weights.word_penality=1", r"word_penality.*word_penalty"),
    ("--set language_model.LM1.weight=1", r"no language_model is called LM1; .*expected one of LM0"),
    ("--set phrase_table.0.weights=[1,2]", r"weights of feature TranslationModel0 .* 2 weights; expected 4"),
    ("--set features.ttr.use=no.such", r"unknown feature ttr; found use = \"no.such\""),
    ("--device tpu", r"search.device.*tpu"),
    ("--format html", r"unusable output format; found html; expected text, tsv, jsonl, wmt-xml, mteval, trace"),
    ("--format conllu", r"unusable output format; found conllu"),
    ("--input-format html", r"unknown format of documents; found 'html'"),
    ("--nbest 3", r"--nbest has no place in this output; found the form text; expected --format jsonl"),
    ("--docids three.ids", r"three.ids: not one document id for every segment; found 3 lines; expected 4"),
    ("--docids none.ids", r"none.ids: cannot read the file"),
    ("-c none.toml", r"none.toml: cannot read the file"),
    ("--initial file", r'initial = "file" needs initial_file'),
    ("--initial file --initial-file none.trace", r"none.trace: cannot read the file"),
    ("--initial file --initial-file short.trace", r"short.trace: .* another number of sentences .* 1 lines; exp.* 3"),
    ("--initial file --initial-file plain.trace", r"plain.trace:1: no source span behind the last .* found 'house'"),
    ("--initial file --initial-file gap.trace", r"document 2, sentence 1 do not cover each source word once"),
    ("--initial file --initial-file other.trace", r"no translation option of document 2, sentence 1.*barks"),
    ("--initial file --initial-file backwards.trace", r"backwards.trace:3: a span ends before its start"),
    ("--initial file --initial-file far.trace --set search.distortion_limit=2",
     r"document 2, sentence 1 breaks the distortion limit; found a jump of 3 words at \|3-5\|; expected at most 2"),
    ("--initial random --initial-file good.trace",
     r"--initial-file would have no effect; expected --initial file or --initial saved"),
    ("--initial-file good.trace", r"--initial-file would have no effect"),
    ("--method beam --initial file --initial-file good.trace", r"--initial would have no effect; .*--method search"),
    ("--method beam --initial random", r"--initial would have no effect"),
    ("--method beam --initial-file good.trace", r"--initial-file would have no effect"),
    ("--method beam --trace curve", r"--trace would have no effect; expected --method search"),
    ("--method beam --chains 4", r"--chains would have no effect; expected --method search or gibbs"),
    ("--method beam --seed 2", r"--seed would have no effect"),
    ("--method beam --steps 9", r"--steps would have no effect"),
    ("--method beam --max-rejected 9", r"--max-rejected would have no effect"),
    ("--method beam --set search.recombine=best-unit", r"--set search.recombine would have no effect"),
    ("--method beam --set search.initial=best", r"--set search.initial would have no effect"),
    ("--method gibbs --set search.operations.swap=9", r"search.operations.swap would have no effect"),
    *(
        (f"--method gibbs --set sample.{key}", r"--set sample\.\w+ would have no effect; expected gpusearch sample")
        for key in ("scale=2", "iterations=500", "burn_in=5", "thin=2", "unit=document", "superchains=2", "proposals=3",
                    "method=tempering")
    ),
    ("--set sample.scan=sequential", r"--set sample.scan would have no effect; expected --method gibbs"),
    ("--set search.annealing.start=2", r"search.annealing.start would have no effect; expected search.policy = ann"),
    ("--set search.beam.stack_size=9", r"would have no effect; expected --method beam or --initial beam"),
    ("--distinct", r"--distinct would have no effect; expected --nbest or --nbest-list"),
    ("--nbest-size 3", r"--nbest-size would have no effect; expected --nbest-list"),
    ("--nbest-size 100 --nbest 2 --format jsonl", r"--nbest-size would have no effect"),
    ("--initial saved --initial-file good.trace", r"good.trace:1: no saved state"),
    ("--set search.compat=docent --set search.operations.insertion=1", r"docent.* has no operation insertion"),
    ("-o folder/none/out", r"folder/none/out: cannot write the file"),
    ("-o folder", r"folder: cannot write the file \(Is a directory\)"),
    ("-o in", r"in: would be written over what is read as well"),
    ("--score-file ./in", r"in: would be written over what is read as well"),
    ("-o folder/x --trace folder/x", r"folder/x: would be written over what is written by another option"),
    ("--docids three.ids -o three.ids", r"three.ids: would be written over what is read as well"),
    ("--initial file --initial-file good.trace -o good.trace", r"good.trace: would be written over what is read"),
    ("--trace none/curve", r"none/curve: cannot write the file"),
    ("--score-file none/scores", r"none/scores: cannot write the file"),
    ("--save-state none/state", r"none/state: cannot write the file"),
    ("--initial file --initial-file huge.trace",
     r"document 1, sentence 1 do not cover each source word once; found 0-0 1-999999999"),
    ("--initial file --initial-file huger.trace", r"huger.trace:1: no source span behind the last words"),
    ("--initial file --initial-file beyond.trace", r"document 2, sentence 1 do not cover each source word once"),
    ("--chains 2147483648", r"unusable search.chains .*expected less than 2147483648"),
    ("--chains 2147483647", r"not enough memory for what all chains will have become; .* for 2147483647 chains"),
    ("--steps 9999999999999999999", r"unusable search.steps .*expected less than 9223372036854775808"),
    ("--max-rejected 9999999999999999999", r"unusable search.max_rejected .*expected less than 9223372036854775808"),
    ("--set search.steps_per_word=1e300", r"unusable search.steps_per_word .*expected less than 4294967296"),
    ("--set search.target_score=1e300", r"unusable search.target_score .*expected less than 8388608"),
    ("--set search.target_score=-1e9", r"unusable search.target_score .*expected greater than -8388608"),
    ("--set weights.word_penalty=3000", r"word_penalty|WordPenalty"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), FAULTS, ids=[arguments for arguments, _ in FAULTS])
def test_unusable_arguments(arguments: str, message: str, capsys: pytest.CaptureFixture[str]) -> None:
    """One clear message, exit code 2, no output, no file left behind."""
    before = sorted(Path(".").rglob("*"))
    assert run(["decode", "-c", str(TINY), "in", *arguments.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(message, err), err
    assert "Traceback" not in err
    assert sorted(Path(".").rglob("*")) == before


@pytest.mark.parametrize("form", ["tsv", "wmt-xml", "mteval"])
def test_ids_that_the_output_cannot_hold_are_found_before_the_search(
    form: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not after hours of work, which would be lost."""
    monkeypatch.setattr(decoder, "load", None)
    Path("odd.jsonl").write_text('{"doc_id": "a\\t\\u0001", "segments": [{"src": "la maison"}]}\n')
    assert run(["decode", "-c", str(TINY), "odd.jsonl", "--format", form]) == 2
    out, err = capsys.readouterr()
    assert out == "" and f"has a character that the format {form} cannot hold; found U+00" in err


def test_what_is_refused_at_two_is_taken_at_six(capsys: pytest.CaptureFixture[str]) -> None:
    """The translation that breaks the smaller limit is fine under the larger one."""
    arguments = ["decode", "-c", str(TINY), "in", "--initial", "file", "--initial-file", "far.trace", "--steps", "0"]
    assert run([*arguments, "--format", "trace"]) == 0
    assert capsys.readouterr().out.replace("\n\n", "\n") == Path("far.trace").read_text()


@pytest.mark.parametrize("name", ["none.txt", "folder", "twice.jsonl"])
def test_documents_that_cannot_be_read(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["decode", "-c", str(TINY), name]) == 2
    out, err = capsys.readouterr()
    assert out == "" and f"gpusearch: error: {name}" in err


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("model.toml", ("[weights]", "[wieghts]"), r"model.toml:\d+: .*wieghts.*weights"),
        ("model.toml", ("distortion = 0.2", "distorsion = 0.2"), r"model.toml:\d+: .*distorsion.*distortion"),
        ("model.toml", ("weights = [0.1, 0.1, 0.2, 0.1]", "weights = [0.1, 0.1, 0.2]"),
         r"TranslationModel0 do not fit its table; found 3 weights; expected 4"),
        ("model.toml", ("order = 3", "order = 5"), r"lm.arpa: LM0 has another order than configured; found 3; expec"),
        ("model.toml", ('"lm.arpa"', '"none.arpa"'), r"none.arpa: cannot read the file"),
        ("model.toml", ('"phrase-table"', '"none"'), r"none: cannot read the file"),
        ("model.toml", ("weight = 0.5", "weight = heavy"), r"model.toml:\d+: not TOML"),
        ("phrase-table", ("||| house ||| 0.7", "||| house ||| seven"), r"phrase-table:7: .*seven"),
        ("phrase-table", ("la ||| the |||", "la | the |||"), r"phrase-table:1: "),
        ("lm.arpa", ("\\2-grams:", "\\two-grams:"), r"lm.arpa:\d+: "),
        ("lm.arpa", ("-0.9\tthe\t-0.4", "0.9\tthe\t-0.4"), r"lm.arpa:\d+: "),
    ],
)  # fmt: skip
def test_models_that_cannot_be_used(
    file: str, change: tuple[str, str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The file and, where there is one, the line are named."""
    model = copy_tiny(tmp_path / "model", {file: change})
    assert run(["decode", "-c", str(model), "in"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "Traceback" not in err
    assert re.search(message, err), err


def test_a_table_and_a_language_model_that_share_no_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another language, or another case: a search would be pointless."""
    model = copy_tiny(tmp_path / "model")
    table = tmp_path / "model" / "phrase-table"
    rows = [line.split(" ||| ") for line in table.read_text().split("\n")[:-1]]
    kept = [" ||| ".join([row[0], row[1].upper(), *row[2:]]) for row in rows if row[1].isalpha()]
    table.write_text("\n".join(kept) + "\n")
    assert run(["decode", "-c", str(model), "in"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "TranslationModel0 and LM0 share no word; found target words such as THE, HER" in err


def test_not_enough_memory_for_one_chain(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Estimated before the search: the longest text is named."""
    monkeypatch.setattr(device, "free_bytes", lambda: 1000)
    monkeypatch.setattr(search_run, "free_bytes", lambda: 1 << 40)
    assert run(["decode", "-c", str(TINY), "in"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "not enough memory for one chain; found 0 MiB free" in err
    assert "document 2, sentence 1 is too long" in err


def test_not_enough_memory_for_the_options(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(search_run, "free_bytes", lambda: 1000)
    assert run(["decode", "-c", str(TINY), "in"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "the documents do not fit the memory; found 0 MiB for" in err and "table_limit" in err


def test_little_memory_is_enough_for_fewer_lanes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With room for two lanes the result is the same as with room for all."""
    arguments = ["decode", "-c", str(TINY), "in", "--chains", "8", "--format", "jsonl"]
    assert run(arguments) == 0
    expected = capsys.readouterr().out
    monkeypatch.setattr(device, "free_bytes", lambda: 6000)
    assert run(arguments) == 0
    assert [json.loads(line) for line in capsys.readouterr().out.split("\n")[:-1]] == [
        json.loads(line) for line in expected.split("\n")[:-1]
    ]
