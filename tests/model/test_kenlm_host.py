"""KenLM on the host: every form of file, bounds for the device, processes that end when they should."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.config import LanguageModelConfig
from gpusearch.errors import GpusearchError, InputError
from gpusearch.io.arpa import read_arpa
from gpusearch.model import kenlm_pool
from gpusearch.model.backends import open_language_model
from gpusearch.model.bound_model import bound_model, no_bound
from gpusearch.model.host_answers import HostAnswers
from gpusearch.model.kenlm_host import HostLanguageModel, windows
from gpusearch.model.kenlm_pool import KenlmPool
from gpusearch.model.kenlm_vocabulary import read_words
from gpusearch.model.kenlm_worker import Answers
from gpusearch.model.language_model import LanguageModel
from tests.backoff_model import BackoffModel, backoff_models
from tests.kenlm_oracle import matrix, quiet

kenlm = pytest.importorskip("kenlm")

# small.arpa and what KenLM's build_binary made of it: probing, trie, trie -q 4 -b 4 -a 8, probing -v (no words).
DATA = Path(__file__).parent / "data"
FORMS = ["arpa", "probing", "trie", "quantised"]
TEXTS = ["le chat dort sur la table", "été zz le chat", "", "la", "table table table <unk> le chat dort </s> le"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bos", [True, False])
@pytest.mark.parametrize("eos", [True, False])
def test_every_form_of_file_scores_as_kenlm_scores_it(form, bos, eos):
    path = DATA / f"small.{form}"
    oracle = quiet(path)
    texts = [text.split() for text in TEXTS]
    with HostLanguageModel.open(path, processes=1) as model:
        assert model.order == 4
        values = model.score_words(*matrix(model, texts), bos=bos, eos=eos)
        total = model.score(*matrix(model, texts), bos=bos, eos=eos)
    for row, text in enumerate(TEXTS):
        expected = [p * math.log(10) for p, _, _ in oracle.full_scores(text, bos=bos, eos=eos)]
        np.testing.assert_allclose(values[row, : len(expected)], expected, rtol=0, atol=1e-6)
        assert total[row] == pytest.approx(sum(expected), abs=1e-5)


@pytest.mark.parametrize("form", FORMS)
def test_words_are_found_in_every_form_of_file(form):
    expected = {"<unk>", "<s>", "</s>", "le", "chat", "dort", "sur", "la", "table", "été"}
    words = read_words(DATA / f"small.{form}")
    assert set(words) == expected
    assert len(words) == len(expected)


def test_backends_agree_on_the_references(parity):
    """Within 1e-5 a word: text, and options with nothing on their left."""
    folder = parity / "newstest2012.en-fr"
    device = LanguageModel.from_arpa(folder / "lm.arpa.gz", cache=False)
    texts = [line.split() for line in (folder / "docs.ref.txt").read_text().split("\n")[:-1]]
    with HostLanguageModel.open(folder / "lm.arpa.gz", processes=2) as host:
        ids, lengths = matrix(device, texts)
        np.testing.assert_array_equal(ids, matrix(host, texts)[0])
        expected = device.score_words(ids, lengths)
        np.testing.assert_allclose(host.score_words(ids, lengths), expected, rtol=0, atol=1e-5)
        words = np.concatenate([host.index(text) for text in texts])
        offsets = np.arange(0, len(words) + 1, 5)
        estimate = host.phrase_bounds(words[: offsets[-1]], offsets).estimate
        expected = device.phrase_bounds(words[: offsets[-1]], offsets).estimate
        np.testing.assert_allclose(estimate / 2**20, expected / 2**20, rtol=0, atol=5e-5)


def test_questions_are_asked_once():
    with KenlmPool(DATA / "small.trie", processes=1) as pool:
        queries = np.array([[3, 4], [3, 5], [3, 4], [-1, 4], [3, 4]], np.int32)
        first = pool.score(queries)
        assert (pool.asked, pool.answered) == (5, 3)
        assert first[0] == first[2] == first[4]
        np.testing.assert_array_equal(pool.score(queries[::-1]), first[::-1])
        assert (pool.asked, pool.answered) == (10, 3)


@pytest.mark.parametrize("memo", [1, 7, 1 << 12])
def test_a_memo_that_forgets_changes_no_answer(memo):
    """One place, or few, for all questions; many questions more than once; one process and three."""
    rng = np.random.default_rng(memo)
    queries = rng.integers(0, 10, (6, 1000, 4)).astype(np.int32)
    queries[rng.random(queries.shape[:2]) < 0.3, 0] = -1
    oracle = quiet(DATA / "small.probing")
    answers = Answers(kenlm, oracle)
    answers.words = read_words(DATA / "small.probing")
    with KenlmPool(DATA / "small.probing", processes=3, memo=memo) as pool:
        for batch in queries:
            expected = np.rint(answers.answer(batch)[0] * math.log(10) * 2**20)
            np.testing.assert_array_equal(pool.score(batch), expected)


def test_states_kept_from_one_question_serve_the_next(monkeypatch):
    """A text word by word needs no state twice: the one behind a word is the one in front of the next."""
    model = quiet(DATA / "small.arpa")
    answers = Answers(kenlm, model)
    answers.words = read_words(DATA / "small.arpa")
    text = [answers.words.index(word) for word in ["<s>", "le", "chat", "dort", "sur", "la", "table", "</s>"]]
    rows = windows(np.array(text, np.int32), np.zeros(len(text), np.int64), 4)[1:]
    expected = [p for p, _, _ in model.full_scores("le chat dort sur la table")]
    np.testing.assert_allclose(answers.answer(rows)[0], expected, rtol=1e-6)
    made = []
    monkeypatch.setattr(answers, "_state", lambda context: made.append(context))
    answers.answer(rows)
    assert made == []


def test_windows_stop_at_the_start_of_their_text():
    words, start = np.array([5, 6, 7, 8], np.int32), np.array([0, 0, 2, 2])
    assert windows(words, start, 3).tolist() == [[-1, -1, 5], [-1, 5, 6], [-1, -1, 7], [-1, 7, 8]]
    assert windows(words, np.array([1]), 2, np.array([3])).tolist() == [[7, 8]]


def assert_bounds_kenlm(small: LanguageModel, full: LanguageModel, ids, split: int, exact) -> None:
    """`exact`: value of the last word of each row behind the whole context."""
    rows, order = ids[:, split:], ids.shape[1]
    offsets = np.arange(0, rows.size + 1, rows.shape[1])
    bound = small.phrase_bounds(rows.reshape(-1), offsets).word_bound.reshape(rows.shape)[:, -1]
    assert (small.sign * bound >= small.sign * exact).all()
    if order - split >= small.order:  # as much context as the small model takes: its values bound as well
        value = small.score_words(rows, np.full(len(rows), rows.shape[1]), bos=False, eos=False)[:, -2]
        assert (small.sign * np.rint(value * 2**20) >= small.sign * exact).all()


@pytest.mark.parametrize("weight", [1.0, -1.0])
@pytest.mark.parametrize("order", [1, 2, 3, 5, 9])
def test_a_bound_of_any_order_holds_for_every_ngram(parity, order, weight, repetitions):
    """Against KenLM's own values, under every truncation of the context."""
    path = parity / "kneser-ney" / "lm.o5.arpa.gz"
    arpa = read_arpa(path, cache=False)
    full = LanguageModel.from_arpa(arpa, weight=weight)
    small = bound_model(full, order)
    assert small.order == min(order, 5)
    assert len(small.language.slot) <= len(full.language.slot) + 8
    answers = Answers(kenlm, quiet(path))
    answers.words = arpa.vocabulary[:]
    rng = np.random.default_rng(order)
    for ids in arpa.ids:
        ids = ids[rng.permutation(len(ids))[: repetitions(20_000)]]
        padded = np.concatenate((np.full((len(ids), 5 - ids.shape[1]), -1, np.int32), ids), axis=1)
        exact = np.rint(answers.answer(padded)[0] * math.log(10) * 2**20)
        for split in range(ids.shape[1]):
            assert_bounds_kenlm(small, full, ids, split, exact)


