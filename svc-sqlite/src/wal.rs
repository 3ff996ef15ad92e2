//! Finds frames of the write-ahead log that SQLite does not read. SQLite stops at the first frame
//! whose checksum is wrong. After a power loss this is the end of the synced data. In a damaged
//! log, all later commits are lost.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// Bytes of the log's header, and of the header of each frame.
const HEADER: usize = 32;
const FRAME: usize = 24;
/// Offset of the page size in the header of a data file.
const PAGE_SIZE_OFFSET: usize = 16;
/// The first four bytes of a log with checksums of big-endian words, and of one with little-endian
/// words.
const BIG_ENDIAN: u32 = 0x377f_0683;
const LITTLE_ENDIAN: u32 = 0x377f_0682;

/// Returns how many frames of the write-ahead log of a data file are lost.
///
/// These are the frames from the first unreadable one to the last readable one after it. An
/// unreadable end, which a power loss leaves, is not counted: it was never acknowledged.
///
/// It is meant for a file that no process has open.
///
/// # Errors
///
/// Returns the error of the operating system if the file or its log cannot be read.
pub(crate) fn unreadable_frames(data: &Path, log: &Path) -> io::Result<u64> {
    let log = match File::open(log) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        log => log?,
    };
    let (mut log, mut header) = (BufReader::new(log), [0; HEADER]);
    let Some(page_size) = page_size(data)? else {
        return Ok(0);
    };
    if !fill(&mut log, &mut header)? {
        return Ok(0);
    }
    let mut sum = Checksum {
        words: (0, 0),
        is_big_endian: word(&header, 0) == BIG_ENDIAN,
    };
    sum.add(header.get(..HEADER.saturating_sub(8)).unwrap_or_default());
    let is_sound = [BIG_ENDIAN, LITTLE_ENDIAN].contains(&word(&header, 0))
        && sum.words == (word(&header, 24), word(&header, 28));
    // If SQLite has restarted the log, the salt of the frames left over in it is another one.
    let mut salt = is_sound.then(|| (word(&header, 16), word(&header, 20)));
    // A checksum continues that of the previous frame. The stored one makes it possible to verify a
    // frame after an unreadable one.
    sum.words = (word(&header, 24), word(&header, 28));
    let (mut frame, mut page) = ([0; FRAME], vec![0; page_size]);
    let (mut first_unreadable, mut last_readable) =
        (if is_sound { None } else { Some(0_u64) }, None);
    for number in 0_u64.. {
        if !fill(&mut log, &mut frame)? || !fill(&mut log, &mut page)? {
            break;
        }
        let (own, stored) = (
            (word(&frame, 8), word(&frame, 12)),
            (word(&frame, 16), word(&frame, 20)),
        );
        sum.add(frame.get(..8).unwrap_or_default());
        sum.add(&page);
        let is_readable = *salt.get_or_insert(own) == own && sum.words == stored;
        if !is_readable {
            first_unreadable.get_or_insert(number);
        } else if first_unreadable.is_some() {
            last_readable = Some(number);
        }
        sum.words = stored;
    }
    let lost = first_unreadable.zip(last_readable);
    Ok(lost.map_or(0, |(first, last)| {
        last.saturating_sub(first).saturating_add(1)
    }))
}

/// Returns the page size of a data file, or `None` if its header has none.
fn page_size(data: &Path) -> io::Result<Option<usize>> {
    let mut header = [0; PAGE_SIZE_OFFSET + 2];
    if !fill(&mut File::open(data)?, &mut header)? {
        return Ok(None);
    }
    let [.., high, low] = header;
    let size = match u16::from_be_bytes([high, low]) {
        1 => 65536,
        size => usize::from(size),
    };
    Ok((size.is_power_of_two() && size >= 512).then_some(size))
}

/// Fills a buffer. Returns `false` at the end of the file.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(buffer) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        result => result.map(|()| true),
    }
}

/// Returns the big-endian word at an offset.
fn word(bytes: &[u8], at: usize) -> u32 {
    let word = bytes.get(at..).and_then(|bytes| bytes.first_chunk());
    word.map_or(0, |word| u32::from_be_bytes(*word))
}

/// The checksum of a log, as SQLite's file format defines it.
struct Checksum {
    words: (u32, u32),
    is_big_endian: bool,
}

impl Checksum {
    /// Adds bytes, whose number is a multiple of eight.
    fn add(&mut self, bytes: &[u8]) {
        let (mut first, mut second) = self.words;
        let read = if self.is_big_endian {
            u32::from_be_bytes
        } else {
            u32::from_le_bytes
        };
        for pair in bytes.chunks_exact(8) {
            if let [a, b, c, d, e, f, g, h] = *pair {
                first = first.wrapping_add(read([a, b, c, d])).wrapping_add(second);
                second = second.wrapping_add(read([e, f, g, h])).wrapping_add(first);
            }
        }
        self.words = (first, second);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use rusqlite::Connection;

    use super::{FRAME, HEADER, unreadable_frames};

    #[test]
    fn frames_after_an_unreadable_one_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let (path, log) = (
            folder.path().join("data.db"),
            folder.path().join("data.db-wal"),
        );
        let file = Connection::open(&path).unwrap();
        file.execute_batch("PRAGMA journal_mode = wal; CREATE TABLE note (text TEXT); PRAGMA wal_checkpoint(restart);")
            .unwrap();
        // The second round restarts the log: after its frames, those of the first round are left.
        for round in [10, 5] {
            for number in 0..round {
                file.execute("INSERT INTO note VALUES (?1)", [number])
                    .unwrap();
            }
            if round == 10 {
                file.execute_batch("PRAGMA wal_checkpoint(restart)")
                    .unwrap();
            }
        }
        let sound = fs::read(&log).unwrap();
        let page = (sound.len() - HEADER) / (FRAME + 4096);
        assert_eq!(
            (sound.len(), unreadable_frames(&path, &log).unwrap()),
            (HEADER + page * (FRAME + 4096), 0)
        );
        assert!(page > 5, "frames are left over");
        let start = |frame: usize| HEADER + frame * (FRAME + 4096);
        for (place, lost) in [
            (0, 5),                // the magic
            (16, 5),               // the salt of the header
            (24, 5),               // the checksum of the header
            (start(0), 5),         // the page number
            (start(1) + 8, 4),     // the salt of a frame
            (start(2) + FRAME, 3), // the page
            (start(3) + FRAME, 2),
            (start(4) + FRAME, 0), // the last frame: it may be the end of what was synced
            (start(5) + FRAME, 0), // left over
        ] {
            let mut bytes = sound.clone();
            bytes[place] ^= 1;
            fs::write(&log, bytes).unwrap();
            assert_eq!(unreadable_frames(&path, &log).unwrap(), lost, "{place}");
        }
        for cut in [0, 10, HEADER, start(2), start(2) + 100] {
            fs::write(&log, &sound[..cut]).unwrap();
            assert_eq!(unreadable_frames(&path, &log).unwrap(), 0, "cut to {cut}");
        }
        fs::remove_file(&log).unwrap();
        assert_eq!(unreadable_frames(&path, &log).unwrap(), 0);
    }
}
