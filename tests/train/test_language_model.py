"""Training language models: against lmplz's files, against the definitions in fractions; do probabilities sum to 1?"""

from __future__ import annotations

import gzip
import logging
import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.errors import InputError
from gpusearch.io.arpa import Arpa, read_arpa
from gpusearch.train.language_model import LanguageModelReport, train_language_model
from tests.train.naive_kneser_ney import NaiveKneserNey, Ngram

Figures = dict[Ngram, tuple[float, float]]


def train(folder: Path, text: str | bytes, order: int, **options: Any) -> tuple[Arpa, LanguageModelReport]:
    """Train on a text, through files."""
    (folder / "text").write_bytes(text.encode() if isinstance(text, str) else text)
    report = train_language_model([folder / "text"], order, folder / "lm.arpa", **{"threads": 1, **options})
    return read_arpa(folder / "lm.arpa", cache=False), report


def figures(arpa: Arpa) -> Figures:
    """log10 probability and back-off of each n-gram."""
    found = {}
    for ids, *columns in zip(arpa.ids, arpa.log10_probability, arpa.log10_backoff, strict=True):
        for words, probability, backoff in zip(ids.tolist(), *(column.tolist() for column in columns), strict=True):
            found[tuple(arpa.vocabulary[word] for word in words)] = (probability, backoff)
    return found


def random_contexts(vocabulary: Sequence[str], lines: Sequence[str], order: int, count: int) -> list[list[str]]:
    """Half of them from the text, of any length and the beginnings of sentences too, half of them any words."""
    rng = random.Random(order)
    contexts = []
    for number in range(count):
        length = rng.randrange(order + 1)
        words = ["<s>", *rng.choice(lines).split(" ")] if number % 2 else rng.choices(vocabulary, k=length)
        start = rng.randrange(len(words)) if words else 0
        contexts.append(words[start : start + length])
    return contexts


@pytest.fixture(scope="module", params=[3, 5])
def same_text(
    request: pytest.FixtureRequest, parity: Path, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, Path, LanguageModelReport]:
    """Our model of a text, lmplz's, and our report."""
    order = request.param
    ours = tmp_path_factory.mktemp("parity") / "lm.arpa.gz"
    report = train_language_model([parity / "kneser-ney" / "text.en"], order, ours)
    return ours, parity / "kneser-ney" / f"lm.o{order}.arpa.gz", report


def test_the_model_equals_that_of_lmplz(same_text: tuple[Path, Path, LanguageModelReport]) -> None:
    """Same n-grams, in the same order even, and all figures within a few units of single precision."""
    ours, theirs = (read_arpa(path, cache=False) for path in same_text[:2])
    assert list(ours.vocabulary) == list(theirs.vocabulary)
    assert tuple(map(len, theirs.ids)) == same_text[2].counts
    for n in range(theirs.order):
        np.testing.assert_array_equal(ours.ids[n], theirs.ids[n])
        np.testing.assert_allclose(ours.log10_probability[n], theirs.log10_probability[n], rtol=0, atol=1e-6)
        np.testing.assert_allclose(ours.log10_backoff[n], theirs.log10_backoff[n], rtol=0, atol=1e-6)


def test_discounts_equal_those_of_lmplz(same_text: tuple[Path, Path, LanguageModelReport]) -> None:
    printed = [(0.624756, 0.861122, 1.75763), (0.764403, 1.17666, 1.41239), (0.764021, 1.25153, 1.39501)]
    report = same_text[2]
    compared = report.discounts if len(report.counts) == 3 else report.discounts[:2]
    np.testing.assert_allclose(compared, printed[: len(compared)], rtol=0, atol=1e-5)
    assert report.fallback == ()


def test_kenlm_loads_the_model_and_its_probabilities_sum_to_one(
    same_text: tuple[Path, Path, LanguageModelReport], parity: Path
) -> None:
    """KenLM's own sums over the vocabulary, <unk> and </s> in and <s> out, after 200 random contexts."""
    from tests.kenlm_oracle import kenlm, quiet  # skips the test where there is no KenLM

    model = quiet(same_text[0])
    assert model.order == len(same_text[2].counts)
    arpa = read_arpa(same_text[0], cache=False)
    vocabulary = [word for word in arpa.vocabulary if word != "<s>"]
    lines = (parity / "kneser-ney" / "text.en").read_text(encoding="utf-8").split("\n")[:-1]
    state, after = kenlm.State(), kenlm.State()
    for context in random_contexts(vocabulary, lines, model.order, 200):
        model.NullContextWrite(state)
        if context[:1] == ["<s>"]:
            model.BeginSentenceWrite(state)
        for word in context:
            if word != "<s>":
                model.BaseScore(state, word, after)
                state, after = after, state
        total = sum(10 ** model.BaseScore(state, word, after) for word in vocabulary)
        assert total == pytest.approx(1, abs=1e-6), context


