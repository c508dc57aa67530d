# make demo    build a knowledge base from the 20 golden pages and ask it three questions
# make test    the fast tests          make check   all of them, lint, and the README against the program
# make lint    ruff and mypy           make regress the golden pages, with a readable diff
# make faults  the fault suite at its nightly counts: thousands of kills, failing disks and power cuts, a day of cron over 100,000
#              pages, for hours; python -m tests.faults.soak 12000 is that day in minutes
# make bench   start-up, upkeep and crawl figures; with DATA=FOLDER also quality and speed on the benchmark data in that folder

PYTHON ?= python3
VENV   ?= .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
TORCH  := torch==2.13.0
# On Linux x86-64 the package index's torch is a CUDA build of several gigabytes; the CPU build stands on an index of its own.
CPU_INDEX := https://download.pytorch.org/whl/cpu
ifeq ($(shell uname -sm),Linux x86_64)
INSTALL_TORCH = $(BIN)/pip install -q --no-deps --no-index $(TORCH)+cpu 2>/dev/null \
	|| $(BIN)/pip install -q --no-deps $(TORCH)+cpu --index-url $(CPU_INDEX)
else
INSTALL_TORCH = $(BIN)/pip install -q --no-deps $(TORCH)
endif

# Half of the tests to each process, so that the stores, models and servers of a folder are made once; who is done takes over.
PARALLEL := -n 2 --dist worksteal

.PHONY: dev demo test check faults lint regress bench clean

dev: $(STAMP)

$(STAMP): pyproject.toml
	@test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	@echo "installing kbcite and its tools into $(VENV) ..."
	@$(BIN)/pip install -q --upgrade "pip>=25.1"
	@$(INSTALL_TORCH)
	@$(BIN)/pip install -q -e . --group dev
	@$(BIN)/python -m compileall -q kbcite
	@touch $@

demo: dev
	@$(BIN)/python -m tests.demo

test: dev
	$(BIN)/python -m pytest $(PARALLEL) -m "not slow"

check: dev lint
	$(BIN)/python -m pytest $(PARALLEL)

faults: dev
	KBCITE_FAULTS=nightly $(BIN)/python -m pytest tests/faults

lint: dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

regress: dev
	@mkdir -p build
	$(BIN)/kbcite regress --pages golden_pages --html build/regress.html

bench: dev
	-@$(BIN)/pip install -q --group bench
	$(BIN)/python -m tests.bench $(DATA)

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
