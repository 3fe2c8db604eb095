"""From raw text to tokens and back: tokenisation, subwords, truecasing, spacing."""

from gpusearch.text.escapes import unescape
from gpusearch.text.processor import TextProcessor, make_processor
from gpusearch.text.spacing import Spacing, read_spacing, train_spacing
from gpusearch.text.subwords import Subwords, train_sentencepiece
from gpusearch.text.tokenize_file import tokenize_file, tokenize_lines
from gpusearch.text.truecaser import Truecaser, read_truecaser, train_truecaser

__all__ = [
    "Spacing",
    "Subwords",
    "TextProcessor",
    "Truecaser",
    "make_processor",
    "read_spacing",
    "read_truecaser",
    "tokenize_file",
    "tokenize_lines",
    "train_sentencepiece",
    "train_spacing",
    "train_truecaser",
    "unescape",
]
