//! The messages of PostgreSQL's protocol, as far as they are needed to count round trips.

/// The type of a client's first message, which has no type byte.
pub(super) const STARTUP: u8 = 0;
/// A request before the first message, which the server answers with one byte: whether it supports
/// TLS or GSSAPI.
pub(super) const ENCRYPTION: u8 = 1;

const ENCRYPTION_CODES: [u32; 2] = [80_877_103, 80_877_104];

/// One direction of a connection. It finds the start of each message, however the bytes are split.
pub(super) struct Frames {
    /// Whether messages start with their type. The first ones of a client do not.
    is_typed: bool,
    /// The received part of the head of a message.
    head: Vec<u8>,
    /// The number of missing bytes of the last body.
    body: usize,
}

impl Frames {
    pub(super) fn of_client() -> Self {
        Self {
            is_typed: false,
            head: Vec::new(),
            body: 0,
        }
    }

    pub(super) fn of_server() -> Self {
        Self {
            is_typed: true,
            ..Self::of_client()
        }
    }

    /// Skips bytes that are not part of a message.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.body += bytes;
    }

    /// Returns the types of the messages whose heads end in these bytes.
    pub(super) fn types(&mut self, mut bytes: &[u8]) -> Vec<u8> {
        let mut types = Vec::new();
        while !bytes.is_empty() {
            let skipped = self.body.min(bytes.len());
            self.body -= skipped;
            let missing = if self.is_typed { 5 } else { 8 } - self.head.len();
            let (head, rest) = bytes[skipped..].split_at(missing.min(bytes.len() - skipped));
            self.head.extend_from_slice(head);
            bytes = rest;
            if head.len() == missing {
                types.push(self.begin());
            }
        }
        types
    }

    /// Reads a complete head: type and length, or length and code of a first message.
    fn begin(&mut self) -> u8 {
        let head = std::mem::take(&mut self.head);
        let number =
            |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let length = |at: usize| usize::try_from(number(at)).unwrap_or(usize::MAX);
        if self.is_typed {
            self.body = length(1).saturating_sub(4);
            return head[0];
        }
        self.body = length(0).saturating_sub(8);
        if ENCRYPTION_CODES.contains(&number(4)) {
            return ENCRYPTION;
        }
        self.is_typed = true;
        STARTUP
    }
}
