"""ARPA files: equal to a plain reading and to KenLM's figures, written and read back without a change."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpusearch.errors import InputError
from gpusearch.io import arpa as module
from gpusearch.io.arpa import MAX_ORDER, Arpa, explain_ngram, read_arpa, write_arpa
from gpusearch.io.files import read_blocks
from gpusearch.io.sequences import Vocabulary
from tests.io.tables import ODD_WORDS

PACKERS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    "": bytes,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("arpa")


def assert_equal(one: Arpa, other: Arpa) -> None:
    assert one.vocabulary == other.vocabulary
    assert one.order == other.order
    for columns in ("ids", "log10_probability", "log10_backoff"):
        for a, b in zip(getattr(one, columns), getattr(other, columns), strict=True):
            assert a.dtype == b.dtype
            assert np.array_equal(a, b)


def read_naively(text: str) -> list[list[tuple[float, list[str], float]]]:
    """By order: probability, words and backoff of each line."""
    orders: list[list[tuple[float, list[str], float]]] = []
    for line in text.split("\n"):
        if re.fullmatch(r"\\\d-grams:", line):
            orders.append([])
        elif orders and line and not line.startswith("\\"):
            tokens = [token for token in re.split("[ \t\r\0]", line) if token]
            n = len(orders)
            backoff = float(np.float32(float(tokens[n + 1]))) if len(tokens) == n + 2 else 0.0
            orders[-1].append((float(np.float32(float(tokens[0]))), tokens[1 : n + 1], backoff))
    return orders


def assert_equal_to_naive(arpa: Arpa, text: str) -> None:
    expected = read_naively(text)
    assert arpa.order == len(expected)
    for n, rows in enumerate(expected):
        words = [" ".join(arpa.vocabulary[i] for i in ids) for ids in arpa.ids[n].tolist()]
        assert words == [" ".join(row[1]) for row in rows]
        assert arpa.log10_probability[n].tolist() == [row[0] for row in rows]
        assert arpa.log10_backoff[n].tolist() == [row[2] for row in rows]


@pytest.mark.parametrize("suffix", PACKERS)
@pytest.mark.parametrize("order", [3, 5])
def test_equals_a_plain_reading(tmp_path: Path, parity: Path, order: int, suffix: str) -> None:
    text = gzip.decompress((parity / "kneser-ney" / f"lm.o{order}.arpa.gz").read_bytes())
    path = tmp_path / f"lm{suffix}"
    path.write_bytes(PACKERS[suffix](text))
    arpa = read_arpa(path, cache=False)
    assert_equal_to_naive(arpa, text.decode())
    assert {ids.dtype.name for ids in arpa.ids} == {"int32"}
    assert {a.dtype.name for a in (*arpa.log10_probability, *arpa.log10_backoff)} == {"float32"}


def test_equals_kenlm(tmp_path: Path, parity: Path) -> None:
    """Every n-gram's probability, and the backoffs that KenLM adds for words that do not follow, to the last bit."""
    kenlm = pytest.importorskip("kenlm")
    path = parity / "kneser-ney" / "lm.o3.arpa.gz"
    plain = tmp_path / "lm.arpa"
    plain.write_bytes(gzip.decompress(path.read_bytes()))
    model = kenlm.Model(str(plain))
    arpa = read_arpa(path, cache=False)
    for n in range(1, arpa.order + 1):
        ids = arpa.ids[n - 1]
        for row in range(0, len(ids), max(1, len(ids) // 500)):
            *context, word = (arpa.vocabulary[i] for i in ids[row])
            state, after = kenlm.State(), kenlm.State()
            model.NullContextWrite(state)
            if context[:1] == ["<s>"]:
                model.BeginSentenceWrite(state)
                context = context[1:]
            for before in context:
                model.BaseScore(state, before, after)
                state, after = after, state
            if word != "<s>":
                assert np.float32(model.BaseScore(state, word, after)) == arpa.log10_probability[n - 1][row]
                if n == 1 and word not in ("</s>", "<unk>"):
                    # "</s> again" is no bigram anywhere, so that the backoff of `word` and P(<unk>) are all.
                    unknown = arpa.log10_probability[0][arpa.vocabulary.index("<unk>")]
                    expected = arpa.log10_backoff[0][row] + unknown
                    assert np.float32(model.BaseScore(after, "not there", state)) == expected


@st.composite
def models(draw: st.DrawFn) -> Arpa:
    """Models of any order up to 9 and any finite figures; not normalised."""
    words = draw(st.lists(st.sampled_from(ODD_WORDS), min_size=1, unique=True))
    order = draw(st.integers(1, MAX_ORDER))
    size = len(words)
    ids = [np.arange(size, dtype=np.int32)[:, None]]
    for n in range(2, order + 1):
        rows = draw(st.lists(st.tuples(*[st.integers(0, size - 1)] * n), max_size=5, unique=True))
        ids.append(np.array(rows, np.int32).reshape(-1, n))
    figures = st.one_of(
        st.floats(-10, 0, width=32), st.floats(-(2.0**127), 0, width=32), st.sampled_from([0.0, -99.0, -1e-5, -1e-45])
    )

    def column(rows: int, sign: int = 1) -> np.ndarray:
        return sign * np.array(draw(st.lists(figures, min_size=rows, max_size=rows)), np.float32)

    backoffs = [column(len(rows), draw(st.sampled_from([1, -1]))) for rows in ids]
    backoffs[-1][:] = 0
    return Arpa(
        vocabulary=draw(st.sampled_from([words, Vocabulary.from_words(words)])),
        ids=tuple(ids),
        log10_probability=tuple(column(len(rows)) for rows in ids),
        log10_backoff=tuple(backoffs),
    )


@given(model=models(), suffix=st.sampled_from(["", ".gz"]))
def test_what_is_written_is_read_back(folder: Path, model: Arpa, suffix: str) -> None:
    """To the last bit, from equal bytes each time; a plain reader finds the same."""
    path = folder / f"written{suffix}"
    write_arpa(model, path)
    data = path.read_bytes()
    write_arpa(model, path)
    assert path.read_bytes() == data
    assert_equal(read_arpa(path, cache=False), model)
    text = gzip.decompress(data) if suffix else data
    assert_equal_to_naive(model, text.decode())


@given(
    parts=st.lists(
        st.sampled_from(
            ["-1", "0", "-.5", "1", "1e-50", "-2e999", "nan", "-", "a", "b", "c", "\xff", "\r", "\0a", "\\end\\"]
        ),
        max_size=6,
    ),
    order=st.sampled_from([1, 2, 3]),
    end=st.sampled_from(["", "\r", " ", "\t", "\0"]),
)
@settings(max_examples=10 * settings.default.max_examples)
def test_both_judges_of_a_line_agree(folder: Path, parts: list[str], order: int, end: str) -> None:
    """The compiled parser calls a line bad just where `explain_ngram` finds a fault, and the error tells it."""
    line = "\t".join(parts) + end
    sections = [["-1\ta\t-1", "-1\tb"], ["-1\ta b"], ["-1\ta b b"]]
    sections[order - 1][-1] = line
    counts = "".join(f"ngram {n}={len(lines)}\n" for n, lines in enumerate(sections, 1))
    text = "".join(f"\n\\{n}-grams:\n" + "\n".join(lines) + "\n" for n, lines in enumerate(sections, 1))
    path = folder / "judged"
    path.write_bytes(f"\\data\\\n{counts}{text}\n\\end\\\n".encode("latin-1"))
    known = {b"a"} if order == 1 else {b"a", b"b"}
    left = (1, 2) if order == 1 else (0, 1)
    fault = explain_ngram(line.removesuffix("\r").encode("latin-1"), order, order == 3, known, left)
    try:
        arpa = read_arpa(path, cache=False)
    except InputError as error:
        number = text[: text.index(f"\\{order}-grams:")].count("\n") + 6 + (order == 1)
        if fault is None:  # the line is a unigram, but not the word that the longer n-grams want
            assert order == 1
            assert error.what == "word of a 2-gram is no unigram"
        else:
            assert str(error) == str(fault.error(path, number))
    else:
        assert fault is None
        assert len(arpa.vocabulary) == 2


@given(values=st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False, max_value=0), min_size=1))
def test_figures_are_as_short_as_they_can_be(folder: Path, values: list[float]) -> None:
    """No decimal with fewer digits is read back as the same float32; NumPy's shortest form is as long."""
    figures = np.array(values, np.float32)
    ids = np.arange(len(values), dtype=np.int32)[:, None]
    path = folder / "figures"
    write_arpa(Arpa([str(i) for i in range(len(values))], (ids,), (figures,), (np.zeros_like(figures),)), path)
    for line, value in zip(path.read_text().split("\n")[4:], figures, strict=False):
        written = line.split("\t")[0]
        assert np.float32(float(written)) == value

        def significant(number: str) -> str:
            return re.sub(r"[eE].*|[-.]", "", number).strip("0")

        assert len(significant(written)) <= len(significant(np.format_float_scientific(value)))


