# Two commands do all the set-up on a fresh machine with Python 3.11 or newer: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: help demo setup test lint clean

help:  ## say what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/'

demo: $(VENV)/base  ## install what decoding and the web page need (no torch), decode some swipes, start the keyboard
	@$(BIN)/glissando demo
	@$(BIN)/glissando serve

setup: $(VENV)/dev  ## install everything that tests and training need

test: $(VENV)/dev  ## run the tests on all cores
	$(BIN)/python -m pytest -n auto --dist loadfile

lint: $(VENV)/dev  ## ruff, mypy and the contract between the modules
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

$(VENV)/base: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) -e '.[web]'
	touch $@

# torch first and pinned: a range would pull the CUDA build, gigabytes that no test uses.
$(VENV)/dev: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) torch==2.13.0
	$(PIP) -e '.[train,executorch,web,https,parquet,cluster,dev]'
	touch $@ $(VENV)/base

clean:  ## remove what was installed and cached here
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
