//! The embedded reference backend of the Activist Data Exchange API: durable and fast, on SQLite.
