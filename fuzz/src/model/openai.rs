//! What a model server sends.

#[path = "../../../src/model/openai/body.rs"]
mod body;
#[path = "../../../src/model/ending.rs"]
mod ending;
#[path = "../../../src/model/openai/inert.rs"]
mod inert;
#[path = "../../../src/model/openai/wire.rs"]
mod wire;

use body::{Body, Fault};
use ending::Ending;
use wire::Part;

const FENCE: &str = "```python\n";
const STOP: [&str; 1] = ["\n```"];

/// An answer says the same however its bytes come, and the reply in it ends at the same place however it grows. What is
/// kept is bounded by what was sent.
///
/// The first byte says how the others are cut.
pub fn sse(bytes: &[u8]) {
    let Some((cuts, bytes)) = bytes.split_first() else { return };
    let (whole, end) = read([bytes].into_iter());
    let (cut, cut_end) = read(pieces(bytes, *cuts));
    assert!(whole == cut && end == cut_end, "it says {whole:?} {end:?} at once, and {cut:?} {cut_end:?} in pieces");
    let texts: Vec<&str> =
        whole.iter().filter_map(|part| if let Part::Text(text) = part { Some(text.as_str()) } else { None }).collect();
    let text = texts.concat();
    assert!(text.len() <= bytes.len(), "{} bytes of text out of {}", text.len(), bytes.len());
    replies(&texts, &text);
    let _ = wire::models(bytes);
    if let Err(Fault::Error(value)) = &end {
        let _ = (wire::error_text(value), wire::refused_field(value));
    }
    let inert = inert::inert(&text);
    assert!(inert::inert(&inert) == inert, "what was made text is none yet: {inert:?}");
}

/// What the pieces say, and how it ends.
fn read<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Vec<Part>, Result<(), Fault>) {
    let (mut body, mut parts) = (Body::new(), Vec::new());
    let fed = pieces.into_iter().try_for_each(|piece| body.feed(piece, &mut parts));
    let end = fed.and_then(|()| body.finish(&mut parts));
    (parts, end)
}

/// Pieces of 1 to 16 bytes, some of them empty.
fn pieces(bytes: &[u8], cuts: u8) -> impl Iterator<Item = &[u8]> {
    let (mut rest, mut state) = (bytes, u32::from(cuts));
    std::iter::from_fn(move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (piece, after) = rest.split_at_checked((state >> 28) as usize).unwrap_or((rest, &[]));
        let is_over = rest.is_empty();
        rest = after;
        (!is_over).then_some(piece)
    })
}

/// Where the reply has said everything, found while it grows and found at once.
fn replies(texts: &[&str], text: &str) {
    let at_once = Ending::new("", FENCE, &STOP).find(text);
    let (mut ending, mut grown) = (Ending::new("", FENCE, &STOP), String::new());
    let found = texts.iter().find_map(|piece| {
        grown.push_str(piece);
        ending.find(&grown)
    });
    assert_eq!(found, at_once, "the end of {text:?} in {} pieces", texts.len());
    assert!(found.is_none_or(|end| text.is_char_boundary(end)));
}
