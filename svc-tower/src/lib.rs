//! The Activist Data Exchange API as a tower::Service for axum, hyper and any hyper-based framework.