@pytest.mark.parametrize("name", ["newstest2012.en-fr/lm", "kneser-ney/lm.o3", "kneser-ney/lm.o5"])
def test_a_real_model_comes_back_to_the_byte(tmp_path: Path, parity: Path, name: str) -> None:
    """What lmplz wrote, read and written again."""
    path = parity / f"{name}.arpa.gz"
    arpa = read_arpa(path, cache=False)
    write_arpa(arpa, tmp_path / "lm")
    assert (tmp_path / "lm").read_bytes() == gzip.decompress(path.read_bytes())


@pytest.mark.parametrize("size", [1, 50, 1000, 100_000])
def test_blocks_do_not_show(tmp_path: Path, parity: Path, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Blocks may end anywhere, and the vocabulary grows while it is read."""
    text = gzip.decompress((parity / "kneser-ney" / "lm.o3.arpa.gz").read_bytes()).decode()
    if size < 1000:  # the first unigrams only
        lines = text[: text.index("\\2-grams:")].split("\n")[6:1506]
        unigrams = "\n".join("\t".join(line.split("\t")[:2]) for line in lines)
        text = f"\\data\\\nngram 1={len(lines)}\n\n\\1-grams:\n{unigrams}\n\n\\end\\\n"
    (tmp_path / "lm").write_text(text)
    monkeypatch.setattr(module, "read_blocks", partial(read_blocks, size=size))
    assert_equal_to_naive(read_arpa(tmp_path / "lm", cache=False), text)


def header(orders: int) -> str:
    return "\\data\\\n" + "".join(f"ngram {n}=1\n" for n in range(1, orders + 1))


@pytest.mark.complaint(27)
@pytest.mark.parametrize("order", range(1, MAX_ORDER + 1))
def test_orders_above_six_are_read(tmp_path: Path, order: int) -> None:
    """Complaint 27: orders 1 to 9 need no other compilation; a higher one is named."""
    sections = "".join(f"\n\\{n}-grams:\n-0.{n}\t{' '.join(['a'] * n)}\n" for n in range(1, order + 1))
    path = tmp_path / "lm"
    path.write_text(f"{header(order)}{sections}\n\\end\\\n")
    arpa = read_arpa(path, cache=False)
    assert arpa.order == order
    assert arpa.ids[-1].tolist() == [[0] * order]
    assert arpa.log10_probability[-1].tolist() == [np.float32(-order / 10)]
    assert arpa.log10_backoff[-1].tolist() == [0.0]
    path.write_text(header(10))
    message = r"lm:11: order of the language model; found 'ngram 10=1'; expected orders 1 to 9"
    with pytest.raises(InputError, match=message):
        read_arpa(path)


@pytest.mark.complaint(33)
def test_models_come_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    """Complaint 33: `-` is standard input; Windows line ends, blanks for tabs and blank lines before are no matter."""
    text = f"\n{header(1)}\n\\1-grams:\n-0.5 a\n\n\\end\\\n".replace("\n", "\r\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(text.encode()))))
    arpa = read_arpa("-")
    assert list(arpa.vocabulary) == ["a"]
    assert arpa.log10_probability[0].tolist() == [-0.5]


def test_comments_may_stand_before_the_header(tmp_path: Path) -> None:
    """As KenLM reads it: lines that begin with #, and blank ones; a text of any other sort is a fault."""
    path = tmp_path / "lm"
    body = f"{header(1)}\n\\1-grams:\n-0.5 #a\n\n\\end\\\n"
    path.write_text(f"# by hand\n\n#\n{body}")
    assert list(read_arpa(path, cache=False).vocabulary) == ["#a"]
    path.write_text(f"by hand\n{body}")
    with pytest.raises(InputError, match=r"lm:1: not an ARPA file; found 'by hand'"):
        read_arpa(path, cache=False)


def test_words_are_opaque(tmp_path: Path) -> None:
    """A word may look like a marker, a number or a space of another script."""
    path = tmp_path / "lm"
    words = "-1\t\\end\\\n-1\t-2\n-1\t\u00a0\t-3\n-1\t\u2028\n"
    text = f"\\data\\\nngram 1=4\nngram 2=0\n\n\\1-grams:\n{words}\n\\2-grams:\n\n\\end\\\n"
    path.write_bytes(text.encode())
    arpa = read_arpa(path)
    assert len(arpa.ids[1]) == 0
    assert list(arpa.vocabulary) == ["\\end\\", "-2", "\u00a0", "\u2028"]
    assert arpa.log10_backoff[0].tolist() == [0, 0, -3, 0]


@pytest.mark.parametrize("text", ["-1.00000005960464477539062500001", "-1.0000000596046447753906249999", "-16777217"])
def test_figures_between_two_floats(tmp_path: Path, text: str) -> None:
    """Beside the middle of two float32, where an estimate does not tell which one is meant."""
    path = tmp_path / "lm"
    path.write_text(f"\\data\\\nngram 1=1\nngram 2=0\n\n\\1-grams:\n{text}\ta\t{text}\n\n\\2-grams:\n\n\\end\\\n")
    arpa = read_arpa(path, cache=False)
    assert arpa.log10_probability[0][0] == np.float32(float(text)) == arpa.log10_backoff[0][0]


def test_a_vocabulary_is_a_list_of_words() -> None:
    words = Vocabulary.from_words(ODD_WORDS)
    assert words == ODD_WORDS
    assert words != ODD_WORDS[1:]
    assert words[-1] == ODD_WORDS[-1]
    assert words[3:1:-1] == ODD_WORDS[3:1:-1]
    assert "語" in words
    assert 3 not in words
    assert words.index("[X]") == ODD_WORDS.index("[X]")
    assert words.find(["not there", "a"]).tolist() == [-1, 0]
    with pytest.raises(IndexError):
        words[len(words)]
    with pytest.raises(ValueError, match="word 'x' stands in the vocabulary twice"):
        Vocabulary.from_words(["x", "y", "x"])


def test_columns_that_do_not_belong_together() -> None:
    ids, figures = np.zeros((1, 1), np.int32), np.zeros(1, np.float32)
    Arpa(["a"], (ids,), (figures,), (figures,))
    with pytest.raises(ValueError, match="order 0 of a language model"):
        Arpa(["a"], (), (), ())
    with pytest.raises(ValueError, match="columns of 1-grams differ in length"):
        Arpa(["a"], (ids,), (figures,), (np.zeros(2, np.float32),))
    with pytest.raises(ValueError, match="id beyond 1"):
        Arpa(["a"], (ids + 1,), (figures,), (figures,))
    with pytest.raises(ValueError, match="unigrams are not the words"):
        Arpa(["a", "b"], (ids,), (figures,), (figures,))
