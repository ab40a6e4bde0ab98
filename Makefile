# Upcard. `make` alone lists the targets. Each prepares what it needs; nothing is installed outside .venv.

.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules
.DELETE_ON_ERROR:
# What a caller's shell may carry must not leak into .venv.
unexport PYTHONPATH PYTHONHOME VIRTUAL_ENV PIP_USER PIP_TARGET PIP_PREFIX

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
PYTEST := $(BIN)/python -m pytest
# Every folder with Python in it; benchmarks is looked for, so that a copy without it works.
SOURCES := libs services tests tools $(if $(wildcard benchmarks/*.py),benchmarks)
# Processes for tests: twice the cores, since they often wait for servers, but no more than 8.
JOBS ?= $(shell expr 2 '*' $$(getconf _NPROCESSORS_ONLN))
PARALLEL := -n $(JOBS) --maxprocesses=8 --dist=worksteal
# Where the tests' servers come from: embedded, native or containers (docs/stack.md).
LANE ?= $(or $(UPCARD_LANE),embedded)
export UPCARD_LANE := $(LANE)
# The suites that have to hold on every lane.
LANE_SUITES := $(wildcard tests/stack/test_broker.py tests/stack/test_databases.py tests/messaging tests/faults \
	tests/servicekit/test_broker.py tests/servicekit/test_trace_crosses.py)
# How long `make soak` goes on, in seconds.
SOAK_S ?= 600
# More arguments for pytest, the benchmarks or the lock: `make exhaustive ARGS="-k settle"`.
ARGS ?=
# Branch coverage that `make test` insists on, in percent: of what settles money, and of what carries it.
MIN_COVERAGE := 98
MIN_COVERAGE_CARRIERS := 92
CARRIERS := libs/eventstore/*,libs/messaging/*,libs/servicekit/*,libs/transparency/*
# What services do on real servers: a lane of its own, with a gate of its own.
SERVICE_SUITES := tests/table/owner tests/table/watching tests/table/funding tests/table/edges tests/wallet \
	tests/bonus/office tests/bonus/edges tests/history
MIN_COVERAGE_SERVICES := 90
CORE_SERVICES := services/table/*,services/wallet/*,services/bonus/*,services/history/*
# What platforms and players call, and what their programmers are given: likewise.
EDGE_SUITES := tests/gateway tests/conformance
MIN_COVERAGE_EDGE := 85
EDGE := services/gateway/*,libs/platform/*,libs/seamless/*,libs/conformance/*

# An environment that was made somewhere else (a copied folder) or whose Python has gone is made again.
ifneq ($(shell cat $(VENV)/made-in 2>/dev/null && test -x $(BIN)/python && echo usable),$(CURDIR) usable)
.PHONY: $(VENV)/locked
endif

##@ Every day

.PHONY: help
help: ## List the targets
	@awk 'BEGIN { FS = ":.*## " } \
	  /^##@/ { printf "\n%s\n", substr($$0, 5) } \
	  /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile

.PHONY: setup
setup: $(VENV)/installed ## Make .venv from requirements.lock (other targets do it by themselves)
	@echo "Ready: $(BIN)/python"

.PHONY: test
test: lint tests ## Lint, then all tests but the slow ones, with the coverage gate

.PHONY: tests
tests: $(VENV)/installed
	$(PYTEST) $(PARALLEL) --ignore=tests/house_rules --ignore=tests/end_to_end $(SERVICE_SUITES:%=--ignore=%) $(EDGE_SUITES:%=--ignore=%) --cov --cov-report= $(ARGS)
	$(BIN)/coverage report --include="libs/rules_core/*" --fail-under=$(MIN_COVERAGE)
	$(BIN)/coverage report --include="$(CARRIERS)" --fail-under=$(MIN_COVERAGE_CARRIERS)

.PHONY: lint
lint: $(VENV)/installed ## Style, types, import contracts, house rules
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/python -m mypy $(SOURCES)
	$(BIN)/lint-imports --no-logo --no-cache
	$(PYTEST) -q tests/house_rules

.PHONY: format
format: $(VENV)/installed ## Format the code and mend what ruff can mend
	$(BIN)/ruff check --fix-only --quiet $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

.PHONY: demo
demo: $(VENV)/installed ## Start everything, play rounds of all rulesets, compare (ROUNDS= PLAYERS= SEED= KEEP=1)
	@ROUNDS=$(ROUNDS) PLAYERS=$(PLAYERS) SEED=$(SEED) KEEP=$(KEEP) $(BIN)/python -m upcard_operate.demo

.PHONY: explain
explain: $(VENV)/installed ## Play one round of each ruleset in the terminal and explain it, without any server
	@$(BIN)/python -m rules_core demo

.PHONY: up
up: $(VENV)/installed ## Keep the servers and all services running, and say where they are
	@$(BIN)/python -m upcard_operate.local

.PHONY: stack
stack: $(VENV)/installed ## Keep PostgreSQL and Kafka running and print their addresses (LANE=native, ARGS=--brokers=3)
	@$(BIN)/python -m stack up $(ARGS)

##@ Slower

.PHONY: services
services: $(VENV)/installed ## What each service does on real servers, with the coverage gate
	$(PYTEST) $(PARALLEL) tests/table tests/wallet tests/bonus tests/history --cov --cov-report= $(ARGS)
	$(BIN)/coverage report --include="$(CORE_SERVICES)" --fail-under=$(MIN_COVERAGE_SERVICES)

.PHONY: edge
edge: $(VENV)/installed ## The gateway on real servers, and partners' wallets under the conformance kit, with the coverage gate
	$(PYTEST) $(PARALLEL) $(EDGE_SUITES) tests/platform tests/seamless --cov --cov-report= $(ARGS)
	$(BIN)/coverage report --include="$(EDGE)" --fail-under=$(MIN_COVERAGE_EDGE)

.PHONY: pages
pages: $(VENV)/installed ## Every page in Debian's Chromium, over services as processes; needs chromium (or UPCARD_CHROMIUM)
	$(PYTEST) -n 1 -m pages tests/pages $(ARGS)

.PHONY: end-to-end
end-to-end: $(VENV)/installed ## The services as processes, over gRPC and Kafka: rounds, money, kills (LANE=native too)
	$(PYTEST) -n 1 tests/end_to_end $(ARGS)

.PHONY: native
native: $(VENV)/installed ## What has to hold on every lane, on Apache Kafka; needs Java and Maven
	UPCARD_LANE=native $(PYTEST) -n 2 --dist=loadfile -m "not exhaustive and not packaging and not soak" tests/stack/test_kafka.py $(LANE_SUITES) $(ARGS)
	UPCARD_LANE=native $(PYTEST) -n 2 --dist=loadfile tests/end_to_end/table/test_rounds.py tests/end_to_end/operate/test_upcard.py $(ARGS)

.PHONY: containers
containers: $(VENV)/installed ## The same in containers; needs a Docker engine
	UPCARD_LANE=containers $(PYTEST) -n 2 --dist=loadfile $(LANE_SUITES) $(ARGS)

.PHONY: faults
faults: $(VENV)/installed ## Kill processes and servers at every named point; each event and amount is there once
	$(PYTEST) $(PARALLEL) -m faults $(ARGS)

.PHONY: soak
soak: $(VENV)/installed ## Faults for as long as you like (SOAK_S=600): kills, cuts and restarts under load, seeded
	UPCARD_SOAK_S=$(SOAK_S) $(PYTEST) -m soak tests/faults $(ARGS)

.PHONY: exhaustive
exhaustive: $(VENV)/installed ## Every six-card hand, 100,000 random settlements and more (minutes)
	$(PYTEST) $(PARALLEL) -m exhaustive $(ARGS)

.PHONY: packaging
packaging: $(VENV)/installed ## Build the wheels, install each into an empty environment, run it on each Python found
	$(PYTEST) -m packaging $(ARGS)

.PHONY: bench
bench: $(VENV)/installed-bench ## Measure speed, beside other libraries in the same run (ARGS=--quick only proves that it runs)
	$(BIN)/python -m benchmarks $(ARGS)

##@ Upkeep

# Universal: one lock for Python 3.11 and newer on every system. No index is named in it.
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header \
	--no-emit-index-url --no-emit-find-links

.PHONY: lock
lock: $(VENV)/installed ## Make requirements*.lock from pyproject.toml (ARGS=--upgrade takes newer versions)
	$(LOCK) --group dev $(ARGS) --output-file requirements.lock > /dev/null
	$(LOCK) --group bench --constraint requirements.lock $(ARGS) --output-file requirements-bench.lock > /dev/null
	$(LOCK) --group image --constraint requirements.lock $(ARGS) --output-file requirements-image.lock > /dev/null

.PHONY: docs
docs: $(VENV)/installed ## Make the documents of events and topics from the code (ARGS=--check only compares)
	$(BIN)/python -m tools.generate_event_docs $(ARGS)
	$(BIN)/python -m messaging.asyncapi docs/asyncapi.json $(ARGS)
	$(BIN)/python -m tools.generate_table_event_docs $(ARGS)
	$(BIN)/python -m tools.generate_wallet_event_docs $(ARGS)
	$(BIN)/python -m tools.generate_bonus_event_docs $(ARGS)
	$(BIN)/python -m tools.generate_gateway_event_docs $(ARGS)
	$(BIN)/python -m tools.generate_problem_docs $(ARGS)
	$(BIN)/python -m tools.generate_openapi $(ARGS)
	$(BIN)/python -m tools.generate_play_asyncapi $(ARGS)
	$(BIN)/python -m tools.generate_seamless_docs $(ARGS)
	$(BIN)/python -m tools.generate_conformance_docs $(ARGS)

.PHONY: protos
protos: $(VENV)/installed ## Make libs/protos from proto/ (ARGS=--check only compares)
	$(BIN)/python -m tools.generate_protos $(ARGS)

.PHONY: clean
clean: ## Remove .venv and everything that tools have made
	rm -rf $(VENV) .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find $(SOURCES) -name __pycache__ -type d -prune -exec rm -rf {} +

# Only wheels, only with the hashes of the lock: setting up compiles nothing and runs no one's build script.
$(VENV)/locked: requirements.lock
	@python=$$(sh tools/find_python.sh) && echo "Making $(VENV) with $$python ..." && "$$python" -m venv --clear $(VENV)
	$(PIP) install --quiet --require-hashes --only-binary :all: -r requirements.lock
	@printf '%s\n' "$(CURDIR)" > $(VENV)/made-in
	@touch $@

PACKAGES := $(wildcard libs/*/pyproject.toml services/*/pyproject.toml)

$(VENV)/installed: $(VENV)/locked $(PACKAGES)
	$(PIP) install --quiet --no-deps --no-index --no-build-isolation $(patsubst %/,--editable %,$(dir $(PACKAGES)))
	@touch $@

$(VENV)/installed-bench: $(VENV)/installed requirements-bench.lock
	$(PIP) install --quiet --require-hashes --only-binary :all: -r requirements-bench.lock
	@touch $@
