# Shortcuts of contributors: `just` lists them. Each is a command that also works without `just`.

_:
    @just --list

# Format and lints: what to run while you work
check:
    .ci/run format clippy

# What a newcomer runs: all tests that need a Rust toolchain and a C compiler only
test *arguments:
    cargo test --locked {{arguments}}

# The tests that need PostgreSQL, or with versions: the conformance suite on each of these
pg *versions:
    .ci/postgres {{versions}}

# The tests that need Chromium
browser:
    .ci/browser

# What has to be green before a change lands
ci:
    .ci/run

# Everything that is checked
full:
    .ci/full

# Rewrite all golden files, pins, badges and tables; read the difference afterwards
bless:
    BLESS=1 UPDATE_PINS=1 INSTA_UPDATE=always .ci/run tests settings postgres browser
    .ci/run tests settings
