"""Trees: what CoNLL-U says, and which words a token stands for."""

from __future__ import annotations

import tarfile
import unicodedata
from pathlib import Path
from typing import Literal

import conllu
import numpy as np
import pytest
from sentencepiece import SentencePieceTrainer

from gpusearch.errors import InputError
from gpusearch.features.cohesion import cohesion
from gpusearch.features.trees import flat_trees, lay_over, plain_text
from gpusearch.io.trees import Tree, read_trees, visible
from gpusearch.kernels.cohesion import NOUN, OTHER, VERB
from gpusearch.text.processor import BlankProcessor, MosesProcessor
from gpusearch.text.subwords import Subwords

SENTENCE = """\
# sent_id = 1
# text = On va au marché-gare.
1\tOn\ton\tPRON\tPRP\t_\t2\tnsubj\t_\t_
2\tva\taller\tVERB\tVBZ\t_\t0\troot\t_\t_
3-4\tau\t_\t_\t_\t_\t_\t_\t_\t_
3\tà\tà\tADP\tIN\t_\t5\tcase\t_\t_
4\tle\tle\tDET\tDT\t_\t5\tdet\t_\t_
5\tmarché\tmarché\tNOUN\tNN\t_\t2\tobl\t_\tSpaceAfter=No
6\t-\t-\tPUNCT\tHYPH\t_\t5\tpunct\t_\tSpaceAfter=No
7\tgare\tgare\tX\tNNS\t_\t5\tnmod\t_\tSpaceAfter=No
7.1\tempty\t_\t_\t_\t_\t_\t_\t_\t_
8\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_

"""


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    path = tmp_path / "one.conllu"
    path.write_text(SENTENCE, encoding="utf-8")
    (only,) = read_trees(path)
    return only


def test_tokens_get_all_words_that_they_overlap(tree: Tree) -> None:
    """A multiword token is its words; a token that the treebank splits is all of the pieces."""
    laid = lay_over(tree, ["On", "va", "au", "marché-gare", "."], "segment 1")
    assert laid.words == ((0,), (1,), (2, 3), (4, 5, 6), (7,))
    assert laid.head == (1, -1, 4, 4, 1, 4, 4, 1)
    assert laid.kind == (OTHER, VERB, OTHER, OTHER, NOUN, OTHER, NOUN, OTHER)


@pytest.mark.parametrize(
    ("tags", "kind"), [("AUX\tVBZ", VERB), ("VERB\t_", VERB), ("AUX\tMD", OTHER), ("X\tNNP", NOUN), ("NOUN\t_", NOUN)]
)
def test_a_verb_or_noun_is_one_by_either_tag(tmp_path: Path, tags: str, kind: int) -> None:
    path = tmp_path / "one.conllu"
    path.write_text(SENTENCE.replace("VERB\tVBZ", tags), encoding="utf-8")
    (tree,) = read_trees(path)
    assert lay_over(tree, ["On", "va", "au", "marché-gare", "."], "segment 1").kind[1] == kind


def test_words_get_all_tokens_that_they_overlap(tree: Tree) -> None:
    laid = lay_over(tree, ["▁on", "▁v", "a", "▁au", "▁mar", "ché", "@-@", "gare", "."], "segment 1")
    assert laid.tokens[1] == {1, 2} and laid.tokens[2] == laid.tokens[3] == {3} and laid.tokens[4] == {4, 5}
    assert laid.words[6] == (5,)


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_forms_of_unicode_do_not_matter(tree: Tree, form: Literal["NFC", "NFD"]) -> None:
    """Tokens may be composed (`text.nfc`) where the treebank is not, or the other way round; pieces may cut there."""
    tokens = ["On", "va", "au", unicodedata.normalize(form, "marché-gare"), "."]
    assert lay_over(tree, tokens, "it").words == ((0,), (1,), (2, 3), (4, 5, 6), (7,))
    assert lay_over(tree, ["On", "va", "au", "marche", "\u0301-gare", "."], "it").words[3:] == ((4,), (4, 5, 6), (7,))
    assert plain_text(tokens) == plain_text([tree.text])


@pytest.mark.parametrize("rule", ["nmt_nfkc", "nmt_nfkc_cf"])
def test_pieces_of_a_model_that_normalises(tmp_path: Path, rule: str) -> None:
    """SentencePiece's own rules, with case and without: each character that they write in another way stands in a word
    of the tree, and its pieces are found in that word."""
    changed = [
        chr(code)
        for code in range(0x80, 0x30000)
        if unicodedata.normalize("NFKC", chr(code)) != unicodedata.normalize("NFC", chr(code))
    ]
    assert {"½", "ﬁ", "…", "²", "ℌ", "Ａ", "\u00b4", "\u00a0"} <= {*changed}
    words = [f"a{character}b" for character in changed]
    rows = [f"{place}\t{word}\t_\tX\t_\t_\t{place - 1}\t_\t_\t_\n" for place, word in enumerate(words, start=1)]
    (tmp_path / "one.conllu").write_text("".join(rows) + "\n", encoding="utf-8")
    (tree,) = read_trees(tmp_path / "one.conllu")
    subwords = normalising_model(tmp_path / "given", rule)
    pieces = [subwords.split(word) for word in words]
    laid = lay_over(tree, [piece for of_word in pieces for piece in of_word], "it")
    of_tokens = iter(laid.words)
    for word, of_word in enumerate(pieces):
        assert {place for _ in of_word for place in next(of_tokens)} == {word}


