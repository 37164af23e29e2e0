//! A guest's output stream: so many bytes are kept, the rest is counted and dropped, and the program never notices.

#[derive(Debug, Default)]
pub(super) struct Output {
    bytes: Vec<u8>,
    dropped: u64,
    limit: usize,
}

/// What a stream got since the last look.
pub(super) struct Printed {
    pub(super) text: String,
    pub(super) kept: u64,
    pub(super) dropped: u64,
}

impl Output {
    pub(super) fn new(limit: u64) -> Self {
        Self { limit: usize::try_from(limit).unwrap_or(usize::MAX), ..Self::default() }
    }

    /// Takes what was printed and starts anew. Invalid UTF-8 becomes U+FFFD; a character that the limit cut in two is
    /// replaced as well, since its other half is gone.
    pub(super) fn take(&mut self) -> Printed {
        let bytes = std::mem::take(&mut self.bytes);
        let dropped = std::mem::take(&mut self.dropped);
        Printed { kept: bytes.len() as u64, text: lossy(bytes), dropped }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        let room = self.limit.saturating_sub(self.bytes.len()).min(bytes.len());
        self.bytes.extend_from_slice(&bytes[..room]);
        self.dropped = self.dropped.saturating_add((bytes.len() - room) as u64);
    }
}

fn lossy(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_up_to_the_limit_and_counts_the_rest() {
        let mut output = Output::new(5);
        output.push(b"abc");
        output.push(b"defg");
        output.push(b"hi");
        let printed = output.take();
        assert_eq!((printed.text.as_str(), printed.kept, printed.dropped), ("abcde", 5, 4));
        output.push(b"next");
        let printed = output.take();
        assert_eq!((printed.text.as_str(), printed.dropped), ("next", 0));
    }

    #[test]
    fn invalid_utf8_is_replaced_also_at_a_cut() {
        let mut output = Output::new(4);
        output.push("aé€".as_bytes()); // 1 + 2 + 3 bytes: the cut falls into the last character
        assert_eq!(output.take().text, "aé\u{fffd}");
        output.push(b"\xff\0x");
        assert_eq!(output.take().text, "\u{fffd}\0x");
    }
}
