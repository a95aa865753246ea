# make run: serve the app. make test: every check this machine can run. Both make the environment they need.
PYTHON ?= python3
VENV ?= .venv
PORT ?= 8501
WORKERS ?= 3

BIN := $(VENV)/bin

.PHONY: run test test-gpu lint bench bench-gpu tasks assets clean

run: $(VENV)/.app
	$(BIN)/python -m streamlit run app.py --server.address 127.0.0.1 --server.port $(PORT)

test: lint
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test-gpu: $(VENV)/.dev
	$(BIN)/python -m pytest -m gpu

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks

bench-gpu: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks.gpu

# the Workbench's components, from their sources; needs Node.js 20 or newer
assets:
	cd assets/components && npm ci --no-audit --no-fund && node build.mjs

# the bundled pack of tasks, from scratch: one to two hours; what was cut already lies in build/cuts
tasks: $(VENV)/.dev
	-$(BIN)/python -m passnet_core.corpus.harvesting cut --out build/cuts --jobs $(WORKERS)
	rm -f build/all.* data/tasks/models.*
	$(BIN)/python -m passnet_core.corpus.harvesting join build/cuts --out build/all.jsonl.gz
	$(BIN)/python -m passnet_core.corpus.harvesting choose build/all.jsonl.gz --beside data/tasks --out data/tasks/models.jsonl.gz

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Python 3.11 or newer is needed; '$(PYTHON)' is older or missing. Name another: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.app: requirements.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --requirement requirements.txt
	@touch $@

$(VENV)/.dev: requirements.txt requirements-dev.txt | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --requirement requirements-dev.txt
	@touch $@ $(VENV)/.app
