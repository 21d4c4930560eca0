# Every word works alone on a machine that has only python3 (3.11 or newer) and make: it creates .venv first if need be.
# Another interpreter: make test PYTHON=python3.13

PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help demo test lint types bench evaluate clean venv

help:  ## Print these words
	@sed -n 's/^\([a-z]*\):.*## \(.*\)$$/\1	\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 12

demo: venv  ## Fit one request that is too long, and print the report
	$(BIN)/python examples/demo.py

test: venv  ## Run the tests and print the coverage
	$(BIN)/pytest --cov --cov-report=term-missing:skip-covered

lint: venv  ## Check style and formatting
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: venv  ## Check the types of the three packages
	$(BIN)/mypy

bench: venv  ## Time the optimizer on long histories
	$(BIN)/python tests/benchmarks/history.py

evaluate: venv  ## Measure what the optimizer keeps; CTXOPT_EVAL_DATA names the folder with the data
	$(BIN)/python tests/evaluation/evaluate.py

clean:  ## Remove .venv, builds, caches and reports
	rm -rf .venv build dist htmlcov .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

venv: .venv/installed

# The development tools are dependency groups, not an extra: an extra would be published in the metadata of the wheel.
# `pip install --group` came with pip 25.1, so the pinned pip goes in before it is used. Pip builds the package in an
# environment of its own, which takes its pins from --build-constraint only.
.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --build-constraint constraints.txt \
		--editable '.[all]' --group dev
	@touch $@
