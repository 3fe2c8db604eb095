"""Units and the keys of their random numbers."""

from __future__ import annotations

from hashlib import blake2b

import pytest

from gpusearch.errors import InputError
from gpusearch.kernels.records import (
    UNIT_FIRST_SENTENCE,
    UNIT_FIRST_WORD,
    UNIT_KEY_HIGH,
    UNIT_KEY_LOW,
    UNIT_SENTENCES,
    UNIT_WORDS,
)
from gpusearch.model.units import Units, document_identities, make_units, unit_key

DOCUMENTS = [[["a", "b"], [], ["c"]], [], [[]], [["a"]]]


def keys(units: Units) -> list[tuple[int, int]]:
    return [(int(row[UNIT_KEY_LOW]), int(row[UNIT_KEY_HIGH])) for row in units.rows]


def test_a_sentence_with_a_word_is_a_unit() -> None:
    units = make_units(DOCUMENTS, document_identities(DOCUMENTS), units="sentence", seed=1)
    assert units.rows[:, [UNIT_FIRST_SENTENCE, UNIT_SENTENCES, UNIT_WORDS, UNIT_FIRST_WORD]].tolist() == [
        [0, 1, 2, 0],
        [2, 1, 1, 2],
        [4, 1, 1, 3],
    ]
    assert units.document.tolist() == [0, 0, 3]
    assert units.of_sentence.tolist() == [0, -1, 1, -1, 2]
    assert [units.place(sentence) for sentence in range(5)] == [(0, 0), (0, 1), (0, 2), (2, 0), (3, 0)]
    assert units.name(1) == "document 1, sentence 3"


def test_a_document_with_a_word_is_a_unit() -> None:
    units = make_units(DOCUMENTS, document_identities(DOCUMENTS), units="document", seed=1)
    assert units.rows[:, [UNIT_FIRST_SENTENCE, UNIT_SENTENCES, UNIT_WORDS, UNIT_FIRST_WORD]].tolist() == [
        [0, 3, 3, 0],
        [4, 1, 1, 3],
    ]
    assert units.document.tolist() == [0, 3]
    assert list(units.sentences(0)) == [0, 1, 2]
    assert units.name(0) == "document 1"


def test_the_bytes_of_a_key_are_as_documented() -> None:
    seed = (7).to_bytes(8, "little")
    named = blake2b(seed + b"i" + "é1".encode() + b"\xff" * 8, digest_size=8).digest()
    assert unit_key(7, document_identities([[["a"]]], ["é1"])[0]) == (
        int.from_bytes(named[:4], "little"),
        int.from_bytes(named[4:], "little"),
    )
    text = b"t" + (0).to_bytes(8, "little") + b"a b \n\nc \n" + (2).to_bytes(8, "little")
    unnamed = blake2b(seed + text, digest_size=8).digest()
    units = make_units(DOCUMENTS, document_identities(DOCUMENTS), units="sentence", seed=7)
    assert keys(units)[1] == (int.from_bytes(unnamed[:4], "little"), int.from_bytes(unnamed[4:], "little"))


def test_a_key_depends_on_the_document_alone() -> None:
    """Need 1: a document alone, among others, or in another order has the same random numbers."""
    alone = make_units([DOCUMENTS[0]], document_identities([DOCUMENTS[0]]), units="sentence", seed=1)
    among = make_units(DOCUMENTS[::-1], document_identities(DOCUMENTS[::-1]), units="sentence", seed=1)
    assert keys(alone) == keys(among)[1:]


def test_equal_documents_without_ids_have_different_keys() -> None:
    documents = [[["a"]], [["b"]], [["a"]]]
    identities = document_identities(documents)
    assert len(set(identities)) == 3
    # The count is that of the whole corpus: batches of it are given the identities.
    assert (
        make_units(documents[2:], identities[2:], units="document", seed=1).rows[0, UNIT_KEY_LOW]
        == keys(make_units(documents, identities, units="document", seed=1))[2][0]
    )


def test_an_id_that_looks_like_text_is_no_text() -> None:
    assert document_identities([[["a"]]], ["a"]) != document_identities([[["a"]]])


@pytest.mark.parametrize("seed", [-1, 1 << 64])
def test_a_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(InputError, match="unusable seed"):
        unit_key(seed, b"t")


def test_an_unknown_kind_of_unit_is_refused() -> None:
    with pytest.raises(InputError, match="unknown kind of unit"):
        make_units([], [], units="paragraph", seed=0)
