# Everything runs in virtual environments that are made once: .venv to work with, and .venv-live,
# .venv-numpy1, .venv-max and, with Python 3.12 or later, .venv-recent to ask the libraries.
# Needs make, git and Python 3.11 or later.
# `make PYTHON=/usr/bin/python3.13 test` chooses the Python, `make FLAGS='-n 2' test` what else pytest is
# told: here, to run the tests in two processes instead of one for each processor.

PYTHON ?= $(shell tools/find-python)
LIVE_PYTHON ?= $(shell tools/find-python 3.11 3.12 3.13)
VENV = .venv
LIVE = .venv-live .venv-numpy1 .venv-max $(if $(shell tools/find-python 3.13 3.12 2>/dev/null),.venv-recent)
# The tests start hundreds of processes: what one of them has compiled the next reads. Of a library little is
# ever imported, so that pip need not compile all of it.
export PYTHONDONTWRITEBYTECODE =
PIP = -m pip install -qq --disable-pip-version-check --no-compile
FLAGS =
TESTS =
CALLS = 100000
LINES = 1000000
SEED =
PYODIDE =
ADDRESS =
REPOSITORY =
EDITIONS =
PROGRAMS = 100
SYSTEMS = 100
JOBS = 2
STRANGERS = .venv-strangers $(if $(shell tools/find-python 3.13 2>/dev/null),.venv-strangers-3.13)
SURVEYED = $(shell sed -n 's/.*==[^ ]*  \# //p' tools/requirements-survey.txt)

# What a release of Python can break, and what one of NumPy or ml_dtypes can.
TESTS_OF_PYTHON = tests/tracing tests/programs/test_programs.py tests/core/operands/test_operand_numpy.py \
	src/typelattice/tracing src/typelattice/programs
TESTS_OF_NUMPY = tests/programs tests/core/operands \
	src/typelattice/core/operands src/typelattice/programs/namespaces
LIGHT = 'not live and not browser and not package and not whole'

.NOTPARALLEL:
.PHONY: agree help demo test test-newest test-3.14-chroot whole whole-browser whole-live lint package \
	installed docs pages tools browser environments emitted conform imitations survey everyday patches kills \
	widenings \
	strangers known-fixes npbench tune releases fuzz bench array-api-tests programs mutants clean

help:  ## shows these lines
	@sed -n 's/^\([a-z][-a-z.%0-9]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 24

demo: $(VENV)/numpy.stamp  ## finds the line that widens a small program, patches it and draws its steps
	@$(VENV)/bin/python examples/demo.py

# One process for each processor, unless FLAGS on the command line says otherwise.
test: FLAGS = -n auto --dist worksteal --timeout 600
test: $(VENV)/test.stamp  ## runs the light tests: laws, recordings, examples; they need no framework
	$(VENV)/bin/python -m pytest -m $(LIGHT) $(FLAGS) $(TESTS)

test-3.%:  ## runs the light tests on another installed Python: make test-3.13 TESTS='$$(TESTS_OF_PYTHON)'
	@$(MAKE) --no-print-directory VENV=.venv-3.$* PYTHON="$$(tools/find-python 3.$*)" test

test-3.14-chroot:  ## runs the tests of tracing on Debian's Python 3.14: needs root and debootstrap
	@mkdir -p build
	tools/chroot-3.14 build/py314 $(FLAGS) $(TESTS_OF_PYTHON)

test-newest: | .venv-newest  ## runs the light tests with the newest releases that pip finds
	.venv-newest/bin/python $(PIP) --upgrade --upgrade-strategy eager -e '.[test]'
	.venv-newest/bin/python -m pytest -m $(LIGHT) $(FLAGS) $(TESTS)

whole: $(VENV)/test.stamp  ## runs the light tests that `make test` leaves out
	$(VENV)/bin/python -m pytest -m 'whole and not live and not browser' $(FLAGS) tests

lint: $(VENV)/test.stamp $(VENV)/lint.stamp  ## runs ruff and mypy, and checks the types of namespaces
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml
	$(VENV)/bin/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/[!c]*.yml
	$(VENV)/bin/check-jsonschema --builtin-schema vendor.github-actions action.yml
	$(VENV)/bin/check-jsonschema --builtin-schema vendor.citation-file-format CITATION.cff
	$(VENV)/bin/python -m pytest tests/programs/namespaces/test_namespace_types.py \
		tests/study/codegen/test_written_stubs.py

