//! The bytes of one file, in chunks that clones share until one of them writes.
//!
//! Two invariants: no chunk holds a byte at or beyond the file's size, and what no chunk holds is zero. So what a file
//! takes of the host's memory is bounded by its size: its chunks have room for at most a quarter more than they hold
//! (and 16 bytes), and a hole takes nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes a chunk: what the first write after a clone copies at most.
pub const CHUNK: usize = 64 << 10;

#[derive(Clone, Default)]
pub struct Content {
    bytes: u64,
    /// By the place in the file, in chunks. One that is missing, or the part that a short one lacks, is zeros.
    chunks: BTreeMap<u64, Arc<Vec<u8>>>,
}

impl Content {
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Fills `into` from `at` on as far as the file goes, and says how far.
    pub fn read(&self, at: u64, into: &mut [u8]) -> usize {
        let left = usize::try_from(self.bytes.saturating_sub(at)).unwrap_or(usize::MAX);
        let read = left.min(into.len());
        let (mut at, mut rest) = (at, &mut into[..read]);
        while !rest.is_empty() {
            let (index, start) = place(at);
            let (piece, later) = rest.split_at_mut(rest.len().min(CHUNK - start));
            let stored = self.chunks.get(&index).and_then(|chunk| chunk.get(start..)).unwrap_or_default();
            let (copied, zeros) = piece.split_at_mut(piece.len().min(stored.len()));
            copied.copy_from_slice(&stored[..copied.len()]);
            zeros.fill(0);
            at = at.saturating_add(piece.len() as u64);
            rest = later;
        }
        read
    }

    /// Writes all of `bytes` at `at`. The sum of both fits in 64 bits: the caller has checked it against a quota.
    pub fn write(&mut self, at: u64, bytes: &[u8]) {
        let (mut at, mut rest) = (at, bytes);
        while !rest.is_empty() {
            let (index, start) = place(at);
            let (piece, later) = rest.split_at(rest.len().min(CHUNK - start));
            put(Arc::make_mut(self.chunks.entry(index).or_default()), start, piece);
            at = at.saturating_add(piece.len() as u64);
            rest = later;
        }
        self.bytes = self.bytes.max(at);
    }

    /// Cuts, or grows by a hole.
    pub fn resize(&mut self, bytes: u64) {
        if bytes < self.bytes {
            let (index, keep) = place(bytes);
            let cut = self.chunks.split_off(&index).remove(&index);
            if let Some(chunk) = cut.filter(|_| keep > 0) {
                // Copied rather than truncated, which would keep the room of what was cut.
                let kept = if chunk.len() > keep { Arc::new(chunk[..keep].to_vec()) } else { chunk };
                self.chunks.insert(index, kept);
            }
        }
        self.bytes = bytes;
    }

    /// What is stored, in order, each piece with its place in the file; all else is zeros.
    pub fn stored(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.chunks.iter().map(|(index, chunk)| (index.saturating_mul(CHUNK as u64), chunk.as_slice()))
    }

    /// Whether both surely hold the same bytes, told by what they share.
    pub fn is_shared_with(&self, other: &Self) -> bool {
        let mut pairs = self.chunks.iter().zip(&other.chunks);
        self.bytes == other.bytes
            && self.chunks.len() == other.chunks.len()
            && pairs.all(|((index, chunk), (other_index, other))| index == other_index && Arc::ptr_eq(chunk, other))
    }

    /// The host's memory that the stored bytes take.
    #[cfg(test)]
    pub fn host_bytes(&self) -> u64 {
        self.chunks.values().map(|chunk| chunk.capacity() as u64).sum()
    }
}

impl From<&[u8]> for Content {
    /// Chunks of nothing but zeros become holes.
    fn from(bytes: &[u8]) -> Self {
        let stored = bytes.chunks(CHUNK).zip(0..).filter(|(chunk, _)| chunk.iter().any(|&byte| byte != 0));
        let chunks = stored.map(|(chunk, index)| (index, Arc::new(chunk.to_vec()))).collect();
        Self { bytes: bytes.len() as u64, chunks }
    }
}

/// The chunk that holds the byte at `at`, and where in it. The latter is below [`CHUNK`].
fn place(at: u64) -> (u64, usize) {
    (at / CHUNK as u64, (at % CHUNK as u64) as usize)
}