@given(backoff_models(orders=(1, 4)), st.integers(1, 4), st.sampled_from([1, -1]), st.data())
def test_a_bound_of_any_order_holds_in_every_context(oracle, order, sign, data):
    """Random models, positive backoffs and missing parts: against all contexts there are."""
    small = bound_model(LanguageModel.from_arpa(oracle.arpa(), weight=float(sign)), order)
    words = data.draw(st.lists(st.sampled_from(small.vocabulary), min_size=1, max_size=5))
    bounds = small.phrase_bounds(small.index(words), np.array([0, len(words)])).word_bound
    for place, word in enumerate(words):
        assert sign * bounds[place] >= sign * oracle.extreme(tuple(words[:place]), word, sign)
    values = small.score_words([small.index(words)], [len(words)])[0] * 2**20
    for value, exact in zip(values.tolist(), oracle.values(words, bos=True, eos=True), strict=True):
        assert sign * value >= sign * exact


def test_a_higher_bound_order_bounds_tighter(parity):
    """What the user pays memory for."""
    arpa = read_arpa(parity / "kneser-ney" / "lm.o5.arpa.gz", cache=False)
    full = LanguageModel.from_arpa(arpa)
    words = arpa.ids[4].reshape(-1)
    offsets = np.arange(0, len(words) + 1, 5)
    means = [bound_model(full, k).phrase_bounds(words, offsets).word_bound.mean() / 2**20 for k in (1, 2, 3, 4, 5)]
    assert means == sorted(means, reverse=True)
    assert means[0] > means[1] + 0.1 > means[2] + 0.1
    exact = full.phrase_bounds(words, offsets).word_bound.mean() / 2**20
    assert means[-1] == pytest.approx(exact, abs=1e-4)


