# Everything a stranger needs: `make audit` runs the main job, `make test` proves the project.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
HOME_DIR ?=
JOBS ?= auto
export PIP_DISABLE_PIP_VERSION_CHECK := 1
unexport PYTHONDONTWRITEBYTECODE

.PHONY: audit install develop test test-all lint types imports unit notebooks refresh-notebooks browser screenshots reliability wheel bench demo clean

audit: $(VENV)/.installed
	@$(BIN)/selfnote audit $(if $(HOME_DIR),--home "$(HOME_DIR)",--or-demo)

install: $(VENV)/.installed

develop: $(VENV)/.developed

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

# pip reads dependency groups itself from 25.1 on; an older one is brought up to date in the venv first.
$(VENV)/.developed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable . --group dev
	@touch $@ $(VENV)/.installed

test: lint types imports unit notebooks

lint: $(VENV)/.developed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.developed
	$(BIN)/mypy

imports: $(VENV)/.developed
	$(BIN)/lint-imports

unit: $(VENV)/.developed
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal

# Every notebook run anew, its outputs compared with those stored.
notebooks: $(VENV)/.developed
	$(BIN)/python tools/refresh_notebooks.py --check --jobs $(JOBS)

refresh-notebooks: $(VENV)/.developed
	$(BIN)/python tools/refresh_notebooks.py

# The slow rings; each says SKIPPED <ring>: <why> when its prerequisite is missing, which REQUIRE_RINGS=1 makes a failure.
test-all: test
	$(BIN)/python tools/rings.py

# The panels in a real Chromium, from a wheel in an environment of its own.
browser: $(VENV)/.developed
	$(BIN)/python tools/rings.py browser

screenshots: $(VENV)/.developed
	$(BIN)/python tools/rings.py screenshots

bench: $(VENV)/.developed
	$(BIN)/python -m benchmarks.run

demo: $(VENV)/.installed
	$(BIN)/python tools/build_demo_home.py

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
