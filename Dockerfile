# syntax=docker/dockerfile:1

# One image, three roles: `receive`, `work` and `web` are subcommands of one program. Nothing in it is run as root.
FROM rust:1.95-slim-trixie AS build
# The packages' versions are those of the pinned base image's release; pinning each would break with every security update.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --no-install-recommends -y cmake g++ gcc libc6-dev make \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /build
COPY Cargo.toml Cargo.lock clippy.toml ./
COPY src src
COPY app-manifest app-manifest
COPY migrations migrations
COPY docs docs
COPY tests/example tests/example
COPY benches benches
COPY tests/integration tests/integration
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/build/target \
    cargo build --release --locked --bin evidence-gate \
    && install -D -m 0755 target/release/evidence-gate /out/evidence-gate

FROM debian:trixie-slim
# git 2.45 or newer reads the changes, bubblewrap makes the sandbox, python3 runs properties that are written in it. Other
# toolchains are the operator's: mount them and name them in `sandbox.toolchains`, or build an image on top of this one.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install --no-install-recommends -y bubblewrap ca-certificates git python3-minimal \
    && rm -rf /var/lib/apt/lists/* \
    && groupadd --gid 10001 evidence-gate \
    && useradd --uid 10001 --gid 10001 --home-dir /var/lib/evidence-gate --no-create-home --shell /usr/sbin/nologin evidence-gate \
    && install -d -o 10001 -g 10001 -m 0750 /var/lib/evidence-gate
COPY --from=build /out/evidence-gate /usr/local/bin/evidence-gate
COPY LICENSE LICENSE-APACHE LICENSE-MIT /usr/share/doc/evidence-gate/
USER 10001:10001
WORKDIR /var/lib/evidence-gate
VOLUME ["/var/lib/evidence-gate"]
EXPOSE 8080
ENTRYPOINT ["/usr/local/bin/evidence-gate"]
CMD ["--help"]
