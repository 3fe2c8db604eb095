"""`gpusearch mbr`: what it prints, and how it ends."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from sacrebleu.metrics import BLEU

from gpusearch.cli.main import run
from gpusearch.io.nbest import read_n_best
from tests.tiny import TINY

# The third sentence has no candidates; of the second all but one agree.
LIST = """\
0 ||| the cat sat  ||| LM0= -1 ||| -1.0 ||| 0=0 1-2=1-2
0 ||| the cat sat  ||| LM0= -1 ||| -1.1 ||| 0-2=0-2
0 ||| a dog ran  ||| LM0= -1 ||| -0.9 ||| 0-2=0-2
1 ||| so it is here  ||| LM0= -1 ||| -1.7
1 ||| so it is hers  ||| LM0= -1 ||| -2.0
1 ||| well then  ||| LM0= -1 ||| -1.6
3 ||| last  ||| LM0= -1 ||| -2.0
"""


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("list").write_text(LIST, encoding="utf-8")
    Path("ids").write_text("x\nx\ny\ny\n", encoding="utf-8")


def output(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[list[str], str]:
    """Lines of standard output, and the signature."""
    assert run(["mbr", "list", "-q", "--device", "cpu", *arguments]) == 0
    out, err = capsys.readouterr()
    return out.removesuffix("\n").split("\n"), err.removesuffix("\n")


def test_rules(capsys: pytest.CaptureFixture[str]) -> None:
    """A line a sentence, in the order of the input, also where there is no candidate."""
    assert output(capsys, "--rule", "maxderiv")[0] == ["a dog ran", "well then", "", "last"]
    assert output(capsys, "--rule", "maxtrans")[0] == ["the cat sat", "well then", "", "last"]
    for ids in ((), ("--docids", "ids")):  # the best of independent sentences make the best document
        for rule, first in (("maxderiv", "a dog ran"), ("maxtrans", "the cat sat")):
            lines, signature = output(capsys, "--rule", rule, "--unit", "document", *ids)
            assert lines == [first, "well then", "", "last"] and "seed" not in signature
    saving = ("--utility", "chrf", "--lowercase", "--save-matrix", "u.npz")  # asks for utilities whatever the rule
    assert output(capsys, "--rule", "maxtrans", *saving)[0] == ["the cat sat", "well then", "", "last"]
    saving = ("--unit", "document", "--draws", "9", *saving)
    assert output(capsys, "--rule", "maxderiv", *saving)[0] == ["a dog ran", "well then", "", "last"]
    lines, signature = output(capsys)
    assert lines == ["the cat sat", "so it is here", "", "last"]
    assert signature.startswith("gpusearch:") and signature.split("|")[1:] == [
        *("mbr", "rule:mbr", "util:BLEU,case:mixed,eff:yes,tok:none,smooth:exp", "unit:sentence"),
        *("weights:score@1", "loo:no", "sel:exact", "n:1.75", "ess:1.726"),
    ]


def test_list_of_the_best(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """As Moses lists them, with utilities, best first."""
    output(capsys, "--nbest", "2", "--utility", "chrf", "-o", "best")
    entries = list(read_n_best(tmp_path / "best"))
    assert [(entry.sentence, " ".join(entry.words)) for entry in entries[:4]] == [
        (0, "the cat sat"),
        (0, "a dog ran"),
        (1, "so it is here"),
        (1, "so it is hers"),
    ]
    assert [name for name, _ in entries[0].features] == ["utility", "weight", "score"]
    assert all(entry.total == entry.features[0][1][0] for entry in entries)
    weight = np.exp([-1.0, -1.1, -0.9])
    assert entries[0].features[1][1][0] == pytest.approx(weight[:2].sum() / weight.sum(), rel=1e-5)


def test_list_without_scores(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """What is not known is not listed, so that the list can be read again."""
    Path("list").write_text('{"id": 0, "words": "a"}\n{"id": 0, "words": "b"}\n', encoding="utf-8")
    output(capsys, "--nbest", "2", "--weights", "multiplicity", "-o", "best")
    assert [[name for name, _ in entry.features] for entry in read_n_best(tmp_path / "best")] == [
        ["utility", "weight"]
    ] * 2


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    """Documents, which other commands read, with all that is known of the decision."""
    arguments = ["--docids", "ids", "--format", "jsonl", "--nbest", "9", "--bootstrap", "50", "--leave-one-out"]
    lines, signature = output(
        capsys, *arguments, "--weights", "multiplicity", "--utility", "chrf", "--utility", "bleu@2"
    )
    first, second = map(json.loads, lines)
    assert (first["doc_id"], second["doc_id"]) == ("x", "y")
    segment = first["segments"][1]
    assert (segment["hyp"], segment["candidates"], segment["entries"], segment["effective"]) == (
        "so it is here",
        3,
        3,
        3,
    )
    assert segment["weight"] == pytest.approx(1 / 3) and segment["score"] == -1.7
    assert [row["hyp"] for row in segment["nbest"]] == ["so it is here", "so it is hers", "well then"]
    low, high = segment["bootstrap"]["utility"]
    assert low <= segment["utility"] <= high and segment["bootstrap"]["resamples"] == 50
    assert second["segments"][0]["hyp"] == "" and "loo:yes" in signature and "util:1*(chrF2," in signature


def test_what_has_no_candidates_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    """Of sentences, and of documents all of whose sentences have none; others count those that are there."""
    keys = ("candidates", "entries", "effective")
    lines, _ = output(capsys, "--format", "jsonl")
    segments = json.loads(lines[0])["segments"]
    assert segments[2]["hyp"] == "" and [segments[2][key] for key in keys] == [0, 0, 0]
    assert all(segments[place][key] > 0 for place in (0, 1, 3) for key in keys)
    Path("ids").write_text("x\nx\ny\nz\n", encoding="utf-8")
    for rule in ("mbr", "maxtrans"):
        lines, _ = output(capsys, "--rule", rule, "--unit", "document", "--docids", "ids", "--format", "jsonl")
        rows = [json.loads(line) for line in lines]
        assert [rows[1][key] for key in keys] == [0, 0, 0] and rows[0]["entries"] > 0
    assert json.loads(lines[2])["entries"] == 1


def test_documents(capsys: pytest.CaptureFixture[str]) -> None:
    """Decided as a whole: drawn from the sentences' lists, or put together anew."""
    arguments = ["--docids", "ids", "--unit", "document", "--utility", "chrf"]
    lines, signature = output(capsys, *arguments)
    assert lines == ["the cat sat", "so it is here", "", "last"] and "unit:document" in signature
    rows = [json.loads(line) for line in output(capsys, *arguments, "--format", "jsonl", "--select", "recombine")[0]]
    assert [segment["hyp"] for row in rows for segment in row["segments"]] == lines
    assert rows[0]["starts"]["sentences"]["utility"] == pytest.approx(rows[0]["utility"])
    rows = [json.loads(line) for line in output(capsys, *arguments, "--format", "jsonl", "--nbest", "2")[0]]
    assert [segment["hyp"] for segment in rows[0]["nbest"][0]["segments"]] == lines[:2]


