//! What needs a shell with curl and jq, Python or Node.js. `.ci/languages` runs it.

mod keep_in_step;
