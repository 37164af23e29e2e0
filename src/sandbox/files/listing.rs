//! What a walk through a folder sees: made when it begins, so that a walk is linear and a change meanwhile cannot make
//! it skip or repeat what was there all the time.

use std::sync::Arc;

use super::Kind;

/// Walks under way at once whose listings are kept, since each holds all names of a folder. One that is beyond them goes
/// on all the same, and only a change of its folder meanwhile can make it skip or repeat a name.
const KEPT: usize = 8;

/// The rows of all listings that are kept but the newest.
const KEPT_ROWS: usize = 100_000;

/// The size of preview 1's record before a name.
const RECORD: usize = 24;

/// The walks under way, the oldest first, by their descriptors.
#[derive(Clone, Debug, Default)]
pub(super) struct Walks(Vec<(u32, Arc<Listing>)>);

impl Walks {
    pub(super) fn under_way(&self, fd: u32) -> Option<Arc<Listing>> {
        self.0.iter().find(|walk| walk.0 == fd).map(|walk| walk.1.clone())
    }

    pub(super) fn begin(&mut self, fd: u32, listing: Arc<Listing>) {
        self.end(fd);
        let rows = |walks: &[(u32, Arc<Listing>)]| walks.iter().map(|walk| walk.1.0.len()).sum::<usize>();
        while self.0.len() == KEPT || rows(&self.0) > KEPT_ROWS {
            self.0.remove(0);
        }
        self.0.push((fd, listing));
    }

    pub(super) fn end(&mut self, fd: u32) {
        self.0.retain(|walk| walk.0 != fd);
    }
}

/// The names of a folder, `.` and `..` first, then sorted.
#[derive(Debug)]
pub(super) struct Listing(pub(super) Vec<Row>);

#[derive(Debug)]
pub(super) struct Row {
    pub(super) name: Box<str>,
    pub(super) ino: u64,
    pub(super) kind: Kind,
}

impl Listing {
    /// Writes preview 1's records from the row `cookie` on and says how many bytes they took. When they took all of
    /// `into` the last may be cut, and the guest asks for it again.
    pub(super) fn write(&self, cookie: u64, into: &mut [u8]) -> usize {
        let from = usize::try_from(cookie).unwrap_or(usize::MAX);
        let mut written = 0;
        for (row, next) in self.0.iter().zip(1_u64..).skip(from) {
            let mut record = [0; RECORD];
            record[..8].copy_from_slice(&next.to_le_bytes());
            record[8..16].copy_from_slice(&row.ino.to_le_bytes());
            // A name has at most 255 bytes.
            record[16..20].copy_from_slice(&u32::try_from(row.name.len()).unwrap_or_default().to_le_bytes());
            record[20] = row.kind as u8;
            for part in [&record[..], row.name.as_bytes()] {
                let room = (into.len() - written).min(part.len());
                into[written..written + room].copy_from_slice(&part[..room]);
                written += room;
            }
            if written == into.len() {
                break;
            }
        }
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn listing() -> Listing {
        let row = |name: &str, ino, kind| Row { name: name.into(), ino, kind };
        Listing(vec![row(".", 1, Kind::Folder), row("..", 2, Kind::Folder), row("naïve", 7, Kind::File)])
    }

    /// The names and cookies of whole records.
    fn names(mut bytes: &[u8]) -> Vec<(String, u64)> {
        let mut names = Vec::new();
        while bytes.len() >= RECORD {
            let next = u64::from_le_bytes(bytes[..8].try_into().unwrap());
            let len = u32::from_le_bytes(bytes[16..20].try_into().unwrap()) as usize;
            let Some(name) = bytes.get(RECORD..RECORD + len) else { break };
            names.push((String::from_utf8(name.to_vec()).unwrap(), next));
            bytes = &bytes[RECORD + len..];
        }
        names
    }

    #[test]
    fn records_are_as_preview_1_lays_them_out() {
        let mut buffer = [0xff; 200];
        let written = listing().write(2, &mut buffer);
        assert_eq!(written, 24 + 6);
        let expected = [&3_u64.to_le_bytes()[..], &7_u64.to_le_bytes(), &[6, 0, 0, 0, 4, 0, 0, 0], "naïve".as_bytes()];
        assert_eq!(buffer[..written], expected.concat());
        assert!(buffer[written..].iter().all(|byte| *byte == 0xff));
    }

    #[test]
    fn any_buffer_that_holds_one_record_gets_through() {
        let all = [(".".to_owned(), 1), ("..".to_owned(), 2), ("naïve".to_owned(), 3)];
        for size in 30..120 {
            let (mut cookie, mut seen) = (0, Vec::new());
            loop {
                let mut buffer = vec![0; size];
                let written = listing().write(cookie, &mut buffer);
                let found = names(&buffer[..written]);
                cookie = found.last().map_or(cookie, |last| last.1);
                seen.extend(found);
                if written < size {
                    break;
                }
            }
            assert_eq!(seen, all, "with {size} bytes");
        }
    }

    #[test]
    fn the_oldest_walk_makes_room() {
        let mut walks = Walks::default();
        for fd in 0..10 {
            walks.begin(fd, Arc::new(listing()));
        }
        walks.begin(9, Arc::new(listing()));
        let kept: Vec<_> = (0..10).filter(|fd| walks.under_way(*fd).is_some()).collect();
        assert_eq!(kept, [2, 3, 4, 5, 6, 7, 8, 9]);
        walks.end(5);
        assert!(walks.under_way(5).is_none());
    }

    #[test]
    fn long_listings_make_room_too() {
        let row = || Row { name: "x".into(), ino: 1, kind: Kind::File };
        let long = Arc::new(Listing((0..KEPT_ROWS / 2 + 1).map(|_| row()).collect()));
        let mut walks = Walks::default();
        for fd in 0..4 {
            walks.begin(fd, long.clone());
        }
        let kept: Vec<_> = (0..4).filter(|fd| walks.under_way(*fd).is_some()).collect();
        assert_eq!(kept, [2, 3], "the newest, and as many as fit besides");
    }

    #[test]
    fn a_cookie_past_the_end_and_an_empty_buffer_give_nothing() {
        assert_eq!(listing().write(3, &mut [0; 50]), 0);
        assert_eq!(listing().write(u64::MAX, &mut [0; 50]), 0);
        assert_eq!(listing().write(0, &mut []), 0);
        assert_eq!(listing().write(0, &mut [0; 7]), 7);
    }
}
