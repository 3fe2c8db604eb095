"""Docent's XML configuration to `model.toml` and back."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from gpusearch.cli.main import run
from gpusearch.config import load_config
from gpusearch.config.foreign.docent import read_docent
from gpusearch.config.foreign.write_docent import to_docent
from gpusearch.errors import InputError

DOCENT = """\
<?xml version="1.0" ?>
<docent>
<random>4711</random>
<state-generator>
  <initial-state type="monotonic"/>
  <operation type="change-phrase-translation" weight=".8"/>
  <operation type="swap-phrases" weight=".1"><p name="swap-distance-decay">.5</p></operation>
  <operation type="resegment" weight=".1"><p name="phrase-resegmentation-decay">.1</p></operation>
</state-generator>
<search algorithm="simulated-annealing">
  <p name="max-steps">1000</p>
  <p name="schedule">hill-climbing</p>
</search>
<models>
  <model type="geometric-distortion-model" id="d"><p name="distortion-limit">6</p></model>
  <model type="word-penalty" id="w"/>
  <model type="oov-penalty" id="oov"/>
  <model type="ngram-model" id="lm"><p name="lm-file">lm</p></model>
  <model type="phrase-table" id="tm"><p name="file">table</p><p name="nscores">2</p></model>
</models>
<weights>
  <weight model="d" score="0">0.15</weight><weight model="d" score="1">1e30</weight>
  <weight model="w">-0.5</weight><weight model="oov">100</weight><weight model="lm">0.3</weight>
  <weight model="tm" score="0">0.1</weight><weight model="tm" score="1">0.2</weight>
