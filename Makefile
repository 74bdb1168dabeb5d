# Everything runs in virtual environments of its own: .venv to work with, .venv-live, .venv-numpy1 and .venv-max to ask the libraries.
# Needs Python 3.11 or later, git and make. `make PYTHON=python3.13 test` chooses the Python.

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
PIP = -m pip install -qq --disable-pip-version-check
LIVE = .venv-live .venv-numpy1 .venv-max
CALLS = 100000

.NOTPARALLEL:
.PHONY: help demo test lint conform bench array-api-tests mutants clean

help:  ## these lines
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 24

demo: .venv/numpy.stamp  ## what NumPy will do, what JAX would, and why: computed before your eyes
	@.venv/bin/python examples/demo.py

test: .venv/test.stamp  ## the tests that need no framework: laws, recordings, seeds, every example
	.venv/bin/python -m pytest -m 'not live'

lint: .venv/test.stamp .venv/lint.stamp  ## ruff and mypy, and what mypy and pyright see of a namespace
	.venv/bin/ruff check .
	.venv/bin/mypy
	.venv/bin/python -m pytest tests/test_namespace_types.py

conform: $(LIVE:=/ready.stamp)  ## ask the installed libraries again and compare
	tools/conform $(CALLS) $(LIVE)

bench: .venv-live/ready.stamp  ## our times beside those of the libraries
	PYTHONPATH=src .venv-live/bin/python -W ignore benchmarks/run.py

array-api-tests: .venv-suite/ready.stamp  ## the public suite against our namespaces: SUITE=path of a copy of it
	tools/array-api-tests '$(SUITE)' .venv-suite/bin/python

mutants: .venv/test.stamp  ## break the spine line by line: do the tests notice?
	.venv/bin/python tools/mutants.py

clean:  ## remove what the other targets made
	rm -rf .venv $(LIVE) .venv-suite dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis

.venv .venv-live .venv-numpy1 .venv-max .venv-suite:
	@test -n '$(PYTHON)' || { echo 'no Python 3.11 or later with venv and ensurepip was found; install one, or say make PYTHON=/path/to/python3' >&2; exit 1; }
	$(PYTHON) -m venv $@

.venv/%.stamp: pyproject.toml | .venv
	.venv/bin/python $(PIP) -e '.[$*]'
	@touch $@

# What pip installs in .venv-NAME: what the registry of libraries lists there, and what the tests need besides.
REGISTRY = src/typelattice/facts/libraries.txt tools/libraries.py

.venv-%/ready.stamp: $(REGISTRY) tools/requirements-%.txt | .venv-%
	.venv-$*/bin/python tools/libraries.py packages $(if $(filter suite,$*),live,$*) >.venv-$*/packages.txt
	.venv-$*/bin/python $(PIP) -r .venv-$*/packages.txt -r tools/requirements-$*.txt
	@touch $@
