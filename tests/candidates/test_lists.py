"""Candidates from files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from gpusearch.candidates.lists import Listed, read_lists
from gpusearch.errors import InputError
from gpusearch.io.nbest import NBestEntry, format_n_best

ENTRIES = [
    NBestEntry(0, ("a", "b"), (("LM0", (-1.0,)),), -1.5, ((0, 1, 0, 1), (1, 2, 1, 2)), ()),
    NBestEntry(0, ("a", "b"), (("LM0", (-1.0,)),), -1.75, ((0, 2, 0, 2),), ()),
    NBestEntry(0, ("a", "b"), (("LM0", (-1.0,)),), -1.5, ((0, 1, 0, 1), (1, 2, 1, 2)), ()),
    NBestEntry(2, ("c",), (("LM0", (-2.0,)),), -2.0),
]


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def moses(path: Path) -> Path:
    return write(path, "".join(format_n_best(entry) + "\n" for entry in ENTRIES))


def texts(listed: Listed) -> list[list[list[str]]]:
    return [[list(segment.texts) for segment in document.segments] for document in listed.draws]


def test_moses_list(tmp_path: Path) -> None:
    """Equal segmentations are one derivation; a sentence without candidates has the empty one."""
    listed = read_lists(moses(tmp_path / "list"))
    assert listed.tokenised and texts(listed) == [[["a b"] * 3, [""], ["c"]]]
    first, missing, _ = listed.draws[0].segments
    assert first.derivations.tolist() == [0, 1, 0] and first.scores.tolist() == [-1.5, -1.75, -1.5]
    assert missing.scores.tolist() == [0.0] and first.chains is None
    listed = read_lists(
        tmp_path / "list", write(tmp_path / "ids", "x\nx\ny\ny\n"), lambda tokens, number: f"{number}+".join(tokens)
    )
    assert not listed.tokenised and texts(listed) == [[["a0+b"] * 3, [""]], [["c"], [""]]]
    assert [document.id for document in listed.corpus.documents] == ["x", "y"]


@pytest.mark.parametrize(
    ("ids", "told"), [(None, "no entry for 1 of 3 sentences, number 1 the first"), ("x\n" * 6, "no entry for 4 of 6")]
)
def test_sentences_without_entries_are_told(
    ids: str | None, told: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Within the list, or behind its end where document ids say so; of a whole list nothing is told."""
    read_lists(moses(tmp_path / "list"), None if ids is None else write(tmp_path / "ids", ids))
    assert f"{tmp_path / 'list'}: {told}" in caplog.text
    caplog.clear()
    read_lists(write(tmp_path / "whole", format_n_best(ENTRIES[0]) + "\n"))
    assert not caplog.text


