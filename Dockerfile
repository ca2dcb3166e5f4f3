# syntax=docker/dockerfile:1
#
# The collector as an image, for linux/amd64 and linux/arm64, in two targets:
#
#   collector          for a ClickHouse of your own (the default)
#   collector-engine   with the embedded ClickHouse, for trials; larger by 570 MB
#
#   docker buildx build --platform linux/amd64,linux/arm64 --target collector \
#     --build-arg VERSION="$(git describe --tags --always)" --sbom=true --provenance=mode=max \
#     --tag ghcr.io/soakgate/soakgate:VERSION --push .
#
# --sbom attaches a list of what is in the image, read by `docker buildx imagetools
# inspect --format '{{ json .SBOM }}' IMAGE`; the binary alone tells its modules by
# `go version -m collector`. The stages cross-compile, so no emulation is needed.
# What the stages run is in scripts/image.sh, which also tries it without Docker.

FROM --platform=$BUILDPLATFORM golang:1.26.8-bookworm AS build
ARG TARGETOS TARGETARCH VERSION=dev
WORKDIR /src
COPY go.mod go.sum ./
RUN --mount=type=cache,target=/go/pkg/mod go mod download
COPY . .
RUN --mount=type=cache,target=/go/pkg/mod --mount=type=cache,target=/root/.cache/go-build \
    scripts/image.sh build "$TARGETOS" "$TARGETARCH" "$VERSION" /out

FROM --platform=$BUILDPLATFORM node:22-bookworm-slim AS engine
ARG TARGETARCH
WORKDIR /src
COPY scripts/engine.sh scripts/image.sh scripts/
RUN scripts/image.sh engine "$TARGETARCH" /out

# glibc and certificates, no shell, user 65532. The collector is linked to glibc
# even without the engine, because it can load one.
FROM gcr.io/distroless/base-nossl-debian12:nonroot AS base
ARG VERSION=dev
LABEL org.opencontainers.image.title="Soakgate" \
      org.opencontainers.image.description="The OpenTelemetry Collector that judges MCP error envelopes and says whether the servers may flip" \
      org.opencontainers.image.source="https://github.com/soakgate/soakgate" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="$VERSION"
COPY --from=build /out/usr/ /usr/
COPY --from=build /out/etc/ /etc/
# A new named volume takes its owner from here.
COPY --from=build --chown=65532:65532 /out/var/lib/soakgate/ /var/lib/soakgate/
USER 65532:65532
WORKDIR /var/lib/soakgate
VOLUME /var/lib/soakgate
EXPOSE 4317 4318 8888
ENTRYPOINT ["/usr/local/bin/collector"]

FROM base AS collector-engine
COPY --from=engine /out/usr/ /usr/
ENV SOAKGATE_CHDB_LIBRARY=/usr/local/lib/libchdb.so \
    SOAKGATE_DATA=/var/lib/soakgate \
    SOAKGATE_OTLP_GRPC=0.0.0.0:4317 \
    SOAKGATE_OTLP_HTTP=0.0.0.0:4318
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["/usr/local/bin/collector", "health", "http://127.0.0.1:8888/metrics"]
CMD ["--config", "/etc/soakgate/local.yaml"]

FROM base AS collector
EXPOSE 13133 13134
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["/usr/local/bin/collector", "health"]
CMD ["--config", "/etc/soakgate/production.yaml"]
