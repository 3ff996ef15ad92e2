//! The listening address of the demo, and the base URL of its links.

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};

use tokio::net::TcpListener;

use super::settings::ServerSettings;
use super::startup_error::StartupError;

/// The port if no other port is set.
const USUAL_PORT: u16 = 8080;

/// The mount path if `--base-url` is not set.
///
/// Requirements: VER-02.
const MOUNT: &str = "/api/v1/";

/// Number of ports after the usual one to try, before any free port is used.
const NEXT_PORTS: u16 = 20;

/// A listening socket and the URL of the entry point.
#[derive(Debug)]
pub struct ListenAddress {
    /// The socket.
    pub listener: TcpListener,
    /// The base URL of links, with a slash at the end.
    pub base_url: String,
    /// Notes for the user if the port is not the usual one, or if the listening address differs
    /// from the URL of links.
    pub notes: Vec<String>,
}

impl ListenAddress {
    /// Listens on the port of the settings. Without one, it listens on port 8080, or on the next
    /// free port if 8080 is in use.
    ///
    /// # Errors
    ///
    /// Returns an error if the port of the settings is in use, or the address is not one of this
    /// machine.
    pub async fn open(settings: &ServerSettings) -> Result<Self, StartupError> {
        let (listener, note) = match settings.port {
            Some(port) => (bind(settings.listen, port).await?, None),
            None => first_free(settings.listen, USUAL_PORT).await?,
        };
        let address = listener
            .local_addr()
            .map_err(|error| cannot_listen(settings.listen, 0, &error))?;
        let mut notes: Vec<_> = note.into_iter().collect();
        let base_url = settings
            .base_url
            .clone()
            .unwrap_or_else(|| format!("http://{address}{MOUNT}"));
        if settings.base_url.is_some() {
            notes.push(format!("listens on {address}"));
        }
        Ok(Self {
            listener,
            base_url,
            notes,
        })
    }
}

async fn first_free(
    listen: IpAddr,
    usual: u16,
) -> Result<(TcpListener, Option<String>), StartupError> {
    match TcpListener::bind(SocketAddr::new(listen, usual)).await {
        Ok(listener) => return Ok((listener, None)),
        Err(error) if error.kind() == ErrorKind::AddrInUse => {}
        Err(error) => return Err(cannot_listen(listen, usual, &error)),
    }
    for port in (1..=NEXT_PORTS)
        .filter_map(|step| usual.checked_add(step))
        .chain([0])
    {
        if let Ok(listener) = TcpListener::bind(SocketAddr::new(listen, port)).await {
            let port = listener.local_addr().map_or(port, |address| address.port());
            return Ok((
                listener,
                Some(format!(
                    "port {usual} is in use, so the server uses port {port}"
                )),
            ));
        }
    }
    Err(StartupError::new(
        format!("No port is free on {listen}."),
        format!("--listen {listen}"),
        "Stop another server, or choose a port with --port.",
    ))
}

async fn bind(listen: IpAddr, port: u16) -> Result<TcpListener, StartupError> {
    TcpListener::bind(SocketAddr::new(listen, port))
        .await
        .map_err(|error| cannot_listen(listen, port, &error))
}

fn cannot_listen(listen: IpAddr, port: u16, error: &std::io::Error) -> StartupError {
    match error.kind() {
        ErrorKind::AddrInUse => StartupError::new(
            format!("Port {port} is already in use by another program."),
            format!("--port {port} on {listen}"),
            "Stop that program, choose another port, or omit --port to use the next free port.",
        ),
        ErrorKind::PermissionDenied => StartupError::new(
            format!("This user is not allowed to listen on port {port}."),
            format!("--port {port} on {listen}"),
            "Choose a port from 1024 to 65535.",
        ),
        ErrorKind::AddrNotAvailable => StartupError::new(
            format!("{listen} is not an address of this machine."),
            format!("--listen {listen}"),
            "Use an address of this machine, such as 127.0.0.1.",
        ),
        _ => StartupError::new(
            format!("The server cannot listen on {listen}, port {port}: {error}."),
            format!("--listen {listen} --port {port}"),
            "Choose another address with --listen or another port with --port.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::{ListenAddress, first_free};
    use crate::demo::cli::Cli;
    use crate::demo::settings::ServerSettings;
    use clap::Parser;
    use std::net::Ipv4Addr;

    fn settings(arguments: &[&str]) -> ServerSettings {
        let arguments = ["svc-demo"].iter().chain(arguments);
        ServerSettings::check(&Cli::try_parse_from(arguments).expect("parses").options)
            .expect("is good")
    }

    #[tokio::test]
    async fn a_port_that_is_asked_for_and_taken_is_refused() {
        let first = ListenAddress::open(&settings(&["--port", "0"]))
            .await
            .expect("a port is free");
        let port = first
            .listener
            .local_addr()
            .expect("it listens")
            .port()
            .to_string();
        let trouble = ListenAddress::open(&settings(&["--port", &port]))
            .await
            .expect_err("it is taken")
            .to_string();
        assert!(trouble.contains(&format!("--port {port}")), "{trouble}");
        assert!(trouble.contains("omit --port"), "{trouble}");
    }

    #[tokio::test]
    async fn without_a_port_the_next_free_one_is_taken_and_named() {
        let first = ListenAddress::open(&settings(&["--port", "0"]))
            .await
            .expect("a port is free");
        let taken = first.listener.local_addr().expect("it listens").port();
        let (other, note) = first_free(Ipv4Addr::LOCALHOST.into(), taken)
            .await
            .expect("another one is free");
        let port = other.local_addr().expect("it listens").port();
        assert_ne!(port, taken);
        assert_eq!(
            note,
            Some(format!(
                "port {taken} is in use, so the server uses port {port}"
            ))
        );
    }

    #[tokio::test]
    async fn links_name_the_address_or_the_base_url() {
        let address = ListenAddress::open(&settings(&["--port", "0"]))
            .await
            .expect("a port is free");
        let port = address.listener.local_addr().expect("it listens").port();
        assert_eq!(address.base_url, format!("http://127.0.0.1:{port}/api/v1/"));
        let address = ListenAddress::open(&settings(&[
            "--port",
            "0",
            "--base-url",
            "https://a.example.org/v1",
        ]))
        .await;
        assert_eq!(
            address.expect("a port is free").base_url,
            "https://a.example.org/v1/"
        );
    }

    #[tokio::test]
    async fn an_address_of_another_machine_is_refused() {
        let settings = settings(&[
            "--port",
            "0",
            "--listen",
            "192.0.2.1",
            "--base-url",
            "http://a.example.org/",
        ]);
        let trouble = ListenAddress::open(&settings)
            .await
            .expect_err("it is not ours")
            .to_string();
        assert!(trouble.contains("--listen 192.0.2.1"), "{trouble}");
    }
}
