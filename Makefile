# Every target makes what it needs: on a fresh machine `make serve` is the first and only command.

PORT ?=
# Not from the environment: some shells have the name of this machine there.
HOST :=
BENCH ?=
QUICK ?=
PY := .venv/bin/python
PYTEST := -m pytest -n auto --dist worksteal
# The tests in parts, jobs of their own in the workflow. Together they run each test once (tests/support/parts.py).
PARTS := test-coverage test-end-to-end test-samples test-faults test-limits test-packages test-servers

# nginx lies in sbin on Debian, off an ordinary user's PATH.
export PATH := $(PATH):/usr/local/sbin:/usr/sbin

.DEFAULT_GOAL := help
.PHONY: help serve serve-workerd serve-deno build check docs docs-site test test-all $(PARTS) test-newer-nginx lint format bench ci everywhere lock audit sbom packages clean distclean

help: ## list these targets
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

serve: ## build, serve, and rebuild after every change; PORT=8080 HOST=0.0.0.0 for another port or address
	@tools/setup run nginx
	$(PY) build.py serve $(if $(PORT),--port $(PORT)) $(if $(HOST),--host $(HOST)) --watch

serve-workerd: ## build, pack, and serve from workerd, the runtime of Cloudflare Workers, on port 8788; PORT=8080 for another port
	@tools/setup run
	@tools/setup-node edge
	@tools/serve-edge workerd $(or $(PORT),8788)

serve-deno: ## build, pack, and serve from Deno, on port 8789; PORT=8080 for another port
	@tools/setup run
	@tools/setup-node edge
	@tools/serve-edge deno $(or $(PORT),8789)

build: ## build dist/ and nginx.conf from catalog_src/
	@tools/setup run
	$(PY) build.py build

check: ## check the catalog without writing anything
	@tools/setup run
	$(PY) build.py check

docs: ## write the generated parts of docs/: tables, examples, and the page of commands
	@tools/setup run
	$(PY) tools/write-docs

docs-site: ## write build/docs/, the documents as a site that can be searched
	@tools/setup docs
	rm -rf build/docs
	.venv-docs/bin/python -m sphinx --fail-on-warning --keep-going --fresh-env --quiet \
		--conf-dir tools/docs_site --doctree-dir build/docs-cache . build/docs

test: ## run the everyday tests, two to five minutes on two cores
	@tools/setup nginx
	@tools/in-memory $(PY) $(PYTEST)

# All parts but that of coverage in one run: tests that wait for a browser or a process leave their core to others.
test-all: ## run all tests; fails unless every line and branch of generator/ is covered
	$(MAKE) test-coverage
	@tools/in-memory $(PY) $(PYTEST) $(patsubst test-%,--part %,$(filter-out test-coverage,$(PARTS)))

# Coverage takes half as long again, and the other parts reach no line that this one does not reach.
test-coverage: ## run the everyday tests, those of hosts and comparisons, and check coverage
	@tools/setup nginx
	@$(PY) -m coverage erase
	@tools/in-memory $(PY) -m coverage run $(PYTEST) --part coverage
	@$(PY) -m coverage combine --quiet
	@$(PY) -m coverage report

test-end-to-end: ## run the tests of whole imports, publishes, projects and servers
test-samples: ## run the everyday tests that take samples, with all cases
test-faults: ## run the tests of kills, failing calls, damaged files, long histories of edits
test-limits: ## run the tests of worst inputs, generated inputs, thousands of connections, the bench
test-packages: ## run the tests that install packages and follow documents
test-servers: ## run the tests in a browser and on edge workers
$(filter-out test-coverage,$(PARTS)): test-%:
	@tools/setup nginx
	@tools/in-memory $(PY) $(PYTEST) --part $*

lint: ## check style and types
	@tools/setup
	$(PY) -m ruff check
	$(PY) -m ruff format --check
	$(PY) -m mypy

format: ## format the code
	@tools/setup
	$(PY) -m ruff check --fix
	$(PY) -m ruff format

bench: ## measure builds and requests; QUICK=1 for two minutes; bench/RESULTS.md has the last results
	@tools/setup nginx wrk
	$(if $(QUICK),,@tools/setup bench)
	@tools/setup-node edge || echo "the bench runs without workerd" >&2
	$(PY) -m bench $(if $(QUICK),--quick) $(BENCH)

test-newer-nginx: ## test what a client sees on the nginx of Debian 13, beside the installed one; needs root
	@tools/setup nginx
	@tools/newer-nginx tools/in-memory $(PY) $(PYTEST) --part newer-nginx

# One after the other, also under -j: the cheapest refusal comes first.
ci: ## run lint, test-all, a build, and a second build that must find no changes
	$(MAKE) lint
	$(MAKE) test-all
	$(MAKE) build
	$(PY) build.py build --check

everywhere: ## run serve and test-all in fresh clones: as if nginx had never run, with port 8000 taken, with Debian's newest Chromium, and in a bare system with the newest Python and nginx of Debian
	tools/try-everywhere

lock: ## update requirements/ to the newest versions, with hashes; needs Python 3.11
	tools/lock

audit: ## check the packages in requirements/ for known vulnerabilities; only warns without the internet
	@tools/setup audit
	tools/audit

sbom: ## write build/sbom.json, a bill of materials in CycloneDX
	@tools/setup run
	@mkdir -p build
	$(PY) tools/sbom >build/sbom.json

packages: ## write the wheel, the sdist, the bill of materials and their digests into build/packages/
	@tools/setup
	tools/packages

# Renamed first, since a running build writes into these folders while they are removed.
ASIDE := sh -c 'for path; do [ ! -e "$$path" ] || mv "$$path" ".flatpanel_old/$$$$.$$((n += 1))" || exit; done' sh

clean: ## remove generated files; a running serve then answers 404 until the next edit
	@rm -rf .flatpanel_old
	@mkdir .flatpanel_old
	@$(ASIDE) dist build *.egg-info .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache .flatpanel_cache .flatpanel_packs .flatpanel_serve
	@find . -name __pycache__ -type d -not -path './.venv*/*' -not -path './.flatpanel_old/*' -prune -exec $(ASIDE) {} +
	rm -rf .flatpanel_old

distclean: clean ## remove generated files, the virtual environments, .node, .node-edge and .nginx-newer
	rm -rf .venv .venv-bench .venv-audit .venv-clients .venv-docs .node .node-edge .nginx-newer
