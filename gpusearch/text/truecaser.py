"""Truecasing: the first word of a sentence in the form that it has elsewhere, and the way back.

The scheme and the file format are those of Moses' truecaser; a model made by either can be read by the other.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from gpusearch.errors import InputError
from gpusearch.io.files import read_lines, replaced, split_blank

_SENTENCE_END = frozenset(".?!")
# Before the first word of a sentence these may stand, and it is still the first word.
_BEFORE_WORD = frozenset("([{)]}\"'`’«»‹›“”„‘¿¡") | {"``", "''"}
_COUNT = re.compile(r"\((\d+)(?:/\d+)?\)")

Forms = dict[str, dict[str, int]]
"""Lower-cased word -> its written forms with their counts, the most frequent first."""


class Truecaser:
    """Writes the first word of each sentence as it is written elsewhere.

    Only capitalised first words change (``The``, not ``NATO`` or ``McDonald``), and only if their lower-cased
    form is the most frequent one, so that :func:`restore` gives back what was written.

    Args:
        forms: written forms of each word, the most frequent first.
    """

    def __init__(self, forms: Forms) -> None:
        self.forms = forms
        self._best = {word: next(iter(written)) for word, written in forms.items()}
        self._known = frozenset(form for written in forms.values() for form in written)

    def apply(self, tokens: Sequence[str], *, known_forms: bool = False) -> list[str]:
        """Tokens in their true case.

        Args:
            tokens: tokens of a line.
            known_forms: also replace a form that the training text does not have by the most frequent one
                that it has (``ARTICLE`` by ``article``). On the source side this is the difference between a
                word that can be translated and one that cannot; on the target side it would lose what was
                written.
        """
        known, best = self._known, self._best
        cased = list(tokens)
        if known_forms:
            cased = [token if token in known else best.get(token.lower(), token) for token in tokens]
        for index in _first_words(tokens):
            token, word = tokens[index], tokens[index].lower()
            if best.get(word) == word and token[1:] == word[1:]:
                cased[index] = word
        return cased

    def write(self, path: str | Path) -> None:
        """Write a line per word, ``best (count/all) other (count) ...``, sorted by word."""
        with replaced(path) as stream:
            for _, written in sorted(self.forms.items()):
                counts = [f"{form} ({count})" for form, count in written.items()]
                counts[0] = counts[0][:-1] + f"/{sum(written.values())})"
                stream.write((" ".join(counts) + "\n").encode())


def restore(tokens: Sequence[str], *, initial_capital: bool = True) -> list[str]:
    """Undo :meth:`Truecaser.apply`: a capital for the first word of each sentence, if it has none.

    Args:
        tokens: true-cased tokens.
        initial_capital: False leaves the very first word as it is, as where the text is the middle of a
            sentence (the items of a list). Sentences further on begin with a capital all the same.
    """
    cased = list(tokens)
    for index in _first_words(tokens):
        token = tokens[index]
        if (initial_capital or any(before in _SENTENCE_END for before in tokens[:index])) and token.islower():
            cased[index] = token[0].title() + token[1:]
    return cased


def train_truecaser(lines: Iterable[Sequence[str]], path: str | Path | None = None) -> Truecaser:
    """Count the forms of words that do not stand first in a sentence, or do so in lower case.

    Args:
        lines: tokens of each line.
        path: where to write the model, if anywhere.
    """
    counts: Counter[str] = Counter()
    for tokens in lines:
        counts.update(tokens)
        for index in _first_words(tokens):
            if not tokens[index].islower():
                counts[tokens[index]] -= 1
    by_word: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for form, count in counts.items():
        word = form.lower()
        if count > 0 and (word != form or form != form.upper()):  # what has no case is left out
            by_word[word][form] = count
    truecaser = Truecaser({word: dict(sorted(written.items(), key=_rank)) for word, written in by_word.items()})
    if path is not None:
        truecaser.write(path)
    return truecaser


def read_truecaser(path: str | Path) -> Truecaser:
    """Read a model of :meth:`Truecaser.write` or of Moses' tool.

    Raises:
        InputError: a line that is not forms with their counts in parentheses, with its number.
    """
    forms: Forms = {}
    for number, line in enumerate(read_lines(path), 1):
        fields = split_blank(line)
        counts = [_COUNT.fullmatch(field) for field in fields[1::2]]
        if len(fields) % 2 or not fields or None in counts:
            expected = "word (count/all) other-form (count) ..."
            raise InputError("not a truecaser model", path=path, line=number, found=repr(line), expected=expected)
        written = {form: int(count[1]) for form, count in zip(fields[::2], counts, strict=True) if count}
        forms.setdefault(fields[0].lower(), {}).update(written)
    return Truecaser(forms)


def _rank(item: tuple[str, int]) -> tuple[int, bool, str]:
    """Frequent forms first; of equally frequent ones the lower-cased."""
    form, count = item
    return -count, form != form.lower(), form


def _first_words(tokens: Sequence[str]) -> Iterator[int]:
    """Indices of the first words of the sentences in a line."""
    first = True
    for index, token in enumerate(tokens):
        if token in _SENTENCE_END:
            first = True
        elif first and token not in _BEFORE_WORD:
            first = False
            yield index
