//! A saved session, which anybody may have written.

#[path = "../../src/sandbox/saved.rs"]
#[allow(clippy::module_inception, unused_imports, reason = "the program's name for it, and not all of it is fuzzed")]
mod saved;

use std::io::Write;

use flate2::Compression;
use flate2::write::ZlibEncoder;

const IMAGE: [u8; 32] = [7; 32];
const MEMORY: u64 = 4 << 20;
const SCRATCH: u64 = 1 << 20;

/// What is read is within its bounds, and is what would be written again.
///
/// A digest cannot be guessed, so the bytes come in three ways by the first of them: as the file, as the compressed
/// stream in a file that is right, and as what is compressed.
pub fn saved(bytes: &[u8]) {
    let Some((way, bytes)) = bytes.split_first() else { return };
    let file = match way % 3 {
        0 => bytes.to_vec(),
        1 => framed(bytes),
        _ => framed(&compressed(bytes)),
    };
    let bounds = saved::Bounds { image: IMAGE, memory: MEMORY, scratch: SCRATCH, entries: 100, open_files: 10 };
    let Ok(read) = saved::decode(&file, &bounds) else { return };
    assert!(read.texts.len().max(read.pages.len()) as u64 <= MEMORY && read.contents.len() as u64 <= SCRATCH);
    assert!(read.head.entries.len() <= 102 && read.head.descriptors.len() <= 18);
    let again = saved::encode(&read, &IMAGE).expect("it can be written");
    assert!(saved::decode(&again, &bounds) == Ok(read), "it reads another session than it wrote");
}

fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut stream = ZlibEncoder::new(Vec::new(), Compression::none());
    stream.write_all(bytes).expect("memory takes it");
    stream.finish().expect("memory takes it")
}

/// A file whose magic, image and digest are right.
fn framed(stream: &[u8]) -> Vec<u8> {
    let mut file = b"slm-ci session\0\x01".to_vec();
    file.extend(IMAGE);
    file.extend(blake3::hash(stream).as_bytes());
    file.extend(stream);
    file
}
