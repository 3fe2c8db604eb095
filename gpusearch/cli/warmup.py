"""`gpusearch warmup`: compile what decoding needs, so that the first translation does not wait for it."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer

from gpusearch.errors import InputError

# The smallest model that every kernel has something to do on.
_MODEL = """\
[[phrase_table]]
path = "table"
weights = [1.0]
[[language_model]]
path = "lm"
weight = 1.0
"""
_TABLE = "a ||| x ||| 0.5 ||| 0-0\na ||| y ||| 0.5 ||| 0-0\na b ||| x y ||| 0.5 ||| 0-0 1-1\nb ||| y ||| 0.4 ||| 0-0\n"
_REORDERING_MODEL = """\
[[reordering_model]]
path = "reordering"
weights = [0.3, 0.3, 0.3, 0.3, 0.3, 0.3]
"""
_REORDERING_TABLE = "".join(
    f"{source} ||| {target} ||| 0.5 0.2 0.3 0.5 0.2 0.3\n" for source, target in ("ax", "ay", "by")
)
_LANGUAGE_MODEL = """\
\\data\\
ngram 1=5
ngram 2=1

\\1-grams:
-1\t<unk>\t0
0\t<s>\t-0.1
-1\t</s>\t0
-1\tx\t-0.1
-1\ty\t0

\\2-grams:
-0.5\tx y

\\end\\
"""


Search = dict[str, Any]

SEARCHES: dict[str, list[Search]] = {
    "search": [{"chains": 2}, {"initial": "best"}],
    "beam": [{"method": "beam"}],
    "sweep": [{"policy": "sweep", "final_sweep": True}],
    "annealing": [{"policy": "annealing"}],
    "metropolis": [{"policy": "metropolis"}, {"policy": "tempering", "chains": 8}],
    "gibbs": [{"method": "gibbs"}],
}
"""What has kernels of its own; for models with lexicalised reordering others: ``beam``, ``beam-reordering``."""
REORDERING = "-reordering"
NAMES = (*SEARCHES, *(name + REORDERING for name in SEARCHES))


def command(
    only: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help=f"One of {', '.join(NAMES)}. May be repeated.")
    ] = None,
) -> None:
    """Fill the cache of compiled kernels: about six minutes of one core on a new machine, or after an update.

    Models with and without lexicalised reordering, beam, search, its policies and the sampler, and language models in
    KenLM where it is installed have kernels of their own; a decoder that finds none compiles only those that it needs.
    """
    from gpusearch.kernels.target import cache_folder

    start = time.perf_counter()
    print(f"compiling kernels into {cache_folder()}", file=sys.stderr)
    if unknown := set(only or ()) - set(NAMES):
        raise InputError("no kernels of this name", found=unknown.pop(), expected=", ".join(NAMES))
    with TemporaryDirectory() as folder:
        warm_up(Path(folder), only or NAMES)
    print(f"done in {time.perf_counter() - start:.1f} s", file=sys.stderr)


def warm_up(folder: Path, names: Sequence[str]) -> None:
    """Translate with a made-up model in a folder: loads tables, builds a language model, runs every driver."""
    from gpusearch.decoder import load

    for name, text in (
        ("model.toml", _MODEL),
        ("reordering.toml", _MODEL + _REORDERING_MODEL),
        ("table", _TABLE),
        ("reordering", _REORDERING_TABLE),
        ("lm", _LANGUAGE_MODEL),
    ):
        (folder / name).write_text(text, encoding="utf-8")
    backends = ["device", "kenlm"] if find_spec("kenlm") else ["device"]
    for name in names:
        model = "reordering.toml" if name.endswith(REORDERING) else "model.toml"
        for backend in backends:
            if backend == "device" or not name.startswith("beam"):  # which leaves out what is asked on the host
                decoder = load(folder / model, [f"language_model.LM0.backend={backend}"])
                for search in SEARCHES[name.removesuffix(REORDERING)]:
                    settings: Search = {"chains": 1, "device": "cpu", "recombine": "best-unit"} | search
                    decoder.decode([["a b", "b a"]], **settings)
