"""What is said while kernels are compiled."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from numba.core import event

from gpusearch.kernels import cpu, language_model
from gpusearch.search import compiling
from tests.paths import Case


def compile_event(function: object) -> None:
    event.start_event("numba:compile", data={"dispatcher": function})
    event.end_event("numba:compile", data={"dispatcher": function})


def test_the_first_large_kernel_is_announced(caplog: pytest.LogCaptureFixture) -> None:
    """Once, when it is compiled; small ones are not worth a word."""
    announcement = compiling._Announcement()
    with event.install_listener("numba:compile", announcement):
        compile_event(language_model.score_rows_cpu)
        compile_event(SimpleNamespace(py_func=lambda: None))
        assert not announcement.said
        compile_event(cpu.run_lanes)
        said = len(caplog.records)
        compile_event(cpu.start_lanes)
    assert announcement.said and said == len(caplog.records)
    assert "half a minute to a minute of CPU time (gpusearch warmup does it ahead)" in caplog.records[-1].getMessage()


def test_features_have_kernels_of_their_own() -> None:
    """`gpusearch warmup` compiles none of them, so that nothing that it does is waited for."""
    plain, ordered, featured = (
        case.problem()[0] for case in (Case(1), Case(1, reordering=1), Case(1, features=("sentence-length",)))
    )
    assert compiling.kernel_name("sweep", plain) == "sweep"
    assert compiling.kernel_name("sweep", ordered) == "sweep-reordering"
    assert compiling.kernel_name("sweep", featured) is None
