# What one does here. The work itself is in scripts/, which need no make.

.DEFAULT_GOAL := help
.PHONY: help run build test test-postgres check race cover perf pictures bench conformance fuzz

FUZZTIME ?= 30s

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */  make \1\t/' | expand -t 24

run: ## start Freshet on http://127.0.0.1:8080
	go run ./cmd/freshet serve

build: ## build bin/freshet, one static file
	CGO_ENABLED=0 go build -trimpath -ldflags=-s -o bin/freshet ./cmd/freshet

test: ## run everything, with PostgreSQL and a browser, installing them on Debian when they are missing
	scripts/test

test-postgres: ## run the store's suite on PostgreSQL only
	scripts/with-postgres go test -count=1 ./internal/store/...

check: ## formatting, vet, module files, import table: what must pass before a commit
	scripts/check

race: ## run the tests under the race detector (needs a C compiler)
	scripts/with-postgres go test -race -timeout 45m ./...

cover: ## run the tests and write coverage.out and the share per package
	scripts/with-postgres go test -coverprofile=coverage.out -coverpkg=./... ./...
	go tool cover -func=coverage.out | tail -1

perf: ## measure the first page in a slowed browser: weight, paint, shift, tasks
	FRESHET_TEST_PERF=1 go test -count=1 -run TestH1 -v ./e2e

pictures: ## make README's pictures anew, in docs/pictures
	FRESHET_PICTURES=1 go test -count=1 -run TestMakePictures ./e2e

bench: ## measure ingest of 2,000 feeds on 500 hosts, on SQLite and on PostgreSQL
	scripts/bench

conformance: ## read the conformance documents and print the scores
	go run ./internal/feed/conformance/cmd

fuzz: ## run each fuzz target for FUZZTIME (30s)
	FUZZTIME=$(FUZZTIME) scripts/fuzz
