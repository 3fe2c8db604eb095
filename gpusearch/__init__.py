"""Document-level decoding for phrase-based machine translation by many stochastic search chains."""

__version__ = "0.1.0"

__all__ = ["__version__", "load"]


def __getattr__(name: str) -> object:
    """`load` on demand: the package itself imports nothing."""
    if name == "load":
        from gpusearch.decoder import load

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
