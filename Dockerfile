# Only the demo, run by a user without special rights. In the root of the repository:
#   docker build -t svc-demo .
#   docker run --rm -p 127.0.0.1:8080:8080 svc-demo
# For two servers on PostgreSQL with a pooler, see examples/compose.yaml.

FROM rust:1.95-alpine AS build
RUN apk add --no-cache build-base
WORKDIR /source
COPY . .
RUN cargo build --release --locked --package svc-server --bin svc-demo && mkdir /empty

# The program needs only one other file: the authorities that it trusts for connections to a database.
FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
COPY --from=build /source/target/release/svc-demo /svc-demo
# The folder of the data file and of the keys of the demo.
COPY --from=build --chown=65532:65532 /empty /data
ENV XDG_CACHE_HOME=/data SVC_DEMO_LISTEN=0.0.0.0 SVC_DEMO_PORT=8080 \
    SVC_DEMO_BASE_URL=http://127.0.0.1:8080/api/v1/ SVC_DEMO_METRICS=on
EXPOSE 8080
VOLUME /data
USER 65532:65532
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s CMD ["/svc-demo", "top", "127.0.0.1:8080", "--count", "1"]
ENTRYPOINT ["/svc-demo"]
