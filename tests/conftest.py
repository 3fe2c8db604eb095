"""Options and fixtures that all tests share."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from gpusearch.model.model import Model

REPOSITORY = Path(__file__).resolve().parent.parent


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--full",
        action="store_true",
        help="run every repetition and the tests marked slow (make test-full)",
    )


def pytest_configure(config: pytest.Config) -> None:
    # Loaded before the test files are, so that `settings.default.max_examples` may be scaled there.
    full = bool(config.getoption("--full"))
    settings.register_profile("quick", max_examples=30, deadline=None, derandomize=True, database=None)
    settings.register_profile("full", max_examples=300, deadline=None)
    settings.load_profile("full" if full else "quick")


@pytest.fixture(scope="session", autouse=True)
def _compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Of several processes that need the same kernel one compiles it, half a minute of it; the others wait for that."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        yield
        return
    from numba.core.dispatcher import Dispatcher

    plain, folder, thread = Dispatcher.compile, tmp_path_factory.getbasetemp().parent, threading.local()

    def compile_once(dispatcher: Dispatcher, signature: object) -> object:
        if getattr(thread, "compiles", False):  # what a kernel calls; waiting here could be for ever
            return plain(dispatcher, signature)
        function = dispatcher.py_func
        name = blake2b(f"{function.__module__}.{function.__qualname__} {signature}".encode(), digest_size=8).hexdigest()
        with open(folder / f"{name}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            thread.compiles = True
            try:
                return plain(dispatcher, signature)
            finally:
                thread.compiles = False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Dispatcher, "compile", compile_once)
        yield


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    skip_slow = pytest.mark.skip(reason="slow: run with --full")
    skip_gpu = pytest.mark.skip(reason="no CUDA device")
    full = bool(config.getoption("--full"))
    gpu = any("gpu" in item.keywords for item in items) and _has_cuda()
    for item in items:
        if "slow" in item.keywords and not full:
            item.add_marker(skip_slow)
        if "gpu" in item.keywords and not gpu:
            item.add_marker(skip_gpu)


def _has_cuda() -> bool:
    import torch

    return torch.cuda.is_available()


@pytest.fixture(scope="session")
def full(request: pytest.FixtureRequest) -> bool:
    """True under --full."""
    return bool(request.config.getoption("--full"))


@pytest.fixture(scope="session")
def repetitions(full: bool) -> Callable[[int], int]:
    """`repetitions(n)`: n under --full, a tenth of it (at least 1) otherwise."""
    return lambda n: n if full else max(1, n // 10)


@pytest.fixture
def of_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """For features that users compile: nothing that is compiled meanwhile is kept, so that kernels of others are.

    Else `add_source` would have every kernel of this process compiled anew from now on.
    """
    from numba.core import caching
    from numba.cuda.core import caching as caching_of_cuda

    monkeypatch.setattr("gpusearch.features.compiled.add_source", lambda source: None)
    for cache in (caching.Cache, caching_of_cuda.Cache):
        monkeypatch.setattr(cache, "load_overload", lambda *_: None)
        monkeypatch.setattr(cache, "save_overload", lambda *_: None)


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the working tree."""
    return REPOSITORY


def _shared(folder: str) -> Path:
    root = Path(os.environ.get("GPUSEARCH_SHARED", REPOSITORY.parent / "shared"))
    if not (root / folder).is_dir():
        pytest.skip(f"no {folder}/ under {root} (set GPUSEARCH_SHARED)")
    return root / folder


@pytest.fixture(scope="session")
def parity() -> Path:
    """Folder of models with the outputs of other decoders for them."""
    return _shared("parity")


@pytest.fixture(scope="session")
def newstest_model(parity: Path, tmp_path_factory: pytest.TempPathFactory) -> Model:
    """The newstest2012 model without lexicalised reordering, table limit 30 (tests/parity_model.py)."""
    from gpusearch.config import load_config
    from gpusearch.model.model import load_model
    from tests.parity_model import write_newstest

    return load_model(load_config(write_newstest(tmp_path_factory.mktemp("newstest"), parity)))


@pytest.fixture(scope="session")
def newstest_reordering_model(parity: Path, tmp_path_factory: pytest.TempPathFactory) -> Model:
    """The newstest2012 model with its reordering model (moses.ini)."""
    from gpusearch.config import load_config
    from gpusearch.model.model import load_model
    from tests.parity_model import write_newstest

    return load_model(load_config(write_newstest(tmp_path_factory.mktemp("newstest"), parity, reordering=True)))


@pytest.fixture(scope="session")
def laws_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the compiled tables of `laws_model` stand: models that are written there load in seconds."""
    return tmp_path_factory.mktemp("laws")


@pytest.fixture(scope="session")
def laws_model(parity: Path, laws_folder: Path) -> Model:
    """The laws100k model with its reordering model, table limit 20; takes some fifteen seconds."""
    from gpusearch.config import load_config
    from gpusearch.model.model import load_model
    from tests.parity_model import write_laws

    return load_model(load_config(write_laws(laws_folder, parity, reordering=True)))


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of bitext with document borders."""
    return _shared("data")