def test_the_best_documents_of_independent_sentences(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--rule", "maxderiv", "--docids", "ids", "--unit", "document", "--format", "jsonl", "--nbest", "3"]
    first = json.loads(output(capsys, *arguments)[0][0])
    assert [[segment["hyp"] for segment in row["segments"]] for row in first["nbest"]] == [
        ["a dog ran", "well then"],
        ["the cat sat", "well then"],
        ["a dog ran", "so it is here"],
    ]
    weight, other = np.exp([-0.9, -1.0, -1.1]), np.exp([-1.6, -1.7, -2.0])
    assert first["probability"] == pytest.approx(weight[0] / weight.sum() * other[0] / other.sum())
    assert first["score"] == pytest.approx(-0.9 - 1.6)
    assert (first["candidates"], first["entries"]) == (2 + 3, 3 + 3)


@pytest.mark.parametrize("unit", ["sentence", "document"])
def test_effective_sizes_where_a_sentence_has_no_candidates(unit: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The empty one needs no chain to be weighed by."""
    rows = [
        {"id": number, "words": words, "score": score, "chain": chain}
        for number in (0, 2)
        for words, score, chain in (("a b", -1.0, 0), ("a c", -2.0, 1), ("a b", -1.5, 1))
    ]
    Path("list").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    lines, signature = output(capsys, "--weights", "ess", "--unit", unit)
    assert lines == ["a b", "", "a b"] and "weights:ess" in signature


@pytest.mark.parametrize("unit", ["sentence", "document"])
def test_saved_matrix(unit: str, capsys: pytest.CaptureFixture[str]) -> None:
    """All utilities; those of sentences may be read as a utility and give the same decisions."""
    expected = output(capsys, "--unit", unit, "--utility", "chrf", "--save-matrix", "u.npz")[0]
    with np.load("u.npz", allow_pickle=False) as saved:
        utilities, weights = saved["0.utilities"], saved["0.weights"]
        assert utilities.shape == (len(weights), len(weights)) and weights.sum() == pytest.approx(1)
        if unit == "document":
            rows = saved["0.rows"]
            best = rows[(utilities @ weights).argmax()]
            assert [str(saved[f"0.{place}.texts"][one]) for place, one in enumerate(best)] == expected
            assert run(["mbr", "list", "--utility", "u.npz"]) == 2
            assert "u.npz: utilities of whole documents" in capsys.readouterr().err
            return
        assert saved["0.texts"].tolist() == ["a dog ran", "the cat sat"]
    first = Path("u.npz").read_bytes()
    assert output(capsys, "--utility", "u.npz")[0] == expected
    output(capsys, "--utility", "chrf", "--save-matrix", "u.npz")
    assert Path("u.npz").read_bytes() == first


def test_raw_text(capsys: pytest.CaptureFixture[str]) -> None:
    """As decode writes it: capitals at the beginning, unless the source has none."""
    text = '[text]\ntokenizer = "moses"\nsource_language = "fr"\ntarget_language = "en"\n'
    text += 'truecase = true\nsource_truecaser = "cases"\ntarget_truecaser = "cases"\n'
    text += '[[phrase_table]]\npath = "table"\nweights = [1.0]\n[[language_model]]\npath = "lm"\nweight = 1.0\n'
    Path("cases").write_text("the (9/9)\n", encoding="utf-8")
    Path("model.toml").write_text(text, encoding="utf-8")
    Path("source").write_text("Le chat\nil est\nIl\nla fin\n", encoding="utf-8")
    lines, signature = output(capsys, "-c", "model.toml", "--source", "source", "--docids", "ids")
    assert lines == ["The cat sat", "so it is here", "", "last"] and "tok:13a" in signature
    assert output(capsys, "-c", "model.toml")[0] == ["The cat sat", "So it is here", "", "Last"]
    rows = output(capsys, "--source", "source", "--docids", "ids", "--format", "jsonl")[0]
    assert [segment["src"] for segment in json.loads(rows[0])["segments"]] == ["Le chat", "il est"]
    assert output(capsys, "-c", "model.toml", "--source", "ids")[0] == ["the cat sat", "so it is here", "", "last"]


def test_sources_go_by_the_lines_of_the_input(capsys: pytest.CaptureFixture[str]) -> None:
    """Where documents have borders these have numbers too, as in the lists that decode writes."""
    Path("source").write_text("\nLe chat\n \nIl est\n", encoding="utf-8")
    moses = "".join(f"{n} ||| {text}  ||| LM0= -1 ||| -1.0\n" for n, text in enumerate(["", "the cat", "", "it is"]))
    rows = [{"id": 1, "doc": 1, "seg": 1, "words": "the cat"}, {"id": 3, "doc": 2, "seg": 1, "words": "it is"}]
    for name, content in (
        ("list", moses),
        ("list.jsonl", "".join(json.dumps(row | {"score": -1}) + "\n" for row in rows)),
    ):
        Path("list").write_text(content, encoding="utf-8")
        found = [json.loads(row) for row in output(capsys, "--source", "source", "--format", "jsonl")[0]]
        segments = [(segment["src"], segment["hyp"]) for document in found for segment in document["segments"]]
        assert segments == [("", ""), ("Le chat", "the cat"), ("", ""), ("Il est", "it is")], name
    Path("source").write_text("\nLe chat\n \nIl est\n\n\n", encoding="utf-8")  # JSON has no rows of borders
    assert output(capsys, "--source", "source")[0] == ["", "the cat", "", "it is"]
    Path("source").write_text("x\n", encoding="utf-8")
    assert run(["mbr", "list", "--source", "source"]) == 2
    assert "source: fewer sources than sentences; found 1; expected 4 as in list" in capsys.readouterr().err


def test_what_documents_of_candidates_have_no_use_for(capsys: pytest.CaptureFixture[str]) -> None:
    """Their candidates are texts with sources, and drawn as wholes."""
    sample = {"score": -1.0, "segments": [{"hyp": "The cat.", "score": -1.0}]}
    document = {"doc_id": "x", "segments": [{"src": "Le chat."}], "nbest": [sample]}
    Path("list").write_text(json.dumps(document) + "\n", encoding="utf-8")
    Path("source").write_text("Le chat.\n", encoding="utf-8")
    assert output(capsys, "--unit", "document")[0] == ["The cat."]
    for arguments, message in (
        (["-c", str(TINY)], "list: a model to make texts of candidates that are texts; leave --config out"),
        (["--source", "source"], "list: sources for candidates that have their own; leave source out"),
        (["--docids", "ids"], "list: document ids for a file that has its own; leave --docids out"),
        (["--unit", "document", "--draws", "9"], "--draws would have no effect; expected documents that are decided"),
    ):
        assert run(["mbr", "list", *arguments]) == 2
        assert message in capsys.readouterr().err


# Of one sentence: all pairs, aggregated references and little confidence each choose another one.
ALIKE = [
    "a a dog", "a a lay", "a lay", "a sat a", "a sat dog cat", "dog a", "dog cat the", "dog lay lay lay", "dog sat lay",
    "dog sat the", "a lay the", "lay sat", "sat a dog cat", "sat dog", "sat lay dog cat", "sat sat the",
]  # fmt: skip


def test_selections(capsys: pytest.CaptureFixture[str]) -> None:
    """Each compares the candidates that it should by what it should; the signature says which."""
    Path("list").write_text("".join(f"0 ||| {text}  ||| LM0= -1 ||| -1\n" for text in ALIKE), encoding="utf-8")

    def ranked(select: str, nbest: int) -> dict[str, float]:
        lines, signature = output(capsys, "--select", select, "--nbest", f"{nbest}", "-o", "best")
        assert lines == [""] and f"sel:{select}|" in signature
        found = {" ".join(entry.words): entry.total for entry in read_n_best("best")}
        assert list(found.values()) == sorted(found.values(), reverse=True)
        return found

    exact, aggregate = ranked("exact", 99), ranked("aggregate", 99)
    assert set(exact) == set(aggregate) == set(ALIKE)
    metric = BLEU(effective_order=True, tokenize="none")
    for text, value in exact.items():
        scores = [metric.sentence_score(text, [other]).score for other in ALIKE]
        assert value == pytest.approx(np.mean(scores), rel=1e-5)
    fine, pruned = ranked("fine:3", 3), ranked("prune:0.5", 1)
    assert list(fine) == sorted(list(aggregate)[:3], key=exact.__getitem__, reverse=True) != list(exact)[:3]
    assert fine.items() <= exact.items() and pruned.items() <= exact.items()
    assert len({next(iter(found)) for found in (exact, aggregate, pruned)}) == 3
    assert ranked("prune:1", 1) == ranked("exact", 1)
    for select, found in (("exact", exact), ("aggregate", aggregate), ("fine:3", fine), ("prune:0.5", pruned)):
        assert output(capsys, "--select", select)[0] == [next(iter(found))]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rule", "best"], "unknown value of --rule; found 'best'; expected mbr, maxtrans, maxderiv"),
        (["--unit", "word"], "unknown value of --unit"),
        (["--weights", "none"], "unknown value of --weights"),
        (["--select", "fine"], "unknown value of --select; found 'fine'"),
        (["--select", "prune:2"], "unknown value of --select"),
        (["--select", "exact:2"], "unknown value of --select"),
        (["--utility", "blau"], "unknown utility; found 'blau'"),
        (["--format", "xml"], "unusable output format; found xml"),
        (["--bootstrap", "9"], "--bootstrap has no place in text"),
        (["--unit", "document", "--nbest", "2"], "--nbest of documents has no place in text"),
        (["--select", "recombine"], "recombination of sentences"),
        (["--utility", "ter", "--select", "aggregate"], "references cannot be aggregated for TER"),
        (["--weights", "ess"], "weights by ess need chains"),
        (["--weights", "uniform", "--scale", "1"], "weights by uniform have no scale"),
        (["--rule", "maxtrans", "--select", "fine:2"], "--rule maxtrans looks at no references; found --select fine"),
        (["--rule", "maxderiv", "--unit", "document", "--select", "recombine"], "found --select recombine; expected"),
        (["--rule", "maxderiv", "--leave-one-out"], "found --leave-one-out; expected --rule mbr"),
        (["--rule", "maxtrans", "--bootstrap", "9", "--format", "jsonl"], "found --bootstrap; expected --rule mbr"),
        (["--rule", "maxtrans", "--utility", "ter"], "--rule maxtrans asks no utility; found --utility"),
        (["--rule", "maxtrans", "--tokenize", "13a", "--lowercase"], "asks no utility; found --tokenize, --lowercase"),
        (["--rule", "maxderiv", "--memory", "9"], "--rule maxderiv asks no utility; found --memory; expected"),
        (["--rule", "maxtrans", "--device", "cuda"], "--rule maxtrans asks no utility; found --device cuda"),
        (["--utility", "ter", "--device", "cuda"], "--device cuda would have no effect; expected --utility bleu or"),
        (["--seed", "1"], "--seed would have no effect; expected --select prune, --bootstrap, or documents that are"),
        (["--seed", "1", "--unit", "document", "--rule", "maxtrans"], "--seed would have no effect"),
        (["--draws", "9"], "--draws would have no effect; expected documents that are decided with a utility"),
        (["--draws", "9", "--unit", "document", "--rule", "maxtrans"], "--draws would have no effect"),
        (
            ["--utility", "chrf", "--tokenize", "13a"],
            "--tokenize would have no effect; expected --utility bleu or bleu-",
        ),
        (["--utility", "len:len@2", "--lowercase"], "--lowercase would have no effect; expected --utility bleu or"),
        (["--utility", "u.tsv", "--lowercase"], "--lowercase would have no effect"),
        (["--scale", "inf"], "unusable scale of scores; found inf; expected a finite number of 0 or more"),
        (["-o", "absent/out"], "cannot write the file"),
    ],
)
def test_faults(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["mbr", "list", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and message in err


def test_memory_that_does_not_do(capsys: pytest.CaptureFixture[str]) -> None:
    Path("list").write_text("".join(f"0 ||| n{number} ||| LM0= -1 ||| -1.0\n" for number in range(2000)))
    assert run(["mbr", "list", "--memory", "1"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "the utilities of a candidate do not fit the memory; found 1.3 MiB with 2,000 ref" in err
    assert "expected at most 1.0 MiB; allow more (--memory), or give fewer candidates" in err


def test_no_file_is_written_over_another(capsys: pytest.CaptureFixture[str]) -> None:
    Path("scores.tsv").write_text("0\ta\t1\n")
    for given in (
        "-o list",
        "--save-matrix list",
        "--save-matrix m.npz -o m.npz",
        "--docids ids -o ids",
        "--utility scores.tsv@2 -o scores.tsv",
    ):
        assert run(["mbr", "list", *given.split()]) == 2
        assert "would be written over what is" in capsys.readouterr().err
    assert Path("list").read_text(encoding="utf-8") == LIST and not Path("m.npz").exists()
