//! A load on a server by many connections from one thread, and its cost. It measures the CPU time
//! of the server, requests per second, and the slowest hundredth. The CPU time of this thread shows
//! that it was not the limit.

use std::time::Instant;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::runtime::Builder;

use crate::measure::{CpuWatch, median};
use crate::process::{Server, request};

/// The cost of one run of a load.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// CPU time of the server's process, in microseconds per request.
    pub(crate) cpu: f64,
    /// Requests per second.
    pub(crate) rate: f64,
    /// Milliseconds within which 99 of 100 reads were answered, or 99 of 100 requests if none is a
    /// read.
    pub(crate) p99: f64,
    /// CPU time of this thread for each microsecond that passed.
    pub(crate) driver: f64,
}

/// The number of connections unless a benchmark uses a different one.
pub(crate) const CONNECTIONS: usize = 16;

/// Requests of each connection, sent one after the other.
pub(crate) type Asked = Vec<Vec<Bytes>>;

/// Returns requests for these paths, `times` times each, distributed over the connections.
pub(crate) fn asked(paths: &[String], times: usize) -> Asked {
    let requests = |part: &[String]| {
        let once: Vec<Bytes> = part.iter().map(|path| request(path).into()).collect();
        once.iter()
            .cycle()
            .take(once.len() * times)
            .cloned()
            .collect()
    };
    paths
        .chunks(paths.len().div_ceil(CONNECTIONS).max(1))
        .map(requests)
        .collect()
}

/// Sends all requests. Each connection waits for a response before its next request; every response
/// must be a success.
pub(crate) fn load(server: &Server, asked: Asked) -> Run {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    runtime.block_on(async {
        let mut connections = Vec::with_capacity(asked.len());
        for requests in asked {
            let stream = TcpStream::connect(server.address)
                .await
                .expect("a connection");
            stream.set_nodelay(true).expect("no delay");
            connections.push((stream, requests));
        }
        let (watch, begun, before) = (CpuWatch::start(), Instant::now(), server.cpu_nanoseconds());
        let clients: Vec<_> = connections
            .into_iter()
            .map(|(stream, asked)| tokio::spawn(client(stream, asked)))
            .collect();
        let (mut reads, mut writes) = (Vec::new(), Vec::new());
        for client in clients {
            for (is_read, milliseconds) in client.await.expect("a client") {
                if is_read { &mut reads } else { &mut writes }.push(milliseconds);
            }
        }
        let seconds = begun.elapsed().as_secs_f64();
        #[allow(clippy::cast_precision_loss, reason = "a run takes seconds at most")]
        let (spent, count) = (
            server.cpu_nanoseconds().saturating_sub(before) as f64,
            (reads.len() + writes.len()) as f64,
        );
        Run {
            cpu: spent / 1e3 / count,
            rate: count / seconds,
            p99: slowest_hundredth(if reads.is_empty() { writes } else { reads }),
            driver: watch.micros() / 1e6 / seconds,
        }
    })
}

/// Runs the sides alternately, `rounds` times after one warm-up round, and returns the medians of
/// each.
pub(crate) fn rounds<const N: usize>(
    rounds: usize,
    mut sides: [&mut dyn FnMut() -> Run; N],
) -> [Run; N] {
    let mut runs = [const { Vec::new() }; N];
    for round in 0..=rounds {
        for (side, of_side) in sides.iter_mut().zip(&mut runs) {
            let run = side();
            if round > 0 {
                of_side.push(run);
            }
        }
    }
    runs.map(|runs: Vec<Run>| {
        let of = |figure: fn(&Run) -> f64| median(runs.iter().map(figure).collect());
        Run {
            cpu: of(|run| run.cpu),
            rate: of(|run| run.rate),
            p99: of(|run| run.p99),
            driver: of(|run| run.driver),
        }
    })
}

fn slowest_hundredth(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times
        .get(times.len() * 99 / 100)
        .copied()
        .unwrap_or(f64::NAN)
}

/// Runs one connection. Returns for each request whether it was a read, and the milliseconds to the
/// end of its response.
async fn client(mut stream: TcpStream, asked: Vec<Bytes>) -> Vec<(bool, f64)> {
    let (mut times, mut answer) = (Vec::with_capacity(asked.len()), vec![0; 512 * 1024]);
    for request in asked {
        let begun = Instant::now();
        stream.write_all(&request).await.expect("a request");
        let mut had = 0;
        while !is_whole(answer.get(..had).unwrap_or_default()) {
            let length = stream
                .read(answer.get_mut(had..).unwrap_or_default())
                .await
                .expect("a response");
            assert!(length > 0, "the whole response");
            had += length;
        }
        times.push((
            request.starts_with(b"GET"),
            begun.elapsed().as_secs_f64() * 1e3,
        ));
    }
    times
}

/// Returns whether the response is complete.
fn is_whole(answer: &[u8]) -> bool {
    let Some(head) = answer.windows(4).position(|four| four == b"\r\n\r\n") else {
        return false;
    };
    assert!(
        answer.starts_with(b"HTTP/1.1 200"),
        "{}",
        String::from_utf8_lossy(answer)
    );
    let name = b"content-length: ";
    let length = answer
        .windows(name.len())
        .position(|part| part == name)
        .and_then(|place| answer.get(place + name.len()..));
    let digits = length
        .unwrap_or_default()
        .iter()
        .take_while(|digit| digit.is_ascii_digit());
    answer.len()
        >= head + 4 + digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0'))
}
