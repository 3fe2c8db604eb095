"""docs/features.md as a reader follows it: its code in a file, its settings in a model, and a search with them."""

from __future__ import annotations

import inspect
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import gpusearch
from gpusearch.candidates.samples import read_samples
from gpusearch.cli.main import run
from gpusearch.errors import InputError
from gpusearch.features.builtin import BUILT_IN
from gpusearch.features.counts import TABLES
from tests.features.page import FILE, blocks_of, write_blocks
from tests.features.user_features import AT, COMPILED
from tests.tiny import copy_tiny

TEXTS = [["le petit chien ne dort pas .", "la maison bleue"], ["une maison", "", "la maison"]]


@pytest.fixture
def page() -> str:
    return FILE.read_text(encoding="utf-8")


def followed(page: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model of the tests with the features of the page; its module in the working folder."""
    path = copy_tiny(folder, {"phrase-table": ("maison ||| home", "maison ||| dwelling")})
    write_blocks(page, folder)
    monkeypatch.chdir(folder)
    monkeypatch.delitem(sys.modules, "my_features", raising=False)
    return path


@pytest.fixture
def model(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return followed(page, tmp_path, monkeypatch)


def long_words(found: Any) -> int:
    return -sum(len(word) > 6 for sentence in found.best.sentences for word in sentence.words)


def test_the_page_takes_a_reader_to_a_running_feature(model: Path) -> None:
    """The command that it names, then the same search from Python: values are those of the page's first lines."""
    Path("documents.txt").write_text("le petit chien\nla maison\n", encoding="utf-8")
    assert run(["decode", "-c", "model.toml", "documents.txt", "-o", "out", "--quiet", "--chains", "2"]) == 0
    assert len(Path("out").read_text(encoding="utf-8").split("\n")) == 3
    decoder = gpusearch.load(model, ["features.long.weights=2.0"])
    decoded = decoder.decode(TEXTS, chains=2, steps_per_word=10.0, recombine="best-chain")
    features = decoder.model.features
    assert features.names[-3:] == ("long", "near.spread", "near.words")
    for found in decoded.result.documents:
        values = dict(zip(features.names, found.best.features.tolist(), strict=True))
        assert values["long"] == long_words(found)
        assert values["near.words"] == sum(len(sentence.words) for sentence in found.best.sentences)
        assert found.best.score == pytest.approx(found.chain_scores.max(), abs=1e-3)


def test_the_first_section_alone_is_enough(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In 20 lines, the command among them: a feature that is counted as the page says, and that leads the search."""
    section = page.partition("\n## ")[0]
    code = [line for _, text in blocks_of(section) for line in text.split("\n") if line.strip()]
    (command,) = re.findall(r"`gpusearch (decode [^`]*)`", section)
    assert 5 < len([*code, command]) <= 20
    followed(section, tmp_path, monkeypatch)
    Path("documents.txt").write_text("la maison\ndans une maison\n", encoding="utf-8")
    found = {}
    for weight in ("1", "-100"):
        settings = ["--set", f"features.long.weights={weight}", "--format", "jsonl", "-o", "out", "--quiet"]
        assert run([*shlex.split(command), *settings]) == 0
        (row,) = map(json.loads, Path("out").read_text(encoding="utf-8").splitlines())
        found[weight] = [segment["features"]["long"] for segment in row["segments"]]
        assert found[weight] == [-sum(len(word) > 6 for word in one["hyp"].split()) for one in row["segments"]]
    # "house", and "dwelling" where long words are wanted.
    assert found == {"1": [0, 0], "-100": [-1, -1]}


def test_the_table_of_the_page_has_all_options(page: str) -> None:
    """Each of `BUILT_IN` has a row, which names the options that it takes and no others."""
    named = {}
    for row in re.findall(r"^\| `.*", page.partition("\n## What is built in")[2], flags=re.MULTILINE):
        use, _, options = re.split(r"(?<!\\)\|", row)[1:4]
        if use.strip() == "`use`":
            continue
        names = re.findall(r"`([^`]+)`", use)
        if "..." in use:  # from the first to the last before the comma
            names += [f"coh{k}" for k in range(2, 4)]
        before_colons = [part.partition(":")[0] for part in options.split(";")]
        found = {option.split()[0] for part in before_colons for option in re.findall(r"`([^`]+)`", part)}
        named |= dict.fromkeys(names, found)
    assert named == {name: set(inspect.signature(kind).parameters) for name, kind in BUILT_IN.items()}


def test_the_page_names_all_tables_of_counts(page: str) -> None:
    _, _, behind = page.partition("| table | items |")
    rows, _, _ = behind.partition("\n\n")
    assert re.findall(r"^\| `(.*?)` \|", rows, flags=re.MULTILINE) == list(TABLES)


def test_a_change_says_the_same_as_two_values(model: Path) -> None:
    """Equal paths: the second form of the page's feature, and its first."""
    found = []
    for kind in ("LongWords", "LongWordsByChange"):
        decoder = gpusearch.load(model, [f"features.long.use=my_features:{kind}", "features.near.weights=[0.0, 0.0]"])
        decoded = decoder.decode(TEXTS, chains=3, steps_per_word=20.0)
        found.append(
            [(one.best.score, one.chain_scores.tolist(), one.steps.tolist()) for one in decoded.result.documents]
        )
    assert found[0] == found[1]


WRONG = (
    COMPILED
    + '''

class Forgetful:
    """Its change is that of another feature."""
    scope = "document"

    def full(self, state):
        return (state.words >= 0).sum(axis=1)

    def delta(self, state, proposal):
        return (proposal.added >= 0).sum(axis=1)


class Shapeless:
    scope = "document"

    def full(self, state):
        return [[1, 2]] * len(state)


class Aimless:
    def full(self, state):
        return [0] * len(state)


class Low:
    scope = "document"

    def full(self, state):
        return (state.words >= 0).sum(axis=1)

    def bound(self, state, proposal):
        return [-99.0] * len(state)


class Grown(Compiled):
    def full(my, problem, search, state, scratch, lane):
        return state.length[lane, 0] << 20
'''
)


@pytest.mark.parametrize(
    ("use", "message"),
    [
        ("wrong:Forgetful", rf"delta of feature x is not the difference of full {AT}"),
        ("wrong:Grown", rf"delta of feature x is not the difference of full {AT}"),
        ("wrong:Shapeless", r"full of feature x; found shape \(\d+, 2\)"),
        ("wrong:Aimless", "feature x has no scope"),
        ("wrong:Low", r"bound of feature x lies below its change at proposal"),
        ("wrong:Nobody", "wrong has no Nobody"),
        ("nowhere:Nobody", "cannot import nowhere"),
    ],
)
def test_what_is_wrong_with_a_feature_is_said_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, use: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("wrong.py").write_text(WRONG, encoding="utf-8")
    monkeypatch.delitem(sys.modules, "wrong", raising=False)
    # What is compiled in this process is not to be kept apart for it: the check is interpreted.
    monkeypatch.setattr("gpusearch.features.compiled.add_source", lambda source: None)
    with pytest.raises(InputError, match=message):
        gpusearch.load(copy_tiny(tmp_path), [f"features.x={use}"]).decode(TEXTS, chains=1)


@pytest.mark.parametrize("settings", [{"method": "gibbs"}, {"policy": "tempering"}])
def test_features_in_python_are_sampled(model: Path, settings: dict[str, Any]) -> None:
    """Both forms of the page's feature give equal chains, whose values are those of their texts."""
    found = []
    for kind in ("LongWords", "LongWordsByChange"):
        decoder = gpusearch.load(model, [f"features.long.use=my_features:{kind}", "features.near.weights=[0.0, 0.0]"])
        decoded = decoder.decode(TEXTS, chains=8, steps_per_word=10.0, **settings)
        place = decoder.model.features.index("long")
        for one in decoded.result.documents:
            assert one.best.features[place] == long_words(one)
        found.append([(one.best.score, one.chain_scores.tolist()) for one in decoded.result.documents])
    assert found[0] == found[1]


def test_samples_have_the_values_of_features_in_python(model: Path) -> None:
    """`gpusearch sample` by each of its methods."""
    Path("documents.txt").write_text("le petit chien\nla maison\n", encoding="utf-8")
    short = [
        "--chains",
        "2",
        "--iterations",
        "6",
        "--burn-in",
        "2",
        "--scale",
        "0.2",
        "--set",
        "features.near.weights=[0.0, 0.0]",
    ]
    place = gpusearch.load(model).model.features.index("long")
    for method in ("gibbs", "metropolis", "tempering"):
        command = ["sample", "-c", "model.toml", "documents.txt", "-o", method, "--method", method, "--quiet"]
        assert run([*command, *short]) == 0
        for unit in read_samples(Path(method)):
            found = [unit.of_sentence(sentence).texts for sentence in range(len(unit.sources))]
            words = [" ".join(texts).split() for texts in zip(*found, strict=True)]
            long = [-sum(len(word) > 6 for word in sample) for sample in words]
            assert unit.features[:, :, place].ravel().tolist() == long
            assert len(set(long)) > 1


def test_features_in_python_are_asked_on_the_host(model: Path) -> None:
    with pytest.raises(InputError, match="feature long is asked on the host; found device = cuda"):
        gpusearch.load(model).decode(TEXTS, device="cuda")
    with pytest.raises(InputError, match=r"feature long is written in Python; found policy = .sweep"):
        gpusearch.load(model).decode(TEXTS, policy="sweep")


@pytest.mark.slow  # compiles the kernels with the feature, in processes of their own
def test_the_compiled_form_takes_the_same_path(model: Path) -> None:
    """The second run of it finds its kernels in the cache."""
    Path("documents.txt").write_text("\n".join(TEXTS[0]) + "\n", encoding="utf-8")
    scores = []
    for kind in ("LongWordsByChange", "LongWordsCompiled", "LongWordsCompiled"):
        text = Path("model.toml").read_text(encoding="utf-8").split("[features]")[0]
        Path("one.toml").write_text(f'{text}[features]\nlong = "my_features:{kind}"\n', encoding="utf-8")
        command = [sys.executable, "-m", "gpusearch.cli", "decode", "-c", "one.toml", "documents.txt", "-o", "out",
                   "--chains", "3", "--score-file", "scores"]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        scores.append(Path("scores").read_text(encoding="utf-8"))
        compiled = "compiling kernels" in done.stderr
    assert scores[0] == scores[1] == scores[2]
    assert not compiled
