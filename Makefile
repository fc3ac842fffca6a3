# Each target sets up what it needs. `make demo` and `make test` are all a fresh machine has to run.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
CORE := pyproject.toml CMakeLists.txt $(wildcard cpp/*)

.PHONY: demo test lint bench docs fuzz calibrate experiments-active conformance clean
.DELETE_ON_ERROR:

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

# A user's install, for the demo.
$(VENV)/.demo: $(CORE) | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e .
	touch $@

# Everything that the suite touches.
$(VENV)/.dev: $(CORE) | $(BIN)/python
	$(BIN)/python -m pip install --quiet -e '.[all]' --group dev
	touch $@ $(VENV)/.demo

demo: $(VENV)/.demo
	$(BIN)/surefoot demo build/demo

test: lint
	$(BIN)/python -m pytest

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Rewrites the reference and the output of every block in the pages.
docs: $(VENV)/.dev
	$(BIN)/python docs/generate_reference.py
	$(BIN)/python docs/blocks.py --update

# Against peers, each in an environment of its own; TREC_EVAL=/path/to/trec_eval adds that program.
bench: $(VENV)/.dev
	$(BIN)/python -m benchmarks

# Arbitrary bytes through the C++ parser under AddressSanitizer and UBSan, for FUZZ_SECONDS.
FUZZ_SECONDS ?= 30
FUZZ_SEED ?= 1
fuzz: build/fuzz_text
	./build/fuzz_text $(FUZZ_SECONDS) $(FUZZ_SEED)

build/fuzz_text: tests/fuzz/fuzz_text.cpp $(wildcard cpp/text_*.hpp)
	mkdir -p build
	$(CXX) -std=c++17 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Icpp $< -o $@

# Coverage of predictive risk intervals, several minutes; writes docs/method/ppd_calibration.md.
.PHONY: calibrate-ppd
calibrate-ppd: $(VENV)/.dev
	$(BIN)/python -m benchmarks.calibrate_ppd

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis

# Ours against other evaluators; TREC_EVAL= and INST_EVAL= add those programs.
conformance: $(VENV)/.dev
	$(BIN)/python -m benchmarks.conformance

# Do intervals, tests and posteriors keep what they promise? Reads ../shared/data; writes
# docs/method/calibration.md and docs/method/bayes_calibration.md.
calibrate: $(VENV)/.dev
	$(BIN)/python -m benchmarks.calibrate_inference
	$(BIN)/python -m benchmarks.calibrate_bayes

# Section 5 of the active evaluation paper on labelled collections; reads ../shared/data, goes on where
# it was stopped; writes docs/method/active_experiments.md and the answer that active.md begins with.
# QUICK=--quick for minutes instead of an hour.
experiments-active: $(VENV)/.dev
	$(BIN)/python -m benchmarks.experiments_active all $(QUICK)
