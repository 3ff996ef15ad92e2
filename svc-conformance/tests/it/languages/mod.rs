//! Servers in other languages, which need Python 3.10 or later. `.ci/languages` runs these tests.

mod other_language;
mod python;
mod terminal;
mod wrappers;
