# Shortcuts in front of CMake. `make run` and `make test` work from a fresh clone: they install
# what is missing (scripts/setup), build, and go. Other builds: make test PRESET=dev|ci|asan.

PRESET  ?= release
PREFIX  ?= /usr/local
SECONDS ?= 60
HOURS   ?= 1
JOBS    ?= $(shell nproc)

flagship = $(firstword $(wildcard models/rattleback.mech models/chaplygin-sleigh.mech))

.PHONY: help setup browser build run test python playground docs deb golden bench install \
	asan lint format fuzz torture mutants clean
.NOTPARALLEL:

help:
	@echo 'make run              build, run the flagship model, write its report'
	@echo 'make test             build and run the tests      [PRESET=release|dev|ci|asan]'
	@echo 'make python           install the Python package into build/python'
	@echo 'make playground       build/playground.html: noslip in a browser'
	@echo 'make docs             build/docs: the documentation as pages, search, live models'
	@echo 'make deb              build/deb: Debian packages'
	@echo 'make golden           write tests/models/golden.txt anew, see CONTRIBUTING.md'
	@echo 'make bench            the speed table'
	@echo 'make install          [PREFIX=/usr/local] [DESTDIR=]'
	@echo 'make asan             tests under the address and undefined-behaviour sanitizers'
	@echo 'make lint             format, layers, headers, clang-tidy, cppcheck'
	@echo 'make format           rewrite the sources with clang-format'
	@echo 'make fuzz             fuzz everything that reads bytes  [SECONDS=60]'
	@echo 'make torture          every fault made to happen      [HOURS=1]'
	@echo 'make mutants         do claims and tests notice faults made on purpose?'
	@echo 'make clean            remove build/'

setup:
	@scripts/setup

browser:
	@scripts/setup --browser

build/%/build.ninja: CMakePresets.json | setup
	@cmake --preset $* --log-level=NOTICE

build: build/$(PRESET)/build.ninja
	@cmake --build --preset $(PRESET) -j $(JOBS)

run: build/release/build.ninja
	@cmake --build --preset release -j $(JOBS) --target noslip_program
	build/release/noslip run $(flagship) --report build/$(notdir $(basename $(flagship))).html
	@echo
	@echo 'The motion to look at: $(abspath build/$(notdir $(basename $(flagship))).html)'

test: build browser
	@ctest --preset $(PRESET) -j $(JOBS)

python: build/release/build.ninja
	@cmake --build --preset release -j $(JOBS) --target noslip_shared
	@/usr/bin/python3 -m venv --system-site-packages build/python
	@NOSLIP_LIBRARY=$(abspath build/release/libnoslip.so) build/python/bin/pip install -q \
	    --disable-pip-version-check --no-index --no-build-isolation --force-reinstall --no-deps .
	@build/python/bin/python -c 'import noslip; print("noslip is in", noslip.__path__[0])'
	@echo 'Use it by:   build/python/bin/python      or, in a shell:   . build/python/bin/activate'

playground:
	@scripts/setup --wasm
	@scripts/setup --browser
	@scripts/build-playground
	@echo 'To open in a browser: $(abspath build/playground.html)'

# with the playground, which shows the models of the gallery live; `make docs LIVE=` without
LIVE = playground
docs: build/release/build.ninja $(LIVE)
	@cmake --build --preset release -j $(JOBS) --target noslip_program
	@/usr/bin/python3 scripts/build-docs build/release/noslip
	@echo 'To open in a browser: $(abspath build/docs/index.html)'

deb: setup
	@scripts/setup --deb
	@scripts/build-deb

golden: build/release/build.ninja
	@cmake --build --preset release -j $(JOBS) --target noslip_program
	scripts/golden build/release/noslip --write
	@git diff --stat tests/models/golden.txt

asan:
	@$(MAKE) --no-print-directory test PRESET=asan

bench: build/release/build.ninja
	@cmake --build --preset release -j $(JOBS) --target bench
	build/release/noslip bench

install: build/release/build.ninja
	@cmake --build --preset release -j $(JOBS)
	@cmake --install build/release --prefix $(abspath $(PREFIX)) >build/install.log
	@echo 'program      $(DESTDIR)$(abspath $(PREFIX))/bin/noslip'
	@echo 'library      $(DESTDIR)$(abspath $(PREFIX))/lib, headers in include/noslip'
	@echo 'models       $(DESTDIR)$(abspath $(PREFIX))/share/noslip/models'
	@echo 'manual       man noslip, man noslip-run, ...'
	@echo 'completion   bash, zsh and fish, in share/'
	@echo 'Every file is listed in build/install.log; `noslip gallery` is a way to begin.'

lint:
	@scripts/setup --ci
	@scripts/lint

format:
	@scripts/setup --ci
	@scripts/lint --format

fuzz:
	@scripts/setup --ci
	@scripts/fuzz $(SECONDS)

torture: build/release/build.ninja
	@scripts/setup --ci
	@cmake --build --preset release -j $(JOBS) --target noslip_program
	@scripts/torture $(HOURS)

mutants: setup
	@scripts/mutants --write docs/mutants.md

clean:
	rm -rf build
