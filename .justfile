# Shortcuts for contributors: `just` lists them. Each command also works without `just`.

_:
    @just --list

# Format and lints: run this while you work
check:
    .ci/run format clippy

# All tests that need only a Rust toolchain and a C compiler
test *arguments:
    cargo test --locked {{arguments}}

# The tests that need PostgreSQL; with versions: the conformance suite on each of these versions
pg *versions:
    .ci/postgres {{versions}}

# The tests that need Chromium
browser:
    .ci/browser

# Everything that must pass before a change is merged
ci:
    .ci/run

# All checks
full:
    .ci/full

# Write all golden files, pins, badges and tables; review the diff afterwards
bless:
    BLESS=1 UPDATE_PINS=1 INSTA_UPDATE=always .ci/run tests settings postgres browser
    .ci/run tests settings
