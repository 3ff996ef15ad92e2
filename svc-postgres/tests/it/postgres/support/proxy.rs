//! A proxy between a client and a server that counts round trips, and that can delay, stall and
//! break connections.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::io::ioctl_fionread;

use super::frames::{ENCRYPTION, Frames, STARTUP};
use super::server;

/// A proxy on the loopback interface.
///
/// A round trip starts when a client sends a request (`Sync`, `Query`, `FunctionCall`) while no
/// other request is open. A request is open until its `ReadyForQuery` is delivered. The start of a
/// connection is not counted.
///
/// A client may send a pipeline in several pieces, and the server may answer the first before the
/// second arrives. For an exact count, run the client with [`Self::block_on`]: a response is
/// delivered after all pieces have arrived.
pub(crate) struct Proxy {
    shared: Arc<Shared>,
    port: u16,
    acceptor: Option<JoinHandle<()>>,
}

struct Shared {
    upstream: AtomicU16,
    round_trips: AtomicU64,
    connections: AtomicU64,
    delay: Mutex<Duration>,
    gate: Mutex<Gate>,
    turned: Condvar,
    wires: Mutex<Vec<Weak<Wire>>>,
    is_over: AtomicBool,
}

/// What is held back.
#[derive(Clone, Copy, Default)]
struct Gate {
    questions: bool,
    answers: bool,
    /// Whether the client of [`Proxy::block_on`] is running: it may send more without a response.
    client_works: bool,
}

/// One connection of a client, with the one to the server.
struct Wire {
    client: TcpStream,
    server: TcpStream,
    is_cut: AtomicBool,
    talk: Mutex<Talk>,
}

/// The state of the messages on a connection.
struct Talk {
    client: Frames,
    server: Frames,
    /// The number of requests without a response, including the start of a connection.
    open: usize,
    /// Whether nothing of the response to this round trip is delivered yet.
    is_fresh: bool,
}

impl Proxy {
    /// Starts a proxy in front of the server on a port of this machine.
    pub(crate) fn start(upstream_port: u16) -> Self {
        let listener = super::listener();
        let port = listener.local_addr().expect("its address").port();
        let shared = Arc::new(Shared {
            upstream: AtomicU16::new(upstream_port),
            round_trips: AtomicU64::new(0),
            connections: AtomicU64::new(0),
            delay: Mutex::default(),
            gate: Mutex::default(),
            turned: Condvar::new(),
            wires: Mutex::default(),
            is_over: AtomicBool::new(false),
        });
        let theirs = Arc::clone(&shared);
        let acceptor = Some(thread::spawn(move || accept(&theirs, &listener)));
        Self {
            shared,
            port,
            acceptor,
        }
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn url(&self) -> String {
        server::url(self.port)
    }

    /// Returns the round trips of all connections since the last [`Self::reset`].
    pub(crate) fn round_trips(&self) -> u64 {
        self.shared.round_trips.load(Ordering::SeqCst)
    }

    /// Returns the number of connections that were opened since the last [`Self::reset`].
    pub(crate) fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::SeqCst)
    }

    pub(crate) fn reset(&self) {
        self.shared.round_trips.store(0, Ordering::SeqCst);
        self.shared.connections.store(0, Ordering::SeqCst);
    }

    /// Sets the delay of each round trip.
    pub(crate) fn delay(&self, delay: Duration) {
        *lock(&self.shared.delay) = delay;
    }

    /// Stops forwarding in both directions, or continues. Connections remain open, and new ones can
    /// be opened.
    pub(crate) fn stall(&self, is_stalled: bool) {
        self.shared
            .turn(|gate| (gate.questions, gate.answers) = (is_stalled, is_stalled));
    }

    /// Holds back only responses: requests are executed, and the client gets no response.
    pub(crate) fn hold_answers(&self, are_held: bool) {
        self.shared
            .turn(|gate| (gate.questions, gate.answers) = (false, are_held));
    }

    /// Runs a client on one thread, with an exact count of its round trips.
    ///
    /// The first bytes of a response are delivered when the thread waits and all its requests are
    /// counted. The client then sends nothing more without a response.
    pub(crate) fn block_on<F: Future>(&self, client: F) -> F::Output {
        let works = |works: bool| {
            let shared = Arc::clone(&self.shared);
            move || shared.turn(|gate| gate.client_works = works)
        };
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        runtime
            .enable_all()
            .on_thread_park(works(false))
            .on_thread_unpark(works(true));
        let runtime = runtime.build().expect("a runtime");
        works(true)();
        let output = runtime.block_on(client);
        works(false)();
        output
    }

    /// Cuts all connections for both sides. New ones can be opened.
    pub(crate) fn cut(&self) {
        for wire in std::mem::take(&mut *lock(&self.shared.wires))
            .iter()
            .filter_map(Weak::upgrade)
        {
            wire.cut();
        }
        let _gate = lock(&self.shared.gate);
        self.shared.turned.notify_all();
    }

    /// Forwards new connections to another server.
    pub(crate) fn redirect(&self, upstream_port: u16) {
        self.shared.upstream.store(upstream_port, Ordering::SeqCst);
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // Wakes the thread that waits for connections.
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
        self.cut();
    }
}

