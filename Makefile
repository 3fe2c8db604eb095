# make test: set up, lint, types, all tests.   make demo: train the example and translate its test documents.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip
INSTALLED := $(VENV)/.installed
# Processes that share the tests, file by file; 0: all in one.
JOBS ?= 2
PYTEST := $(BIN)/python -m pytest -q -n $(JOBS) --dist loadfile --durations=20

.PHONY: help setup kenlm test test-full lint types format demo constraints clean distclean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

setup: $(INSTALLED)  ## make .venv and install the package into it, editable, with pinned versions

# setuptools first, so that the build of the package itself uses the pinned one.
$(INSTALLED): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install --quiet -c constraints.txt setuptools
	$(PIP) install --quiet -c constraints.txt --no-build-isolation -e '.[dev]'
	$(MAKE) --no-print-directory kenlm
	touch $@

# kenlm compiles C++ when it is installed. That compilation is the one thing that may fail; any other fault stops.
kenlm:  ## install kenlm, for language models with backend = "kenlm"
	@if ! $(BIN)/python -c 'import kenlm' 2>/dev/null \
	  && ! $(PIP) install --quiet -c constraints.txt kenlm 2>$(VENV)/kenlm.log; then \
	  grep -qiE 'failed building wheel|failed-wheel-build|metadata-generation-failed' $(VENV)/kenlm.log \
	    || { cat $(VENV)/kenlm.log >&2; exit 1; }; \
	  echo 'kenlm could not be compiled (see $(VENV)/kenlm.log). All but backend = "kenlm" works without it.' >&2; \
	  echo 'To have it: install a C++ compiler (Debian: apt-get install g++) and "make kenlm",' >&2; \
	  echo 'or take the same module as a wheel: $(BIN)/pip install ufal.kenlm' >&2; \
	fi

test: lint  ## lint, types and all tests, with a tenth of the repetitions
	$(PYTEST)

test-full: lint  ## every repetition and the slow tests; the result is kept in profiling/
	$(PYTEST) --full 2>&1 | tee build/test_full.txt
	$(BIN)/python profiling/keep_test_result.py build/test_full.txt profiling/test_full.txt

lint: types  ## ruff (rules and format) and mypy
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

# kernels/ is imported as gpusearch.kernels: mypy sees it in that place through a tree of links.
types: $(INSTALLED)  ## mypy on gpusearch/ and kernels/
	@mkdir -p build/types/gpusearch
	@find build/types/gpusearch -xtype l -delete
	@for entry in gpusearch/*; do ln -sfn "../../../$$entry" build/types/gpusearch/; done
	@ln -sfn ../../../kernels build/types/gpusearch/kernels
	cd build/types && ../../$(BIN)/mypy --config-file ../../pyproject.toml

format: $(INSTALLED)  ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

demo: $(INSTALLED)  ## train examples/laws/model/ where it is absent, translate the test documents, score them
	PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/laws/demo.sh

constraints: $(INSTALLED)  ## write the versions of .venv into constraints.txt
	@mkdir -p build
	$(BIN)/python -m pip list --format=freeze --exclude-editable \
	  | grep -vE '^(pip|wheel|ufal.kenlm|pytest-benchmark)==' | sed 's/+cpu$$//' | sort -f > build/constraints.txt
	{ sed -n '/^#/p' constraints.txt; cat build/constraints.txt; } > build/constraints.new
	mv build/constraints.new constraints.txt

clean:  ## remove what was built; .venv and trained models stay
	rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis *.egg-info
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

distclean: clean  ## remove .venv and trained models too
	rm -rf $(VENV) examples/*/model