@pytest.mark.parametrize(("sign", "bound"), [(1, 0), (-1, -2047 << 20)])
def test_without_an_arpa_the_bound_is_nought(sign, bound):
    with HostLanguageModel.open(DATA / "small.trie", weight=float(sign), processes=1) as model:
        words = model.index(["le", "chat", "zz"])
        bounds = model.phrase_bounds(words, np.array([0, 2, 2, 3]))
        assert bounds.word_bound.tolist() == [bound] * 3
        assert bounds.open.tolist() == [-1, 0, -1]
        assert (bounds.estimate < 0).tolist() == [True, False, True]
        assert no_bound(model.vocabulary[:], sign).order == 1


def test_a_probability_above_1_needs_a_bound_from_the_file(tmp_path):
    """Backoffs above 0 may make one. Without bound_order the search would take ln P <= 0 for granted."""
    path = tmp_path / "odd.arpa"
    path.write_text(
        "\\data\\\nngram 1=4\nngram 2=1\n\n\\1-grams:\n-2\t<unk>\t0\n-99\t<s>\t0\n-0.1\tx\t0.8\n-0.5\t</s>\n\n"
        "\\2-grams:\n-1\t<s> x\n\n\\end\\\n"
    )
    with HostLanguageModel.open(path, processes=1) as model:
        answers, x = HostAnswers([model]), model.vocabulary.index("x")
        with pytest.raises(InputError, match=r"odd\.arpa: .*more than its bound") as error:
            answers.follow(0, np.array([x, x], np.int32), np.array([2]))
        assert "ln P of 'x' = 1.61" in str(error.value) and "bound_order" in str(error.value)
    with HostLanguageModel.open(path, processes=1, bound_order=1) as model:
        HostAnswers([model]).follow(0, np.array([x, x], np.int32), np.array([2]))


def test_bounds_of_an_order_that_the_model_lacks():
    message = error_of(DATA / "small.arpa", bound_order=5)
    assert message.endswith("to compute bounds from; found bound_order = 5; expected at most 4, the order of the model")


def test_the_configuration_chooses_the_backend():
    entry = {"path": str(DATA / "small.arpa"), "weight": -0.5, "backend": "kenlm", "bound_order": 2}
    model = open_language_model(LanguageModelConfig.model_validate(entry))
    assert isinstance(model, HostLanguageModel)
    with model:
        assert (model.order, model.sign, model.language.info[0, 5]) == (4, -1, 2)
    entry |= {"backend": "device", "bound_order": None}
    assert type(open_language_model(LanguageModelConfig.model_validate(entry))) is LanguageModel


def error_of(path, **options):
    with pytest.raises(InputError) as caught:
        HostLanguageModel.open(path, **options)
    return str(caught.value)


@pytest.mark.complaint(27)
def test_an_order_above_what_kenlm_was_compiled_for_is_explained(tmp_path):
    """The order, the limit, and two ways out."""
    words = ["<s>", *"abcdef", "</s>"]
    ngrams = {("<unk>",): (-3.0, 0.0)} | {(word,): (-1.0, -0.1) for word in words}
    ngrams |= {tuple(words[i : i + n]): (-0.1, -0.01) for n in range(2, 8) for i in range(len(words) - n + 1)}
    path = BackoffModel(ngrams, 7).write(tmp_path / "lm.arpa")
    message = error_of(path)
    assert message.startswith(f"{path}: KenLM cannot read the language model; found order 7; expected up to 6")
    assert 'set backend = "device" (orders up to 9), or install with MAX_ORDER=7 pip install kenlm' in message
    assert LanguageModel.from_arpa(path, cache=False).order == 7


@pytest.mark.complaint(28)
def test_a_missing_kenlm_is_explained(monkeypatch):
    monkeypatch.setattr(kenlm_pool.importlib.util, "find_spec", lambda name: None)
    message = error_of(DATA / "small.trie")
    assert message.startswith(f"{DATA / 'small.trie'}: the KenLM module is not installed; install it (pip install")
    assert 'backend = "device"' in message


