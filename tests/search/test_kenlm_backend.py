"""Searches with KenLM on the host against the same searches with the device's own language model."""

from __future__ import annotations

import math
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import gpusearch
from gpusearch.config import load_config
from gpusearch.errors import InputError
from gpusearch.model import kenlm_pool
from gpusearch.model.host_answers import HostAnswers
from gpusearch.model.kenlm_host import HostLanguageModel
from gpusearch.model.language_model import LanguageModel
from gpusearch.model.model import Model, load_model
from gpusearch.search.device import device_of
from gpusearch.search.result import SearchResult
from gpusearch.search.signature import model_hash
from tests.kenlm_oracle import quiet
from tests.parity_model import newstest_documents, write_newstest
from tests.search.runs import Documents, outcome, search

pytest.importorskip("kenlm")

DATA = Path(__file__).parents[1] / "model" / "data"
TINY = Path(__file__).parents[1] / "data" / "tiny" / "model.toml"
TINY_DOCUMENTS: Documents = [
    [text.split() for text in ("le petit chien ne dort pas dans la maison .", "la maison bleue", "", "zz dort .")],
    [["une", "maison", "bleue", "."]],
]
KENLM = "language_model.LM0.backend=kenlm"


def loaded(path: Path, *overrides: str) -> Model:
    return load_model(load_config(path, overrides))


def texts_of_chains(result: SearchResult) -> list[list[str]]:
    """Target words of every sentence of every chain."""
    return [
        [word for _, _, words in sentence for word in words]
        for document in result.documents
        for chain in document.chains
        for sentence in chain
        if sentence
    ]


def scores(model: LanguageModel, texts: Sequence[Sequence[str]]) -> np.ndarray:
    """ln P of each text."""
    lengths = np.array([len(text) for text in texts])
    ids = np.zeros((len(texts), max(lengths)), np.int32)
    for row, text in enumerate(texts):
        ids[row, : len(text)] = model.index(text)
    return model.score(ids, lengths)


def assert_backends_agree(device: Model, host: Model, found: tuple[SearchResult, SearchResult]) -> None:
    """Final states rescored by the other: 1e-5 a word. Totals: 0.1 %, since a near-tie may part the paths."""
    for result in found:
        texts = texts_of_chains(result)
        words = np.array([len(text) + 1 for text in texts])
        theirs, mine = (scores(model.language_models[0], texts) for model in (device, host))
        assert (np.abs(theirs - mine) <= 1e-5 * words).all()
    totals = [sum(document.best.score for document in result.documents) for result in found]
    assert totals[0] == pytest.approx(totals[1], rel=1e-3)


@pytest.mark.parametrize("bound_order", [None, 1, 2, 3])
def test_backends_agree_on_a_small_model(bound_order: int | None) -> None:
    overrides = [KENLM] if bound_order is None else [KENLM, f"language_model.LM0.bound_order={bound_order}"]
    device, host = loaded(TINY), loaded(TINY, *overrides)
    with host:
        found = tuple(search(model, TINY_DOCUMENTS, chains=8, steps_per_word=60) for model in (device, host))
        assert_backends_agree(device, host, found)  # type: ignore[arg-type]  # two of them
        assert [len(document.chain_scores) for document in found[1].documents] == [8, 8]


@pytest.mark.parametrize("compat", ["none", pytest.param("docent", marks=pytest.mark.slow)])
def test_backends_agree_on_a_parity_document(newstest_model: Model, parity: Path, tmp_path: Path, compat: str) -> None:
    documents = newstest_documents(parity)[:2]
    with loaded(write_newstest(tmp_path, parity), KENLM, "language_model.LM0.bound_order=3") as host:
        found = tuple(search(model, documents, compat=compat, threads=2) for model in (newstest_model, host))
        assert_backends_agree(newstest_model, host, found)  # type: ignore[arg-type]  # two of them


@pytest.mark.slow
def test_backends_agree_on_all_parity_documents(newstest_model: Model, parity: Path, tmp_path: Path) -> None:
    documents = newstest_documents(parity)
    with loaded(write_newstest(tmp_path, parity), KENLM, "language_model.LM0.bound_order=2") as host:
        found = tuple(
            search(model, documents, chains=16, steps_per_word=100, threads=2) for model in (newstest_model, host)
        )
        assert_backends_agree(newstest_model, host, found)  # type: ignore[arg-type]  # two of them


