"""Language models of features' own: reverse-lm and gappy-lm by hand, against plain dictionaries, and their faults."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gpusearch
from gpusearch.cli.main import run
from gpusearch.errors import InputError
from gpusearch.features.gappy_lm import GappyLanguageModel, gappy_language_model
from gpusearch.features.protocol import Scope
from gpusearch.features.reverse_lm import ReverseLanguageModel, reverse_language_model
from gpusearch.features.sequence_lm import OwnModel
from gpusearch.model.language_model import LanguageModel
from gpusearch.train.language_model import train_language_model
from tests.backoff_model import TINY as MODEL
from tests.backoff_model import UNIT, BackoffModel, backoff_models
from tests.features.documents import document
from tests.features.walks import DOCUMENTS, walk
from tests.tiny import TINY

LN10 = math.log(10)
SENTENCES = st.lists(st.lists(st.sampled_from(["a", "b", "c", "z"]), max_size=5), max_size=5)


@pytest.fixture
def arpa(tmp_path: Path) -> Path:
    """Orders 1 to 3 over a and b: tests/backoff_model.py."""
    return MODEL.write(tmp_path / "lm.arpa")


def test_a_sentence_is_read_from_its_end(arpa: Path) -> None:
    """p(a | <s>) p(b | <s> a) p(</s> | a b), the next p(</s> | <s>); an empty sentence says nothing."""
    feature = reverse_language_model(arpa)
    assert feature.value(document("x = b | y = a")) == pytest.approx(LN10 * (-0.2 - 0.05 - 0.15), abs=1e-5)
    deleted = LN10 * (-0.5 - 1.0)
    assert feature.value(document("x =")) == pytest.approx(deleted, abs=1e-5)
    both = feature.value(document("x = b a", "", "x ="))
    assert both == pytest.approx(LN10 * -0.4 + deleted, abs=1e-5)
    assert feature.value(document("")) == 0


def test_selected_words_are_read_across_sentences(arpa: Path) -> None:
    """p(a | <s>) p(b | <s> a) without </s>, whatever stands between; inside sentences p(a | <s>) p(b | <s>)."""
    text = document("x = c a | y = c", "", "x = c c", "x = z b")
    across = gappy_language_model(arpa, ["a", "b"])
    assert across.values(text) == pytest.approx([LN10 * (-0.2 - 0.05), 2], abs=1e-5)
    inside = gappy_language_model(arpa, ["a", "b"], sentence_internal=True)
    assert inside.values(text) == pytest.approx([LN10 * (-0.2 - 0.5 - 0.75), 2], abs=1e-5)
    assert (across.scope, inside.scope) == (Scope.DOCUMENT, Scope.SENTENCE)
    assert across.values(document("x = c")) == [0, 0]


def test_case_may_be_ignored(arpa: Path) -> None:
    text = document("x = A | y = C b")
    assert gappy_language_model(arpa, ["a", "b"]).values(text)[1] == 1
    assert gappy_language_model(arpa, ["A", "b"], lowercase=True).values(text) == pytest.approx(
        [LN10 * (-0.2 - 0.05), 2], abs=1e-5
    )


@given(backoff_models(), SENTENCES)
def test_values_are_those_of_the_turned_and_of_the_selected_words(model: BackoffModel, texts: list[list[str]]) -> None:
    """Against plain dictionaries; words that the model lacks (z) are unknown ones."""
    own = OwnModel(LanguageModel.from_arpa(model.arpa()))
    text = document(*("x = " + " ".join(words) for words in texts))
    turned = sum(sum(model.values(words[::-1], bos=True, eos=True)) for words in texts)
    assert ReverseLanguageModel(own).value(text) == pytest.approx(turned / UNIT)
    selected = [[word for word in words if word in "az"] for words in texts]
    joined = [word for words in selected for word in words]
    across = GappyLanguageModel(own, frozenset("az"))
    assert across.values(text) == pytest.approx([sum(model.values(joined, bos=True, eos=False)) / UNIT, len(joined)])
    inside = GappyLanguageModel(own, frozenset("az"), sentence_internal=True)
    apart = sum(sum(model.values(words, bos=True, eos=False)) for words in selected)
    assert inside.values(text) == pytest.approx([apart / UNIT, len(joined)])


@pytest.mark.parametrize("sign", ["", "-"])
@pytest.mark.parametrize("share", [2, 5])
def test_kernels_keep_the_values_of_texts(tmp_path: Path, sign: str, share: int) -> None:
    """At any step of a walk, to the last bit: sums of the same integers."""
    lm = TINY.parent / "lm.arpa"
    words = sorted(LanguageModel.from_arpa(lm, cache=False).vocabulary)[::share]
    settings = [f"features.back={{use='reverse-lm', path='{lm}', weights={sign}0.5}}"]
    for name, inside in (("gap", "false"), ("inner", "true")):
        options = f"{{words={words}, sentence_internal={inside}}}"
        settings.append(f"features.{name}={{use='gappy-lm', path='{lm}', weights=[{sign}0.3, 0.1], options={options}}}")
    seen = []
    for kept, of_text in walk(settings):
        np.testing.assert_allclose(kept, of_text, rtol=0, atol=1e-9)
        seen.append(kept.tolist())
    assert len({tuple(values) for values in seen}) > len(seen) // 2
    assert all(values[1] != values[3] for values in seen[2:])  # histories do cross sentences


def test_a_trained_model_knows_which_end_a_text_has(tmp_path: Path) -> None:
    """From the texts' own words: `train-lm --reverse` and the feature turn sentences around in the same way."""
    texts = [text for text in DOCUMENTS[0] if text] * 3
    (tmp_path / "text").write_text("\n".join(texts) + "\n", encoding="utf-8")
    (tmp_path / "turned").write_text("\n".join(" ".join(text.split()[::-1]) for text in texts) + "\n", encoding="utf-8")
    train_language_model([tmp_path / "text"], 3, tmp_path / "one.arpa", reverse=True, threads=1)
    train_language_model([tmp_path / "turned"], 3, tmp_path / "two.arpa", threads=1)
    text = document(*(f"x = {text}" for text in DOCUMENTS[0] if text))
    feature = reverse_language_model(tmp_path / "one.arpa")
    expected = OwnModel(LanguageModel.from_arpa(tmp_path / "two.arpa"))
    value = expected.score([sentence.words[::-1] for sentence in text], ends=True)
    assert feature.value(text) == value
    assert value > expected.score([sentence.words for sentence in text], ends=True)


