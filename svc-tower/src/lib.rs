//! The Activist Data Exchange API as a `tower::Service` for axum, hyper and any hyper-based framework.

mod authenticate;
mod base;
mod body;
mod cors;
mod dispatch;
mod guard;
mod head;
mod pages;
mod response;
mod route;
mod service;
mod settings;

pub use base::PeerAddr;
pub use body::BodyTimeout;
pub use cors::Cors;
pub use service::SvcService;