impl Shared {
    fn turn(&self, change: impl FnOnce(&mut Gate)) {
        change(&mut lock(&self.gate));
        self.turned.notify_all();
    }

    /// Waits until the client of [`Proxy::block_on`] sends nothing more without a response.
    fn pass_when_all_is_sent(&self, wire: &Wire) -> std::io::Result<()> {
        loop {
            self.pass(wire, |gate| gate.client_works);
            // Under the lock: all bytes that were read are counted.
            let talk = lock(&wire.talk);
            if ioctl_fionread(&wire.client)? == 0 || wire.is_cut.load(Ordering::SeqCst) {
                return Ok(());
            }
            drop(talk);
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits while this direction is held back.
    fn pass(&self, wire: &Wire, is_held: impl Fn(Gate) -> bool) {
        let waits = |gate: &mut Gate| is_held(*gate) && !wire.is_cut.load(Ordering::SeqCst);
        drop(self.turned.wait_while(lock(&self.gate), waits));
    }

    fn connect(self: &Arc<Self>, client: TcpStream) -> std::io::Result<()> {
        let server = TcpStream::connect(("127.0.0.1", self.upstream.load(Ordering::SeqCst)))?;
        client.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let wire = Arc::new(Wire {
            client,
            server,
            is_cut: AtomicBool::new(false),
            talk: Mutex::new(Talk::new()),
        });
        let mut wires = lock(&self.wires);
        wires.retain(|wire| wire.strong_count() > 0);
        wires.push(Arc::downgrade(&wire));
        self.connections.fetch_add(1, Ordering::SeqCst);
        for direction in [questions, answers] {
            let (shared, wire) = (Arc::clone(self), Arc::clone(&wire));
            thread::spawn(move || {
                // If one side is closed, the connection ends, which is not an error.
                let _ = direction(&shared, &wire);
                wire.cut();
                let _gate = lock(&shared.gate);
                shared.turned.notify_all();
            });
        }
        Ok(())
    }
}

impl Wire {
    fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        let _ = self.client.shutdown(Shutdown::Both);
        let _ = self.server.shutdown(Shutdown::Both);
    }
}

impl Talk {
    fn new() -> Self {
        Self {
            client: Frames::of_client(),
            server: Frames::of_server(),
            open: 0,
            is_fresh: false,
        }
    }

    /// Returns how many round trips these bytes of the client start.
    fn asked(&mut self, bytes: &[u8]) -> u64 {
        let mut begun = 0;
        for kind in self.client.types(bytes) {
            match kind {
                ENCRYPTION => self.server.skip(1),
                STARTUP => self.open = 1,
                b'S' | b'Q' | b'F' => {
                    begun += u64::from(self.open == 0);
                    self.is_fresh |= self.open == 0;
                    self.open += 1;
                }
                _ => {}
            }
        }
        begun
    }

    fn answered(&mut self, bytes: &[u8]) {
        let ready = self
            .server
            .types(bytes)
            .into_iter()
            .filter(|kind| *kind == b'Z')
            .count();
        self.open = self.open.saturating_sub(ready);
    }
}

fn accept(shared: &Arc<Shared>, listener: &TcpListener) {
    for client in listener.incoming() {
        if shared.is_over.load(Ordering::SeqCst) {
            return;
        }
        // Without a server the connection ends immediately.
        let _ = client.and_then(|client| shared.connect(client));
    }
}

fn questions(shared: &Shared, wire: &Wire) -> std::io::Result<()> {
    let mut bytes = vec![0; 65_536];
    loop {
        // Waits without reading, so that all bytes that were read are counted when the lock is
        // free.
        wire.client.peek(&mut [0])?;
        shared.pass(wire, |gate| gate.questions);
        let mut talk = lock(&wire.talk);
        let length = (&wire.client).read(&mut bytes)?;
        if length == 0 {
            return Ok(());
        }
        shared
            .round_trips
            .fetch_add(talk.asked(&bytes[..length]), Ordering::SeqCst);
        drop(talk);
        (&wire.server).write_all(&bytes[..length])?;
    }
}

fn answers(shared: &Shared, wire: &Wire) -> std::io::Result<()> {
    let mut bytes = vec![0; 65_536];
    loop {
        let length = (&wire.server).read(&mut bytes)?;
        if std::mem::take(&mut lock(&wire.talk).is_fresh) {
            let delay = *lock(&shared.delay);
            thread::sleep(delay);
            shared.pass_when_all_is_sent(wire)?;
        }
        shared.pass(wire, |gate| gate.answers);
        if length == 0 {
            return Ok(());
        }
        // Before the delivery: afterwards the next request may arrive first.
        lock(&wire.talk).answered(&bytes[..length]);
        (&wire.client).write_all(&bytes[..length])?;
    }
}

fn lock<T>(it: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}
