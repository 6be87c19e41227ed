# Every target runs from a bare checkout; `make` alone lists them. Paths are relative on purpose: make
# and console scripts both stumble over a folder with spaces in its name, `python -m` does not.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help setup demo serve test check lint types unit integration neo4j e2e local fuzz dev bench bench-reading eval eval-answers eval-tables model format clean

PY := .venv/bin/python
# Where `make demo` keeps its database and model; a caller's own setting wins.
SEXTANT_DATA_DIR ?= .sextant
# Where `make serve` listens.
PORT ?= 8000
# Folders with corpus.jsonl.gz and queries.jsonl.gz each.
EVAL_SETS ?= $(or $(SEXTANT_EVAL_DIR),../shared/eval)
EVAL_MODES ?= naive local global hybrid mix
# Of each set, what `make eval-answers` asks the chat model at most; and which sets.
QUESTIONS ?= 20
ANSWER_SETS ?= xquad cmrc2018 hotpotqa nomiracl
# The tests run on the long-term release; `make neo4j` on this one, whose vector index is searched within a graph.
NEWEST_NEO4J ?= 2026.08.1

help: ## List the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1|\2/p' Makefile | while IFS='|' read -r name text; do \
		printf '  make %-13s %s\n' "$$name" "$$text"; done

setup: .venv/.all .cache/neo4j/.ready .cache/chromium/.ready .cache/local/.ready ## Create .venv with all that the demo, the tests and `make dev` need

demo: .venv/.base ## Ingest the sample documents, ask three questions, show cited answers (no key needed)
	@SEXTANT_DATA_DIR="$(SEXTANT_DATA_DIR)" $(PY) -m sextant demo
	@printf '\n%s\n%s\n' "Ask more: SEXTANT_DATA_DIR='$(SEXTANT_DATA_DIR)' $(PY) -m sextant ask '…' --graph demo" \
		"In a browser: make serve"

serve: .venv/.base ## Serve the sample documents: the web page, HTTP, OpenAI's API and MCP (PORT=8000)
	@SEXTANT_DATA_DIR="$(SEXTANT_DATA_DIR)" $(PY) -m sextant ingest sextant/samples/documents --graph demo >/dev/null
	@echo "Open http://127.0.0.1:$(PORT)/ (Ctrl-C stops it)"
	@SEXTANT_DATA_DIR="$(SEXTANT_DATA_DIR)" $(PY) -m sextant serve --port $(PORT)

# They wait more than they work, so that two cores do them in the time of one; each tells of all its failures.
test: lint types unit ## Run everything: lint, types, all tests
	@$(MAKE) --no-print-directory --jobs --keep-going --output-sync=target integration e2e local

check: .venv/.all ## Format check, lint, types and unit tests side by side, in under a minute
	@$(MAKE) --no-print-directory --jobs --output-sync=target lint types unit

lint: .venv/.all
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	.venv/bin/lint-imports

types: .venv/.all
	$(PY) -m mypy

unit: .venv/.all
	$(PY) -m pytest -q tests/unit

integration: .venv/.all .cache/neo4j/.ready
	$(PY) -m pytest -q tests/integration

neo4j: .venv/.all ## Test the graph store on the newest Neo4j, too (Java 21 or newer)
	@java --version | awk 'NR == 1 { split($$2, v, "."); exit v[1] < 21 }' || { \
		echo "Neo4j $(NEWEST_NEO4J) needs Java 21 or newer first in PATH; there is $$(java --version | head -1)." >&2; exit 1; }
	@NEO4J_VERSION=$(NEWEST_NEO4J) sh scripts/neo4j/install.sh .cache/neo4j-newest/lib
	NEO4J_LIBRARY=.cache/neo4j-newest/lib $(PY) -m pytest -q tests/integration/stores/graph tests/integration/sextant/test_graph.py

e2e: .venv/.all .cache/chromium/.ready
	$(PY) -m pytest -q tests/e2e

local: .venv/.all .cache/local/.ready ## Test the models of sentence-transformers, on torch without a GPU
	PYTHONPATH=.cache/local $(PY) -m pytest -q tests/local

