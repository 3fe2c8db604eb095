"""Word borders by the rules of Moses' tokenizer, as spans of the raw text.

sacremoses decides where the borders are; the tokens are cut from the raw text itself, so that no character is
ever escaped, replaced or lost.
"""

from __future__ import annotations

import re

from gpusearch.errors import GpusearchError

# What sacremoses would change or drop is replaced, character for character, in a copy that it reads in place
# of the raw text: controls are borders, the typographic apostrophe follows the rules of the plain one, and an accent
# that is a character of its own those of a letter, so that it stays with its letter.
_ACCENTS = (range(0x300, 0x370), range(0x1AB0, 0x1B00), range(0x1DC0, 0x1E00), range(0xFE20, 0xFE30))
_ACCENT = "".join(f"{chr(codes[0])}-{chr(codes[-1])}" for codes in _ACCENTS)
_COPY = str.maketrans(
    {**{code: " " for code in range(32)}, ord("’"): "'", **{code: "x" for codes in _ACCENTS for code in codes}}
)
_CHANGED = re.compile(f"[\0-\x1f’{_ACCENT}]")
_MARKER = "DOTMULTI"  # sacremoses keeps runs of dots under this name, and would turn it into a dot in the text
_PROTECTED = re.compile(
    r"(?:(?:https?|ftp|rsync)://|\bwww\.)[^\s<>\"«»“”]*[^\s<>\"«»“”.,;:!?(){}\[\]'’]"  # addresses of pages
    r"|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+",  # addresses of people
    re.IGNORECASE,
)

_INNER_HYPHEN = re.compile(rf"(?<=[^\W_]|[{_ACCENT}])(-)(?=[^\W_])")

JOINED_HYPHEN = "@-@"
"""The token for a hyphen inside of a word, where those are split. Raw text never gives it: it gives three."""


class MosesSegmenter:
    """Cuts raw text into words as Moses' tokenizer does for a language.

    Additions to Moses' rules: addresses of pages and people stay in one piece, ``’`` is treated as ``'``
    (``l’ | utilisation``, ``Minister | ’s``), and combining accents (U+0300 to U+036F and the like) are no tokens of
    their own. Every Unicode white space is a border, the no-break space too, so no token holds any: whichever way
    another tool splits the tokenised lines, on blanks or on all white space, it counts the same tokens.

    Args:
        language: code of ISO 639; one that sacremoses does not know gets the English list of abbreviations.
        split_hyphens: whether :meth:`tokens` splits words at hyphens, too.
    """

    def __init__(self, language: str, *, split_hyphens: bool = False) -> None:
        from sacremoses import MosesTokenizer

        self.language = language
        self.split_hyphens = split_hyphens
        self._moses = MosesTokenizer(language)

    def spans(self, raw: str) -> list[tuple[int, int]]:
        """Start and stop of each token in ``raw``, from the left; controls and space lie between."""
        copy = raw.translate(_COPY) if _CHANGED.search(raw) else raw
        if _MARKER in copy:
            copy = copy.replace(_MARKER, "X" * len(_MARKER))
        if "@" in copy or "://" in copy or "www." in copy:
            copy = _PROTECTED.sub(lambda match: "U" * len(match[0]), copy)
        spans = []
        position = 0
        for token in self._moses.tokenize(copy, escape=False):
            start = copy.find(token, position)
            if start != position and (start < 0 or not copy[position:start].isspace()):
                raise GpusearchError(f"the tokenizer changed the text {raw!r} at token {token!r}")
            position = start + len(token)
            spans.append((start, position))
        return spans

    def tokens(self, raw: str) -> list[str]:
        """The tokens of ``raw``, each a piece of it but for :data:`JOINED_HYPHEN`."""
        tokens = [raw[start:stop] for start, stop in self.spans(raw)]
        if not self.split_hyphens or "-" not in raw:
            return tokens
        return [piece for token in tokens for piece in _split_at_hyphens(token)]


def _split_at_hyphens(token: str) -> list[str]:
    if "-" not in token or _PROTECTED.fullmatch(token):
        return [token]
    pieces = _INNER_HYPHEN.split(token)  # every second one is a hyphen
    pieces[1::2] = [JOINED_HYPHEN] * (len(pieces) // 2)
    return pieces
