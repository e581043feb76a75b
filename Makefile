# What a newcomer, a contributor and CI run. Everything beyond the Rust toolchain is installed here.

CARGO ?= cargo
PYTHON ?= python3
VENV := target/venv
# The Adult data are not part of the repository; tests and benchmarks that need them look here and say so if absent.
ADULT ?= ../shared/adult

.PHONY: demo build serve python sdist wheels docs man package test test-rust test-python test-page picture test-contract test-pycanon test-database test-cluster check-init lint bench bench-quick bench-python bench-engines bench-spark clean help FORCE

help: ## Show what can be made
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

demo: build ## See the main job done on made-up data
	./target/release/incrowd demo

serve: build ## Open the page on made-up data
	./target/release/incrowd serve --open

build: ## Build the program: target/release/incrowd
	$(CARGO) build --release --locked

python: ## Build the Python package: a wheel in target/wheels
	$(PYTHON) -m pip wheel --no-deps --wheel-dir target/wheels ./python

PACK_VENV := target/venv-pack

$(PACK_VENV)/.installed: python/pack-requirements.txt
	$(PYTHON) -m venv $(PACK_VENV)
	$(PACK_VENV)/bin/pip install --quiet --requirement python/pack-requirements.txt
	touch $@

sdist: $(PACK_VENV)/.installed ## Build the source distribution of the Python package in target/wheels, and check it
	rm -f target/wheels/*.tar.gz
	$(PACK_VENV)/bin/maturin sdist --manifest-path python/Cargo.toml --out target/wheels
	$(PYTHON) python/sdist.py target/wheels/*.tar.gz
	$(PACK_VENV)/bin/twine check --strict target/wheels/*.tar.gz

# One wheel for all Pythons from 3.10 on (abi3), for the system that this runs on; the tag is that of its C library. It is
# built from the source distribution, so that this one is known to have all that it takes.
wheels: sdist ## Build the Python wheel for this system in target/wheels, and check it; takes some minutes
	rm -rf target/sdist target/wheels/*.whl && mkdir -p target/sdist
	tar -xzmf target/wheels/*.tar.gz -C target/sdist --strip-components 1
	cd target/sdist && CARGO_TARGET_DIR=$(CURDIR)/target $(CURDIR)/$(PACK_VENV)/bin/maturin build --release --out $(CURDIR)/target/wheels
	$(PACK_VENV)/bin/twine check --strict target/wheels/*.whl
	if [ "$$(uname)" = Linux ]; then $(PACK_VENV)/bin/auditwheel show target/wheels/*.whl; fi

# One after the other: they share what cargo builds. What cannot be had here is skipped with a sentence; NOTHING_SKIPPED=1
# makes that a failure.
test: test-rust ## Run all tests; what needs more than can be installed here says so
	$(MAKE) test-python
	$(MAKE) test-page
	$(MAKE) test-contract
	$(MAKE) test-pycanon
	$(MAKE) test-database
	$(MAKE) test-cluster

# Whether something can be made here, without a failure where it cannot.
CAN = $(MAKE) --no-print-directory
INSTALL = sh checks/install.sh
SKIPPED = sh checks/skipped.sh

test-rust: ## Run the tests of the program
	@if $(CARGO) nextest --version >/dev/null 2>&1; then \
		echo "$(CARGO) nextest run --workspace --locked"; \
		$(CARGO) nextest run --workspace --locked && \
		$(CARGO) test --doc --package incrowd --locked; \
	else \
		echo "$(CARGO) test --workspace --locked"; \
		$(CARGO) test --workspace --locked; \
	fi

PROGRAM := target/debug/incrowd
PAGE_VENV := target/venv-page

$(PROGRAM): FORCE
	$(CARGO) build --workspace --locked

FORCE:

PYTHON_VENV := target/venv-python
NATIVE := $(if $(filter Darwin,$(shell uname)),target/debug/lib_native.dylib,target/debug/lib_native.so)

$(PYTHON_VENV)/.installed: python/requirements.txt
	$(PYTHON) -m venv $(PYTHON_VENV)
	$(PYTHON_VENV)/bin/pip install --quiet --requirement python/requirements.txt
	touch $@

# The package as the other tests have built it: a wheel would build all dependencies again.
target/python: $(PROGRAM) FORCE
	@rm -rf target/python && mkdir -p target/python
	@cp -R python/incrowd target/python/incrowd
	@cp $(NATIVE) target/python/incrowd/_native.abi3.so

test-python: target/python ## Run the tests of the Python package
	@if $(CAN) $(PYTHON_VENV)/.installed; then \
		PYTHONPATH=target/python ADULT=$(ADULT) $(PYTHON_VENV)/bin/pytest -c python/pyproject.toml python/tests; \
	else $(SKIPPED) "the tests of the Python package" "Python 3.10 or later with venv, and packages from PyPI"; fi

SITE_VENV := target/venv-site

$(SITE_VENV)/.installed: docs/site/requirements.txt
	$(PYTHON) -m venv $(SITE_VENV)
	$(SITE_VENV)/bin/pip install --quiet --requirement docs/site/requirements.txt
	touch $@

# Built without a network, and read without one; a link that leads nowhere, or a file from elsewhere, is an error.
docs: target/python $(SITE_VENV)/.installed ## Build the documentation with both references: target/site/index.html
	$(CARGO) doc --no-deps --locked --package incrowd
	$(SITE_VENV)/bin/python docs/site/gather.py target/site-source $(PROGRAM)
	PYTHONPATH=target/python $(SITE_VENV)/bin/pdoc incrowd --docformat restructuredtext \
		--output-directory target/site-source/reference/python
	cp -R target/doc target/site-source/reference/rust
	cp docs/site/rust.html target/site-source/reference/rust/index.html
	NO_MKDOCS_2_WARNING=1 $(SITE_VENV)/bin/mkdocs build --quiet --strict --config-file docs/site/mkdocs.yml
	$(SITE_VENV)/bin/python docs/site/check.py target/site
	@echo "open target/site/index.html"

man: $(PROGRAM) ## Write the manual pages: man -M target/man incrowd
	$(PROGRAM) man target/man

# What becomes part of the program lies beside its crate, and in it while it is packed.
package: ## Pack both crates as they would be published, as far as that goes without a registry: target/package
	@trap 'rm -rf workbench/web workbench/docs' EXIT; set -e; \
	mkdir -p workbench/web workbench/docs; \
	cp web/*.html web/*.js web/*.css web/*.svg workbench/web/; \
	cp docs/*.md workbench/docs/; \
	$(CARGO) package --no-verify --allow-dirty --offline --package incrowd --package incrowd-workbench
	$(PYTHON) checks/packages.py target/package

web/node_modules/.installed: web/package-lock.json
	@command -v npm >/dev/null || $(INSTALL) nodejs npm
	cd web && npm ci --no-audit --no-fund --silent
	touch $@

# The page's tests need a browser; where none can be had, they say so and are skipped.
test-page: $(PROGRAM) ## Run the page's tests in a real browser
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || test -n "$$CHROMIUM" || $(INSTALL) chromium || true
	@# One of them is about a table of a database; without the driver it is left out, and says so.
	@$(CAN) target/venv-database/.installed >/dev/null 2>&1 || true
	@if $(CAN) web/node_modules/.installed; then node --test web/tests/*.test.js; \
	else $(SKIPPED) "the tests of the page" "Node.js 20 or later with npm, and packages from its registry"; fi

picture: $(PROGRAM) web/node_modules/.installed ## Take the README's picture again
	SCREENS=picture node --test web/tests/look.test.js
	cp target/screenshots/picture.png docs/negotiate.png

$(PAGE_VENV)/.installed: web/tests/requirements.txt
	$(PYTHON) -m venv $(PAGE_VENV)
	$(PAGE_VENV)/bin/pip install --quiet --requirement web/tests/requirements.txt
	touch $@

test-contract: $(PROGRAM) ## Ask the server everything that its OpenAPI document allows, and more
	@if $(CAN) $(PAGE_VENV)/.installed; then $(PAGE_VENV)/bin/python web/tests/contract.py; \
	else $(SKIPPED) "the tests of the HTTP API" "Python 3.10 or later with venv, and packages from PyPI"; fi

# An independent implementation of the criteria judges what incrowd publishes.
target/venv-checks/.installed: checks/requirements.txt
	$(PYTHON) -m venv target/venv-checks
	target/venv-checks/bin/pip install --quiet --requirement checks/requirements.txt
	touch $@

test-pycanon: ## Compare published releases with pycanon
	@# The tests have built it; building it alone would choose other features and build its dependencies again.
	@test -x $(PROGRAM) || $(CARGO) build --workspace --locked
	@if $(CAN) target/venv-checks/.installed; then target/venv-checks/bin/python checks/with_pycanon.py $(PROGRAM) $(ADULT); \
	else $(SKIPPED) "the comparison with pycanon" "Python 3.10 or later with venv, and packages from PyPI"; fi

target/venv-database/.installed: checks/database-requirements.txt
	$(PYTHON) -m venv target/venv-database
	target/venv-database/bin/pip install --quiet --requirement checks/database-requirements.txt
	touch $@

# DuckDB's own library, as its package for Node brings it; the one in its Python package has no door for others.
DUCKDB := target/duckdb/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so

$(DUCKDB):
	@mkdir -p target/duckdb && cd target/duckdb && echo '{}' > package.json && \
		npm install --no-audit --no-fund --silent @duckdb/node-bindings-linux-x64@$(DUCKDB_VERSION) || \
		echo "DuckDB's library cannot be had here"

DUCKDB_VERSION := 1.5.6-r.1

# Sail, which speaks Flight SQL and Spark's protocol, with the client that it wants.
SAIL := target/venv-sail/bin/sail

target/venv-sail/.installed: checks/sail-requirements.txt
	$(PYTHON) -m venv target/venv-sail
	target/venv-sail/bin/pip install --quiet --requirement checks/sail-requirements.txt
	touch $@

# Real databases: PostgreSQL from the system's packages, on loopback, SQLite and DuckDB by their libraries, Sail. Each is left
# out where it cannot be had, and said so.
test-database: $(PROGRAM) $(DUCKDB) ## Compare tables in PostgreSQL, SQLite, DuckDB and Sail with files
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || $(INSTALL) postgresql || true
	@$(CAN) target/venv-sail/.installed || $(SKIPPED) "the tests of Sail" "pysail from PyPI"
	@if $(CAN) target/venv-database/.installed; then \
		target/venv-database/bin/python checks/with_databases.py $(PROGRAM) "$$(ls $(DUCKDB) 2>/dev/null)" "$$(ls $(SAIL) 2>/dev/null)"; \
	else $(SKIPPED) "the tests of databases" "Python 3.10 or later with venv, and packages from PyPI"; fi

target/venv-spark/.installed: checks/spark-requirements.txt
	$(PYTHON) -m venv target/venv-spark
	target/venv-spark/bin/pip install --quiet --requirement checks/spark-requirements.txt
	touch $@

# A real cluster: Spark as its Python package brings it, a master and two workers on loopback, and Java of the system; and
# Sail in cluster mode. macOS has a java that only says where to get one.
test-cluster: $(PROGRAM) ## Compare tables on a Spark cluster and on Sail with files
	@java -version >/dev/null 2>&1 || $(INSTALL) openjdk-17-jre-headless || true
	rm -rf target/python-spark && mkdir -p target/python-spark
	cp -R python/incrowd target/python-spark/incrowd
	cp $(NATIVE) target/python-spark/incrowd/_native.abi3.so
	@if java -version >/dev/null 2>&1 && $(CAN) target/venv-spark/.installed; then \
		PYTHONPATH=target/python-spark target/venv-spark/bin/python checks/with_spark.py; \
	else $(SKIPPED) "the tests of the cluster" "Java 17 and Spark from PyPI"; fi
	@if $(CAN) target/venv-sail/.installed; then \
		PYTHONPATH=target/python-spark target/venv-sail/bin/python checks/with_spark.py $(SAIL); \
	else $(SKIPPED) "the tests of Sail" "pysail from PyPI"; fi

# Real tables that are not part of the repository; checks/init/roles says where each can be had.
check-init: $(PROGRAM) ## Compare what init suggests with roles given by hand: TABLES=folder
	$(PYTHON) checks/init.py target/debug/incrowd $(TABLES)

lint: ## Check formatting and common mistakes
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --no-deps --locked --package incrowd

$(VENV)/.installed: bench/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/pip install --quiet --requirement bench/requirements.txt
	touch $@

# Within 15 minutes on two idle cores, once it is built. ONLY=local,search runs some sections, ONLY=search LONG=--long a long search.
BENCH = $(VENV)/bin/python bench/run.py --bin target/release/incrowd-bench --data $(ADULT) $(if $(ONLY),--only $(ONLY)) $(LONG)

bench: $(VENV)/.installed ## Compare with DuckDB, polars, numpy and anonypy; ONLY=annotate,search for some sections
	$(CARGO) build --release --locked --package incrowd-bench
	$(BENCH)

bench-quick: $(VENV)/.installed ## The same with less data
	$(CARGO) build --release --locked --package incrowd-bench
	$(BENCH) --quick

# A Python of their own: anjana and pycanon want other versions of numpy and pandas than the rest.
PEERS_VENV := target/venv-peers

$(PEERS_VENV)/.installed: bench/python-requirements.txt
	$(PYTHON) -m venv $(PEERS_VENV)
	$(PEERS_VENV)/bin/pip install --quiet --requirement bench/python-requirements.txt
	touch $@

bench-python: $(PEERS_VENV)/.installed ## Compare the Python package with anjana, anonypy and pycanon
	$(PEERS_VENV)/bin/pip install --quiet --no-deps --force-reinstall ./python
	$(PEERS_VENV)/bin/python bench/python.py compare $(ADULT)

# Small by default; RECORDS=3000000 for more. What was installed for the tests is used, and what cannot be had is left out.
bench-engines: target/venv-database/.installed $(DUCKDB) ## Count and publish through every engine, beside Parquet
	@$(CAN) target/venv-sail/.installed || true
	@$(CAN) target/venv-spark/.installed || true
	$(CARGO) build --release --locked --package incrowd-workbench --package incrowd-python
	rm -rf target/python-spark && mkdir -p target/python-spark
	cp -R python/incrowd target/python-spark/incrowd
	cp $(subst debug,release,$(NATIVE)) target/python-spark/incrowd/_native.abi3.so
	PYTHONPATH=$(CURDIR)/target/python-spark target/venv-database/bin/python bench/engines.py target/release/incrowd $(if $(RECORDS),--records $(RECORDS)) \
		--duckdb "$$(ls $(CURDIR)/$(DUCKDB) 2>/dev/null)" --sail "$$(ls $(CURDIR)/$(SAIL) 2>/dev/null)" \
		--spark "$$(command -v java >/dev/null && ls $(CURDIR)/target/venv-spark/bin/python 2>/dev/null)" \
		--sail-python "$$(ls $(CURDIR)/target/venv-sail/bin/python 2>/dev/null)"

# RECORDS=1000000,10000000,100000000 for more; the last takes 2 GB of disk.
bench-spark: target/venv-spark/.installed ## What a Spark cluster takes, by the number of records
	$(CARGO) build --release --locked --package incrowd-workbench --package incrowd-python
	rm -rf target/python-spark && mkdir -p target/python-spark
	cp -R python/incrowd target/python-spark/incrowd
	cp $(subst debug,release,$(NATIVE)) target/python-spark/incrowd/_native.abi3.so
	PYTHONPATH=$(CURDIR)/target/python-spark target/venv-spark/bin/python bench/spark.py $(if $(RECORDS),--records $(RECORDS))

clean: ## Remove everything that was made
	$(CARGO) clean
	rm -rf demo
