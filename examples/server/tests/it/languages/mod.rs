//! Tests that need a shell with curl and jq, Python or Node.js. `.ci/languages` runs them.

mod sync_guide;
