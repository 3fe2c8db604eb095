"""Metrics of translations: statistics first, scores second."""

from gpusearch.metrics.base import Metric, References, Statistics
from gpusearch.metrics.nist import Nist
from gpusearch.metrics.scoring import METRICS, Result, evaluate, make_metric
from gpusearch.metrics.significance import PairedBootstrap, approximate_randomization, paired_bootstrap

__all__ = [
    "METRICS",
    "Metric",
    "Nist",
    "PairedBootstrap",
    "References",
    "Result",
    "Statistics",
    "approximate_randomization",
    "evaluate",
    "make_metric",
    "paired_bootstrap",
]
