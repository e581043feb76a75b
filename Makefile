# What a newcomer, a contributor and CI run. Everything beyond the Rust toolchain is installed here.

CARGO ?= cargo
PYTHON ?= python3
VENV := target/venv
# The Adult data are not part of the repository; tests and benchmarks that need them look here and say so if absent.
ADULT ?= ../shared/adult

.PHONY: demo build serve python sdist wheels docs test test-rust test-python test-page picture test-contract test-pycanon test-database test-cluster check-init lint bench bench-quick bench-python clean help FORCE

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

# One wheel for all Pythons from 3.10 on (abi3), for the system that this runs on; the tag is that of its C library.
wheels: sdist ## Build the Python wheel for this system in target/wheels, and check it; takes some minutes
	$(PACK_VENV)/bin/maturin build --release --locked --manifest-path python/Cargo.toml --out target/wheels
	$(PACK_VENV)/bin/twine check --strict target/wheels/*.whl
	if [ "$$(uname)" = Linux ]; then $(PACK_VENV)/bin/auditwheel show target/wheels/*.whl; fi

# One after the other: they share what cargo builds.
test: test-rust ## Run all tests
	$(MAKE) test-python
	$(MAKE) test-page
	$(MAKE) test-contract
	$(MAKE) test-pycanon
	$(MAKE) test-database
	$(MAKE) test-cluster

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
test-python: $(PROGRAM) $(PYTHON_VENV)/.installed ## Run the tests of the Python package
	rm -rf target/python && mkdir -p target/python
	cp -R python/incrowd target/python/incrowd
	cp $(NATIVE) target/python/incrowd/_native.abi3.so
	PYTHONPATH=target/python ADULT=$(ADULT) $(PYTHON_VENV)/bin/pytest -c python/pyproject.toml python/tests

docs: $(PROGRAM) $(PYTHON_VENV)/.installed ## Make the reference of the Python package: target/docs/incrowd.html
	rm -rf target/python && mkdir -p target/python
	cp -R python/incrowd target/python/incrowd
	cp $(NATIVE) target/python/incrowd/_native.abi3.so
	PYTHONPATH=target/python $(PYTHON_VENV)/bin/pdoc incrowd --docformat restructuredtext --output-directory target/docs

web/node_modules/.installed: web/package-lock.json
	@command -v npm >/dev/null || { echo "installing Node.js, for the tests of the page"; apt-get update -qq; apt-get install -y --no-install-recommends nodejs npm; }
	cd web && npm ci --no-audit --no-fund --silent
	touch $@

# The page's tests need a browser; where none can be had, they say so and are skipped.
test-page: $(PROGRAM) web/node_modules/.installed ## Run the page's tests in a real browser
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || test -n "$$CHROMIUM" || { \
		echo "installing Chromium, for the tests of the page"; \
		apt-get update -qq; apt-get install -y --no-install-recommends chromium || echo "no Chromium can be had here"; }
	node --test web/tests/*.test.js

picture: $(PROGRAM) web/node_modules/.installed ## Take the README's picture again
	SCREENS=picture node --test web/tests/look.test.js
	cp target/screenshots/picture.png docs/negotiate.png

$(PAGE_VENV)/.installed: web/tests/requirements.txt
	$(PYTHON) -m venv $(PAGE_VENV)
	$(PAGE_VENV)/bin/pip install --quiet --requirement web/tests/requirements.txt
	touch $@

test-contract: $(PROGRAM) $(PAGE_VENV)/.installed ## Ask the server everything that its OpenAPI document allows, and more
	$(PAGE_VENV)/bin/python web/tests/contract.py

# An independent implementation of the criteria judges what incrowd publishes.
target/venv-checks/.installed: checks/requirements.txt
	$(PYTHON) -m venv target/venv-checks
	target/venv-checks/bin/pip install --quiet --requirement checks/requirements.txt
	touch $@

test-pycanon: target/venv-checks/.installed ## Compare published releases with pycanon
	@# The tests have built it; building it alone would choose other features and build its dependencies again.
	test -x target/debug/incrowd || $(CARGO) build --locked
	target/venv-checks/bin/python checks/with_pycanon.py target/debug/incrowd $(ADULT)

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

# Real databases: PostgreSQL from the system's packages, on loopback, SQLite and DuckDB by their libraries.
test-database: $(PROGRAM) target/venv-database/.installed $(DUCKDB) ## Compare tables in PostgreSQL, SQLite and DuckDB with files
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || { \
		echo "installing PostgreSQL, for the tests of databases"; \
		apt-get update -qq; apt-get install -y --no-install-recommends postgresql || echo "no PostgreSQL can be had here"; }
	target/venv-database/bin/python checks/with_databases.py target/debug/incrowd "$$(ls $(DUCKDB) 2>/dev/null)"

target/venv-spark/.installed: checks/spark-requirements.txt
	$(PYTHON) -m venv target/venv-spark
	target/venv-spark/bin/pip install --quiet --requirement checks/spark-requirements.txt && touch $@ || \
		echo "Spark cannot be had here"

# A real cluster: Spark as its Python package brings it, a master and two workers on loopback, and Java of the system.
test-cluster: $(PROGRAM) target/venv-spark/.installed ## Compare tables on a Spark cluster with files
	@command -v java >/dev/null || { \
		echo "installing Java, for the tests of the cluster"; \
		apt-get update -qq; apt-get install -y --no-install-recommends openjdk-17-jre-headless || echo "no Java can be had here"; }
	@if test -e target/venv-spark/.installed && command -v java >/dev/null; then \
		rm -rf target/python-spark && mkdir -p target/python-spark && \
		cp -R python/incrowd target/python-spark/incrowd && \
		cp $(NATIVE) target/python-spark/incrowd/_native.abi3.so && \
		PYTHONPATH=target/python-spark target/venv-spark/bin/python checks/with_spark.py; \
	else echo "the cluster was not tested: Spark or Java cannot be had here"; fi

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

clean: ## Remove everything that was made
	$(CARGO) clean
	rm -rf demo
