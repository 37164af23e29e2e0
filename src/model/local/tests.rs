//! A whole model whose network is arithmetic.

use std::cell::OnceCell;

use super::testing::Parrot;
use super::*;
use crate::model::Sampling;
use crate::model::tokenizer::tests::pieces;

/// The token of `tokenizer::tests::pieces` that ends a turn.
const END: u32 = 0;

fn model(space_prefix: bool) -> LocalModel {
    let tokenizer = pieces(space_prefix);
    let vocabulary = tokenizer.vocabulary(1000);
    LocalModel {
        name: "parrot".into(),
        parameters: None,
        tokenizer,
        end_of_turn: vec![END],
        context: Context::new(Box::new(Parrot::new(512, vocabulary, 3, false))),
        vocabulary,
        guides: OnceCell::new(),
        drafts: true,
        prefixes: None,
        kept: Vec::new(),
    }
}

#[test]
fn a_guide_holds_whether_or_not_the_tokenizer_puts_a_space_before_a_text() {
    let messages = [Message { role: Role::User, content: "a".into() }];
    for space_prefix in [false, true] {
        for seed in 0..10 {
            let mut sampling = Sampling::default();
            (sampling.temperature, sampling.seed) = (1.0, seed);
            let mut prompt = Prompt::new(&messages, &sampling).with_prefill("```python\n");
            (prompt.guide, prompt.max_tokens) = (Guide::Python, 1);
            assert!(model(space_prefix).guide(&prompt).unwrap().is_some());
            let reply = model(space_prefix).generate(&prompt, &mut |_| (), &Cancel::new()).unwrap();
            let said = reply.text.strip_prefix("```python\n").unwrap();
            // What no program begins with, most of the bytes, is forbidden.
            let begins = |c: char| c.is_alphanumeric() || c.is_whitespace() || "_([{'\"-+~#@.*".contains(c);
            assert!(said.chars().all(begins), "seed {seed}, prefix {space_prefix}: {said:?}");
        }
    }
}
