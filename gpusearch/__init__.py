"""Document-level decoding for phrase-based machine translation by many stochastic search chains."""

__version__ = "0.1.0"
