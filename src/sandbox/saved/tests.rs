//! What is written is read, and what nobody wrote is refused, cheaply.

use super::*;

const IMAGE: [u8; DIGEST] = [7; DIGEST];
const BOUNDS: Bounds = Bounds { image: IMAGE, memory: 1 << 20, scratch: 1 << 16, entries: 2, open_files: 1 };

fn saved() -> Saved {
    let machine = Machine {
        bytes: 1 << 17,
        globals: vec![1, u64::MAX],
        runs: vec![(0, 1), (3, 2)],
        displays: (1, 2),
        packages: vec!["rich==15.0".into()],
    };
    let file = Entry { ino: 3, place: Some((1, "a\n\"ü".into())), times: [1, 2, 3], bytes: Some(5) };
    let head = Head {
        machine: Some(machine),
        cells: 4,
        bindings: vec![("user_input".into(), 4), ("empty".into(), 0)],
        args: vec!["x".into()],
        given: vec![("data.csv".into(), [9; 32])],
        age: 5,
        deterministic: Some(Deterministic { seed: 1, drawn: 2 }),
        next: 9,
        entries: vec![Entry { ino: 1, ..Entry::default() }, file],
        descriptors: vec![Descriptor {
            number: 8,
            target: Target::Library("/usr/local/lib/python315.zip".into()),
            at: 3,
            flags: 1,
            read: true,
            write: false,
        }],
    };
    let pages = (0..3 * 4096).map(|at| (at % 251) as u8).collect();
    Saved { head, texts: b"text".to_vec(), pages, contents: b"hello".to_vec() }
}

fn refused(change: impl FnOnce(&mut Saved)) -> Unreadable {
    let mut saved = saved();
    change(&mut saved);
    decode(&encode(&saved, &IMAGE).unwrap(), &BOUNDS).unwrap_err()
}

#[test]
fn what_is_written_is_read() {
    for saved in [saved(), Saved::default()] {
        assert_eq!(decode(&encode(&saved, &IMAGE).unwrap(), &BOUNDS), Ok(saved));
    }
}

#[test]
fn any_damage_is_noticed() {
    let file = encode(&saved(), &IMAGE).unwrap();
    for at in 0..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 1;
        let found = decode(&damaged, &BOUNDS).unwrap_err();
        let expected = match at {
            0..15 => Unreadable::Foreign,
            15 => Unreadable::Version(3),
            16..48 => Unreadable::OtherImage,
            _ => Unreadable::Damaged("its digest is another"),
        };
        assert_eq!(found, expected, "byte {at}");
    }
    for end in 0..file.len() {
        assert!(decode(&file[..end], &BOUNDS).is_err(), "{end} bytes");
    }
}

#[test]
fn what_is_too_large_is_told_before_it_is_read() {
    let machine = |saved: &mut Saved| saved.head.machine.clone().unwrap();
    let larger = |saved: &mut Saved| saved.head.machine = Some(Machine { bytes: 2 << 20, ..machine(saved) });
    assert_eq!(refused(larger), Unreadable::TooLarge("memory", 2 << 20, 1 << 20));
    assert_eq!(
        refused(|saved| saved.head.entries[1].bytes = Some(1 << 40)),
        Unreadable::TooLarge("files", 1 << 40, 1 << 16)
    );
    let texts = |saved: &mut Saved| saved.head.bindings = vec![("a".into(), 1 << 20), ("b".into(), 1)];
    assert_eq!(refused(texts), Unreadable::TooLarge("texts", (1 << 20) + 1, 1 << 20));
    let entries = |saved: &mut Saved| saved.head.entries = vec![Entry::default(); 5];
    assert_eq!(refused(entries), Unreadable::TooMany("files and folders", 3, 2));
    let descriptors = |saved: &mut Saved| saved.head.descriptors = vec![saved.head.descriptors[0].clone(); 10];
    assert_eq!(refused(descriptors), Unreadable::TooMany("open files", 2, 1));
    let endless = |saved: &mut Saved| saved.contents = vec![0; 64 << 20];
    assert_eq!(refused(endless), Unreadable::Damaged("it goes on after its end"));
}

