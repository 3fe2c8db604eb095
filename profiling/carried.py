"""A search problem in one file, for machines that cannot read a model: made here, carried there.

``python -m profiling.carried model.toml documents.txt problem.npz``
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from gpusearch.kernels.records import Language, Problem, Reordering, Search


def save_problem(path: Path, problem: Problem, search: Search, values: int) -> None:
    """Write a problem without language models on the host, its settings and K."""
    if problem.host or problem.document or search.docent:
        raise ValueError(
            "only problems with all language models on the device, without features and compat, can be carried"
        )
    arrays = {"values": np.array(values)}
    records = {"problem": problem, "search": search, "language": problem.language, "reordering": problem.reordering}
    for name, record in records.items():
        if not record:
            continue
        for field, array in record._asdict().items():
            if isinstance(array, np.ndarray):
                arrays[f"{name}.{field}"] = array
    np.savez_compressed(path, **arrays)


def load_problem(path: Path) -> tuple[Problem, Search, int]:
    """What `save_problem` wrote."""
    with np.load(path, allow_pickle=False) as arrays:
        language = Language(**_fields(arrays, "language"))
        orders = _fields(arrays, "reordering")
        reordering = Reordering(**orders) if orders else ()
        problem = Problem(**_fields(arrays, "problem"), language=language, reordering=reordering)
        return problem, Search(**_fields(arrays, "search")), int(arrays["values"])


def _fields(arrays: Any, name: str) -> dict[str, Any]:
    return {key.split(".")[1]: arrays[key] for key in arrays.files if key.startswith(f"{name}.")}


def main() -> None:
    """Build the problem of some documents as a decoder would, sentences being the units."""
    from gpusearch.config import load_config
    from gpusearch.io.documents import read_documents
    from gpusearch.model.model import load_model
    from gpusearch.model.problem import build_problem
    from gpusearch.search.run import search_settings

    if len(sys.argv) != 4:
        sys.exit(__doc__)
    config = load_config(Path(sys.argv[1]))
    corpus = read_documents(sys.argv[2])
    documents = [[segment.source.split(" ") for segment in document.segments] for document in corpus.documents]
    with load_model(config) as model:
        batch = build_problem(model, documents, search=config.search)
        save_problem(Path(sys.argv[3]), batch.problem, search_settings(config, model, batch), len(model.features.names))


if __name__ == "__main__":
    main()
