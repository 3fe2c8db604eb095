#!/usr/bin/env bash
# From parallel text to translated documents: trains model/ where it is not there yet, translates the test documents
# with 64 chains, shows some of them beside the reference, and scores all. `make demo` runs this in its environment.
set -euo pipefail
cd "$(dirname "$0")"

if [[ ! -f model/model.toml ]]; then
  echo "== Training model/ from 9,688 pairs of sentences (once) ==" >&2
  gpusearch train train.fr train.en -o model --source-language fr --target-language en
fi

echo "== Translating 8 documents, 259 segments, with 64 chains ==" >&2
gpusearch decode -c model/model.toml --chains 64 --docids test.docs -o model/test.translation.en test.fr

echo
echo "== Source, translation, reference =="
paste -d '\n' test.fr model/test.translation.en test.en | sed -n '7,9p;16,24p;28,30p' |
  awk 'BEGIN { split("source     |translation|reference  ", label, "|") }
       { print label[(NR - 1) % 3 + 1] "  " $0 } NR % 3 == 0 { print "" }'

echo "== Scores =="
gpusearch eval --ref test.en --docids test.docs --metrics bleu,chrf model/test.translation.en
echo "Ignoring case:"
gpusearch eval --ref test.en --docids test.docs --metrics bleu,chrf --lowercase model/test.translation.en
