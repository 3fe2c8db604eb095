"""Raw text in, raw text out, by whichever tokenizer."""

from __future__ import annotations

import pickle
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpusearch.config import TextConfig
from gpusearch.errors import InputError
from gpusearch.text import make_processor, train_sentencepiece, train_spacing, train_truecaser
from gpusearch.text.processor import BlankProcessor, MosesProcessor, TextProcessor
from gpusearch.text.segmentation import MosesSegmenter

NONE = BlankProcessor()


@pytest.mark.complaint(6)
@given(st.lists(st.text(st.characters(exclude_characters=" \t\n\r\0", exclude_categories=["Cs"]), min_size=1)))
def test_none_takes_any_token(tokens: list[str]) -> None:
    """Complaint 6: `[X]`, `(((`, `a|b|c|d|e`, `<a>`, or anything else, is a word."""
    assert NONE.to_tokens(" ".join(tokens)) == tokens
    assert NONE.to_text(tokens) == " ".join(tokens)


@pytest.mark.complaint(31)
@pytest.mark.parametrize("processor", [NONE, MosesProcessor("en")])
def test_blanks_are_those_of_kenlm(processor: TextProcessor) -> None:
    """Complaint 31: blank, tab, carriage return and NUL separate words here as in language models."""
    assert processor.to_tokens("\0a\rb\0\0c\r\td\r") == [*"abcd"]


@pytest.mark.complaint(25)
def test_none_splits_at_no_other_space() -> None:
    """Complaint 25: a no-break space is part of a word, as KenLM has it; so are all other Unicode spaces."""
    assert NONE.to_tokens(" a\u00a0b \t c\u2003d\u202fe\u2028f\x85g\x0bh\x0ci\x1cj ") == [
        "a\u00a0b",
        "c\u2003d\u202fe\u2028f\x85g\x0bh\x0ci\x1cj",
    ]


@pytest.mark.complaint(26)
def test_line_breaks_inside_a_segment_are_blanks() -> None:
    """Complaint 26: a segment is one line; a break inside (JSONL, XML) never gets into a token."""
    assert NONE.to_tokens("a\nb\r\nc") == ["a", "b", "c"]
    assert MosesProcessor("en").to_tokens("a\nb\r\nc") == ["a", "b", "c"]


@pytest.mark.complaint(24)
def test_escapes_are_read_on_demand_only() -> None:
    """Complaint 24: text in Moses' escapes is read with `unescape`; other text stays as it is."""
    escaped = "l&apos; a&#124;b &#91;x&#93; &amp;lt; &lt;b&gt; &quot; &bar; &eacute; &amp;"
    assert NONE.to_tokens(escaped) == escaped.split(" ")
    reading = make_processor(TextConfig(unescape=True), "source")
    assert reading.to_tokens(escaped) == ["l'", "a|b", "[x]", "&lt;", "<b>", '"', "|", "&eacute;", "&"]
    assert reading.to_text(["a|b", "&"]) == "a|b &"


TEXTS = st.text(max_size=30) | st.text("eé\u0301\u0323\u0345ﬁＡ \u1100\u1161Å", max_size=12)


@given(TEXTS)
def test_unicode_is_not_normalised_without_nfc(raw: str) -> None:
    """Composed and decomposed letters, ligatures, wide forms: all pass."""
    text = "".join(raw.split())
    moses = MosesProcessor("fr", nfc=False)
    assert "".join(moses.to_tokens(raw)) == "".join(c for c in text if ord(c) >= 32)


@given(TEXTS)
def test_canonically_equal_texts_have_equal_tokens(raw: str) -> None:
    """They look alike, so tables must not tell them apart; ligatures and wide forms stay what they are."""
    moses = MosesProcessor("fr")
    tokens = moses.to_tokens(raw)
    for form in ("NFC", "NFD"):
        assert moses.to_tokens(unicodedata.normalize(form, raw)) == tokens
    composed = unicodedata.normalize("NFC", raw)
    assert "".join(tokens) == "".join(c for c in composed if not c.isspace() and ord(c) >= 32)


def test_nfc_can_be_switched_off() -> None:
    decomposed = "l'e\u0301te\u0301"
    for nfc, expected in ((True, ["l'", "été"]), (False, ["l'", "e\u0301te\u0301"])):
        config = TextConfig(tokenizer="moses", source_language="fr", nfc=nfc)
        assert make_processor(config, "source").to_tokens(decomposed) == expected
    assert NONE.to_tokens(decomposed) == [decomposed]


def test_normalise_on_demand() -> None:
    config = TextConfig(tokenizer="moses", source_language="en", normalize=True)
    assert make_processor(config, "source").to_tokens("“It’s”") == ['"', "It", "'s", '"']


def test_lowercase() -> None:
    assert BlankProcessor(lowercase=True).to_tokens("A É") == ["a", "é"]
    config = TextConfig(tokenizer="moses", target_language="fr", lowercase=True)
    processor = make_processor(config, "target")
    assert processor.to_tokens("L’ÉTÉ. Bon") == ["l’", "été", ".", "bon"]
    assert processor.to_text(["l’", "été", ".", "bon"]) == "l’été. bon"


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> TextConfig:
    folder = tmp_path_factory.mktemp("files")
    lines = ["This is the Act of Canada.", "As the act is."] * 3
    tokens = [MosesSegmenter("en").tokens(line) for line in lines]
    train_truecaser(tokens, folder / "truecaser.en")
    train_spacing(lines, "en", folder / "spacing.en")
    return TextConfig(
        tokenizer="moses",
        source_language="en",
        target_language="en",
        truecase=True,
        source_truecaser=folder / "truecaser.en",
        target_truecaser=folder / "truecaser.en",
        target_spacing=folder / "spacing.en",
    )


