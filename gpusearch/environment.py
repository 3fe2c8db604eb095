"""What this machine and this installation offer: the checks behind `gpusearch doctor`."""

from __future__ import annotations

import importlib
import os
import platform
import shutil
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal

import gpusearch
from gpusearch.cache import cache_folder
from gpusearch.cores import usable_cores
from gpusearch.memory import total_bytes

#: ok: there; missing: nothing works without it; optional: absent, and only what `advice` names needs it.
State = Literal["ok", "missing", "optional"]

COMPILER_ADVICE = 'Debian: "apt-get install g++"; macOS: "xcode-select --install"'

#: Modules that decoding needs, and the distributions that hold them.
REQUIRED = {
    "torch": "torch",
    "numba": "numba",
    "numpy": "numpy",
    "scipy": "scipy",
    "pydantic": "pydantic",
    "sacrebleu": "sacrebleu",
    "sacremoses": "sacremoses",
    "sentencepiece": "sentencepiece",
    "thot": "sil-thot",
    "duckdb": "duckdb",
    "polars": "polars",
    "lxml": "lxml",
    "conllu": "conllu",
    "einops": "einops",
    "langcodes": "langcodes",
}


@dataclass(frozen=True)
class Finding:
    """One line of the report."""

    name: str
    state: State
    detail: str
    advice: str = ""

    def as_dict(self) -> dict[str, str]:
        """The finding as a JSON object."""
        return asdict(self)


def examine() -> Iterator[Finding]:
    """All findings, one after the other: they can be shown as they come, while torch is loading."""
    yield Finding("gpusearch", "ok", f"{gpusearch.__version__} in {Path(gpusearch.__file__).parent}")
    yield _python()
    for module, distribution in REQUIRED.items():
        yield _module(module, distribution)
    yield _cuda()
    yield _numba_cuda()
    yield _kenlm()
    yield _compiler()
    yield _lmplz()
    yield _cache()
    yield Finding("cores", "ok", f"{usable_cores()} ({platform.processor() or platform.machine()})")
    yield _memory()


def _python() -> Finding:
    return Finding("python", "ok", f"{platform.python_version()} ({sys.executable})")


def _module(module: str, distribution: str) -> Finding:
    try:
        importlib.import_module(module)
    except (ImportError, OSError) as error:  # OSError: a shared library of the module does not load
        return Finding(module, "missing", str(error), f'"pip install {distribution}"')
    return Finding(module, "ok", _version(distribution))


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "of unknown version"


def _cuda() -> Finding:
    try:
        import torch
    except (ImportError, OSError):
        return Finding("GPU", "optional", "not known without torch", "install torch first")
    if not torch.cuda.is_available():
        built = torch.version.cuda
        why = "torch is built for the CPU only" if built is None else f"torch is built for CUDA {built}, none answers"
        return Finding(
            "GPU", "optional", why, "all works on the CPU; for a GPU: NVIDIA driver and a CUDA build of torch"
        )
    properties = torch.cuda.get_device_properties(0)
    detail = (
        f"{properties.name}, compute capability {properties.major}.{properties.minor}, "
        f"{properties.total_memory / 2**30:.0f} GiB, CUDA {torch.version.cuda}"
    )
    return Finding("GPU", "ok", detail)


def _numba_cuda() -> Finding:
    try:
        version = metadata.version("numba-cuda")
    except metadata.PackageNotFoundError:
        return Finding("numba-cuda", "optional", "absent", "needed on a GPU: \"pip install 'gpusearch[cuda]'\"")
    return Finding("numba-cuda", "ok", version)


def _kenlm() -> Finding:
    from gpusearch.model.kenlm_worker import import_kenlm

    try:
        name = import_kenlm().__name__
    except ImportError as error:
        return Finding(
            "kenlm",
            "optional",
            "absent" if isinstance(error, ModuleNotFoundError) else f"does not load ({error})",
            'needed for backend = "kenlm" of a language model only; "pip install kenlm" compiles it with a '
            'C++ compiler, "pip install ufal.kenlm" brings it compiled',
        )
    names = sorted(set(metadata.packages_distributions().get(name, [name])))
    return Finding("kenlm", "ok", ", ".join(f"{name} {_version(name)}" for name in names))


def _compiler() -> Finding:
    compiler = os.environ.get("CXX") or next(filter(shutil.which, ("c++", "g++", "clang++")), None)
    path = shutil.which(compiler) if compiler else None
    if path is None:
        return Finding("C++ compiler", "optional", "absent", f"compiles kenlm on its installation. {COMPILER_ADVICE}")
    return Finding("C++ compiler", "ok", path)


def _lmplz() -> Finding:
    path = shutil.which("lmplz")
    if path is None:
        return Finding("lmplz", "optional", "absent", "used by --lm-tool lmplz only; training has its own estimator")
    return Finding("lmplz", "ok", path)


def _cache() -> Finding:
    folder = cache_folder()
    existing = next(parent for parent in (folder, *folder.absolute().parents) if parent.exists())
    if not os.access(existing, os.W_OK) or not existing.is_dir():
        return Finding("cache", "missing", f"{folder} cannot be written", "set GPUSEARCH_CACHE to a folder that can")
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) if folder.is_dir() else 0
    return Finding("cache", "ok", f"{folder}, {size / 2**20:.0f} MiB")


def _memory() -> Finding:
    return Finding("memory", "ok", f"{total_bytes() / 2**30:.1f} GiB")