def test_list_as_json(tmp_path: Path) -> None:
    rows = [
        {"id": 0, "doc": "x", "seg": 1, "words": "a b", "score": -1.5, "phrases": [{"span": [0, 1]}], "chain": 3},
        {"id": 0, "doc": "x", "seg": 1, "words": "a b", "score": -1.5, "phrases": [{"span": [0, 0]}], "chain": 4},
        {"id": 1, "doc": "y", "seg": "z", "words": "c", "score": None, "phrases": []},
    ]
    path = write(tmp_path / "list.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    listed = read_lists(path)
    assert texts(listed) == [[["a b", "a b"]], [["c"]]]
    assert [document.id for document in listed.corpus.documents] == ["x", "y"]
    assert listed.corpus.documents[1].segments[0].id == "z"
    first = listed.draws[0].segments[0]
    assert first.derivations.tolist() == [0, 1]
    assert first.chains is not None and first.chains.tolist() == [3, 4]
    assert np.isnan(listed.draws[1].segments[0].scores).all()


def test_the_same_score_is_the_same_derivation(tmp_path: Path) -> None:
    """However it is written, where nothing else tells derivations apart; and a byte order mark is no part of a list."""
    scores = ("-1", "-1.0", "-2", "0.0", "-0.0", "null", "null")
    rows = "".join(f'{{"id": 0, "words": "a", "score": {score}}}\n' for score in scores)
    listed = read_lists(write(tmp_path / "list.jsonl", "\ufeff" + rows))
    assert listed.draws[0].segments[0].derivations.tolist() == [0, 0, 1, 2, 2, 3, 3]


def document(**keys: object) -> str:
    return json.dumps({"doc_id": "x", "segments": [{"src": "s"}, {"src": "t", "seg_id": "2"}], **keys}) + "\n"


def test_samples_of_documents(tmp_path: Path) -> None:
    samples = [
        {"score": -3.0, "chain": 1, "segments": [{"hyp": "A.", "score": -1.0}, {"hyp": "B.", "score": -2.0}]},
        {"score": -4.0, "chain": 2, "segments": [{"hyp": "A.", "score": -1.0}, {"hyp": "C.", "score": -3.0}]},
    ]
    listed = read_lists(write(tmp_path / "in.jsonl", document(nbest=samples)))
    assert not listed.tokenised and texts(listed) == [[["A.", "A."], ["B.", "C."]]]
    (draws,) = listed.draws
    assert draws.scores is not None and draws.scores.tolist() == [-3.0, -4.0]
    assert draws.chains is not None and draws.chains.tolist() == [1, 2]
    assert draws.segments[0].derivations.tolist() == [0, 0] and draws.segments[1].scores.tolist() == [-2.0, -3.0]
    (found,) = listed.corpus.documents
    assert [segment.source for segment in found.segments] == ["s", "t"] and not found.attributes


def test_lists_of_segments_in_documents(tmp_path: Path) -> None:
    segments = [{"src": "s", "nbest": [{"hyp": "A", "score": -1}, {"hyp": "B", "score": -2}]}]
    listed = read_lists(write(tmp_path / "in.jsonl", document(segments=segments)))
    assert texts(listed) == [[["A", "B"]]] and listed.draws[0].scores is None


def test_nothing(tmp_path: Path) -> None:
    assert read_lists(write(tmp_path / "list", "")).draws == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("0 ||| a\n", "list:1: not a line of an n-best list (2 fields)"),
        ("-1 ||| a ||| x= 1 ||| 2\n", "list: a sentence's number below 0; found -1"),
        ('{"id": 0, "words": "a", "score": 1}\n{"id": 0}\n', "list:2: not an entry of a list (KeyError: 'words')"),
        (
            '{"id": 0, "words": "a", "score": ' + "1" * 5000 + "}\n",
            "list:1: not an entry of a list (ValueError: an integer of more than 4300 digits)",
        ),
        ('{"id": 0, "words": "a", "score": ' + "1" * 400 + "}\n", "list:1: not an entry of a list (OverflowError"),
        (
            '{"id": 0, "words": "a", "score": ' + "[" * 9999,
            "list:1: not an entry of a list (ValueError: too deep a nesting",
        ),
        ('{"id": 0, "words": 5}\n', "list:1: not an entry of a list (TypeError: 5 is no text)"),
        ('{"id": 0, "words": "\\ud800"}\n', r"list:1: not an entry of a list (TypeError: '\ud800' is no text)"),
        (
            "0 ||| a ||| x= 1 ||| 2\n0 ||| a ||| x= 1 ||| inf\n",
            "list:2: not a line of an n-best list (inf is no finite",
        ),
        (
            '{"id": 0, "words": "a", "score": -Infinity}\n',
            "list:1: not an entry of a list (TypeError: -inf is no finite",
        ),
        ('{"id": 0, "words": "a", "score": "nan"}\n', "list:1: not an entry of a list (TypeError: 'nan' is no finite"),
        ('{"id": 1.7, "words": "a"}\n', "list:1: not an entry of a list (TypeError: 1.7 is no whole number"),
        (
            '{"id": 0, "words": "a", "chain": ' + "9" * 30 + "}\n",
            f"list:1: not an entry of a list (TypeError: {'9' * 30} is no whole number",
        ),
        (
            '{"id": 0, "words": "a", "doc": "x"}\n{"id": 0, "words": "b"}\n{"id": 1, "words": "a", "doc": "y"}\n'
            '{"id": 2, "words": "a", "doc": "x"}\n',
            "list: the sentences of document 'x' do not stand together; found number 2 behind those of document 'y'",
        ),
        (
            '{"id": 0, "words": "a", "doc": "x", "seg": 1}\n{"id": 1, "words": "a", "doc": "x", "seg": 1}\n',
            "list: segment id '1' repeats; found number 1 of document 'x'",
        ),
        ('{"id": 0, "words"\n', "list:1: not an entry of a list (JSONDecodeError"),
        ("20261128 ||| a ||| x= 1 ||| 2\n", "list: numbers of sentences without end; found 1 sentences up to number"),
        (document(), "list:1: no candidates of document 'x', segment 1"),
        (document(nbest=[{"score": 1, "segments": []}]), "list:1: \"nbest\" of document 'x' (ValueError"),
        (document(nbest=[{"score": 1}]), "list:1: \"nbest\" of document 'x' (KeyError: 'segments')"),
        (
            document(nbest=[{"score": "inf", "segments": [{"hyp": "a"}, {"hyp": "b"}]}]),
            "list:1: \"nbest\" of document 'x' (TypeError: 'inf' is no finite number)",
        ),
        (
            document(segments=[{"src": "s", "nbest": [{"hyp": "a", "score": -1, "chain": "b"}]}]),
            "list:1: \"nbest\" of document 'x' (ValueError",
        ),
        (document(nbest=[None]), "list:1: \"nbest\" of document 'x' (TypeError: None is no object)"),
        (document(nbest=[{"segments": ["a", "b"]}]), "list:1: \"nbest\" of document 'x' (TypeError: 'a' is no object)"),
        (
            document(segments=[{"src": "s", "nbest": {"hyp": "a"}}]),
            "list:1: \"nbest\" of document 'x' (TypeError: 'hyp' is no object)",
        ),
        (document(nbest=3), "list:1: \"nbest\" of document 'x' (TypeError"),
    ],
)
def test_faults(content: str, message: str, tmp_path: Path) -> None:
    path = write(tmp_path / "list", content)
    with pytest.raises(InputError) as error:
        read_lists(path)
    assert f"{tmp_path}/{message}" in str(error.value)


def test_faulty_document_ids(tmp_path: Path) -> None:
    ids = write(tmp_path / "ids", "x\ny\n")
    with pytest.raises(InputError, match="fewer document ids than sentences; found 2; expected 3 or more"):
        read_lists(moses(tmp_path / "list"), ids)
    with pytest.raises(InputError, match="a file that has its own"):
        read_lists(write(tmp_path / "in.jsonl", document()), ids)
