# Every word works alone on a machine that has only python3 (3.11 or newer) and make: it creates .venv first if need be.
# Another interpreter: make test PYTHON=python3.13

PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help demo test coverage quick fuzz lint types bench evaluate evaluation-data notebooks playground docs clean venv

help:  ## Print these words
	@sed -n 's/^\([a-z]*\):.*## \(.*\)$$/\1	\2/p' $(firstword $(MAKEFILE_LIST)) | expand -t 12

demo: venv  ## Fit one request that is too long, and print the report
	$(BIN)/python examples/demo.py

test: venv  ## Run the tests
	$(BIN)/pytest --numprocesses=auto

coverage: venv  ## Run the tests and print the coverage, which must reach 95 %; it takes twice as long
	$(BIN)/pytest --numprocesses=auto --cov --cov-report=term-missing:skip-covered

quick: venv  ## Run the tests that a change needs: of ROOM=history, or of what git sees changed
	$(BIN)/python -P scripts/quick_tests.py $(ROOM)

# Nightly: other examples at each run, and FUZZ times as many; what fails is drawn again first, from .hypothesis. The
# promise is checked on CONVERSATIONS made-up ones; what fails has a number, which makes the same one again.
FUZZ ?= 20
CONVERSATIONS ?= 200000
fuzz: venv  ## Run the properties on many more examples, other ones each time
	HYPOTHESIS_PROFILE=explore CTXOPT_EXAMPLES=$(FUZZ) CTXOPT_CONVERSATIONS=$(CONVERSATIONS) \
		$(BIN)/pytest --quiet --numprocesses=auto -m hypothesis

lint: venv  ## Check style and formatting
	$(BIN)/ruff check
	$(BIN)/ruff format --check

types: venv  ## Check the types of the four packages
	$(BIN)/mypy

bench: venv  ## Time the optimizer on long histories and many documents
	$(BIN)/python tests/benchmarks/history.py
	$(BIN)/python tests/benchmarks/documents.py
	$(BIN)/python tests/benchmarks/chat_engines.py
	$(BIN)/python tests/benchmarks/batch.py
	$(BIN)/python tests/benchmarks/counting.py

evaluate: evaluation-data .venv-evaluate/installed  ## Compare what is kept with what others keep; CTXOPT_EVAL_DATA names the data
	.venv-evaluate/bin/python tests/evaluation/evaluate.py --write

notebooks: .venv-notebooks/installed  ## Run the notebooks, compare what they print, and render them into build/notebooks
	.venv-notebooks/bin/python -P scripts/run_notebooks.py --html build/notebooks

# Each page has a kernel of its own, which ends ten minutes after the page was closed.
playground: venv  ## Serve the playground as a page of this machine, and open it
	JUPYTER_PATH=notebooks/voila $(BIN)/voila --template=playground --MappingKernelManager.cull_interval=60 \
		--MappingKernelManager.cull_idle_timeout=600 notebooks/06_playground.ipynb

docs: .venv-docs/installed  ## Build the site into build/site; a broken link is an error
	.venv-docs/bin/zensical build --clean --strict
	.venv-docs/bin/python -P scripts/check_search.py build/site/search.json

clean:  ## Remove .venv, builds, caches and reports
	rm -rf .venv .venv-evaluate .venv-notebooks .venv-docs .cache build dist htmlcov .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

venv: .venv/installed

# The development tools are dependency groups, not an extra: an extra would be published in the metadata of the wheel.
# `pip install --group` came with pip 25.1, so the pinned pip goes in before it is used. Pip builds the package in an
# environment of its own, which takes its pins from --build-constraint only.
.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --upgrade pip
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --build-constraint constraints.txt \
		--editable '.[all,playground]' --group dev
	@touch $@

# Before anything large is installed.
evaluation-data:
	@test -f "$${CTXOPT_EVAL_DATA:-../shared/data}/evaldata.py" \
		|| { echo "evaluation skipped: no data; set CTXOPT_EVAL_DATA to the folder with it" >&2; exit 1; }

.venv-evaluate/installed: pyproject.toml constraints.txt tests/evaluation/constraints.txt
	$(PYTHON) -m venv .venv-evaluate
	@echo '*' > .venv-evaluate/.gitignore
	.venv-evaluate/bin/python -m pip install --quiet --constraint constraints.txt --upgrade pip
	.venv-evaluate/bin/python -m pip install --quiet --constraint tests/evaluation/constraints.txt \
		--build-constraint constraints.txt --editable . --group evaluate
	@touch $@

.venv-notebooks/installed: pyproject.toml constraints.txt notebooks/constraints.txt
	$(PYTHON) -m venv .venv-notebooks
	@echo '*' > .venv-notebooks/.gitignore
	.venv-notebooks/bin/python -m pip install --quiet --constraint constraints.txt --upgrade pip
	.venv-notebooks/bin/python -m pip install --quiet --constraint notebooks/constraints.txt \
		--build-constraint constraints.txt --editable '.[all,playground]' --group notebooks
	@touch $@

# The API pages are made of the sources as they stand, so the package itself is not installed.
.venv-docs/installed: pyproject.toml constraints.txt docs/constraints.txt
	$(PYTHON) -m venv .venv-docs
	@echo '*' > .venv-docs/.gitignore
	.venv-docs/bin/python -m pip install --quiet --constraint constraints.txt --upgrade pip
	.venv-docs/bin/python -m pip install --quiet --constraint docs/constraints.txt --group docs
	@touch $@
