//! Headers that are true, and headers that lie.

use super::super::fixture::{Fixture, text};
use super::*;

fn refused(fixture: &Fixture) -> String {
    let file = fixture.write();
    match Gguf::open(file.path()) {
        Ok(_) => panic!("accepted"),
        Err(error) => {
            assert!(error.is_model() && error.advice().is_some(), "{error:?}");
            error.to_string()
        }
    }
}

#[test]
fn reads_metadata_and_rows() {
    let mut fixture = Fixture::new();
    fixture.key("general.architecture", 8, &text("llama"));
    fixture.tensor("t", &[2, 3], 0, &[1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0].map(f32::to_le_bytes).concat());
    let file = fixture.write();
    let mut gguf = Gguf::open(file.path()).unwrap();
    assert_eq!(gguf.metadata.text("general.architecture").unwrap(), Some("llama"));
    let entry = gguf.tensor("t").unwrap().clone();
    let mut bytes = Vec::new();
    gguf.read_rows(&entry, 1, 2, &mut bytes).unwrap();
    assert_eq!(bytes, [3.0_f32, 4.0, 5.0, 6.0].map(f32::to_le_bytes).concat());
}

#[test]
fn headers_that_lie_are_refused_before_they_cost_anything() {
    let mut huge = Fixture::new();
    huge.tensor_count = Some(u64::MAX);
    assert!(refused(&huge).contains("tensors, more than"));

    let mut keys = Fixture::new();
    keys.key_count = Some(1 << 60);
    assert!(refused(&keys).contains("metadata keys"));

    let mut long_text = Fixture::new();
    long_text.key("k", 8, &(1_u64 << 40).to_le_bytes());
    assert!(refused(&long_text).contains("a text of"));

    let mut text_past_end = Fixture::new();
    text_past_end.key("k", 8, &5000_u64.to_le_bytes());
    assert!(refused(&text_past_end).contains("where"));

    let mut list = Fixture::new();
    list.key("k", 9, &[&4_u32.to_le_bytes()[..], &(1_u64 << 62).to_le_bytes()].concat());
    assert!(refused(&list).contains("list elements"));

    let mut kept = Fixture::new();
    let many = [&8_u32.to_le_bytes()[..], &(2_u64 << 20).to_le_bytes(), &vec![0; 16 << 20]].concat();
    kept.key("tokenizer.ggml.merges", 9, &many);
    assert!(refused(&kept).contains("list elements, more than 1048576"));

    let mut texts = Fixture::new();
    let long = text(&"x".repeat(15 << 20));
    (0..10).for_each(|n| texts.key(&format!("k{n}"), 8, &long));
    assert!(refused(&texts).contains("texts and lists take more than"));

    let mut nested = Fixture::new();
    nested.key("k", 9, &[&9_u32.to_le_bytes()[..], &1_u64.to_le_bytes()].concat());
    assert!(refused(&nested).contains("list of values of type 9"));
}

#[test]
fn lists_that_nobody_reads_are_passed_over() {
    let mut fixture = Fixture::new();
    let numbers = [&2_u32.to_le_bytes()[..], &3_u64.to_le_bytes(), &[9; 6]].concat();
    fixture.key("numbers", 9, &numbers);
    let texts = [&8_u32.to_le_bytes()[..], &2_u64.to_le_bytes(), &text("a"), &text("bcd")].concat();
    fixture.key("texts", 9, &texts);
    fixture.key("tokenizer.ggml.tokens", 9, &texts);
    let file = fixture.write();
    let metadata = Gguf::open(file.path()).unwrap().metadata;
    assert_eq!((metadata.numbers("numbers").unwrap(), metadata.texts("texts").unwrap()), (None, None));
    assert_eq!(metadata.texts("tokenizer.ggml.tokens").unwrap().unwrap(), ["a", "bcd"]);

    let mut cut = Fixture::new();
    cut.key("texts", 9, &[&8_u32.to_le_bytes()[..], &1_u64.to_le_bytes(), &u64::MAX.to_le_bytes()].concat());
    assert!(refused(&cut).contains("where"));
}

#[test]
fn tensors_that_do_not_fit_are_refused() {
    let mut outside = Fixture::new();
    outside.tensor("t", &[1 << 20, 1], 0, &[0; 16]);
    assert!(refused(&outside).contains("outside the file"));

    let mut overflow = Fixture::new();
    overflow.tensor("t", &[1 << 40, 1 << 40], 0, &[0; 16]);
    assert!(refused(&overflow).contains("outside the file"));

    let mut ragged = Fixture::new();
    ragged.tensor("t", &[33, 1], 8, &[0; 68]);
    assert!(refused(&ragged).contains("shape"));

    let mut empty = Fixture::new();
    empty.tensor("t", &[0, 4], 0, &[]);
    assert!(refused(&empty).contains("shape"));

    let mut twice = Fixture::new();
    twice.tensor("t", &[1], 0, &[0; 4]);
    twice.tensor("t", &[1], 0, &[0; 4]);
    assert!(refused(&twice).contains("twice"));

    let mut shared = Fixture::new();
    shared.tensor("a", &[64], 0, &[0; 256]);
    shared.tensor_at("b", &[64], 0, 0);
    assert!(refused(&shared).contains("overlap"));

    let mut alignment = Fixture::new();
    alignment.key("general.alignment", 4, &0_u32.to_le_bytes());
    assert!(refused(&alignment).contains("alignment"));
}

#[test]
fn other_files_are_named_as_such() {
    let mut other = Fixture::new();
    other.magic = *b"\x7fELF";
    assert!(refused(&other).contains("does not begin with `GGUF`"));
    let mut old = Fixture::new();
    old.version = 1;
    assert!(refused(&old).contains("version is 1"));
    let missing = Gguf::open(Path::new("/no/such/model.gguf")).err().unwrap();
    assert!(missing.is_usage() && missing.to_string().contains("/no/such/model.gguf"), "{missing}");
}

#[test]
fn every_truncation_is_an_error() {
    let mut fixture = Fixture::new();
    fixture.key("general.architecture", 8, &text("llama"));
    fixture.tensor("t", &[4], 0, &[0; 16]);
    let whole = fixture.bytes();
    for len in 0..whole.len() {
        let file = Fixture::write_bytes(&whole[..len]);
        assert!(Gguf::open(file.path()).is_err(), "accepted the first {len} of {} bytes", whole.len());
    }
}