#[test]
fn pages_lie_in_order_within_the_memory() {
    for (runs, why) in [
        (vec![(0, 2), (1, 1)], "its pages are not in order"),
        (vec![(0, 0), (1, 3)], "its pages are not in order"),
        (vec![(u32::MAX, u32::MAX)], "it has pages beyond its memory"),
        (vec![(31, 2), (40, 1)], "it has pages beyond its memory"),
        (vec![(0, 4)], "it ends early"),
    ] {
        let found = refused(|saved| saved.head.machine.as_mut().unwrap().runs = runs.clone());
        assert_eq!(found, Unreadable::Damaged(why), "{runs:?}");
    }
    let odd = refused(|saved| saved.head.machine.as_mut().unwrap().bytes += 4096);
    assert_eq!(odd, Unreadable::Damaged("its memory has no whole pages"));
    let overflow = |saved: &mut Saved| {
        saved.head.entries[1].bytes = Some(u64::MAX);
        saved.head.entries.push(Entry { ino: 4, bytes: Some(1), ..Entry::default() });
    };
    assert_eq!(refused(overflow), Unreadable::Damaged("its sizes are impossibly large"));
}

#[test]
fn a_head_that_no_reader_takes_is_not_written() {
    let mut saved = saved();
    saved.head.args = vec![String::new(); 65_536];
    assert!(encode(&saved, &IMAGE).is_ok());
    saved.head.args.push(String::new());
    assert!(encode(&saved, &IMAGE).is_err());
    saved.head.args = vec!["x".repeat(8 << 20)];
    assert!(encode(&saved, &IMAGE).is_err());
}

/// A file with this head and nothing after it.
fn file(head: &str) -> Vec<u8> {
    let mut stream = ZlibEncoder::new(vec![0; PREFIX], Compression::best());
    stream.write_all(&u32::try_from(head.len()).unwrap().to_le_bytes()).unwrap();
    stream.write_all(head.as_bytes()).unwrap();
    let mut file = stream.finish().unwrap();
    let digest = *blake3::hash(&file[PREFIX..]).as_bytes();
    file[..MAGIC.len()].copy_from_slice(&MAGIC);
    file[MAGIC.len()..PREFIX].copy_from_slice(&[IMAGE, digest].concat());
    file
}

#[test]
fn a_list_is_refused_before_it_takes_more_than_its_text() {
    let head = serde_json::to_string(&Head::default()).unwrap();
    assert_eq!(decode(&file(&head), &BOUNDS), Ok(Saved::default()));
    let machine = r#"{"bytes":0,"globals":[],"runs":[],"displays":[0,0]}"#;
    for (list, element, most) in [
        ("bindings", r#"["",0]"#, 65_536),
        ("args", r#""""#, 65_536),
        ("globals", "0", 64),
        ("runs", "[0,1]", 1_048_576),
        ("entries", "[1,null,[0,0,0],null]", 262_144),
        ("descriptors", r#"[1,{"stream":1},0,0,true,true]"#, 65_536),
    ] {
        let head = head.replace(r#""machine":null"#, &format!(r#""machine":{machine}"#));
        let with = |count: usize| {
            let elements = vec![element; count].join(",");
            file(&head.replace(&format!(r#""{list}":[]"#), &format!(r#""{list}":[{elements}]"#)))
        };
        let nonsense = Err(Unreadable::Damaged("its head makes no sense"));
        assert_ne!(decode(&with(1), &BOUNDS), nonsense, "{list}");
        let hostile = with(most + 1);
        assert!(hostile.len() < 64 << 10, "{list}: {} bytes", hostile.len());
        assert_eq!(decode(&hostile, &BOUNDS), nonsense, "{list}");
    }
    let too_long = " ".repeat((8 << 20) + 1);
    assert_eq!(decode(&file(&too_long), &BOUNDS), Err(Unreadable::TooLarge("names", (8 << 20) + 1, 8 << 20)));
}
