"""The hash of a model and the signature of a run tell apart what scores or runs otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gpusearch
from gpusearch.config import TextConfig, load_config
from gpusearch.decoder import Decoded
from gpusearch.io.candidates import Candidate
from gpusearch.io.phrase_table import PhraseTable
from gpusearch.io.sequences import Sequences, Vocabulary, empty_slots, fill_slots
from gpusearch.model.model import Model, load_model
from gpusearch.search.saved import given_from_trace
from gpusearch.search.signature import model_hash
from gpusearch.text.fingerprint import fingerprint
from tests.tiny import TINY


@pytest.fixture(scope="module")
def model() -> Model:
    return load_model(load_config(TINY))


def reversed_words(vocabulary: Vocabulary) -> Vocabulary:
    return Vocabulary.from_words(list(vocabulary)[::-1])


def reversed_phrases(phrases: Sequences) -> Sequences:
    """The same phrases under other numbers."""
    parts = [phrases.data[a:b] for a, b in zip(phrases.offsets[:-1], phrases.offsets[1:], strict=True)][::-1]
    data, offsets = np.concatenate(parts), np.cumsum([0, *map(len, parts)])
    slots = empty_slots(len(parts))
    assert fill_slots(data, offsets, slots) == -1
    return Sequences(data, offsets, slots)


def moved(offsets: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """One thing belongs to the neighbour of what it belonged to."""
    other = offsets.copy()
    other[1 + int(np.flatnonzero(np.diff(offsets))[0])] -= 1
    return other


def tables_that_differ(pairs: PhraseTable) -> Iterator[PhraseTable]:
    """Each in one field, from the table and from each other."""
    yield pairs
    yield replace(pairs, source_vocabulary=reversed_words(pairs.source_vocabulary))
    yield replace(pairs, target_vocabulary=reversed_words(pairs.target_vocabulary))
    yield replace(pairs, sources=reversed_phrases(pairs.sources))
    yield replace(pairs, row_offsets=moved(pairs.row_offsets))
    yield replace(pairs, target_offsets=moved(pairs.target_offsets))
    yield replace(pairs, target_words=pairs.target_words[::-1].copy())
    yield replace(pairs, log_scores=pairs.log_scores - 1)
    yield replace(pairs, alignment=pairs.alignment + 1)
    yield replace(pairs, alignment_offsets=moved(pairs.alignment_offsets))


def test_models_of_other_phrase_tables_have_other_hashes(model: Model) -> None:
    """Every array counts: phrases that would be translated otherwise, pairs aligned otherwise."""
    (table,) = model.tables
    tables = [replace(table, pairs=pairs) for pairs in tables_that_differ(table.pairs)]
    tables.append(replace(table, limit=table.limit + 1))
    hashes = [model_hash(replace(model, tables=(one,))) for one in tables]
    assert len(set(hashes)) == len(tables) == 11
    assert hashes[0] == model_hash(load_model(load_config(TINY)))


def test_models_of_other_language_models_have_other_hashes(model: Model) -> None:
    """The same automaton says other things of other words."""
    (language_model,) = model.language_models
    language = language_model.language
    others = (
        language_model,
        replace(language_model, vocabulary=reversed_words(language_model.vocabulary)),
        replace(language_model, unknown=language_model.unknown + 1),
        replace(language_model, language=language._replace(slot=language.slot + 1)),
        replace(language_model, language=language._replace(state=language.state + 1)),
    )
    hashes = {model_hash(replace(model, language_models=(other,))) for other in others}
    assert len(hashes) == len(others)


@dataclass
class Named:
    """A feature of the document as models hold it."""

    name: str
    data: bytes

    @property
    def feature(self) -> Named:
        return self

    def fingerprint(self) -> bytes:
        return self.data


def test_what_is_divided_otherwise_has_another_hash(model: Model) -> None:
    """Names end where they end, and so do models: the same bytes in a row are not the same model."""
    documents = [(Named("ab", b"cd"),), (Named("a", b"bcd"),), (Named("ab", b"c"), Named("d", b"")), ()]
    assert len({model_hash(replace(model, document=document)) for document in documents}) == len(documents)
    twice = replace(model, language_models=model.language_models * 2)
    assert model_hash(twice) != model_hash(model)


def text(folder: Path, **settings: Any) -> TextConfig:
    """Files that are named by their content."""
    files = {key: folder / name for key, name in settings.items() if TEXT_FILES & {key}}
    for file in files.values():
        file.write_text(file.name, encoding="utf-8")
    return TextConfig(**(settings | files))


TEXT_FILES = {f"{side}_{kind}" for side in ("source", "target") for kind in ("truecaser", "spacing")}
TEXT_FILES |= {"sentencepiece_source", "sentencepiece_target"}
MOSES = {"tokenizer": "moses", "source_language": "fr", "target_language": "en"}
PIECES = {"tokenizer": "sentencepiece", "sentencepiece_source": "a", "sentencepiece_target": "b"}
CASED = MOSES | {"truecase": True, "source_truecaser": "a", "target_truecaser": "b"}
# For each key two groups that differ in nothing else.
OTHERWISE: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "tokenizer": ({}, {"tokenizer": "moses"}),
    "source_language": (MOSES, {"source_language": "de"}),
    "target_language": (MOSES, {"target_language": "de"}),
    "lowercase": (MOSES, {"lowercase": True}),
    "truecase": (CASED, {"truecase": False}),
    "source_truecaser": (CASED, {"source_truecaser": "c"}),
    "target_truecaser": (CASED, {"target_truecaser": "c"}),
    "source_spacing": (MOSES, {"source_spacing": "c"}),
    "target_spacing": (MOSES | {"target_spacing": "b"}, {"target_spacing": "c"}),
    "sentencepiece_source": (PIECES, {"sentencepiece_source": "c"}),
    "sentencepiece_target": (PIECES, {"sentencepiece_target": "c"}),
    "unescape": ({}, {"unescape": True}),
    "nfc": (MOSES, {"nfc": False}),
    "normalize": (MOSES, {"normalize": True}),
    "split_hyphens": (MOSES, {"split_hyphens": True}),
    "xml_input": ({}, {"xml_input": "exclusive"}),
    "xml_brackets": ({"xml_input": "exclusive"}, {"xml_brackets": ("[", "]")}),
    "mark_unknown": ({}, {"mark_unknown": True}),
    "drop_unknown": ({}, {"drop_unknown": True}),
    "unknown_prefix": ({"mark_unknown": True}, {"unknown_prefix": "?|"}),
    "unknown_suffix": ({"mark_unknown": True}, {"unknown_suffix": "?"}),
}


def test_every_setting_of_texts_is_in_their_fingerprint(tmp_path: Path) -> None:
    assert OTHERWISE.keys() == TextConfig.model_fields.keys()
    for key, (base, change) in OTHERWISE.items():
        assert fingerprint(text(tmp_path, **base)) != fingerprint(text(tmp_path, **(base | change))), key
    assert fingerprint(TextConfig()) is None


def test_files_of_texts_count_by_what_is_in_them(tmp_path: Path) -> None:
    """A model may be moved; what is not read need not be there."""
    (tmp_path / "other").mkdir()
    assert fingerprint(text(tmp_path, **CASED)) == fingerprint(text(tmp_path / "other", **CASED))
    plain = TextConfig(source_truecaser=tmp_path / "none", sentencepiece_source=tmp_path / "none")
    assert fingerprint(plain) is None


DOCUMENT = [["la maison bleue", "une maison"]]


def parts(decoded: Decoded) -> dict[str, str]:
    return dict(part.partition(":")[::2] for part in decoded.signature.split("|"))


def test_the_signature_tells_first_translations_apart(tmp_path: Path) -> None:
    """By what is in the file; a chain that goes on from a later step of the same translation is another."""
    decoder, file = gpusearch.load(TINY), tmp_path / "start"
    found = []
    for second in ("a house |0-1|", "a |0-0| house |1-1|"):
        file.write_text(f"the |0-0| blue |2-2| house |1-1|\n{second}\n", encoding="utf-8")
        found.append(parts(decoder.decode(DOCUMENT, chains=1, steps=0, initial="file", initial_file=file)))
    assert found[0].pop("start") != found[1].pop("start") and found[0] == found[1]
    assert "start" not in parts(decoder.decode(DOCUMENT, chains=1, steps=0))
    first = given_from_trace(file, [[sentence.split() for sentence in DOCUMENT[0]]])
    later = replace(first, steps=[np.full((1, 2), 3)], rejected=[np.zeros((1, 2), np.int64)])
    assert first.fingerprint() != later.fingerprint()


def test_the_signature_tells_candidates_apart() -> None:
    """Texts, segments, and the scores that count."""
    decoder = gpusearch.load(TINY, ["candidates.weights.nmt=1"])
    candidates = (
        Candidate(0, "my house", {"nmt": -1.0}),
        Candidate(1, "my house", {"nmt": -1.0}),
        Candidate(0, "my home", {"nmt": -1.0}),
        Candidate(0, "my house", {"nmt": -2.0}),
    )
    found = [parts(decoder.decode(DOCUMENT, chains=1, steps=0, candidates=[one])) for one in candidates]
    assert len({one.pop("candidates") for one in found}) == len(candidates)
    assert all(one == found[0] == parts(decoder.decode(DOCUMENT, chains=1, steps=0)) for one in found)
    other = decoder.decode(DOCUMENT, chains=1, steps=0, candidates=[replace(candidates[0], path="elsewhere", line=7)])
    again = decoder.decode(DOCUMENT, chains=1, steps=0, candidates=[candidates[0]])
    assert other.signature == again.signature


def test_the_signature_tells_texts_apart() -> None:
    plain, other = (
        parts(gpusearch.load(TINY, settings).decode(DOCUMENT, method="beam"))
        for settings in ([], ["text.unknown_prefix=?", "text.lowercase=true"])
    )
    assert other.pop("text") and other == plain | {"model": other["model"]}


def test_the_signature_is_silent_about_what_has_no_effect() -> None:
    """Searches, the beam by itself and draws of blocks each read settings of their own."""
    of_searches = ["search.policy=sweep", "search.longest_visit=1", "search.operations.swap=1"]
    of_chains = [*of_searches, "search.chains=3", "search.max_rejected=9", "search.restarts=2", "search.perturbation=1"]
    for method, settings in (("gibbs", of_searches), ("beam", of_chains)):
        run = {"method": method, "steps_per_word": 2.0}
        plain, other = (gpusearch.load(TINY, more).decode(DOCUMENT, **run).signature for more in ([], settings))
        assert plain == other, method
