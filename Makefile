# Every target makes what it needs: on a fresh machine `make serve` is the first and only command.

PORT ?=
# Not from the environment: some shells have the name of this machine there.
HOST :=
BENCH ?=
QUICK ?=
PY := .venv/bin/python
PYTEST := -m pytest -n auto --dist worksteal
# The tests in parts, jobs of their own in the workflow. Together they run each test once (tests/support/parts.py).
PARTS := test-coverage test-faults test-limits test-packages test-servers

# nginx lies in sbin on Debian, off an ordinary user's PATH.
export PATH := $(PATH):/usr/local/sbin:/usr/sbin

.DEFAULT_GOAL := help
.PHONY: help serve serve-workerd serve-deno build check docs test test-all $(PARTS) test-newer-nginx lint format bench ci everywhere lock audit sbom clean distclean

help: ## this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

serve: ## build, serve and rebuild on every change; PORT=8080 HOST=0.0.0.0 for another port or address
	@tools/setup run nginx
	$(PY) build.py serve $(if $(PORT),--port $(PORT)) $(if $(HOST),--host $(HOST)) --watch

serve-workerd: ## build, pack and serve from workerd, the runtime of Cloudflare Workers; PORT=8788
	@tools/setup run
	@tools/setup-node edge
	@tools/serve-edge workerd $(or $(PORT),8788)

serve-deno: ## the same from Deno; PORT=8789
	@tools/setup run
	@tools/setup-node edge
	@tools/serve-edge deno $(or $(PORT),8789)

build: ## catalog_src/ becomes dist/ and nginx.conf
	@tools/setup run
	$(PY) build.py build

check: ## is the catalog valid? writes nothing
	@tools/setup run
	$(PY) build.py check

docs: ## write the tables of fields and the examples in docs/
	@tools/setup run
	$(PY) tools/write-docs

test: ## the everyday tests, about three minutes on two cores; test-all has the slow ones as well
	@tools/setup nginx
	@tools/in-memory $(PY) $(PYTEST)

# One after the other, also under -j: each part uses all cores.
test-all: ## all tests in their parts, and every line and branch of generator/ covered
	@for part in $(PARTS); do $(MAKE) $$part || exit; done

# Coverage takes half as long again, and the other parts reach no line that this one does not reach.
test-coverage: ## part: everyday tests with all samples; every line and branch of generator/ covered
	@tools/setup nginx
	@$(PY) -m coverage erase
	@tools/in-memory $(PY) -m coverage run $(PYTEST) --part coverage
	@$(PY) -m coverage combine --quiet
	@$(PY) -m coverage report

test-faults: ## part: kills, failing calls, damaged files, long histories of edits
test-limits: ## part: worst inputs, generated inputs, thousands of connections, the bench
test-packages: ## part: packages and their installation, documents command by command
test-servers: ## part: pages in a browser, edge workers
$(filter-out test-coverage,$(PARTS)): test-%:
	@tools/setup nginx
	@tools/in-memory $(PY) $(PYTEST) --part $*

lint: ## style and types
	@tools/setup
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy

format: ## put the code into its style
	@tools/setup
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

bench: ## how long building and answering take, and what that costs; QUICK=1 for two minutes
	@tools/setup nginx wrk
	$(if $(QUICK),,@tools/setup bench)
	@tools/setup-node edge || echo "the bench runs without workerd" >&2
	$(PY) -m bench $(if $(QUICK),--quick) $(BENCH)

test-newer-nginx: ## what a client sees, on the nginx of Debian 13; needs root
	@tools/setup nginx
	@tools/newer-nginx tools/in-memory $(PY) $(PYTEST) --part newer-nginx

# One after the other, also under -j: the cheapest refusal comes first.
ci: ## lint, test-all, build, and a second build that finds nothing to change
	$(MAKE) lint
	$(MAKE) test-all
	$(MAKE) build
	$(PY) build.py build --check

everywhere: ## serve and test in fresh clones where nginx never ran: the system's Python as an ordinary user, and a newer one
	tools/try-everywhere

lock: ## newest versions into requirements/, with hashes; needs Python 3.11
	tools/lock

audit: ## is a package in requirements/ known to be unsafe? asks the internet, and only warns without it
	@tools/setup audit
	tools/audit

sbom: ## build/sbom.json: every package in requirements/ and what comes with the project, in CycloneDX
	@tools/setup run
	@mkdir -p build
	$(PY) tools/sbom >build/sbom.json

# Renamed first, since a running build writes into these folders while they are removed.
ASIDE := sh -c 'for path; do [ ! -e "$$path" ] || mv "$$path" ".flatpanel_old/$$$$.$$((n += 1))" || exit; done' sh

clean: ## remove what builds, tests and tools left behind; a running serve answers 404 then, until the next edit
	@rm -rf .flatpanel_old
	@mkdir .flatpanel_old
	@$(ASIDE) dist build *.egg-info .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache .flatpanel_cache .flatpanel_packs .flatpanel_serve
	@find . -name __pycache__ -type d -not -path './.venv*/*' -not -path './.flatpanel_old/*' -prune -exec $(ASIDE) {} +
	rm -rf .flatpanel_old

distclean: clean ## and .venv, those of the bench and the audit, .node, .node-edge and .nginx-newer
	rm -rf .venv .venv-bench .venv-audit .node .node-edge .nginx-newer