WORDS = st.sampled_from(["a", "b", "c", "d", "e"])
TEXTS = st.lists(st.lists(WORDS, max_size=7), min_size=1, max_size=25).filter(any)
PRUNE = st.lists(st.integers(0, 2), max_size=4).map(lambda rest: [0, *sorted(rest)])


@given(TEXTS, st.integers(1, 5), PRUNE, st.none() | st.sets(WORDS))
def test_the_model_equals_the_definitions(
    tmp_path_factory: pytest.TempPathFactory,
    sentences: list[list[str]],
    order: int,
    prune: list[int],
    allowed: set[str] | None,
) -> None:
    """N-grams, probabilities, back-offs and discounts, pruned or not, with a vocabulary or without."""
    folder = tmp_path_factory.mktemp("random")
    expected = NaiveKneserNey(sentences, order, prune[:order], allowed)
    vocabulary = None
    if allowed is not None:
        vocabulary = folder / "vocabulary"
        vocabulary.write_text("\n".join(sorted(allowed)))
    text = "".join(" ".join(sentence) + "\n" for sentence in sentences)
    arpa, report = train(folder, text, order, prune=prune[:order], vocabulary=vocabulary)
    found = figures(arpa)
    assert set(found) == expected.ngrams
    for n, discounts in enumerate(report.discounts, 1):
        assert discounts == pytest.approx([float(value) for value in expected.discounts(n)], abs=1e-12)
    assert set(report.fallback) == expected.fallback
    for ngram, (probability, backoff) in found.items():
        true = 1 if ngram == ("<s>",) else expected.probability(ngram[:-1], ngram[-1])
        assert probability == pytest.approx(math.log10(true), abs=1e-6)
        assert backoff == pytest.approx(math.log10(expected.backoff(ngram)), abs=1e-6)


@given(TEXTS, st.integers(1, 5), PRUNE, st.none() | st.sets(WORDS), st.lists(WORDS, max_size=4))
def test_the_definitions_sum_to_one(
    sentences: list[list[str]], order: int, prune: list[int], allowed: set[str] | None, context: list[str]
) -> None:
    """Of the oracle itself: exactly 1, whatever is pruned."""
    model = NaiveKneserNey(sentences, order, prune[:order], allowed)
    for words in (tuple(context), ("<s>", *context)):
        assert sum(model.probability(words, word) for word in model.vocabulary) == 1


@pytest.mark.complaint(29)
@pytest.mark.parametrize("order", range(1, 10))
def test_a_tiny_text_has_a_model(tmp_path: Path, order: int, caplog: pytest.LogCaptureFixture) -> None:
    """Complaint 29: too little text for discounts is no reason to fail; fixed ones are taken, and that is said."""
    with caplog.at_level(logging.WARNING):
        arpa, report = train(tmp_path, "so it is\n", order)
    assert report.fallback == tuple(range(1, order + 1))
    assert set(report.discounts) == {(0.5, 1.0, 1.5)}
    assert len(caplog.messages) == order
    assert "discounts of 1-grams: 0.5 1.0 1.5 taken" in caplog.messages[0]
    assert report.counts == tuple([6, 4, 3, 2, 1, 0, 0, 0, 0][:order])
    assert sum(10 ** value[0] for ngram, value in figures(arpa).items() if len(ngram) == 1) == pytest.approx(2)


