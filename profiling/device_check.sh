#!/usr/bin/env bash
# Checks gpusearch on a machine with a GPU, in one call of less than six minutes: the GPU tests, the golden hashes,
# steps a second. Needs python3 with numpy, torch >= 2.11, numba, numba-cuda and pytest; for utilities of pairs einops and
# sacrebleu as well; nothing is installed.
#
#   profiling/device_check.sh [RESULTS.csv [PROBLEM.npz]]
#
# RESULTS.csv (profiling/results.csv by default) is appended to. PROBLEM.npz: see profiling/carried.py.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
results=$(realpath -m "${1:-profiling/results.csv}")
problem=${2:+$(realpath "$2")}
export GPUSEARCH_COMMIT=${GPUSEARCH_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo unknown)}
mkdir -p "$(dirname "$results")"

# The package is not installed here: a copy with kernels/ in its place.
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -r gpusearch tests profiling pyproject.toml "$copy/"
rm -rf "$copy/gpusearch/kernels"
cp -r kernels "$copy/gpusearch/kernels"
export GPUSEARCH_CACHE="$copy/cache" PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
cd "$copy"

python3 -c '
import sys, torch
from importlib.metadata import version
print("Python", sys.version.split()[0], *(f"{name} {version(name)}" for name in ("torch", "numba", "numba-cuda", "numpy")))
print(torch.cuda.get_device_properties(0))'
status=0
echo "== golden hashes and speed"
timeout 220 python3 -m profiling.device_check "$results" ${problem:+--problem "$problem"} --seconds 170 || status=$?
echo "== tests"
# Warnings of other versions of the libraries are no faults here.
mbr=$(python3 -c 'import einops, sacrebleu' 2>/dev/null && echo tests/mbr/test_cuda.py)
timeout 110 python3 -m pytest -q -m gpu -p no:cacheprovider -W default \
  tests/kernels/test_paths.py tests/kernels/test_philox.py tests/golden $mbr || status=$?
exit "$status"