def test_features_of_other_models_and_words_are_told_apart(tmp_path: Path, arpa: Path) -> None:
    other = BackoffModel({**MODEL.ngrams, ("a", "b"): (-0.41, -0.1)}, 3).write(tmp_path / "other.arpa")
    made = [
        reverse_language_model(arpa),
        reverse_language_model(other),
        gappy_language_model(arpa, ["a"]),
        gappy_language_model(arpa, ["a", "b"]),
        gappy_language_model(arpa, ["a"], lowercase=True),
        gappy_language_model(arpa, ["a"], sentence_internal=True),
    ]
    assert len({feature.fingerprint() for feature in made}) == len(made)
    assert gappy_language_model(arpa, ["b", "a"]).fingerprint() == made[3].fingerprint()


def test_words_may_stand_in_a_file_beside_the_model(tmp_path: Path, arpa: Path) -> None:
    (tmp_path / "words").write_text("a\n\nb\n", encoding="utf-8")
    assert gappy_language_model(arpa, "words").selected == {"a", "b"}
    assert gappy_language_model(arpa, str(tmp_path / "words")).selected == {"a", "b"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a\nb c\n", "{words}:2: more than a selected word; found b c; expected a word a line"),
        ("\n", "{words}: no selected words; expected a word a line"),
        (
            "A\nB\n",
            "{arpa}: a language model without any of the selected words; found A B; expected words that it was trained "
            "on; lowercase = true looks words up in lower case",
        ),
        (None, "{words}: cannot read the file (No such file or directory)"),
    ],
)
def test_faults_of_the_file_of_words(tmp_path: Path, arpa: Path, content: str | None, message: str) -> None:
    path = tmp_path / "words"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    with pytest.raises(InputError) as fault:
        gappy_language_model(arpa, "words")
    assert str(fault.value) == message.format(words=path, arpa=arpa)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("use='reverse-lm'", "feature x needs path; give it in [features.x]"),
        ("use='gappy-lm', path='{arpa}', weights=[1, 1]", "feature x needs words; give it in [features.x]"),
        (
            "use='gappy-lm', path='{arpa}', options={{words=['a']}}",
            "the weights of feature x; found 1 weights; expected 2",
        ),
        (
            "use='gappy-lm', path='{arpa}', weights=[1, 1], options={{words=[]}}",
            "unusable words of gappy-lm; found []; expected a file, or a list of words",
        ),
        (
            "use='gappy-lm', path='{arpa}', weights=[1, 1], options={{words=['a b']}}",
            "unusable words of gappy-lm; found ['a b']; expected a file, or a list of words",
        ),
        (
            "use='gappy-lm', path='{arpa}', weights=[1, 1], options={{words=['a'], lowercase='yes'}}",
            "unusable lowercase of gappy-lm; found 'yes'; expected true or false",
        ),
        ("use='reverse-lm', path='{none}'", "{none}: cannot read the file (No such file or directory)"),
    ],
)
def test_faults_of_the_configuration(tmp_path: Path, arpa: Path, settings: str, message: str) -> None:
    names = {"arpa": str(arpa), "none": str(tmp_path / "none.arpa")}
    with pytest.raises(InputError, match=re.escape(message.format(**names)) + "$"):
        gpusearch.load(TINY, [f"features.x={{{settings.format(**names)}}}"])


