"""A language model by KenLM's own estimator, where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gpusearch.errors import GpusearchError, InputError
from gpusearch.io.files import read_blocks, replaced
from gpusearch.train.ngram_settings import Discounts, NgramSettings
from gpusearch.train.ngram_text import reversed_lines

_STATISTICS = re.compile(r"^\d+ (\d+)(?:/\d+)? D1=(\S+) D2=(\S+) D3\+=(\S+)$", re.MULTILINE)
_TOKENS = re.compile(r"^Unigram tokens (\d+) ", re.MULTILINE)


@dataclass(frozen=True)
class LmplzStatistics:
    """What lmplz says of its work: n-grams and discounts of each order from 1, and tokens."""

    counts: tuple[int, ...]
    discounts: tuple[Discounts, ...]
    tokens: int


def find_lmplz() -> str:
    """Where KenLM's program is.

    Raises:
        InputError: it is not on the PATH.
    """
    program = shutil.which("lmplz")
    if program is None:
        raise InputError("lmplz is not on the PATH", hint="install KenLM's programs, or leave --lm-tool out")
    return program


def run_lmplz(texts: Sequence[str | Path], output: Path, settings: NgramSettings, folder: Path) -> LmplzStatistics:
    """Let `lmplz` write the model; its temporary files go to the folder.

    Raises:
        InputError: there is no lmplz on the PATH.
        GpusearchError: it failed; with its own last words.
    """
    program = find_lmplz()
    text, arpa = folder / "text", folder / "arpa"
    with open(text, "wb") as stream:
        for path in texts:
            for block in read_blocks(path):
                if settings.reverse:
                    block = reversed_lines(block)
                stream.write(block if block.endswith(b"\n") else block + b"\n")
    command = [program, "--order", str(settings.order), "--text", str(text), "--arpa", str(arpa)]
    command += ["--temp_prefix", f"{folder}/", "--memory", f"{settings.memory}b"]
    if any(settings.thresholds):
        command += ["--prune", *map(str, settings.thresholds)]
    if settings.vocabulary is not None:
        command += ["--limit_vocab_file", str(settings.vocabulary)]
    if settings.skip_symbols:
        command += ["--skip_symbols"]
    if settings.discount_fallback is not None:
        command += ["--discount_fallback", *map(str, settings.discount_fallback)]
    done = subprocess.run(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, check=False)
    messages = done.stderr.decode("utf-8", "replace")
    if done.returncode:
        last = " ".join(messages.strip().splitlines()[-3:])
        raise GpusearchError(f"lmplz failed (exit code {done.returncode}): {last}")
    with open(arpa, "rb") as source, replaced(output) as target:
        shutil.copyfileobj(source, target, 1 << 20)
    return _statistics(messages)


def _statistics(messages: str) -> LmplzStatistics:
    rows = _STATISTICS.findall(messages)
    return LmplzStatistics(
        counts=tuple(int(kept) for kept, *_ in rows),
        discounts=tuple((float(one), float(two), float(three)) for _, one, two, three in rows),
        tokens=int(_TOKENS.findall(messages)[-1]),
    )
