//! The socket of a client, which reports its activity.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::TcpStream,
};

use super::{
    monitor::{CloseMode, ConnectionMonitor},
    slots::ConnectionSlot,
};

/// Maximum number of bytes that a connection that closes early still reads.
const LINGER_BYTES: usize = 8 * 1024 * 1024;

/// Maximum number of bytes of a body that one read returns. hyper doubles its buffer when a read
/// fills it, and does not shrink it during the connection. With one byte less, the buffer stays at
/// 16 KiB.
const BODY_READ: usize = 16 * 1024 - 1;

/// The socket of a client, which reports its activity to its [`ConnectionMonitor`].
#[derive(Debug)]
pub(super) struct MonitoredStream {
    stream: TcpStream,
    watch: Arc<ConnectionMonitor>,
    dropped: usize,
    /// The slot of the connection, for its whole lifetime, upgraded or not.
    _slot: ConnectionSlot,
}

impl MonitoredStream {
    pub(super) fn new(
        stream: TcpStream,
        slot: ConnectionSlot,
        watch: Arc<ConnectionMonitor>,
    ) -> Self {
        Self {
            stream,
            watch,
            dropped: 0,
            _slot: slot,
        }
    }

    /// Reads a part of a body, so that the buffers of many connections stay small.
    ///
    /// Requirements: UND-43.
    fn poll_read_part(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        ready!(self.stream.poll_read_ready(cx))?;
        let room = buffer.remaining().min(BODY_READ);
        let mut part = ReadBuf::new(buffer.initialize_unfilled_to(room));
        ready!(Pin::new(&mut self.stream).poll_read(cx, &mut part))?;
        let length = part.filled().len();
        buffer.advance(length);
        Poll::Ready(Ok(()))
    }

    /// Reads and drops further input of the client, until it stops or the limit is reached.
    fn poll_linger(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut room = [0_u8; 16 * 1024];
        loop {
            let mut buffer = ReadBuf::new(&mut room);
            ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buffer))?;
            let taken = buffer.filled().len();
            self.dropped = self.dropped.saturating_add(taken);
            if taken == 0 || self.dropped > LINGER_BYTES {
                return Poll::Ready(Ok(()));
            }
        }
    }
}

impl AsyncRead for MonitoredStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        if self.watch.reads_body() {
            ready!(self.poll_read_part(cx, buffer))?;
        } else {
            ready!(Pin::new(&mut self.stream).poll_read(cx, buffer))?;
        }
        if buffer.filled().len() > before {
            self.watch.on_read();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for MonitoredStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watch.on_write(result.is_pending());
        result
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let result = Pin::new(&mut self.stream).poll_write_vectored(cx, slices);
        self.watch.on_write(result.is_pending());
        result
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.watch.closes() {
            CloseMode::Immediate => Pin::new(&mut self.stream).poll_shutdown(cx),
            CloseMode::StartLingering => {
                ready!(Pin::new(&mut self.stream).poll_shutdown(cx))?;
                self.poll_linger(cx)
            }
            CloseMode::KeepLingering => self.poll_linger(cx),
        }
    }
}