package: $(VENV)/test.stamp $(VENV)/package.stamp  ## builds and tests the source distribution and the wheel
	rm -rf dist
	$(VENV)/bin/python tools/built_document.py
	$(VENV)/bin/python -m build -q
	$(VENV)/bin/twine check --strict dist/*
	$(VENV)/bin/python -m pytest -m package tests/house/test_wheel.py

installed: package  ## installs both, each in its own environment, and runs a few commands
	tools/installed dist

docs: .venv-docs/docs.stamp  ## builds the site, build/docs/html/index.html
	.venv-docs/bin/python tools/docs/build.py build/docs $(if $(PYODIDE),--pyodide '$(PYODIDE)') \
		--address '$(ADDRESS)' --repository '$(REPOSITORY)' --editions '$(EDITIONS)'

pages: $(VENV)/test.stamp  ## writes the outputs on pages, and the generated pages, that have changed
	$(VENV)/bin/python tools/pages.py $(FLAGS)

tools:  ## lists the tools, with a line for each
	@for tool in $$(find tools -maxdepth 1 -type f ! -name '*.txt' ! -name '*.md' | sort); do \
		printf '  %s\t%s\n' "$$tool" "$$(sed -n '/^"""\|^# /{s/^"""//;s/^# //;s/"""$$//;p;q}' "$$tool")"; \
	done | expand -t 30

browser: $(VENV)/browser.stamp  ## tests a sample of the pages in a headless Chromium, which must be installed
	$(VENV)/bin/python -m pytest -m 'browser and not whole' tests/browser $(FLAGS)

whole-browser: $(VENV)/browser.stamp  ## tests all pages
	$(VENV)/bin/python -m pytest -m browser tests/browser $(FLAGS)

environments: $(LIVE:=/ready.stamp) .venv-docs/docs.stamp  ## builds the environments of libraries and site

emitted: $(VENV)/test.stamp  ## compiles and runs generated code in every language, of SYSTEMS=100 systems
	npm install --silent --no-audit --no-fund --prefix .venv-node typescript@5 prettier@3
	PATH="$(CURDIR)/.venv-node/node_modules/.bin:$$PATH" $(VENV)/bin/python -m pytest tests/study/codegen \
		--systems $(SYSTEMS) $(FLAGS)

agree: $(VENV)/test.stamp  ## asks PROGRAMS=100 random programs in every way, and SYSTEMS=100 systems
	npm install --silent --no-audit --no-fund --prefix .venv-node typescript@5
	PATH="$(CURDIR)/.venv-node/node_modules/.bin:$$PATH" $(VENV)/bin/python -m pytest \
		tests/conformance/agreement --programs $(PROGRAMS) --systems $(SYSTEMS) $(FLAGS)

conform: $(LIVE:=/ready.stamp)  ## calls the installed libraries again and compares
	tools/conform $(CALLS) 'live and not whole' $(LIVE)

whole-live: $(LIVE:=/ready.stamp)  ## runs every live test, of which `make conform` runs a sample
	tools/conform $(CALLS) live $(LIVE)

patches: $(VENV)/test.stamp  ## patches calls of installed packages, and counts the results
	$(VENV)/bin/python tools/patches.py

kills: $(VENV)/test.stamp  ## kills 50 searches that write a patch, and looks at what is left
	$(VENV)/bin/python tools/kills.py

widenings: $(VENV)/test.stamp  ## plants widenings in 500 random programs, and fixes each for all callers
	$(VENV)/bin/python tools/widenings.py

strangers: $(STRANGERS:=/strangers.stamp)  ## runs programs of packages drawn at random, untraced and traced
	for venv in $(STRANGERS); do \
		PYTHONPATH="$(CURDIR)/src" $$venv/bin/python tools/strangers.py || failed=1; done; \
		test -z "$$failed"

survey: .venv-survey/survey.stamp  ## calls the public functions of 50 packages with float32; takes hours
	PYTHONPATH=src .venv-survey/bin/python -m typelattice survey $(SURVEYED) --jobs $(JOBS) \
		--rows build/survey/rows.jsonl --output "docs/surveys/$$(date +%F).json"

imitations: .venv-live/ready.stamp .venv-recent/ready.stamp  ## compares imitations with their libraries
	for venv in $(^D); do \
		$$venv/bin/python tools/imitations.py --into "docs/imitations/$$(date +%F).json" || exit; \
	done

known-fixes: $(VENV)/test.stamp  ## patches old releases whose public change is known, and compares the places
	$(VENV)/bin/python tools/known_fixes.py $(FLAGS)

npbench: $(VENV)/test.stamp  ## patches NPBench's kernels to float32, and measures them: SUITE=path of a copy
	$(VENV)/bin/python tools/npbench.py '$(SUITE)' --into docs/measured.md

tune: $(VENV)/test.stamp  ## tunes NPBench's kernels, and compares the search with others: SUITE=path
	$(VENV)/bin/python tools/tune_kernels.py '$(SUITE)' --compare --rows build/tuned.jsonl \
		--into docs/measured.md

everyday: $(VENV)/test.stamp  ## counts how often each rule is right for recorded calls with common dtypes
	$(VENV)/bin/python tools/everyday.py

releases:  ## records every older release again, each in its own environment, and writes the differences
	$(PYTHON) tools/releases.py --into .venv-releases

fuzz: $(VENV)/test.stamp  ## runs command lines from a grammar, half of them broken, and checks how each ends
	$(VENV)/bin/python tools/fuzz.py --lines $(LINES) $(if $(SEED),--seed $(SEED))

bench: .venv-live/ready.stamp  ## compares our times with those of the libraries
	PYTHONPATH=src .venv-live/bin/python -W ignore benchmarks/run.py

array-api-tests: .venv-suite/ready.stamp  ## runs the public suite on namespaces: SUITE=path of a copy
	tools/array-api-tests '$(SUITE)' .venv-suite/bin/python

programs: .venv-live/ready.stamp  ## runs random programs on the libraries: PROGRAMS=100
	PYTHONPATH=src .venv-live/bin/python -m pytest tests/programs/test_programs_run_by_libraries_live.py \
		tests/programs/test_programs_random_live.py --programs $(PROGRAMS) $(FLAGS)

mutants: $(VENV)/test.stamp  ## breaks the engine, one small change at a time, and checks that a test fails
	$(VENV)/bin/python tools/mutants.py

clean:  ## removes what the other targets built
	rm -rf .venv .venv-3.* .venv-known .venv-newest .venv-docs .venv-node $(LIVE) .venv-releases .venv-suite
	rm -rf .venv-survey .venv-strangers* dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis

# NumPy 1 runs on no Python after 3.12, so the libraries have a Python of their own; NumPy 2.5 runs on none
# before that.
$(LIVE) .venv-suite .venv-strangers: PYTHON = $(LIVE_PYTHON)
.venv-strangers-3.13: PYTHON = $(shell tools/find-python 3.13)
.venv-recent .venv-survey: PYTHON = $(shell tools/find-python 3.13 3.12)
$(sort $(VENV) .venv-newest .venv-docs $(LIVE) .venv-suite .venv-survey $(STRANGERS)):
	@test -n '$(PYTHON)' || { echo 'or say make PYTHON=/path/to/python3' >&2; exit 1; }
	$(PYTHON) -m venv $@

$(VENV)/%.stamp: pyproject.toml tools/constraints.txt | $(VENV)
	$(VENV)/bin/python $(PIP) -c tools/constraints.txt -e '.[$*]'
	@touch $@

.venv-docs/docs.stamp: pyproject.toml tools/constraints.txt | .venv-docs
	.venv-docs/bin/python $(PIP) -c tools/constraints.txt -e '.[docs]'
	@touch $@

# Its packages are imported many times, so they are compiled once.
.venv-survey/survey.stamp: tools/requirements-survey.txt | .venv-survey
	.venv-survey/bin/python -m pip install -qq --disable-pip-version-check -r tools/requirements-survey.txt
	@touch $@

$(STRANGERS:=/strangers.stamp): %/strangers.stamp: tools/requirements-strangers.txt | %
	$*/bin/python $(PIP) --only-binary :all: -r tools/requirements-strangers.txt
	@touch $@

# What pip installs in .venv-NAME: what the registry of libraries lists there, and what the tests need
# besides.
REGISTRY = src/typelattice/core/registry/libraries.txt tools/libraries.py

.venv-%/ready.stamp: $(REGISTRY) tools/requirements-%.txt | .venv-%
	.venv-$*/bin/python tools/libraries.py packages $(if $(filter suite,$*),live,$*) >.venv-$*/packages.txt
	.venv-$*/bin/python $(PIP) -r .venv-$*/packages.txt -r tools/requirements-$*.txt
	@touch $@
