//! Finds where a reply ends: at the first of the stop texts, also when it comes in several pieces.

pub(crate) struct StopTexts<'a> {
    texts: Vec<&'a str>,
    /// The end of what was seen, as long as the longest text without its last byte.
    tail: String,
    keep: usize,
}

impl<'a> StopTexts<'a> {
    pub fn new(texts: &[&'a str]) -> Self {
        let texts: Vec<&str> = texts.iter().copied().filter(|text| !text.is_empty()).collect();
        let keep = texts.iter().map(|text| text.len() - 1).max().unwrap_or(0);
        Self { texts, tail: String::new(), keep }
    }

    /// How much of `piece` belongs to the reply if a stop text ends in it: up to and with that text.
    pub fn end_in(&mut self, piece: &str) -> Option<usize> {
        let before = self.tail.len();
        self.tail.push_str(piece);
        let seen = &self.tail;
        // A text wholly in the part seen before would have ended it then.
        let ends = self.texts.iter().filter_map(|text| seen.find(text).map(|at| at + text.len()));
        if let Some(end) = ends.min() {
            return Some(end.saturating_sub(before));
        }
        let mut cut = self.tail.len().saturating_sub(self.keep);
        while !self.tail.is_char_boundary(cut) {
            cut -= 1;
        }
        self.tail.drain(..cut);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is kept of the pieces.
    fn kept(stops: &[&str], pieces: &[&str]) -> (String, bool) {
        let mut stop = StopTexts::new(stops);
        let mut text = String::new();
        for piece in pieces {
            if let Some(end) = stop.end_in(piece) {
                text.push_str(&piece[..end]);
                return (text, true);
            }
            text.push_str(piece);
        }
        (text, false)
    }

    #[test]
    fn a_stop_text_across_pieces_is_found_and_what_follows_is_cut() {
        let whole = "print(1)\n```\nand more";
        let expected = ("print(1)\n```".to_owned(), true);
        for first in 0..whole.len() {
            for second in first..whole.len() {
                let pieces = [&whole[..first], &whole[first..second], &whole[second..]];
                assert_eq!(kept(&["\n```"], &pieces), expected, "{pieces:?}");
            }
        }
        let characters: Vec<String> = whole.chars().map(String::from).collect();
        assert_eq!(kept(&["\n```"], &characters.iter().map(String::as_str).collect::<Vec<_>>()), expected);
    }

    #[test]
    fn the_first_to_end_wins() {
        assert_eq!(kept(&["long stop", "st"], &["a long ", "stop"]), ("a long st".into(), true));
        assert_eq!(kept(&["``", "\n```"], &["x\n```"]), ("x\n``".into(), true));
    }

    #[test]
    fn no_stop_no_end() {
        assert_eq!(kept(&[], &["a", "b"]), ("ab".into(), false));
        assert_eq!(kept(&[""], &["a"]), ("a".into(), false));
        assert_eq!(kept(&["xyz"], &["x", "y", "é", "xy"]), ("xyéxy".into(), false));
    }

    #[test]
    fn the_tail_stays_small_and_whole() {
        let mut stop = StopTexts::new(&["\n```"]);
        for _ in 0..1000 {
            assert_eq!(stop.end_in("ééé"), None);
        }
        assert!(stop.tail.len() <= 6, "{}", stop.tail.len());
        assert_eq!(stop.end_in("\n```x"), Some(4));
    }
}
