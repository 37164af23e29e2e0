//! SentencePiece's map of characters to what replaces them: the size of a trie (a double array of 32-bit units), the trie,
//! and the replacements, each ended by a zero byte. The library follows it without a look, so it is looked through here.

use crate::{Error, Result};

/// SentencePiece's own take a quarter of it.
const MAX_BYTES: usize = 1 << 20;
/// Bytes of a replacement: NFKC's longest has 33.
const MAX_REPLACEMENT: usize = 128;

/// The map in base64, as `tokenizer.json` has it.
pub(super) fn checked(numbers: &[f64]) -> Result<String> {
    let wrong = |why: &str| Err(Error::model(format!("its map of characters {why}")));
    if numbers.len() > MAX_BYTES {
        return wrong(&format!("has {} bytes, more than {MAX_BYTES}", numbers.len()));
    }
    // Some files have them as signed ones.
    let Some(bytes) = numbers.iter().map(|&number| byte(number)).collect::<Option<Vec<u8>>>() else {
        return wrong("is not made of bytes");
    };
    match parsed(&bytes) {
        Some((units, replacements)) if sound(&units, replacements) => Ok(base64(&bytes)),
        _ => wrong("is broken"),
    }
}

fn byte(number: f64) -> Option<u8> {
    let whole = number as i16;
    if f64::from(whole) != number {
        return None;
    }
    u8::try_from(whole).ok().or_else(|| i8::try_from(whole).ok().map(|signed| signed as u8))
}

fn parsed(bytes: &[u8]) -> Option<(Vec<usize>, &str)> {
    let (len, rest) = bytes.split_first_chunk()?;
    let len = u32::from_le_bytes(*len) as usize;
    let (trie, replacements) = rest.split_at_checked(len)?;
    let (units, []) = trie.as_chunks() else { return None };
    let units = units.iter().map(|unit| u32::from_le_bytes(*unit) as usize).collect();
    Some((units, std::str::from_utf8(replacements).ok()?))
}

/// Whether no text leads out of the trie or to what is no replacement.
fn sound(units: &[usize], replacements: &str) -> bool {
    // A step goes to any unit of the 256 around its place.
    if units.is_empty() || !units.len().is_multiple_of(256) {
        return false;
    }
    let mut seen = vec![false; units.len()];
    let mut places = vec![offset(units[0])];
    while let Some(place) = places.pop() {
        match seen.get_mut(place) {
            None => return false,
            Some(true) => continue,
            Some(seen) => *seen = true,
        }
        for label in 1..256 {
            let unit = units[place ^ label];
            // A unit is another's, or none's, unless it bears the label.
            if unit & (1 << 31 | 0xff) != label {
                continue;
            }
            let next = place ^ label ^ offset(unit);
            let ends = unit >> 8 & 1 == 1;
            if next >= units.len() || (ends && !replaces(units[next] & ((1 << 31) - 1), replacements)) {
                return false;
            }
            places.push(next);
        }
    }
    true
}

fn offset(unit: usize) -> usize {
    (unit >> 10) << ((unit & 1 << 9) >> 6)
}

fn replaces(start: usize, replacements: &str) -> bool {
    let Some(text) = replacements.get(start..) else { return false };
    text.bytes().take(MAX_REPLACEMENT + 1).position(|byte| byte == 0).is_some()
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, at| bits << 8 | usize::from(chunk.get(at).copied().unwrap_or(0)));
        for at in 0..4 {
            let digit = DIGITS[bits >> (18 - 6 * at) & 63];
            text.push(if at <= chunk.len() { char::from(digit) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_rfc() {
        for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(bytes.as_bytes()), text);
        }
        assert_eq!(base64(&[0xfb, 0xff, 0xfe]), "+//+");
    }
}