def test_a_tiny_text_is_an_error_where_no_discounts_are_to_be_fixed(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        train(tmp_path, "so it is\n", 2, discount_fallback=None)
    assert str(caught.value) == (
        "too little text, or too regular, for the discounts of 1-grams; found n-grams by count: 4 with 1, 0 with 2, "
        "0 with 3, 0 with 4; allow fixed discounts (--discount-fallback)"
    )


@pytest.mark.complaint(30)
def test_figures_are_log10_in_the_file_and_natural_logarithms_everywhere_else(tmp_path: Path) -> None:
    """Complaint 30: columns and help say log10; a model that was loaded answers in nats, as its documentation says."""
    from gpusearch.model import language_model

    arpa, _ = train(tmp_path, "a\n", 2)
    naive = NaiveKneserNey([["a"]], 2)
    word = list(arpa.vocabulary).index("a")
    assert arpa.log10_probability[0][word] == pytest.approx(math.log10(naive.probability((), "a")))
    model = language_model.LanguageModel.from_arpa(arpa)
    sentence = naive.probability(("<s>",), "a") * naive.probability(("a",), "</s>")
    assert model.score([[word]], [1]) == pytest.approx([math.log(sentence)], abs=1e-5)
    assert "log10" in (train_language_model.__doc__ or "") and "natural" in (language_model.__doc__ or "")


@pytest.mark.complaint(31)
def test_words_are_separated_as_in_kenlm(tmp_path: Path) -> None:
    """Complaint 31: blank, tab, carriage return and NUL end a word, a newline ends a sentence, nothing else does."""
    arpa, report = train(tmp_path, "a\tb  c\0d\re\u00a0f\x0bg\u2028h\r\n\n i\u3000j \n\ufeffk", 2)
    assert set(arpa.vocabulary[3:]) == {"a", "b", "c", "d", "e\u00a0f\x0bg\u2028h", "i\u3000j", "\ufeffk"}
    assert report.tokens == 7
    assert ("<s>", "</s>") in figures(arpa)  # of the blank line


def test_the_vocabulary_stands_in_the_order_of_the_text(tmp_path: Path) -> None:
    arpa, _ = train(tmp_path, "\ufeffthe cat sat\non the mat\n", 3)
    assert list(arpa.vocabulary) == ["<unk>", "<s>", "</s>", "the", "cat", "sat", "on", "mat"]


def test_texts_are_read_one_after_the_other(tmp_path: Path) -> None:
    """Several files, compressed or not, the last lines with or without their ends."""
    whole, _ = train(tmp_path, "a b\nb c\nc a b\n", 3)
    (tmp_path / "first").write_text("a b\nb c")
    (tmp_path / "second.gz").write_bytes(gzip.compress(b"c a b\n"))
    train_language_model([tmp_path / "first", tmp_path / "second.gz"], 3, tmp_path / "parts.arpa")
    assert figures(read_arpa(tmp_path / "parts.arpa", cache=False)) == figures(whole)


def random_text(seed: int, sentences: int) -> bytes:
    """Words by something like Zipf's law."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 25, sentences)
    words = np.minimum(rng.zipf(1.3, lengths.sum()), 20_000)
    lines = np.split(words, np.cumsum(lengths)[:-1])
    return "".join(" ".join(f"w{word}" for word in line.tolist()) + "\n" for line in lines).encode()


def test_the_file_is_the_same_for_any_number_of_threads_and_any_memory(tmp_path: Path) -> None:
    """To the byte, compressed, also where the tables are larger than memory."""
    (tmp_path / "text").write_bytes(random_text(1, 6_000))
    written = []
    for number, (threads, memory) in enumerate([(1, "3GB"), (3, "2 GiB"), (2, "20MB")]):
        path = tmp_path / f"{number}.arpa.gz"
        train_language_model([tmp_path / "text"], 5, path, threads=threads, memory=memory)
        written.append(path.read_bytes())
    assert len(set(written)) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [*(f"{n}.arpa.gz" for n in range(3)), "text"]


def test_special_words_in_the_text_are_an_error_or_blanks(tmp_path: Path) -> None:
    text = "a b\n" * 3 + "c <unk>d </s> e\n"
    with pytest.raises(InputError) as caught:
        train(tmp_path, text, 2)
    assert str(caught.value) == (
        f"{tmp_path / 'text'}:4: special word in the text of a language model; found </s>; "
        "expected words other than <unk>, <s> and </s>; --skip-symbols reads them as blanks"
    )
    assert not (tmp_path / "lm.arpa").exists()
    skipped, report = train(tmp_path, text, 2, skip_symbols=True)
    assert report.tokens == 9
    assert figures(skipped) == figures(train(tmp_path, text.replace("</s>", ""), 2)[0])


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (b"\n \n", {}, "{text}: no word in the text of the language model"),
        (b"a\nb \xff\n", {}, "{text}:2: not UTF-8; found byte 0xff in column 3; expected UTF-8 text"),
        (b"a\n", {"order": 0}, "unusable order of a language model; found 0; expected 1 to 9"),
        (b"a\n", {"order": 10}, "unusable order of a language model; found 10; expected 1 to 9"),
        (
            b"a\n",
            {"prune": [0, 0, 1]},
            "too many pruning thresholds; found '0 0 1'; expected 2 at most, one for each order",
        ),
        (
            b"a\n",
            {"prune": [1]},
            "unusable pruning thresholds; found '1'; expected 0 for single words, and none below the one before it",
        ),
        (
            b"a\n",
            {"prune": [0, 2, 1], "order": 3},
            "unusable pruning thresholds; found '0 2 1'; expected 0 for single words, and none below the one before it",
        ),
        (b"a\n", {"memory": "much"}, "unusable amount of memory; found 'much'; expected such as 3GB or 500MB"),
        (b"a\n", {"tool": "srilm"}, "unknown tool for language models; found 'srilm'; expected own | lmplz"),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path: Path, text: bytes, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        train(tmp_path, text, **{"order": 2, **options})
    assert str(caught.value) == message.format(text=tmp_path / "text")
    assert not (tmp_path / "lm.arpa").exists()


def test_too_little_memory_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"not enough memory.*of 2000000B; give more \(--memory\)"):
        train(tmp_path, random_text(2, 20_000), 5, memory="2MB")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["text"]


def test_a_place_that_cannot_be_written_to_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot write here"):
        train_language_model([tmp_path / "text"], 2, tmp_path / "absent" / "lm.arpa")
