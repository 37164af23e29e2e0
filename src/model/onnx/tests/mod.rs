//! Every layout against a computation of the whole sequence in plain Rust: however the tokens came in, the logits are
//! those of the model.

mod tiny;

use std::path::PathBuf;

use tempfile::TempDir;

use self::tiny::{Attention, N_CTX, Tiny, WORDS};
use super::file::inspect;
use super::layout::{Names, Role};
use super::testing::{BFLOAT16, FLOAT, FLOAT16, INT32, INT64};
use super::{Decoder, Graphs, Runtime};
use crate::model::local::Network;
use crate::model::open::onnxruntime;
use crate::{Cancel, Config, Overrides, Progress, Result};

pub(in crate::model) fn runtime() -> Runtime {
    let config = Config::resolve(Overrides::default()).unwrap();
    let library = onnxruntime(&config, &Progress::default(), &Cancel::new()).unwrap();
    Runtime::load(&library).unwrap()
}

/// A decoder from files; kept because weights may be read late.
struct Opened {
    _folder: TempDir,
    decoder: Decoder,
    shared: usize,
}

fn open(tiny: &Tiny, names: Names) -> Result<Opened> {
    let folder = tempfile::tempdir().unwrap();
    let [decoder, embeddings]: [PathBuf; 2] = ["model.onnx", "embed.onnx"].map(|name| folder.path().join(name));
    tiny.write(&decoder, &embeddings);
    let facts = inspect(&decoder)?;
    let shared = facts.shared.len();
    let graphs = Graphs { decoder, facts, embeddings: tiny.split.then_some(embeddings), names, ours: false };
    let decoder = Decoder::open_graphs(&runtime(), &graphs, N_CTX, 1)?;
    Ok(Opened { _folder: folder, decoder, shared })
}

/// How far logits may be from those of the plain computation, which has its own order of additions.
fn tolerance(tiny: &Tiny) -> f32 {
    match (tiny.cache, tiny.logits) {
        (BFLOAT16, _) | (_, BFLOAT16) => 0.05,
        (FLOAT16, _) | (_, FLOAT16) => 0.01,
        _ => 1e-4,
    }
}

fn ids(from: usize, len: usize) -> Vec<u32> {
    (from..from + len).map(|i| (i * 7 % WORDS + i % 3) as u32 % WORDS as u32).collect()
}

struct Check<'a> {
    tiny: &'a Tiny,
    decoder: &'a mut Decoder,
    held: Vec<u32>,
}

impl Check<'_> {
    /// Appends `ids` and compares all `rows`.
    fn append(&mut self, ids: &[u32], rows: usize) {
        self.decoder.append(ids, rows).unwrap();
        self.held.extend(ids);
        assert_eq!(self.decoder.len(), self.held.len());
        let wanted = self.tiny.logits(&self.held);
        for row in 0..rows {
            let (got, wanted) = (self.decoder.logits(row), &wanted[wanted.len() - rows + row]);
            assert_eq!(got.len(), wanted.len());
            let far = got.iter().zip(wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(
                far <= tolerance(self.tiny),
                "after {} tokens, row {row}: {far} in {:?}",
                self.held.len(),
                self.tiny
            );
        }
    }

    /// Goes back to `len` or, where that is not possible, to what the network says, from where it goes on.
    fn truncate(&mut self, len: usize, exact: bool) {
        let now = self.decoder.truncate(len);
        assert!(now <= len && (!exact || now == len), "asked for {len}, got {now} of {:?}", self.held.len());
        let again = self.held[now..len].to_vec();
        self.held.truncate(now);
        if !again.is_empty() {
            self.append(&again, 1);
        }
    }
}

