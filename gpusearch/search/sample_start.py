"""What the chains of a sampling run begin with: random translations, or what `search.initial` names."""

from __future__ import annotations

from collections.abc import Callable

from gpusearch.config import Config
from gpusearch.errors import InputError
from gpusearch.kernels.records import Search
from gpusearch.model.model import Model
from gpusearch.model.problem import Batch
from gpusearch.search.beam_run import Wanted, run_beam
from gpusearch.search.chains import Start
from gpusearch.search.driver import Driver, Lanes
from gpusearch.search.initial import GivenStart, RandomStart, best_derivations, given_start
from gpusearch.search.result import Status
from gpusearch.search.run import search_settings
from gpusearch.search.saved import Given


def sample_start(
    batch: Batch, config: Config, model: Model, given: Given | None, first_document: int, status: Status | None
) -> Start:
    """What puts first translations into the lanes of a batch.

    Args:
        given: comes before `search.initial`.
        first_document: of the batch.
        status: told how far the beam is, where chains begin with what it finds.

    Raises:
        InputError: given ones do not fit the documents or the distortion limit, or are to come and do not.
    """
    initial = config.search.initial
    if given is not None:
        return given_start(batch, given, first_document, config.search, go_on=False)
    if initial in ("file", "saved"):
        raise InputError(f'initial = "{initial}" without the translations to begin with', expected="`given`")
    if initial == "best":
        return GivenStart(batch.problem, best_derivations(batch))
    if initial == "random":
        return RandomStart()

    def tick(done: int) -> None:
        if status is not None:
            status(first_document, f"beam: {done} of {len(batch.units.words)} sentences")

    return BeamStart(batch, config, search_settings(config, model, batch), tick)


class BeamStart:
    """What the beam finds, for all chains; it is not asked before some chain begins."""

    def __init__(self, batch: Batch, config: Config, search: Search, tick: Callable[[int], None]) -> None:
        self._batch, self._config, self._search, self._tick = batch, config, search, tick
        self._found: GivenStart | None = None

    def __call__(self, driver: Driver, lanes: Lanes) -> None:
        """Fill lanes."""
        if self._found is None:
            output = run_beam(self._batch, self._config.search, self._search, self._tick, Wanted())
            if not output.complete:
                raise KeyboardInterrupt
            self._found = GivenStart(self._batch.problem, output.options)
        self._found(driver, lanes)
