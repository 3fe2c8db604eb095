"""Dependency trees of the source, laid over its tokens by the characters that both stand for."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from hashlib import blake2b
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gpusearch.errors import InputError
from gpusearch.features.by_source import excerpt, nearest
from gpusearch.io.files import decode_lines, read_bytes
from gpusearch.io.trees import Tree, trees_of_lines, visible
from gpusearch.kernels.cohesion import NOUN, OTHER, VERB, Trees

JOINED_HYPHEN = "@-@"
"""A token that stands for a hyphen inside of a word (`text.split_hyphens`)."""
SUBWORD_BLANK = "▁"
"""What SentencePiece writes for a blank."""


@dataclass(frozen=True)
class TokenTree:
    """A tree over the tokens of a sentence. Words and tokens are counted from 0."""

    head: tuple[int, ...]
    """Of each word the word that it depends on; -1 for a root."""
    kind: tuple[int, ...]
    """Of each word `VERB`, `NOUN` or `OTHER` of `gpusearch.kernels.cohesion`."""
    words: tuple[tuple[int, ...], ...]
    """Of each token the words that it overlaps."""

    @cached_property
    def tokens(self) -> tuple[frozenset[int], ...]:
        """Of each word the tokens that it overlaps."""
        found: list[set[int]] = [set() for _ in self.head]
        for token, words in enumerate(self.words):
            for word in words:
                found[word].add(token)
        return tuple(frozenset(tokens) for tokens in found)

    @cached_property
    def subtrees(self) -> tuple[frozenset[int], ...]:
        """T(n) of each word n: itself and all words that depend on it, directly or not."""
        found: list[set[int]] = [set() for _ in self.head]
        for word in range(len(self.head)):
            above = word
            while above >= 0:
                found[above].add(word)
                above = self.head[above]
        return tuple(frozenset(words) for words in found)


@dataclass(frozen=True, eq=False)
class SourceTrees:
    """The trees of a file, found by the texts of sentences."""

    of_text: Mapping[str, Tree]
    """By `plain_text`."""
    path: str
    """Where they come from, for messages."""
    _laid: dict[tuple[str, ...], TokenTree] = field(default_factory=dict, init=False, repr=False)

    def of(self, tokens: Sequence[str]) -> TokenTree:
        """The tree of a sentence.

        Raises:
            InputError: the file has no tree of this text; shows the text and the one that is most like it.
        """
        words = tuple(tokens)
        if words not in self._laid:
            text = plain_text(words)
            like = text if text in self.of_text else nearest(text, self.of_text)
            if like is None:
                raise InputError("no trees", path=self.path, expected="a tree for each sentence that is translated")
            self._laid[words] = lay_over(self.of_text[like], words, "a sentence that is translated")
        return self._laid[words]

    @cached_property
    def digest(self) -> bytes:
        """BLAKE2b-64 of all that features see of the trees, wherever they come from."""
        found = blake2b(digest_size=8)
        for text, tree in sorted(self.of_text.items()):
            words = [(word.head, _kind(word.upos, word.xpos), word.start, word.stop) for word in tree.words]
            found.update(repr((text, tree.text, words)).encode())
        return found.digest()


def read_source_trees(path: str | Path) -> SourceTrees:
    """The trees of a CoNLL-U file, of equal texts the first; those of one content are read once.

    Raises:
        InputError: it cannot be read, or is no such file.
    """
    return _of_content(str(path), read_bytes(path))


@lru_cache(maxsize=4)
def _of_content(path: str, content: bytes) -> SourceTrees:
    found: dict[str, Tree] = {}
    for tree in trees_of_lines(decode_lines(BytesIO(content), path), path):
        found.setdefault(plain_text([tree.text]), tree)
    return SourceTrees(found, path)


def plain_text(tokens: Sequence[str]) -> str:
    """The text of tokens as texts are compared: without white space, case and what a tokeniser adds."""
    text = visible("".join("-" if token == JOINED_HYPHEN else token for token in tokens))
    return "".join(character.casefold() for character in text.replace(SUBWORD_BLANK, ""))


def lay_over(tree: Tree, tokens: Sequence[str], name: str) -> TokenTree:
    """A tree over the tokens of its sentence, which is called `name` in messages.

    Characters are compared without white space and without case. What a tokeniser adds (``@-@`` for a hyphen,
    SentencePiece's ``▁``) is known.

    Raises:
        InputError: the texts differ; shows both, and where the tree stands.
    """
    reached = 0  # characters of the tree's text that tokens have stood for so far
    folded = [piece.casefold() for piece in tree.text]
    ranges = []
    for token in tokens:
        for form in _forms(token):
            stop = reached
            piece = ""
            while stop < len(folded) and len(piece) < len(form):
                piece += folded[stop]
                stop += 1
            if piece == form:
                break
        else:
            raise _differ(tree, tokens, name)
        ranges.append((reached, stop))
        reached = stop
    if reached != len(folded):
        raise _differ(tree, tokens, name)
    starts = np.array([word.start for word in tree.words])
    stops = np.array([word.stop for word in tree.words])
    return TokenTree(
        head=tuple(word.head for word in tree.words),
        kind=tuple(_kind(word.upos, word.xpos) for word in tree.words),
        words=tuple(tuple(np.flatnonzero((starts < stop) & (stops > start)).tolist()) for start, stop in ranges),
    )


def _forms(token: str) -> list[str]:
    """What a token may stand for in the text."""
    text = visible(token)
    forms = [text, *([text.replace(SUBWORD_BLANK, "")] if SUBWORD_BLANK in text else [])]
    if token == JOINED_HYPHEN:
        forms.append("-")
    return ["".join(character.casefold() for character in form) for form in forms]


def _kind(upos: str, xpos: str) -> int:
    """Whether a word is a verb or a noun to algorithm 5 of Bach et al. (2009): by UPOS, or by a tag of the Penn set."""
    if upos == "VERB" or xpos.startswith("VB"):
        return VERB
    return NOUN if upos == "NOUN" or xpos.startswith("NN") else OTHER


def _differ(tree: Tree, tokens: Sequence[str], name: str) -> InputError:
    return InputError(
        f"the tree and {name} have different texts",
        path=tree.path,
        line=tree.line,
        found=_shown(tree.text),
        expected=_shown(visible("".join(tokens))),
        hint="trees follow the order of the segments that have words, one each",
    )


def _shown(text: str) -> str:
    return excerpt(unicodedata.normalize("NFC", text))


def flat_trees(trees: Sequence[TokenTree | None], tokens: Sequence[int]) -> Trees:
    """Trees of the sentences of a problem as kernels read them.

    Args:
        trees: of each sentence; None for one without a tree, whose cohesion is always 0.
        tokens: number of tokens of each sentence.
    """
    sentence: list[tuple[int, ...]] = []
    token_rows: list[tuple[int, ...]] = []
    node_rows: list[tuple[int, ...]] = []
    word_rows: list[int] = []
    for tree, count in zip(trees, tokens, strict=True):
        words = 0 if tree is None else len(tree.head)
        sentence.append((len(token_rows), len(node_rows), words, 0))
        if tree is None:
            token_rows += [(0, -1, 0, 0)] * count
            continue
        order, stop, parent = _preorder(tree.head)
        number = np.empty(words, np.int64)
        number[order] = np.arange(words)
        for of_token in tree.words:
            numbers = sorted(number[list(of_token)].tolist())
            bounds = (numbers[0], numbers[-1]) if numbers else (words, -1)
            token_rows.append((*bounds, len(word_rows), len(word_rows) + len(numbers)))
            word_rows += numbers
        for node, word in enumerate(order):
            node_rows.append((stop[node], parent[node], len(tree.tokens[word]), tree.kind[word]))
    return Trees(
        sentence=_rows(sentence, 4),
        token=_rows(token_rows, 4),
        word=np.array(word_rows, np.int32),
        node=_rows(node_rows, 4),
    )


def _rows(rows: Sequence[Sequence[int]], columns: int) -> NDArray[np.int32]:
    return np.array(rows, np.int32).reshape(-1, columns)


def _preorder(head: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
    """Words in an order in which each subtree stands together, its head first.

    Returns:
        the words; for each place the one behind the last word below it; for each place the head's place, or -1.
    """
    below: list[list[int]] = [[] for _ in head]
    for word, above in enumerate(head):
        if above >= 0:
            below[above].append(word)
    order: list[int] = []
    place = [0] * len(head)
    pending = [word for word, above in enumerate(head) if above < 0][::-1]
    while pending:
        word = pending.pop()
        place[word] = len(order)
        order.append(word)
        pending += below[word][::-1]
    stop = list(range(1, len(head) + 1))
    for word in reversed(order):
        if head[word] >= 0:
            stop[place[head[word]]] = max(stop[place[head[word]]], stop[place[word]])
    return order, stop, [place[head[word]] if head[word] >= 0 else -1 for word in order]