def small_model(folder: Path, form: str, *, second: bool = False, weight: float = 0.7) -> Path:
    """A configuration with a language model of ``tests/model/data`` in some form, and a table made for it."""
    rng = np.random.default_rng(4)
    words = ["le", "chat", "dort", "sur", "la", "table", "été", "zut"]
    rows = []
    for length in (1, 2):
        for number in range(8 - length):
            source = " ".join(f"s{n}" for n in range(number, number + length))
            for _ in range(5):
                target = " ".join(rng.choice(words, int(rng.integers(0, 4))))
                rows.append(f"{source} ||| {target} ||| {rng.uniform(0.01, 1):.4f}")
    (folder / "table").write_text("\n".join(dict.fromkeys(rows)) + "\n", encoding="utf-8")
    for name in ("small.arpa", f"small.{form}"):
        shutil.copyfile(DATA / name, folder / name)
    text = '[[phrase_table]]\npath = "table"\nweights = [0.2]\ncache = false\n'
    text += f'\n[[language_model]]\nweight = {weight}\npath = "small.{form}"\nbackend = "kenlm"\n'
    if second:
        text += '\n[[language_model]]\nweight = -0.3\npath = "small.arpa"\n'
    path = folder / f"{form}.toml"
    path.write_text(text, encoding="utf-8")
    return path


SMALL_DOCUMENTS: Documents = [[[f"s{n}" for n in (0, 1, 2, 3, 4, 5, 6, 3, 4)], ["s1", "zz", "s2"], [], ["s6"]]]


def test_every_form_of_file_leads_the_same_search(tmp_path: Path) -> None:
    """ARPA, probing and trie hold the same numbers; a quantised trie holds others."""
    found = {}
    for form in ("arpa", "probing", "trie", "quantised"):
        with loaded(small_model(tmp_path, form)) as model:
            found[form] = search(model, SMALL_DOCUMENTS, chains=6, steps_per_word=40)
        assert found[form].complete
    assert outcome(found["probing"]) == outcome(found["arpa"])
    assert outcome(found["trie"]) == outcome(found["arpa"])
    assert outcome(found["quantised"]) != outcome(found["arpa"])


def test_the_reported_score_is_kenlms_own(tmp_path: Path) -> None:
    oracle = quiet(DATA / "small.quantised")
    with loaded(small_model(tmp_path, "quantised")) as model:
        result = search(model, SMALL_DOCUMENTS)
        place = model.features.index("LM0")
        for document in result.documents:
            for sentence in document.best.sentences:
                if sentence.phrases:
                    expected = oracle.score(" ".join(sentence.words)) * math.log(10)
                    assert sentence.features[place] == pytest.approx(expected, abs=2e-5)


@pytest.mark.parametrize("weight", [0.7, -0.4])
def test_a_model_on_the_host_beside_one_on_the_device(tmp_path: Path, weight: float) -> None:
    """Weights of either sign; the host's model against the same model as ARPA on the device."""
    path = small_model(tmp_path, "trie", second=True, weight=weight)
    text = path.read_text(encoding="utf-8").replace('"kenlm"', '"device"').replace("small.trie", "small.arpa")
    (tmp_path / "device.toml").write_text(text, encoding="utf-8")
    device = loaded(tmp_path / "device.toml")
    with loaded(path) as host:
        found = tuple(search(model, SMALL_DOCUMENTS, chains=6, steps_per_word=40) for model in (device, host))
        assert_backends_agree(device, host, found)  # type: ignore[arg-type]  # two of them


def test_an_interrupt_leaves_a_translation(tmp_path: Path) -> None:
    ticks = 0

    def status(done: int, text: str) -> None:
        nonlocal ticks
        ticks += 1
        if ticks == 2:
            raise KeyboardInterrupt

    with loaded(small_model(tmp_path, "probing")) as model:
        result = search(model, SMALL_DOCUMENTS, steps=1 << 40, more={"status": status})
        assert result.interrupted and not result.complete
        assert all(sentence.words for sentence in result.documents[0].best.sentences[:2])
        assert search(model, SMALL_DOCUMENTS).complete


@pytest.mark.complaint(28)
def test_a_missing_kenlm_is_explained_where_the_configuration_asks_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """And only there: the same model decodes on the device without it."""
    monkeypatch.setattr(kenlm_pool.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"the KenLM module is not installed; install it \(pip install"):
        gpusearch.load(TINY, [KENLM])
    assert gpusearch.load(TINY).decode([["une maison"]], chains=2, device="cpu").texts == [["a house"]]


def test_a_gpu_cannot_ask_on_the_host() -> None:
    with HostLanguageModel.open(DATA / "small.trie", processes=1) as model:
        assert HostAnswers([model])
        with pytest.raises(InputError, match=r"found device = cuda; set backend"):
            device_of("cuda", [model])
        assert device_of("auto", [model]) == device_of("cpu", [model]) == "cpu"


def test_the_signature_tells_models_on_the_host_apart(tmp_path: Path) -> None:
    """By the file, not by the bounds, which change no result."""
    hashes = []
    for form, overrides in (("trie", []), ("arpa", []), ("arpa", ["language_model.LM0.bound_order=2"])):
        with loaded(small_model(tmp_path, form), *overrides) as model:
            hashes.append(model_hash(model))
    assert hashes[0] != hashes[1] == hashes[2]
