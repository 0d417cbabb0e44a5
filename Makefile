# The commands of the project. Everything happens in .venv; nothing outside is touched.
#
#   make demo     install, run the first study, say where its page is
#   make test     install what the tests need, and run them all
#   make test-fast  compile twice: the same bytes, and the same results as plain Python
#   make lint     formatting, style, types, import layers
#   make bench    speed and memory, as figures to read
#   make fast     compile the hot loops; make slow takes that back
#   make docs     the documentation as a site, in site/; a broken link fails
#   make figures  the figures that commands make, again, against what the documents say

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SHARED := $(if $(MILEPOST_SHARED),$(MILEPOST_SHARED),../shared)

.PHONY: demo test test-fast lint bench fast slow docs figures clean

demo: $(VENV)/installed
	$(BIN)/milepost sweep studies/demo.toml --out results/demo
	@echo "Open results/demo/report.html in a browser."

test: $(VENV)/installed-dev
	MILEPOST_SHARED="$(SHARED)" $(BIN)/python -m pytest -q -n auto --dist loadfile -m "not compiled"

test-fast: $(VENV)/installed-dev
	MILEPOST_SHARED="$(SHARED)" $(BIN)/python -m pytest -q tests/compiled

lint: $(VENV)/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/installed-dev
	MILEPOST_SHARED="$(SHARED)" $(BIN)/python -m pytest benchmarks -q --benchmark-only \
		--benchmark-columns=min,median,max,rounds --benchmark-sort=name

fast: $(VENV)/installed-dev
	MILEPOST_COMPILE=1 $(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--no-build-isolation --no-deps -e .
	@$(BIN)/milepost doctor | grep -w simulator

slow:
	find simulator policies -name '*.so' -delete
	rm -f milepost__mypyc.*.so simulator/compiled.txt

docs: $(VENV)/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict
	@echo "Open site/index.html in a browser."

figures: $(VENV)/installed
	MILEPOST_SHARED="$(SHARED)" $(BIN)/python -m studies.figures

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/installed-dev: pyproject.toml constraints.txt $(VENV)/installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		-e '.[dev,calibration]' -c constraints.txt
	@touch $@

clean: slow
	rm -rf $(VENV) results build dist site
