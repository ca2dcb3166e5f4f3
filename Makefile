# Few targets, each a verb. `make demo` and `make test` work on a fresh machine
# with Go, npm and a C compiler (for the race detector).

GO      ?= go
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
TOOLS   := .cache/tools
export CGO_ENABLED ?= 0

.PHONY: all build engine demo run test race lint fmt generate dashboard-pictures chart check fuzz bench bench-build clean

all: check test

## build: leave bin/collector and bin/demo.
build:
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/ ./cmd/...

## engine: fetch the embedded ClickHouse's library into .cache (once).
engine:
	@scripts/engine.sh

## demo: collector, embedded ClickHouse, a small fleet's traffic, the verdict.
demo: engine build
	@bin/demo $(if $(DEMO_EXIT),-exit)

## run: the collector on the embedded ClickHouse, without traffic.
run: engine build
	@bin/demo -serve

# The race detector needs a C compiler; without one the tests run without it.
RACE := $(if $(shell command -v gcc || command -v cc),CGO_ENABLED=1 $(GO) test -race,$(GO) test)

## test: every test, the embedded engine included; unit tests with the race detector.
test: engine build
	$(RACE) -timeout 20m ./internal/... ./schemas/... ./config/...
	$(GO) test -timeout 20m ./cmd/... ./test/...

## lint: formatters and linters, pinned in tools/go.mod.
lint: $(TOOLS)/golangci-lint
	$(TOOLS)/golangci-lint run ./...
	for m in deploy dsquery kval; do \
	  (cd tools/$$m && ../../$(TOOLS)/golangci-lint run --config ../../.golangci.yml ./...) || exit 1; \
	done

fmt: $(TOOLS)/golangci-lint
	$(TOOLS)/golangci-lint fmt ./...

$(TOOLS)/golangci-lint: tools/go.mod tools/go.sum
	cd tools && $(GO) build -o ../$(TOOLS)/ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

## generate: write the files that are made from others.
generate: $(TOOLS)/helm-docs
	$(GO) generate ./...
	scripts/chart.sh files

## dashboard-pictures: every dashboard from live queries, into .cache/pictures; needs chromium and prometheus.
dashboard-pictures: engine build
	scripts/pictures.sh

## chart: the Helm chart's renderings, judged by Kubernetes' own code and by its promises.
chart: build $(TOOLS)/helm
	scripts/chart.sh check

$(TOOLS)/helm: tools/helm/go.mod tools/helm/go.sum
	cd tools/helm && $(GO) build -o ../../$(TOOLS)/ helm.sh/helm/v4/cmd/helm

$(TOOLS)/helm-docs: tools/helm/go.mod tools/helm/go.sum
	cd tools/helm && $(GO) build -o ../../$(TOOLS)/ github.com/norwoodj/helm-docs/cmd/helm-docs

$(TOOLS)/kval: $(wildcard tools/kval/*.go) tools/kval/go.mod tools/kval/go.sum
	cd tools/kval && $(GO) build -o ../../$(TOOLS)/ .

$(TOOLS)/actionlint: tools/actionlint/go.mod tools/actionlint/go.sum
	cd tools/actionlint && $(GO) build -o ../../$(TOOLS)/ github.com/rhysd/actionlint/cmd/actionlint

$(TOOLS)/deploy: $(wildcard tools/deploy/*.go) tools/deploy/go.mod tools/deploy/go.sum
	cd tools/deploy && $(GO) build -o ../../$(TOOLS)/ .

## check: what CI asks of a change besides the tests.
check: lint build $(addprefix $(TOOLS)/,helm helm-docs actionlint deploy)
	scripts/check.sh

## fuzz: each fuzz target for FUZZTIME (default 30s).
fuzz:
	scripts/fuzz.sh $(or $(FUZZTIME),30s)

## bench: the Go benchmarks of each stage.
bench: engine
	$(GO) test -run '^$$' -bench . -benchmem ./internal/...

## bench-build: what bench/run.sh compares: the collector, its peer and the load.
bench-build: engine build
	cd bench/loadgen && $(GO) build -o ../../bin/loadgen .
	cd bench/peer && $(GO) build -o ../../bin/otelcol-peer .

clean:
	rm -rf bin .soakgate