def test_a_file_that_is_no_arpa_file(tmp_path: Path) -> None:
    (tmp_path / "text").write_text("a b\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"text:1: .*\\data\\"):
        reverse_language_model(tmp_path / "text")


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """All three that look along a document, with the files that they need."""
    folder = tmp_path_factory.mktemp("models")
    (folder / "text").write_text("the blue house\na house .\nthe little dog does not sleep .\n" * 2, encoding="utf-8")
    train_language_model([folder / "text"], 3, folder / "back.arpa", reverse=True, threads=1)
    (folder / "words").write_text("house\nhome\ndog\npuppy\n", encoding="utf-8")
    gap = f"path='{TINY.parent / 'lm.arpa'}', weights=[0.5, 0.1], options={{words='{folder / 'words'}'}}"
    return [
        f"features.back={{use='reverse-lm', path='{folder / 'back.arpa'}', weights=0.3}}",
        f"features.gap={{use='gappy-lm', {gap}}}",
        "features.cache={use='cache', weights=0.4, options={letters=0}}",
        "search.recombine=best-unit",
    ]


@pytest.mark.slow  # compiles the kernels with the features
def test_searches_follow_them(settings: list[str]) -> None:
    """The scores of the search are those that are reported; a cache that counts much makes a text alike."""
    texts = [["la maison bleue", "une maison .", "", "la maison", "le petit chien ne dort pas ."]]
    decoder = gpusearch.load(TINY, settings)
    found = decoder.decode(texts, chains=4, steps_per_word=50.0).result.documents[0]
    assert found.best.score == pytest.approx(found.chain_scores.max(), abs=1e-4)
    names = decoder.model.features
    values = dict(zip(names.names, found.best.features.tolist(), strict=True))
    words = [word for sentence in found.best.sentences for word in sentence.words]
    assert values["gap.words"] == sum(word in ("house", "home", "dog", "puppy") for word in words)
    assert values["back"] < 0 and values["gap.score"] < 0
    caches = []
    for weight in (-20, 20):
        heavy = gpusearch.load(TINY, [*settings, f"features.cache.weights={weight}"])
        best = heavy.decode(texts, chains=4, steps_per_word=50.0).result.documents[0].best
        caches.append(float(best.features[heavy.model.features.index("cache")]))
    assert caches[0] < caches[1]


@pytest.mark.slow  # the same kernels
def test_commands_take_them(
    settings: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is decoded is scored as the text says: house and dog are among the selected words."""
    monkeypatch.chdir(tmp_path)
    Path("in").write_text("la maison bleue\nune maison\n", encoding="utf-8")
    given_settings = [f"--set={setting}" for setting in settings]
    assert run(["decode", "-c", str(TINY), *given_settings, "in", "--chains", "2", "--quiet", "-o", "out"]) == 0
    assert run(["score", "-c", str(TINY), *given_settings, "--translation", "out", "in"]) == 0
    words = Path("out").read_text(encoding="utf-8").split()
    *_, whole = [json.loads(line) for line in capsys.readouterr().out.split("\n")[:-1]]
    assert whole["features"]["gap"][1] == sum(word in ("house", "home", "dog", "puppy") for word in words) > 0
    assert whole["features"]["gap"][0] < 0 and whole["features"]["back"] < 0
