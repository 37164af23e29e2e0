//! A GGUF's header, its tokenizer and its blocks.

#[path = "../../../src/model/gguf/metadata.rs"]
mod metadata;
#[path = "../../../src/model/gguf/reader.rs"]
mod reader;
#[path = "../../../src/model/gguf/tokenizer_json.rs"]
mod tokenizer_json;

use crate::model::quant::{self, BLOCK, TensorType};

/// A header that is taken describes tensors which lie inside the file; its tokenizer and its blocks are then read.
///
/// The first byte says how much longer than these bytes the file claims to be: a header can lie more in a large file.
pub fn gguf(bytes: &[u8]) {
    let Some((longer, bytes)) = bytes.split_first() else { return };
    let len = bytes.len() as u64 + (1_u64 << (longer % 40)) - 1;
    let Ok((metadata, tensors)) = reader::header(bytes, len) else { return };
    let mut total = 0_u64;
    for tensor in tensors.values() {
        total += tensor.rows() as u64 * tensor.row_bytes() as u64;
    }
    assert!(total <= len, "tensors of {total} bytes in a file of {len}");
    let _ = tokenizer_json::write(&metadata);
    let _ = tokenizer_json::describe(&metadata, "name", 2048);
    blocks(bytes);
}

/// Any block of any type has a decoding, and one in 8 bits.
fn blocks(bytes: &[u8]) {
    for kind in TensorType::all() {
        let (mut weights, mut packed) = (vec![0.0; kind.unit()], vec![0; kind.unit()]);
        if let Some(block) = bytes.get(..kind.unit_bytes()) {
            kind.decode(block, &mut weights);
            kind.to_8_bits(block, &mut packed, |_| ());
        }
    }
    if let Some(block) = bytes.get(..TensorType::Q4_0.unit_bytes()) {
        quant::q4_0_to_4_bits(block, &mut [0; BLOCK / 2]);
    }
}
