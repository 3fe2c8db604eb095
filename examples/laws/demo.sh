#!/usr/bin/env bash
# Trains the example's model where it is not there yet. Needs `gpusearch` on the PATH; `make demo` sees to that.
set -euo pipefail
cd "$(dirname "$0")"

if [[ ! -f model/model.toml ]]; then
  echo "Training model/ from 9,688 pairs (once) ..." >&2
  gpusearch train train.fr train.en -o model --source-language fr --target-language en
fi