</weights>
</docent>
"""


def written(folder: Path, text: str) -> Path:
    (folder / "table").write_text("a ||| b ||| 1 1\n")
    path = folder / "docent.xml"
    path.write_text(text, encoding="utf-8")
    return path


def test_models_weights_operations_and_limits(tmp_path: Path) -> None:
    config = read_docent(written(tmp_path, DOCENT))
    table, model = config.phrase_table[0], config.language_model[0]
    assert (table.name, table.path, table.weights, table.table_limit) == ("tm", tmp_path / "table", (0.1, 0.2), 0)
    assert (model.name, model.path, model.weight) == ("lm", tmp_path / "lm", 0.3)
    weights = config.weights.model_dump()
    assert weights == {"word_penalty": -0.5, "phrase_penalty": 0.0, "distortion": 0.15, "unknown_word": 100.0}
    search, operations = config.search, config.search.operations
    assert (search.compat, search.first_jump, search.chains, search.seed) == ("docent", False, 1, 4711)
    assert (search.steps, search.max_rejected, search.distortion_limit) == (1000, 1000, 6)
    shares = {name: share for name, share in operations.shares().items() if share}
    assert shares == {"change": 0.8, "swap": 0.1, "resegment": 0.1}
    assert (operations.swap_decay, operations.block_decay) == (0.5, 0.1)


def test_there_and_back(tmp_path: Path) -> None:
    config = read_docent(written(tmp_path, DOCENT))
    (tmp_path / "again").mkdir()
    again = read_docent(written(tmp_path / "again", to_docent(config)))
    expected = config.model_dump()
    names = {"table": again.phrase_table[0].path, "lm": again.language_model[0].path}
    assert again.phrase_table[0].path == tmp_path / "table" and names["lm"] == tmp_path / "lm"
    assert again.model_dump() == expected


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('type="word-penalty"', 'type="type-token"', r"docent\.xml:16: no model type-token \(w\)"),
        ('type="resegment"', 'type="teleport"', r"docent\.xml:8: no operation teleport"),
        ("hill-climbing</p>", "geometric-decay</p>", r"docent\.xml:10: no simulated-annealing with schedule geometric"),
        ('type="monotonic"', 'type="testset"', r"docent\.xml:5: no initial state testset"),
        ('score="1">1e30', 'score="1">3', r"docent\.xml:15: a jump beyond the limit is forbidden here, not worth 3"),
        ('<weight model="w">-0.5</weight>', "", r"docent\.xml:16: no weight of w"),
        (">lm</p>", '>lm</p><p name="annotation-level">1</p>', r"docent\.xml:18: ngram-model has no annotation-level"),
        (">1e30<", ">much<", r"docent\.xml:22: 'much' is no number"),
        (">1000<", ">inf<", r"docent\.xml:10: 'inf' is no number"),
        ('score="1">1e30', 'score="nan">1e30', r"docent\.xml:22: 'nan' is no number"),
        ("<random>4711", "<random>-", "docent.xml: '-' is no number"),
        ('type="oov-penalty"', 'type="word-penalty"', r"docent\.xml:17: a second word-penalty \(oov\)"),
        ("</docent>", "", "not well-formed XML"),
    ],
)
def test_what_is_not_there_is_named_with_its_line(old: str, new: str, message: str, tmp_path: Path) -> None:
    assert old in DOCENT
    path = written(tmp_path, DOCENT.replace(old, new, 1))
    with pytest.raises(InputError, match=message):
        read_docent(path)


def test_what_docent_asks_for_is_written(tmp_path: Path) -> None:
    """Sections in its order, what its models and operations need, two weights of the distortion model."""
    path = tmp_path / "model.toml"
    path.write_text(
        '[[phrase_table]]\npath = "a"\nweights = [1.0, 0.1]\n[search.operations]\nmove = 1.0\npermute = 1.0\n'
    )
    root = etree.fromstring(to_docent(load_config(path)))
    assert [child.tag for child in root] == ["random", "state-generator", "search", "models", "weights"]
    given = {model.get("type"): {p.get("name") for p in model} for model in root.iterfind("models/model")}
    # Docent's own filter-score-index is 2, which a table of two scores does not have.
    assert given["phrase-table"] == {"file", "nscores", "filter-score-index"}
    assert [weight.text for weight in root.iterfind("weights/weight[@model='Distortion']")] == ["0.3", "1e30"]
    operations = {one.get("type"): {p.get("name") for p in one} for one in root.iterfind("state-generator/operation")}
    assert operations == {
        "change-phrase-translation": set(),
        "swap-phrases": {"swap-distance-decay"},
        "resegment": {"phrase-resegmentation-decay"},
        "permute-phrases": {"phrase-permutation-decay"},
        "move-phrases": {"block-size-decay", "right-move-preference", "right-distance-decay", "left-distance-decay"},
    }
    search = {p.get("name"): p.text for p in root.iterfind("search/p")}
    assert search == {"max-steps": "100000", "schedule": "hill-climbing", "hill-climbing:max-rejected": "100000000"}


def test_what_docent_lacks_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "model.toml"
    path.write_text(
        '[[phrase_table]]\npath = "a"\nweights = [1.0]\n[search.operations]\ninsertion = 1.0\n[[reordering_model]]\n'
        'path = "o"\nweights = [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]\n'
    )
    assert run(["convert", str(path), "--to", "docent.xml"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "no lexicalised reordering" in err and "no operation insertion" in err
    assert run(["convert", str(path), "--to", "docent.xml", "--ignore"]) == 0
    assert "<docent>" in capsys.readouterr().out


def test_the_configuration_that_docent_was_measured_with(parity: Path, tmp_path: Path) -> None:
    """It says what configs/docent.toml says, but for files, names, and the table limit, which Docent does not apply."""
    target = tmp_path / "model.toml"
    assert run(["convert", str(parity / "newstest2012.en-fr" / "docent.xml"), "-o", str(target)]) == 0
    found, ours = load_config(target), load_config(Path(__file__).parents[2] / "configs" / "docent.toml")
    assert found.weights == ours.weights
    assert found.search.operations == ours.search.operations
    assert found.phrase_table[0].weights == ours.phrase_table[0].weights
    for key in ("compat", "first_jump", "chains", "steps", "distortion_limit", "initial"):
        assert getattr(found.search, key) == getattr(ours.search, key), key
