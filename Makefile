# From nothing but Python 3.11+ and make:
#   make run      set up, then run the quick profile of all six studies
#   make test     set up, then pass the tests

PYTHON ?= $(shell for v in python3.11 python3.12 python3.13 python3 python; do \
	$$v -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$v && break; done)
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.installed
LIVE = $(VENV)/.live
# Tests compile far longer than they compute: one thread a worker, LLVM without its passes, and
# what was compiled once is kept, for the next run and for the tests of other targets.
KEPT = JAX_COMPILATION_CACHE_DIR="$(CURDIR)/.cache/xla" \
	JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS=0 JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES=0
PLAIN = OMP_NUM_THREADS=1 $(KEPT) \
	XLA_FLAGS="--xla_cpu_multi_thread_eigen=false --xla_backend_optimization_level=0"

.DELETE_ON_ERROR:
.PHONY: run test setup live lint types docs site mutants bench gallery slow clean

run: $(STAMP)
	$(BIN)/remanence reproduce all

test: $(STAMP)
	$(PLAIN) $(BIN)/python -m pytest -q -n auto --dist loadfile

setup: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "remanence needs Python 3.11 or newer; none was found" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable ".[dev,web,cluster]"
	@touch $(STAMP)

# Other libraries that tests compare with live: torch, transformers, Keras, the runtime of ONNX.
$(LIVE): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable ".[live]"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --target $(VENV)/peers \
		--constraint constraints.txt einops mambapy minGRU-pytorch rwkv xlstm
	@touch $(LIVE)

# The packages of single cells stand aside: with xlstm in sight transformers' own xLSTM fails.
live: $(LIVE)
	$(KEPT) $(BIN)/python -m pytest -q -m "torch or live"
	$(KEPT) PYTHONPATH=$(VENV)/peers $(BIN)/python -m pytest -q tests/cells/test_peers.py

slow: $(STAMP)
	$(BIN)/python -m pytest -q -m slow

lint: $(STAMP)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(STAMP)
	$(BIN)/pyright

docs: $(STAMP)
	$(KEPT) OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -p no:cacheprovider --doctest-modules src \
		--doctest-glob='*.md' --ignore=docs/equations.py --ignore=docs/static_lab.py README.md docs

site: $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable ".[docs]"
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

mutants: $(LIVE)
	$(KEPT) $(BIN)/python tests/mutants/run.py

bench: .venv-bench/.installed
	.venv-bench/bin/python benchmarks/run.py $(BENCH)

.venv-bench/.installed: pyproject.toml constraints.txt benchmarks/peers.txt
	test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --requirement benchmarks/peers.txt --editable .
	@touch $@

gallery: .venv-gallery/.installed
	OMP_NUM_THREADS=1 .venv-gallery/bin/python -W ignore benchmarks/gallery/run.py .venv-gallery/packages $(GALLERY)

# Packages that are looked at are downloaded and not installed: they are read as files.
.venv-gallery/.installed: pyproject.toml constraints.txt $(wildcard benchmarks/gallery/*.txt)
	test -x .venv-gallery/bin/python || $(PYTHON) -m venv .venv-gallery
	.venv-gallery/bin/python -m pip install --quiet --disable-pip-version-check --constraint \
		constraints.txt --requirement benchmarks/gallery/requirements.txt --editable ".[onnx,keras]"
	.venv-gallery/bin/python -m pip download --quiet --disable-pip-version-check --no-deps \
		--no-build-isolation --dest .venv-gallery/packages --requirement benchmarks/gallery/packages.txt
	@touch $@

clean:
	rm -rf $(VENV) .venv-bench .venv-gallery results dist site