fuzz: .venv/.all ## Call every route with 200 generated requests; then many callers at once (twelve minutes)
	STALLED_AFTER=7200 SEXTANT_FUZZ_EXAMPLES=200 $(PY) -m pytest -q tests/e2e/test_generated_requests.py
	SEXTANT_FUZZ_SECONDS=120 $(PY) -m pytest -q tests/integration/sextant/test_many_callers.py

dev: .venv/.all ## Start `langgraph dev` on the workflow, offline
	LANGGRAPH_CLI_NO_ANALYTICS=1 LANGGRAPH_NO_VERSION_CHECK=true LANGSMITH_TRACING=false \
	SEXTANT_DATA_DIR="$(SEXTANT_DATA_DIR)" $(PY) -m langgraph_cli dev --no-browser --n-jobs-per-worker 10

bench: .venv/.all ## Measure speed and memory, and write docs/speed.md
	$(PY) -m benchmarks

bench-reading: .venv/.all ## Measure how files are read, and write docs/quality.md (CORPORA=FOLDER; PEERS=PYTHON that has other tools)
	$(PY) -m benchmarks.reading "$(CORPORA)" $(if $(PEERS),--peers "$(PEERS)") --write

eval: .venv/.all ## Measure retrieval on question sets, and write docs/quality.md (EVAL_SETS: folders of corpus and queries)
	@folder=$$(mktemp -d) && for set in $(EVAL_SETS)/*/; do [ ! -f "$${set}queries.jsonl.gz" ] || for mode in $(EVAL_MODES); do \
		name=$$(basename "$$set"); echo "== $$name, $$mode"; SEXTANT_DATA_DIR="$(SEXTANT_DATA_DIR)" $(PY) -m sextant eval \
		--corpus "$${set}corpus.jsonl.gz" --queries "$${set}queries.jsonl.gz" --mode $$mode --out "$$folder/$$name.$$mode.json" \
		$$([ ! -f "$${set}triples.jsonl.gz" ] || echo --triples "$${set}triples.jsonl.gz") || exit 1; \
		done || exit 1; done && $(PY) -m benchmarks.quality.pages --collect "$$folder"

eval-answers: .venv/.all ## Measure the answers of the settings' chat model, and write docs/quality.md (QUESTIONS=20, ANSWER_SETS)
	@SEXTANT_DATA_DIR="$(SEXTANT_DATA_DIR)" $(PY) -m benchmarks.quality.model_answers $(EVAL_SETS) $(ANSWER_SETS) --questions $(QUESTIONS)

model: .venv/.all ## Walk with the settings' chat model through all that it does, and write docs/quality.md
	$(PY) -m benchmarks.model_walk

eval-tables: .venv/.all ## Measure what is computed over TAT-QA's tables (EVAL_SETS has the folder tatqa)
	$(PY) -m benchmarks.quality.tables $(EVAL_SETS)

format: .venv/.all ## Format the code and mend what the linter can
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

clean: ## Remove .venv, the demo's data and every cache
	rm -rf .venv .sextant .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache .langgraph_api
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Installation: one stamp for what the demo needs, one for what development adds.
.venv/.base: pyproject.toml constraints.txt scripts/venv.sh
	@sh scripts/venv.sh
	@touch $@

.venv/.all: .venv/.base
	@sh scripts/venv.sh test dev
	@touch $@

# The Neo4j server of the integration tests, out of Maven Central's jars; none where NEO4J_URI names one.
.cache/neo4j/.ready: scripts/neo4j/pom.xml scripts/neo4j/install.sh
	@sh scripts/neo4j/install.sh .cache/neo4j/lib
	@if [ -z "$${NEO4J_URI:-}" ]; then touch $@; fi

# The browser of the tests of the web page.
.cache/chromium/.ready: scripts/chromium.sh
	@sh scripts/chromium.sh
	@mkdir -p $(@D) && touch $@

# The [local] extra, apart from .venv: everything else is tested without torch, as it is installed by default.
.cache/local/.ready: .venv/.all scripts/local_models.sh
	@sh scripts/local_models.sh .cache/local
	@touch $@