@pytest.mark.complaint(28)
@pytest.mark.parametrize(
    ("module", "found"),
    [
        ("raise ImportError('undefined symbol: _ZN2lm')", "kenlm: undefined symbol: _ZN2lm"),
        ("", "kenlm: no Model in it"),
    ],
)
def test_a_broken_kenlm_is_not_taken_for_a_broken_model(monkeypatch, tmp_path, module, found):
    """Such as one that was compiled for another Python, or a folder of that name."""
    (tmp_path / "kenlm.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    message = error_of(DATA / "small.trie", processes=1)
    assert message.startswith(f"the KenLM module cannot be loaded; found {found}")
    assert "install it (pip install" in message and 'backend = "device"' in message


def test_unusable_files_are_explained(tmp_path):
    assert error_of(tmp_path / "none").endswith("none: no such file")
    (tmp_path / "text").write_text("hello\n")
    assert "neither an ARPA file nor a KenLM binary" in error_of(tmp_path / "text")
    (tmp_path / "old").write_bytes(b"mmap lm http://kheafield.com/code format version 4\n\0" + bytes(200))
    assert "another version of KenLM" in error_of(tmp_path / "old")
    assert "does not keep its words; expected 10 words at its end" in error_of(DATA / "small.wordless")
    cut = (DATA / "small.trie").read_bytes()
    (tmp_path / "cut").write_bytes(cut[:200] + cut[-62:])
    assert "KenLM cannot read" in error_of(tmp_path / "cut") or "keep its words" in error_of(tmp_path / "cut")
    assert "found bound_order = 2 with a KenLM binary" in error_of(DATA / "small.trie", bound_order=2)
    (tmp_path / "bad.arpa").write_text((DATA / "small.arpa").read_text().replace("ngram 2=18", "ngram 2=19"))
    assert error_of(tmp_path / "bad.arpa").startswith(f"{tmp_path / 'bad.arpa'}: KenLM cannot read")


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (np.zeros((2, 5), np.int32), "queries of shape"),
        (np.zeros(3, np.int32), "queries of shape"),
        (np.array([[3, 99]], np.int32), "word ids from 3 to 99 in a model of 10 words"),
        (np.array([[3, -1]], np.int32), "word ids from -1"),
    ],
)
def test_questions_of_another_form_are_an_error(queries, message):
    with KenlmPool(DATA / "small.trie", processes=1) as pool, pytest.raises(ValueError, match=message):
        pool.score(queries)


def processes_of(pool):
    """The worker and the processes that it forked."""
    worker = pool._worker.pid
    return [worker, *map(int, Path(f"/proc/{worker}/task/{worker}/children").read_text().split())]


def are_gone(pids, seconds=10.0):
    stop = time.monotonic() + seconds
    while time.monotonic() < stop:
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.02)
    return False


QUERIES = np.random.default_rng(0).integers(0, 10, (1000, 4)).astype(np.int32)


def test_processes_end_with_the_pool():
    with KenlmPool(DATA / "small.trie", processes=3) as pool:
        pids = processes_of(pool)
        assert len(pids) == 3
        pool.score(QUERIES)
    assert are_gone(pids)
    pool = KenlmPool(DATA / "small.trie", processes=2)
    pids = processes_of(pool)
    del pool
    assert are_gone(pids)


def test_an_interrupt_leaves_a_pool_that_can_be_asked_again():
    """The answer to an interrupted question must never be taken for that to a later one."""
    with KenlmPool(DATA / "small.trie", processes=2, memo=1) as pool:
        expected = pool.score(QUERIES)
        pids = processes_of(pool)
        receive = pool._connections[0].recv_bytes

        class Interrupted:
            def __getattr__(self, name):
                return getattr(connection, name)

            def recv_bytes(self):
                receive()
                raise KeyboardInterrupt

        connection = pool._connections[0]
        pool._connections[0] = Interrupted()
        with pytest.raises(KeyboardInterrupt):
            pool.score(QUERIES[::-1])
        assert are_gone(pids)
        np.testing.assert_array_equal(pool.score(QUERIES), expected)


def test_a_process_that_dies_is_an_error_and_replaced():
    with KenlmPool(DATA / "small.trie", processes=2, memo=1) as pool:
        expected = pool.score(QUERIES)
        os.kill(processes_of(pool)[1], signal.SIGKILL)
        with pytest.raises(GpusearchError, match=r"small.trie: a process that asks KenLM has ended"):
            pool.score(QUERIES)
        np.testing.assert_array_equal(pool.score(QUERIES), expected)


def test_processes_do_not_outlive_one_that_is_killed():
    code = (
        "import sys, time; from gpusearch.model.kenlm_pool import KenlmPool\n"
        f"pool = KenlmPool({str(DATA / 'small.trie')!r}, processes=2)\n"
        "print(pool._worker.pid, flush=True); time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        worker = int(process.stdout.readline())
        pids = [worker, *map(int, Path(f"/proc/{worker}/task/{worker}/children").read_text().split())]
        assert len(pids) == 2
        process.kill()
    assert are_gone(pids)


def test_an_interrupt_at_the_terminal_does_not_reach_the_processes():
    with KenlmPool(DATA / "small.trie", processes=1) as pool:
        assert os.getsid(processes_of(pool)[0]) != os.getsid(0)
