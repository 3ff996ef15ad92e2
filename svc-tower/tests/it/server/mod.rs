//! The server over raw sockets, around a service that stands in for the interface (UND-17, UND-34, UND-42).

mod clients;
mod running;
mod stop;
mod streams;