def test_truecase(config: TextConfig) -> None:
    source, target = make_processor(config, "source"), make_processor(config, "target")
    assert target.to_tokens("The IS Act.") == ["the", "IS", "Act", "."]
    assert source.to_tokens("The IS Act.") == ["the", "is", "Act", "."]
    assert target.to_text(["the", "Act", "."]) == "The Act."


def test_initial_capital_follows_the_source(config: TextConfig) -> None:
    """The items of a list begin in lower case, in both languages."""
    target = make_processor(config, "target")
    assert target.to_text(["the", "Act", ".", "as"], source="la Loi") == "the Act. As"
    for source in ("La Loi", "(1) La Loi", "1 loi", "", "法"):
        assert target.to_text(["the", "Act"], source=source) == "The Act"
    assert target.to_text(["the", "Act"], source="« (la loi") == "the Act"


def test_truecaser_may_be_missing_where_only_the_way_back_is_used(config: TextConfig) -> None:
    target = make_processor(config.model_copy(update={"target_truecaser": None}), "target")
    assert target.to_text(["the", "Act"]) == "The Act"
    with pytest.raises(InputError, match="truecase = true without a truecasing model"):
        target.to_tokens("The Act")


def test_sentencepiece(tmp_path: Path) -> None:
    path = tmp_path / "m.model"
    train_sentencepiece(["la forêt du ministre"] * 3, path, vocabulary_size=30)
    config = TextConfig(tokenizer="sentencepiece", sentencepiece_source=path, sentencepiece_target=path)
    processor = make_processor(config, "target")
    assert processor.to_text(processor.to_tokens("la \0forêt\n\rdu X")) == "la forêt du X"
    assert processor.to_tokens("") == []


@pytest.mark.complaint(8)
@pytest.mark.parametrize("tokenizer", ["none", "moses"])
@pytest.mark.parametrize("raw", ["", " ", "\t", "\u00a0"])
def test_empty_segments(tokenizer: str, raw: str) -> None:
    """Complaint 8: an empty line is a segment without tokens, and comes back as an empty line."""
    config = TextConfig.model_validate({"tokenizer": tokenizer, "source_language": "en"})
    processor = make_processor(config, "source")
    expected = ["\u00a0"] if (tokenizer, raw) == ("none", "\u00a0") else []
    assert processor.to_tokens(raw) == expected
    assert processor.to_text([]) == ""


def test_processors_can_be_sent_to_other_processes(config: TextConfig) -> None:
    processor = make_processor(config, "target")
    copy = pickle.loads(pickle.dumps(processor))
    assert copy.to_tokens("The Act.") == processor.to_tokens("The Act.")


@pytest.mark.parametrize("language", ["mni", "haw", "sw"])
def test_languages_without_rules_of_their_own(language: str) -> None:
    """What sacremoses has no list of abbreviations for is cut as by its general rules."""
    assert MosesProcessor(language).to_tokens("Aloha, x.") == ["Aloha", ",", "x", "."]


@pytest.mark.parametrize(
    ("language", "meant"),
    [
        ("french", ""),
        ("fra", "; write fr"),
        ("FR", "; write fr"),
        ("pt_BR", "; write pt"),
        ("xx", ""),
        ("", ""),
    ],
)
def test_what_is_no_language_code_is_refused(language: str, meant: str) -> None:
    config = TextConfig(tokenizer="moses", target_language=language)
    with pytest.raises(InputError) as error:
        make_processor(config, "target")
    assert str(error.value) == (
        f"text.target_language is no code of ISO 639; found {language!r}; "
        f"expected two letters, such as fr, or three for a language that has no two{meant}"
    )


def test_moses_needs_a_language() -> None:
    with pytest.raises(InputError) as error:
        make_processor(TextConfig(tokenizer="moses", source_language="fr"), "target")
    assert str(error.value) == 'tokenizer = "moses" without a language; set text.target_language'


@pytest.mark.parametrize(("language", "least"), [("fr", 0.8), ("en", 0.99)])
def test_round_trip_on_real_text(shared_data: Path, tmp_path: Path, language: str, least: float) -> None:
    """All test lines of the shipped example come back as they were; by rules alone the given share does.

    (The French of Canada's statutes writes `mot;` and `10 %`, which is a style that has to be learned.)
    """
    folder = shared_data / "tiny.fr-en"
    train = (folder / f"train.{language}").read_text(encoding="utf-8").split("\n")[:-1:2]
    test = (folder / f"test.{language}").read_text(encoding="utf-8").split("\n")[:-1]
    segmenter = MosesSegmenter(language)
    train_truecaser(map(segmenter.tokens, train), tmp_path / "truecaser")
    train_spacing(train, language, tmp_path / "spacing")
    files = {"target_truecaser": tmp_path / "truecaser", "source_truecaser": tmp_path / "truecaser"}
    config = TextConfig(tokenizer="moses", target_language=language, truecase=True, **files)
    by_rules = make_processor(config, "target")
    learned = make_processor(config.model_copy(update={"target_spacing": tmp_path / "spacing"}), "target")
    for line in test:
        assert learned.to_text(learned.to_tokens(line), source=line) == line
    kept = sum(by_rules.to_text(by_rules.to_tokens(line), source=line) == line for line in test)
    assert kept >= least * len(test)
