"""A word space by latent semantic analysis: what it is made of, and that it tells documents apart."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from gpusearch.cli.main import run
from gpusearch.errors import InputError
from gpusearch.features.semantic import SemanticSpace, load_space, save_space
from gpusearch.kernels.semantic import BINS
from gpusearch.train.lsa import LsaSettings, train_lsa
from profiling.semantic import flat, mean_scores, paired_test, shuffled_mean_scores, tokenised

SMALL = LsaSettings(dimensions=3, stop_share=0.3)


def topics(documents: int, seed: int = 1) -> list[list[str]]:
    """Documents of 60 words about one of four topics, with words that any document may have."""
    generator = np.random.default_rng(seed)
    made = []
    for number in range(documents):
        topic = "abcd"[number % 4]
        words = [f"{topic}{n}" for n in generator.integers(0, 12, 40)] + ["the", "of"] * 10
        made.append([words[place] for place in generator.permutation(len(words))])
    return made


@pytest.fixture(scope="module")
def space() -> SemanticSpace:
    return train_lsa(topics(80), topics(12, 2), settings=SMALL)


def test_words_of_one_topic_stand_together(space: SemanticSpace) -> None:
    """Unit vectors; nearly equal within a topic, far apart between two of them."""
    unit = space.vector / (1 << 14)
    assert np.allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-3)
    cosines = unit @ unit.T
    topic = np.array([word[0] for word in space.content])
    same = topic[:, None] == topic
    assert cosines[same].min() > 0.8 > cosines[~same].max()


def test_stop_words_are_what_is_everywhere(space: SemanticSpace) -> None:
    assert set(space.stop) == {"the", "of"}
    assert np.exp(space.stop_value) == pytest.approx([1 / 6, 1 / 6])
    assert np.exp(space.first) == pytest.approx(2 / 3 / 48)
    documents = [[*document, "7", "."] for document in topics(80)]
    given = train_lsa(documents, stop_words=["a1", "the", "absent"], settings=SMALL)
    assert given.stop == (".", "7", "a1", "the") and "of" in given.content


def test_the_histogram_makes_probabilities(space: SemanticSpace) -> None:
    """Of any history, the words of the space have about the share alpha together (Bellegarda's histogram)."""
    sums = []
    for document in topics(4, 3):
        codes = space.codes(document)
        codes = codes[codes >= 0]
        unit = space.vector / (1 << 14)
        for place in range(10, len(codes)):
            mean = unit[codes[max(0, place - 30) : place]].mean(axis=0)
            cosines = unit @ mean / np.linalg.norm(mean)
            sums.append(np.exp(space.histogram[np.minimum((cosines + 1) * BINS / 2, BINS - 1).astype(int)]).sum())
    assert np.mean(sums) == pytest.approx(2 / 3, rel=0.1)


def test_words_of_all_documents_say_nothing() -> None:
    """Their vectors are 0, and a document of nothing else takes no part; the other words are where they were."""
    made = train_lsa([*topics(80), ["of"] * 5], topics(12, 2), ["the"], SMALL)
    again = train_lsa([*topics(80), ["the"] * 5], topics(12, 2), ["the", "of"], SMALL)
    row = made.content.index("of")
    assert not made.vector[row].any() and made.cosines(made.codes(["of", "a1", "of"]))[1:].tolist() == [0, 0]
    assert np.abs(np.delete(made.vector, row, axis=0) - again.vector).max() <= 1


def test_a_lower_case_space_looks_words_up_in_lower_case() -> None:
    upper = [[word.upper() for word in document] for document in topics(80)]
    made = train_lsa(upper, settings=replace(SMALL, lowercase=True))
    assert made.codes(["A1", "THE"]).tolist() == made.codes(["a1", "The"]).tolist() == [1, -3]
    assert made.content[1] == "a1" and made.stop == ("of", "the")


def test_every_tenth_document_is_held_out_where_none_are_given() -> None:
    documents = topics(40)
    made = train_lsa(documents, settings=SMALL)
    training = [document for place, document in enumerate(documents) if place % 10 != 9]
    again = train_lsa(training, documents[9::10], settings=SMALL)
    assert np.array_equal(made.vector, again.vector) and np.array_equal(made.histogram, again.histogram)


def test_equal_text_gives_equal_bytes(tmp_path: Path, space: SemanticSpace) -> None:
    save_space(space, tmp_path / "one.npz")
    save_space(train_lsa(topics(80), topics(12, 2), settings=SMALL), tmp_path / "two.npz")
    assert (tmp_path / "one.npz").read_bytes() == (tmp_path / "two.npz").read_bytes()
    read = load_space(tmp_path / "one.npz")
    assert read.content == space.content and read.stop == space.stop and read.history == 30
    assert np.array_equal(read.vector, space.vector) and np.array_equal(read.histogram, space.histogram)


def test_too_little_text_is_an_error() -> None:
    with pytest.raises(InputError, match=r"too little text .*expected more than 30 of both"):
        train_lsa(topics(20), topics(4))
    with pytest.raises(InputError, match="found 0 words in 2 documents or more, but not in all, of 9"):
        train_lsa([["one", "two", "three", "four"]] * 9, [["one", "two"]], [], SMALL)
    with pytest.raises(InputError, match="no held-out document"):
        train_lsa(topics(80), [["x"]], settings=SMALL)


@pytest.mark.parametrize("content", [b"", b"PK", b"text"])
def test_another_file_is_no_space(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "space.npz").write_bytes(content)
    with pytest.raises(InputError, match=r"space.npz: not the file that was expected .*train-lsa"):
        load_space(tmp_path / "space.npz")


def test_words_of_another_encoding_are_no_space(tmp_path: Path, space: SemanticSpace) -> None:
    save_space(space, tmp_path / "space.npz")
    with np.load(tmp_path / "space.npz", allow_pickle=False) as arrays:
        others = dict(arrays)
    others["words"][0] = 255
    np.savez(tmp_path / "space.npz", **others)
    with pytest.raises(InputError, match=r"space\.npz: a space whose words are not UTF-8 \(.*\); train it again"):
        load_space(tmp_path / "space.npz")
    others["words"] = np.array("words")
    np.savez(tmp_path / "space.npz", **others)
    with pytest.raises(InputError, match=r"not the file that was expected \(words: <U5 \[\]\)"):
        load_space(tmp_path / "space.npz")


def test_held_out_laws_are_more_probable_than_shuffled_ones(repository: Path) -> None:
    """Perplexity a content word of the words of 16 laws: in their own document, against sentences of all laws shuffled.

    In each of them and over all: Wilcoxon's test over documents (profiling/semantic.py does it on the whole corpus).
    """
    corpus = repository / "examples" / "laws"
    space = train_lsa(flat(tokenised(corpus, "train", "en")))
    documents = tokenised(corpus, "dev", "en") + tokenised(corpus, "test", "en")
    own, shuffled = mean_scores(space, documents), shuffled_mean_scores(space, documents)
    assert paired_test(own, shuffled) < 1e-3
    assert np.exp(-own.mean()) < 0.9 * np.exp(-shuffled.mean())


def test_the_command_writes_a_space(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, documents in (("train", topics(80)), ("dev", topics(12, 2))):
        (tmp_path / f"{name}.txt").write_text("".join(" ".join(document) + "\n" for document in documents))
        (tmp_path / f"{name}.docs").write_text("".join(f"{number}\n" for number in range(len(documents))))
    (tmp_path / "stop").write_text("the\nof\n")
    train, output = tmp_path / "train", tmp_path / "space.npz"
    arguments = ["train-lsa", f"{train}.txt", "--docids", f"{train}.docs", "-o", str(output), "--dimensions", "3"]
    arguments += ["--held-out", str(tmp_path / "dev.txt"), "--held-out-docids", str(tmp_path / "dev.docs")]
    assert run([*arguments, "--stop-words", str(tmp_path / "stop")]) == 0
    out, err = capsys.readouterr()
    assert out == "" and err == "80 documents; 48 words in 3 dimensions; 2 stop words\n"
    expected = train_lsa(topics(80), topics(12, 2), ["the", "of"], SMALL)
    read = load_space(output)
    assert np.array_equal(read.vector, expected.vector) and np.array_equal(read.histogram, expected.histogram)
    assert run([*arguments, "--unknown-probability", "0"]) == 2
    assert "above 0, at most 1" in capsys.readouterr().err
