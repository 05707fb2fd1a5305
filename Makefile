# `make` lists the targets. Everything a target needs, it installs into .venv first; a second run finds it there.
.DEFAULT_GOAL := help
PYTHON ?= python3
BIN := .venv/bin
SOURCES := src tests bench tools bin
NODE := adapters/node_modules/.stamp
# The agent programs that tests/hosts runs: the folder each is installed in, and the packages and versions that Foreword
# was made for. OpenClaw needs a newer Node than the adapters' own.
HOSTS := node24=node@24.21.0 openclaw=openclaw@2026.9.6 \
    opencode=opencode-ai@1.18.33,opencode-linux-x64@1.18.33 claude-code=@anthropic-ai/claude-code-linux-x64@2.1.325 \
    codex=@openai/codex@0.166.0 gemini=@google/gemini-cli@0.61.0
HOSTS_FOLDER := $(or $(FOREWORD_HOSTS),$(HOME)/.cache/foreword-hosts)
HOST_STAMPS := $(foreach host,$(HOSTS),$(HOSTS_FOLDER)/$(subst =,/.installed-,$(subst /,+,$(host))))
comma := ,
# The libraries of docs/how-to/python.md, in an environment of their own.
LIBRARIES := tests/hosts/python/requirements.txt
LIBRARIES_STAMP := $(HOSTS_FOLDER)/python/.installed

.PHONY: help demo test lint fmt bench setup hosts reference clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: .venv/run.stamp ## See what Foreword does, in a temporary home
	@$(BIN)/foreword demo

# Where nothing may be missing, the hosts are installed while the other tests run.
test: .venv/dev.stamp $(NODE) lint ## Run every check and every test (those on real hosts need `make hosts`)
	@installing=; if [ "$$FOREWORD_REQUIRE_ALL" = 1 ]; then $(MAKE) hosts >.venv/hosts.log 2>&1 & installing=$$!; fi; \
	$(BIN)/python -m pytest -ra --ignore=tests/hosts; others=$$?; \
	if [ -n "$$installing" ] && ! wait $$installing; then cat .venv/hosts.log; exit 1; fi; \
	if [ -z "$$installing" ] && ! $(MAKE) --question hosts; then \
	    echo "tests/hosts was left out, for the hosts are not installed: run make hosts (2 GB), then make test again"; exit $$others; fi; \
	$(BIN)/python -m pytest -ra -n 2 --dist loadfile tests/hosts && exit $$others

lint: .venv/dev.stamp ## Check style, types and the layers
	@$(BIN)/ruff check $(SOURCES)
	@$(BIN)/ruff format --check $(SOURCES)
	@$(BIN)/mypy
	@$(BIN)/lint-imports

fmt: .venv/dev.stamp ## Format the code
	@$(BIN)/ruff check --fix-only --quiet $(SOURCES)
	@$(BIN)/ruff format $(SOURCES)

bench: .venv/run.stamp ## Measure speed (about four minutes); `foreword bench` has the others
	@$(BIN)/python -m bench.speed

reference: .venv/run.stamp ## Write docs/reference and the wire's types again from the code
	@$(BIN)/python -m tools.reference

setup: .venv/dev.stamp $(NODE) ## Install everything that development needs

hosts: $(HOST_STAMPS) $(LIBRARIES_STAMP) ## Install the agent programs that tests/hosts runs (2 GB, in ~/.cache/foreword-hosts)

clean: ## Remove what the targets made
	rm -rf .venv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache bench/out src/*.egg-info
	rm -rf adapters/node_modules adapters/*/dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@echo "setting up .venv"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Foreword needs Python 3.11 or newer; set PYTHON=…"; exit 1; }
	@$(PYTHON) -m venv .venv

.venv/run.stamp: pyproject.toml bin/foreword bin/foreword_hook.py | .venv/bin/python
	@echo "installing Foreword"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/dev.stamp: pyproject.toml bin/foreword bin/foreword_hook.py | .venv/bin/python
	@echo "installing Foreword and what its tests need"
	@$(BIN)/pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ .venv/run.stamp

# Without npm nothing is installed, and the tests say so themselves.
$(NODE): adapters/package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing: the adapters are not built or tested"; exit 0; }; \
	echo "installing what the adapters are built with" && npm ci --prefix adapters --loglevel=error >/dev/null && touch $@

# By the newer Node: a host may refuse to be installed by one that is too old for it.
$(filter-out $(firstword $(HOST_STAMPS)),$(HOST_STAMPS)): | $(firstword $(HOST_STAMPS))
$(HOST_STAMPS): export PATH := $(HOSTS_FOLDER)/node24/node_modules/node/bin:$(PATH)
$(HOST_STAMPS): PACKAGES = $(subst $(comma), ,$(subst +,/,$(patsubst .installed-%,%,$(@F))))
$(HOST_STAMPS):
	@command -v npm >/dev/null || { echo "npm is missing: install Node.js 20 or newer"; exit 1; }
	@echo "installing $(PACKAGES) into $(@D)"
	@mkdir -p $(@D) && cd $(@D) && { [ -e package.json ] || echo '{"private": true}' > package.json; } \
	&& npm install --save-exact --no-audit --no-fund --loglevel=error $(PACKAGES) >/dev/null && touch $(@F)

$(LIBRARIES_STAMP): $(LIBRARIES)
	@echo "installing the libraries of $< into $(@D)"
	@$(PYTHON) -m venv $(@D) && $(@D)/bin/pip install --quiet --disable-pip-version-check --no-deps --no-compile --requirement $< && touch $@
