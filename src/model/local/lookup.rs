//! Prompt-lookup drafts: what is said next has often been said before. A program is corrected by repeating most of it, so
//! what followed the last occurrence of the most recent tokens is proposed as what follows now, and checked by the network
//! several tokens at a time. (A. Saxena, "Prompt Lookup Decoding", 2023; the checking is speculative decoding with a
//! draft that is certain of itself.)

/// The most tokens proposed at once: a step of 16 rows takes about 2.7 times as long as one of a single row.
const MOST: usize = 15;
/// The shortest match that something is proposed after: what follows a single token says too little, since a step of two
/// rows takes half as long again as one of a single row.
const LEAST_MATCH: usize = 2;
/// The least proposed then, since a step of four rows takes no longer than one of two.
const LEAST: usize = 3;

/// Appends to `ids` what may follow them, at most `room` tokens, and says how many: as many as the match is long, since
/// the longer two texts have been the same, the longer they will be.
pub(super) fn propose(ids: &mut Vec<u32>, room: usize) -> usize {
    let Some((end, matched)) = latest_longest_match(ids).filter(|(_, matched)| *matched >= LEAST_MATCH) else {
        return 0;
    };
    let count = matched.max(LEAST).min(room);
    // Where the match is a run that goes on, the copy goes on with itself.
    for at in end..end + count {
        ids.push(ids[at]);
    }
    count
}

/// Where the tokens that `ids` ends with occurred before: the end of the longest such match, of equals the latest, and its
/// length.
fn latest_longest_match(ids: &[u32]) -> Option<(usize, usize)> {
    let (&last, before) = ids.split_last()?;
    let mut best = None;
    for end in (1..=before.len()).rev() {
        if before[end - 1] != last {
            continue;
        }
        let matched = ids[..end].iter().rev().zip(ids.iter().rev()).take(MOST).take_while(|(a, b)| a == b).count();
        if best.is_none_or(|(_, longest)| matched > longest) {
            best = Some((end, matched));
        }
        if matched == MOST {
            break;
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_match_wins_and_of_equals_the_latest() {
        assert_eq!(latest_longest_match(&[]), None);
        assert_eq!(latest_longest_match(&[1]), None);
        assert_eq!(latest_longest_match(&[1, 2, 3]), None);
        assert_eq!(latest_longest_match(&[1, 2, 9, 1, 2, 8, 1, 2]), Some((5, 2)));
        assert_eq!(latest_longest_match(&[7, 1, 2, 9, 1, 2, 8, 7, 1, 2]), Some((3, 3)));
        let long: Vec<u32> = (0..100).chain(0..100).collect();
        assert_eq!(latest_longest_match(&long), Some((100, MOST)));
        // A run matches itself, one token back.
        assert_eq!(latest_longest_match(&[5; 10]), Some((9, 9)));
    }

    fn proposed(ids: &[u32], room: usize) -> Vec<u32> {
        let mut all = ids.to_vec();
        let count = propose(&mut all, room);
        assert_eq!(all.len(), ids.len() + count);
        all.split_off(ids.len())
    }

    #[test]
    fn it_proposes_what_followed_as_long_as_the_match_and_no_more_than_there_is_room_for() {
        let ids = [1, 2, 3, 4, 5, 6, 7, 1, 2, 3];
        assert_eq!(proposed(&ids, 9), [4, 5, 6]);
        assert_eq!(proposed(&ids, 2), [4, 5]);
        assert!(proposed(&ids, 0).is_empty());
        assert!(proposed(&[1, 2, 3], 9).is_empty());
        assert_eq!(proposed(&[5; 5], 9), [5; 4], "a run goes on");
        assert_eq!(proposed(&[1, 2, 1, 2, 1], 9), [2, 1, 2]);
        assert_eq!(proposed(&[1, 2, 3, 4, 5, 1, 2], 9), [3, 4, 5], "more than the match is long");
        assert!(proposed(&[1, 2, 3, 4, 5, 9, 2], 9).is_empty(), "a single token says little");
        let long: Vec<u32> = (0..100).chain(0..50).collect();
        assert_eq!(proposed(&long, 99), (50..50 + MOST as u32).collect::<Vec<_>>());
    }
}
