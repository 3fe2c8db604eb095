"""Features that users write (docs/features.md), beside the same ones built in: proposals by CPU second.

usage: python -m profiling.user_features PARITY WORK [--seconds 4] [--lanes 64] [--keep]

The code is that of the page, so what is measured is what a reader has who follows it. The newstest2012 model on its
shortest and its longest document (175 and 1,755 words), one thread, from random starts. The compiled form stands beside
the built-in feature of the same value; the forms in Python and torch work on 64 lanes at a time.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from gpusearch.config import load_config
from gpusearch.features.load import with_document, with_features
from gpusearch.model.model import load_model
from gpusearch.model.problem import build_problem
from gpusearch.search.bench import measure
from gpusearch.search.judged import on_host
from profiling.results import keep
from profiling.throughput import Report
from tests.parity_model import newstest_documents, write_newstest

PAGE = Path(__file__).parent.parent / "docs" / "features.md"
MODULE = "my_features"
# What is measured, and the settings of the feature; the first two have the same values.
FORMS = {
    "built in": ["features.long.use=long-words", "features.long.weights=0.2"],
    "compiled": [f"features.long.use={MODULE}:LongWordsCompiled", "features.long.weights=0.2"],
    "Python, with a delta": [f"features.long.use={MODULE}:LongWordsByChange", "features.long.weights=0.2"],
    "Python, whole texts": [f"features.long.use={MODULE}:LongWords", "features.long.weights=0.2"],
    "torch, whole texts": [f"features.near.use={MODULE}:Together", "features.near.weights=[0.2, 0.0]"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parity", type=Path)
    parser.add_argument("work", type=Path)
    parser.add_argument("--seconds", type=float, default=4.0, help="of each measurement")
    parser.add_argument("--lanes", type=int, default=64)
    parser.add_argument("--keep", action="store_true", help="append the figures to results.csv")
    arguments = parser.parse_args()
    arguments.work.mkdir(parents=True, exist_ok=True)
    blocks = re.findall(rf"```python {MODULE}\.py\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)
    (arguments.work / f"{MODULE}.py").write_text("\n".join(blocks), encoding="utf-8")
    sys.path.insert(0, str(arguments.work))
    path = write_newstest(arguments.work, arguments.parity)
    documents = sorted(newstest_documents(arguments.parity), key=lambda document: sum(map(len, document)))
    report, rates = Report(), {}
    for document in (documents[0], documents[-1]):
        where = f"a document of {sum(map(len, document)):,} words"
        for name, settings in FORMS.items():
            config = load_config(path, ["search.threads=1", "search.device=cpu", *settings])
            made = with_features(load_model(config), config)
            config = on_host(made, config)
            batch = with_document(build_problem(made, [document], None, config.search, units="document"))
            speed = measure(batch, config, made, lanes=arguments.lanes, seconds=arguments.seconds)
            what = f"features: a user's, {name}, {arguments.lanes} lanes, {where}"
            rates[name] = report.add(what, speed.proposals_per_cpu_second, "proposals/CPU s")
        report.add(f"features: a user's, built in / compiled, {where}", rates["built in"] / rates["compiled"], "")
    if arguments.keep:
        keep(report.rows)


if __name__ == "__main__":
    main()
