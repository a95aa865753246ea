# make run serves the app; make test runs every test that this machine can run. Both make the environment they need.
# make smoke takes about a minute; make test-all leaves nothing out and takes about an hour.
# TORCH=... is given to pip before all else, for another build of torch: a wheel, or 'torch==VERSION --index-url URL'.
PYTHON ?= python3
VENV ?= .venv
PORT ?= 8501
WORKERS ?= 3
TORCH ?=

BIN := $(VENV)/bin
# the tests that start no judge, and one real CHECK
SMOKE := tests/unit tests/pages/test_pieces.py tests/adversarial/test_headers.py tests/adversarial/test_table.py \
  tests/adversarial/test_stated_rules.py \
  tests/contract/test_backend.py::test_check_reports_the_match_and_shows_the_rewritten_graph

.PHONY: run smoke test test-all fuzz soak test-gpu lint bench screenshots bench-gpu tasks bundles assets wheel constraints clean

run: $(VENV)/.app $(VENV)/.prepared
	$(BIN)/python -m compileall -q passnet_core
	$(BIN)/python -m streamlit run app.py --server.address 127.0.0.1 --server.port $(PORT)

# lint, types and quick tests, whose processes load no torch
smoke: lint
	$(BIN)/python -m pytest -m "not slow" --without torch --without triton -n 2 --dist worksteal $(SMOKE)

# all tests but the slow ones and those that tests/which.py leaves out; writes tests/recorded.json if that has changed
# the judge's processes write no bytecode, and there are hundreds of them; mypy runs beside the first tests
test: $(VENV)/.dev
	$(BIN)/python -m compileall -q passnet_core
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy & types=$$!; \
	$(BIN)/python -m pytest -m "not slow" --unless-settled --record --durations 10 -n $(WORKERS) --dist worksteal; tests=$$?; \
	wait $$types && exit $$tests

# all tests
test-all: lint
	$(BIN)/python -m compileall -q passnet_core
	$(BIN)/python -m pytest --record -n $(WORKERS) --dist worksteal

# 10,000 cases of altered input with three seeds, others each day: 400 of each kind, then 5,600 of HTTP and of MCP; takes
# about half an hour
fuzz: $(VENV)/.dev
	ulimit -v 8388608; day=$$(date +%Y%m%d); \
	fuzzing="$(BIN)/python -m pytest tests/contract/test_fuzzing.py -n 2 -q"; \
	$$fuzzing --fuzz-cases 400 --fuzz-seed $${day}1 && \
	$$fuzzing -k 'http- or mcp-' --fuzz-cases 1400 --fuzz-seed $${day}2 && \
	$$fuzzing -k 'http- or mcp-' --fuzz-cases 1400 --fuzz-seed $${day}3

# 50 persons for an hour, on two cores that nobody else uses; its table is in build/soak.txt, anew each minute
soak: $(VENV)/.dev $(VENV)/.prepared
	$(BIN)/python -m tests.soak --persons 50 --minutes 60 --out build/soak.txt

test-gpu: $(VENV)/.dev
	$(BIN)/python -m pytest -m gpu

lint: $(VENV)/.dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

bench: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks

# pictures of every page, light and dark, on three screens
screenshots: $(VENV)/.dev
	$(BIN)/python -m tests.screenshots docs/screens

bench-gpu: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks.gpu
	$(BIN)/python -m tests.benchmarks.verdicts

# builds the Workbench's components from their sources; needs Node.js 20 or newer
assets:
	cd assets/components && npm ci --no-audit --no-fund && node build.mjs

# builds the bundled pack of tasks: one to two hours; resumes with the models already cut into build/cuts
tasks: $(VENV)/.dev
	-$(BIN)/python -m tools.harvesting cut --out build/cuts --jobs $(WORKERS)
	rm -f build/all.* data/tasks/models.*
	$(BIN)/python -m tools.harvesting join build/cuts --out build/all.jsonl.gz
	$(BIN)/python -m tools.harvesting choose build/all.jsonl.gz --beside data/tasks --out data/tasks/models.jsonl.gz

# writes the bundles of the rules
bundles: $(VENV)/.dev
	$(BIN)/python -m tools.solving

# builds dist/*.whl, which has all that the app needs; a stale build/lib would add files that no longer exist
wheel: $(VENV)/.dev $(VENV)/.prepared
	rm -rf build/lib
	$(BIN)/python -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist .

# pins the installed versions; to upgrade: make clean, delete lines of constraints.txt, make test, make constraints
constraints: $(VENV)/.dev
	{ head -n 1 constraints.txt; \
	  $(BIN)/python -m pip freeze --all --exclude-editable | grep -v -e '^pip==' -e ' @ ' | sed 's/+[a-z0-9.]*$$//'; \
	} > constraints.new && mv constraints.new constraints.txt

clean:
	rm -rf $(VENV) data/recorded-*.duckdb .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; '$(PYTHON)' is older or missing. Name another: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@$(if $(TORCH),$(BIN)/python -m pip install --quiet $(TORCH) || { rm -rf $(VENV); exit 1; })

$(VENV)/.app: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --requirement requirements.txt --constraint constraints.txt
	@touch $@

# with the recorded results in a store, the first start has them at once
$(VENV)/.prepared: $(wildcard data/baselines/*.gz data/conversations/*.jsonl passnet_core/store/migrations/*.sql) | $(VENV)/.app
	$(BIN)/python -m passnet_core prepare
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --requirement requirements-dev.txt --constraint constraints.txt
	@touch $@ $(VENV)/.app