fn check(tiny: &Tiny, names: Names) -> usize {
    let Opened { _folder, mut decoder, shared } = open(tiny, names).unwrap();
    assert_eq!((decoder.vocabulary(), decoder.len()), (WORDS, 0));
    let mut check = Check { tiny, decoder: &mut decoder, held: Vec::new() };
    // A prompt in two pieces, then token by token, greedily as it would be.
    check.append(&ids(0, 7), 1);
    check.append(&ids(7, 5), 1);
    for at in 12..18 {
        check.append(&ids(at, 1), 1);
    }
    // The last token anew; then from within the prompt; then from its end.
    check.truncate(17, true);
    check.append(&[5], 1);
    let is_recurrent = tiny.conv || tiny.recurrent;
    assert_eq!((check.decoder.makes_rows(), check.decoder.goes_back()), (!tiny.last, !is_recurrent));
    check.truncate(12, true);
    check.append(&[1, 2, 3], 3);
    check.truncate(5, !is_recurrent);
    check.append(&ids(3, 4), 2);
    check.append(&[4], 1);
    // What was saved goes on in another place of the same kind.
    let (len, saved) = (check.held.len(), check.decoder.save(check.held.len()).unwrap());
    let held = check.held.clone();
    check.append(&[6], 1);
    if is_recurrent {
        assert!(check.decoder.save(3).is_none());
    }
    assert!(!check.decoder.load(len, &saved[1..]) && check.decoder.is_empty());
    // Recurrent states alone are the same size after any number of tokens.
    let tells = tiny.attention != Attention::None;
    assert!(!tells || !check.decoder.load(len - 1, &saved));
    assert!(!check.decoder.load(N_CTX + 1, &saved));
    assert!(check.decoder.load(len, &saved));
    check.held = held;
    check.append(&[6], 1);
    check.append(&ids(2, 6), 1);
    check.truncate(0, true);
    check.append(&ids(5, 3), 3);
    let room = N_CTX - check.held.len();
    check.append(&ids(1, room), 1);
    shared
}

fn passes(tiny: Tiny) -> usize {
    check(&tiny, Names::default())
}

#[test]
fn graphs_that_write_in_place_share_their_buffers() {
    let grouped = Tiny { attention: Attention::Grouped, ..Tiny::default() };
    assert_eq!(passes(Tiny { mask: None, keep: true, ..grouped.clone() }), 2);
    assert_eq!(passes(Tiny { mask: Some(INT64), seed: 2, ..grouped.clone() }), 2);
    assert_eq!(passes(Tiny { mask: Some(INT32), ids: INT32, ..grouped.clone() }), 2);
    assert_eq!(passes(Tiny { cache: FLOAT16, logits: FLOAT16, ..grouped.clone() }), 2);
    assert_eq!(passes(Tiny { attention: Attention::GroupedAndRead, ..grouped }), 0);
}

#[test]
fn graphs_of_plain_operators_get_their_past_moved() {
    let plain = Tiny::default();
    assert_eq!(passes(plain.clone()), 0);
    assert_eq!(passes(Tiny { positions: 2, seed: 3, ..plain.clone() }), 0);
    assert_eq!(passes(Tiny { mask: None, keep: true, ..plain.clone() }), 0);
    assert_eq!(passes(Tiny { use_cache: true, positions: 2, ..plain.clone() }), 0);
    assert_eq!(passes(Tiny { last: true, ..plain.clone() }), 0);
    assert_eq!(passes(Tiny { mask: Some(FLOAT), ids: INT32, ..plain }), 0);
}

#[test]
fn states_and_logits_have_the_element_types_that_the_graph_says() {
    for cache in [FLOAT, FLOAT16, BFLOAT16] {
        for logits in [FLOAT, FLOAT16, BFLOAT16] {
            passes(Tiny { cache, logits, ..Tiny::default() });
        }
    }
    passes(Tiny { cache: FLOAT16, conv: true, ..Tiny::default() });
}

#[test]
fn recurrent_states_are_carried_and_gone_back_to() {
    for (attention, conv, recurrent) in [
        (Attention::Concat, true, false),
        (Attention::Concat, false, true),
        (Attention::None, true, true),
        (Attention::Grouped, true, true),
    ] {
        passes(Tiny { attention, conv, recurrent, ..Tiny::default() });
    }
}

#[test]
fn split_models_take_embeddings_and_positions_of_three_axes() {
    passes(Tiny { split: true, positions: 3, conv: true, recurrent: true, keep: true, ..Tiny::default() });
    passes(Tiny { split: true, attention: Attention::Grouped, ..Tiny::default() });
}

#[test]
fn names_are_those_of_the_exporter() {
    let names = |key: [&'static str; 2], value: [&'static str; 2]| Tiny { names: [key, value], ..Tiny::default() };
    passes(names(
        ["past_key_values.%d.key", "present_key_values.%d.key"],
        ["past_key_values.%d.value", "present_key_values.%d.value"],
    ));
    passes(names(["past_key_%d", "present_key_%d"], ["past_value_%d", "present_value_%d"]));
    // As a configuration beside the graph says.
    let mut said = Names::default();
    said.add_pair("k_in_%d", "k_out_%d");
    said.add_pair("v_in_%d", "v_out_%d");
    said.set_role("attention_mask", Role::Mask);
    said.logits = "scores".into();
    let tiny = Tiny { logits_name: "scores", ..names(["k_in_%d", "k_out_%d"], ["v_in_%d", "v_out_%d"]) };
    check(&tiny, said.clone());
    let error = open(&tiny, Names::default()).err().unwrap().to_string();
    assert!(error.contains("no output `logits`"), "{error}");
}
