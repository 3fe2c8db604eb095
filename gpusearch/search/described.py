"""What a search has found for a document, from chains and the derivation that was chosen."""

from __future__ import annotations

import numpy as np

from gpusearch.model.problem import Batch
from gpusearch.model.weights import SCORE_UNITS
from gpusearch.search.chains import Finals
from gpusearch.search.choose import Derivation, every_chain, n_best
from gpusearch.search.result import DocumentResult
from gpusearch.search.translation import Translation, describe_document


def document_result(
    batch: Batch,
    finals: Finals,
    best: Derivation,
    document: int,
    first_jump: bool,
    count: int,
    *,
    distinct: bool,
    keep_chains: bool,
) -> DocumentResult:
    """Describe a document of a batch.

    Args:
        best: options of each of its sentences.
        first_jump: whether the jump from the sentence start counts.
        count: how many of the chains to describe as well, of different words with `distinct`.
        keep_chains: keep the phrases of all chains.
    """

    def translation(derivation: Derivation) -> Translation:
        return describe_document(batch, derivation, first_jump)

    units = np.flatnonzero(batch.units.document == document)
    chains = every_chain(finals, batch, document) if keep_chains else []
    return DocumentResult(
        best=translation(best),
        chain_scores=finals.score[units].sum(axis=0) / SCORE_UNITS,
        n_best=[translation(choice.derivation) for choice in n_best(finals, batch, document, count, distinct=distinct)],
        chains=[
            [
                [(*batch.options.span_of(option), batch.options.target(option)) for option in options.tolist()]
                for options in choice.derivation
            ]
            for choice in chains
        ],
        places=[
            [[batch.options.place_in_span(option) for option in options.tolist()] for options in choice.derivation]
            for choice in chains
        ],
        steps=finals.step[units].T,
        rejected=finals.rejected[units].T,
        trace={step: scores[units].sum(axis=0) / SCORE_UNITS for step, scores in finals.trace.items()},
    )
