//! How a tokenizer's vocabulary spells bytes.

use std::collections::HashMap;

use tokenizers::{ModelWrapper, Tokenizer};

pub(crate) enum Spelling {
    /// GPT-2's: each byte is a printable character.
    Bytes(HashMap<char, u8>),
    /// SentencePiece's: text, with `▁` for a space and `<0x0A>` for a byte.
    Pieces,
    /// Text; the decoder knows what stands between two tokens.
    Words,
}

/// SentencePiece's mark for a space.
const SPACE: char = '\u{2581}';

impl Spelling {
    /// Found by the decoder, which has to know; where it is none of those known, by the model.
    pub fn of(tokenizer: &Tokenizer) -> Self {
        let decoder = serde_json::to_string(&tokenizer.get_decoder()).unwrap_or_default();
        match tokenizer.get_model() {
            _ if decoder.contains("\"ByteLevel\"") => Self::Bytes(stand_ins().collect()),
            ModelWrapper::BPE(model) if model.byte_fallback => Self::Pieces,
            ModelWrapper::Unigram(_) => Self::Pieces,
            _ if decoder.contains(SPACE) => Self::Pieces,
            _ => Self::Words,
        }
    }

    pub fn bytes(&self, token: &str) -> Vec<u8> {
        match self {
            Self::Bytes(stand_ins) => {
                let bytes: Option<Vec<u8>> = token.chars().map(|stand_in| stand_ins.get(&stand_in).copied()).collect();
                bytes.unwrap_or_else(|| token.as_bytes().to_vec())
            }
            Self::Pieces => match hexadecimal(token) {
                Some(byte) => vec![byte],
                None => token.replace(SPACE, " ").into_bytes(),
            },
            Self::Words => token.as_bytes().to_vec(),
        }
    }
}

/// `<0x0A>` is the byte 10.
pub(crate) fn hexadecimal(token: &str) -> Option<u8> {
    let digits = token.strip_prefix("<0x")?.strip_suffix('>')?;
    (digits.len() == 2).then(|| u8::from_str_radix(digits, 16).ok()).flatten()
}

/// GPT-2's characters for bytes: printable ones stand for themselves, the others for the characters from 256 on.
fn stand_ins() -> impl Iterator<Item = (char, u8)> {
    let mut next = 256_u32;
    (0..=255_u8).filter_map(move |byte| {
        if matches!(byte, 33..=126 | 161..=172 | 174..=255) {
            return Some((char::from(byte), byte));
        }
        next += 1;
        char::from_u32(next - 1).map(|stand_in| (stand_in, byte))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_has_one_stand_in() {
        let Spelling::Bytes(known) = Spelling::Bytes(stand_ins().collect()) else { unreachable!() };
        assert_eq!(known.len(), 256);
        let spelled = Spelling::Bytes(known);
        assert_eq!(spelled.bytes("ĠprintĊĉ"), b" print\n\t");
        assert_eq!(spelled.bytes("Ã©"), "é".as_bytes());
        // What no stand-in spells is said as it is.
        assert_eq!(spelled.bytes("中 x"), "中 x".as_bytes());
    }

    #[test]
    fn pieces_spell_spaces_and_single_bytes() {
        assert_eq!(Spelling::Pieces.bytes("▁▁if"), b"  if");
        assert_eq!(Spelling::Pieces.bytes("<0x0A>"), b"\n");
        assert_eq!(Spelling::Pieces.bytes("<0xFF>"), [0xff]);
        for text in ["<0x>", "<0x0A", "<0xZZ>", "<0x00A>", "é"] {
            assert_eq!(Spelling::Pieces.bytes(text), text.as_bytes());
        }
    }
}