/// Writes `bytes` into a chunk at `start`; both together are at most [`CHUNK`].
fn put(chunk: &mut Vec<u8>, start: usize, bytes: &[u8]) {
    let end = start + bytes.len();
    if end > chunk.capacity() {
        // More than is needed, so that appending copies each byte a few times at most; by a quarter, so that little
        // memory is idle.
        let roomy = (chunk.capacity() + chunk.capacity() / 4).min(CHUNK);
        chunk.reserve_exact(roomy.max(end).max(16) - chunk.len());
    }
    if chunk.len() < end {
        chunk.resize(end, 0);
    }
    chunk[start..end].copy_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(content: &Content) -> Vec<u8> {
        let mut bytes = vec![7; content.bytes() as usize + 1];
        let read = content.read(0, &mut bytes);
        bytes.truncate(read);
        bytes
    }

    #[test]
    fn holes_read_as_zeros_and_take_no_memory() {
        let mut content = Content::default();
        content.resize(1 << 40);
        assert_eq!(content.host_bytes(), 0);
        content.write((1 << 39) + 3, b"x");
        assert!(content.host_bytes() < 64, "{}", content.host_bytes());
        let mut around = [7; 5];
        assert_eq!(content.read((1 << 39) + 1, &mut around), 5);
        assert_eq!(around, [0, 0, b'x', 0, 0]);
        assert_eq!(content.read((1 << 40) - 2, &mut around), 2);
        assert_eq!(content.read(u64::MAX, &mut around), 0);
    }

    #[test]
    fn what_was_cut_does_not_come_back() {
        for cut in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 2 * CHUNK] {
            let mut content = Content::from(&vec![1; 2 * CHUNK + 5][..]);
            content.resize(cut as u64);
            content.resize(2 * CHUNK as u64 + 7);
            let bytes = all(&content);
            assert_eq!(bytes.len(), 2 * CHUNK + 7);
            assert!(bytes.iter().enumerate().all(|(at, &byte)| byte == u8::from(at < cut)), "cut at {cut}");
        }
    }

    #[test]
    fn cutting_gives_memory_back() {
        let mut content = Content::from(&vec![1; 3 * CHUNK][..]);
        content.resize(10);
        assert_eq!(content.host_bytes(), 10);
        content.resize(0);
        assert_eq!((content.host_bytes(), content.chunks.len()), (0, 0));
    }

    #[test]
    fn a_file_takes_about_its_size_however_it_was_written() {
        let mut content = Content::default();
        for at in 0..3 * CHUNK as u64 / 2 {
            content.write(at, b"x");
            let (bytes, host) = (content.bytes(), content.host_bytes());
            assert!(host <= bytes + bytes / 4 + 16, "{host} bytes of memory for {bytes}");
        }
        assert_eq!(all(&content), vec![b'x'; 3 * CHUNK / 2]);
        assert_eq!(content.chunks.values().map(|chunk| chunk.capacity()).max(), Some(CHUNK));
    }

    #[test]
    fn appending_does_not_copy_what_is_there() {
        let mut content = Content::default();
        content.write(0, &[1; 40_000]);
        content.write(40_000, b"x");
        let before = content.chunks[&0].as_ptr();
        for at in 40_001..45_000 {
            content.write(at, b"x");
        }
        assert_eq!(content.chunks[&0].as_ptr(), before);
    }

    #[test]
    fn a_write_after_a_clone_copies_one_chunk() {
        let mut content = Content::from(&vec![1; 10 * CHUNK][..]);
        let before = content.clone();
        assert!(content.is_shared_with(&before));
        content.write(5 * CHUNK as u64 + 7, b"\0");
        assert!(!content.is_shared_with(&before));
        let shared = content.chunks.iter().filter(|(index, chunk)| Arc::ptr_eq(chunk, &before.chunks[index]));
        assert_eq!(shared.count(), 9);
        assert_eq!((all(&before)[5 * CHUNK + 7], all(&content)[5 * CHUNK + 7]), (1, 0));
    }

    #[test]
    fn zeros_given_as_bytes_become_holes() {
        let mut bytes = vec![0; 4 * CHUNK + 9];
        bytes[2 * CHUNK] = 1;
        let content = Content::from(&bytes[..]);
        assert_eq!(content.stored().map(|(at, _)| at).collect::<Vec<_>>(), [2 * CHUNK as u64]);
        assert_eq!(all(&content), bytes);
    }
}