def normalising_model(prefix: Path, rule: str) -> Subwords:
    """A model with one of SentencePiece's rules of normalisation."""
    SentencePieceTrainer.train(
        sentence_iterator=iter(["le ministre de la forêt", "la forêt du ministre"] * 5),
        model_prefix=str(prefix),
        model_type="bpe",
        vocab_size=40,
        normalization_rule_name=rule,
        minloglevel=2,
    )
    return Subwords(f"{prefix}.model")


def test_a_token_of_spaces_is_no_word(tree: Tree) -> None:
    laid = lay_over(tree, ["On", "\u00a0", "va", "au", "marché-gare."], "segment 1")
    assert laid.words[1] == ()
    assert flat_trees([laid], [5]).token[1, :2].tolist() == [8, -1]


def test_characters_that_cannot_be_seen_make_no_difference(tmp_path: Path) -> None:
    """A word of nothing else has no token, unless it stands within one, and is never missing."""
    path = tmp_path / "one.conllu"
    text = SENTENCE.replace("6\t-\t", "6\t\u00ad\t").replace("gare\tgare", "ga\u200dre\tgare")
    path.write_text(text, encoding="utf-8")
    (tree,) = read_trees(path)
    assert lay_over(tree, ["On", "va", "au", "marchégare", "."], "segment 1").words[3] == (4, 5, 6)
    laid = lay_over(tree, ["On", "va", "\u2060", "au", "mar\u00adché", "gare", "."], "segment 1")
    assert laid.words == ((0,), (1,), (), (2, 3), (4,), (6,), (7,)) and laid.tokens[5] == frozenset()
    assert cohesion(laid, [(0, 2), (3, 6), (6, 7), (2, 3)])["coh4"] == (0,)
    assert cohesion(laid, [(4, 5), (0, 2), (3, 4), (5, 7), (2, 3)])["coh4"] == (3,)


@pytest.mark.parametrize("tokens", [["On", "va"], ["On", "va", "aux", "marché-gare", "."], ["On va au marché-gare..."]])
def test_another_text_is_an_error_that_shows_both(tree: Tree, tokens: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        lay_over(tree, tokens, "document 1, segment 2")
    message = str(caught.value)
    assert "one.conllu:1: the tree and document 1, segment 2" in message
    assert "'Onvaaumarché-gare.'" in message and repr("".join(tokens).replace(" ", "")) in message


def test_subtrees_are_ranges(tree: Tree) -> None:
    laid = lay_over(tree, ["On", "va", "au", "marché-gare", "."], "segment 1")
    flat = flat_trees([None, laid], [2, 5])
    assert flat.sentence.tolist() == [[0, 0, 0, 0], [2, 0, 8, 0]]
    stop, head = flat.node[:, 0], flat.node[:, 1]
    for number in range(8):
        below = [other for other in range(8) if number in _way_up(other, head.tolist())]
        assert below == list(range(number, stop[number]))
    assert sorted(flat.word.tolist()) == list(range(8)) and flat.word.dtype == np.int32


def _way_up(number: int, head: list[int]) -> list[int]:
    way = [number]
    while head[way[-1]] >= 0:
        way.append(head[way[-1]])
    return way


@pytest.mark.parametrize(
    ("old", "new", "line", "fault"),
    [
        ("\t2\tobl", "\t9\tobl", 1, "the head of word 5 is no word"),
        ("\t2\tobl", "\t7\tobl", 1, "word 3 depends on itself"),
        ("\t2\tobl", "\t_\tobl", 8, "no head"),
        ("5\tmarché", "6\tmarché", 8, "words that are not numbered one by one"),
        ("5\tmarché\t", "5\t", 8, "not a line of CoNLL-U"),
    ],
)
def test_faults_name_the_line(tmp_path: Path, old: str, new: str, line: int, fault: str) -> None:
    path = tmp_path / "faulty.conllu"
    path.write_text(SENTENCE.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(InputError, match=f"faulty.conllu:{line}: .*{fault}"):
        read_trees(path)


def treebank(data: Path, name: str) -> list[tuple[str, bytes]]:
    """The CoNLL-U files of an archive."""
    with tarfile.open(data / f"{name}.tar.xz") as archive:
        members = [member for member in archive.getmembers() if ".conllu." in member.name]
        return [(member.name, file.read()) for member in members if (file := archive.extractfile(member))]


@pytest.mark.parametrize("name", ["pud", "partut.fr-en"])
def test_real_trees(shared_data: Path, tmp_path: Path, name: str) -> None:
    """Sentences of the treebanks: as the library conllu reads it, and laid over two tokenisations."""
    for file, data in treebank(shared_data, name):
        language = file.rpartition(".")[2]
        path = tmp_path / language
        path.write_bytes(data)
        trees = read_trees(path)
        rows = data.decode().split("\n")
        sentences = data.decode().rstrip("\n").split("\n\n")
        assert len(sentences) == len(trees)
        moses, blank = MosesProcessor(language), BlankProcessor()
        for tree, part in list(zip(trees, sentences, strict=True))[:: 3 if language == "fr" else 20]:
            (sentence,) = conllu.parse(part)
            words = [word for word in sentence if isinstance(word["id"], int)]
            assert [word["form"] for word in words] == [word.form for word in tree.words]
            assert [word["head"] - 1 for word in words] == [word.head for word in tree.words]
            assert rows[tree.line - 1].startswith("#") and (tree.line == 1 or not rows[tree.line - 2])
            text = sentence.metadata["text"]
            assert visible(text) == tree.text
            for processor in (moses, blank):
                laid = lay_over(tree, processor.to_tokens(text), "it")
                assert all(laid.tokens) and all(laid.words)
