//! Tokens a second of a model in this process, and what remembering and guessing save when a program is corrected.
//!
//! `cargo bench --bench decode` measures SmolLM2 with two threads; `cargo bench --bench decode -- FILE.gguf
//! [THREADS]` another one. It prints JSON: medians of several rounds, and the memory bandwidth of the same moment.
//!
//! - `--weights=NAME`: in what precision matrices are kept: `stored`, `blocks`, `int8` or `f32`; else what is fastest.
//! - `--keep=FOLDER`: the ONNX model is built there and stays, and is used again when it is there.
//!
//! For `benches/peers/model.py` and `benches/peers/agreement.py`:
//!
//! - `--cache`: prints where the cache is, and ends.
//! - `--build`: builds the model, and ends.
//! - `--turn`: one round of a prompt and its reply, nothing else.
//! - `--logits=FILE`: reads texts as JSON, `[{"prompt": [ID…], "reply": [ID…]}…]`, from standard input, and writes the logits
//!   that each token of the replies has before it, as rows of little-endian f32, one token computed after the other.

#![expect(clippy::print_stdout, reason = "its report is what it is run for")]

use std::fs::File;
use std::hint::black_box;
use std::io::{BufWriter, Write, stdin};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use slm_code_interpreter::model::parts::{LocalModel, Runtime, Weights, build, onnxruntime, replay, smollm2};
use slm_code_interpreter::model::{Message, Prompt, Role, Sampling};
use slm_code_interpreter::{Cancel, Config, Overrides, Progress};

const PROMPT: u32 = 512;
const REPLY: usize = 128;
const WARM: usize = 8;
const ROUNDS: usize = 3;

fn main() {
    let (flags, arguments): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let has = |name: &str| flags.iter().any(|flag| flag == name);
    let value = |name: &str| flags.iter().find_map(|flag| flag.strip_prefix(name));
    let threads = arguments.get(1).map_or(2, |threads| threads.parse().expect("a number of threads"));
    let (config, cancel) = (Config::resolve(Overrides::default()).unwrap(), Cancel::new());
    if has("--cache") {
        return println!("{}", config.cache_dir.display());
    }
    let library = onnxruntime(&config, &Progress::default(), &cancel).unwrap();
    let gguf = match arguments.first() {
        Some(file) => PathBuf::from(file),
        None => smollm2(&config, &Progress::default(), &cancel).unwrap(),
    };
    let scratch = tempfile::tempdir().unwrap();
    let folder = value("--keep=").map_or(scratch.path(), Path::new);
    let weights = value("--weights=").map_or_else(Weights::fastest, weights);
    if !folder.join("model.json").exists() {
        std::fs::create_dir_all(folder).unwrap();
        build(&gguf, folder, "bench", weights, &Progress::default(), &cancel).unwrap();
    }
    if has("--build") {
        return;
    }

    let runtime = Runtime::load(&library).unwrap();
    let start = Instant::now();
    let mut model = LocalModel::open(folder, &runtime, 2048, threads).unwrap();
    let load = start.elapsed();
    if let Some(file) = value("--logits=") {
        return logits(&mut model, Path::new(file));
    }
    let turn = has("--turn");
    let speed = speed(&mut model, if turn { 1 } else { ROUNDS });
    let peak = peak_memory();
    let mut report = json!({
        "model": gguf.file_name().unwrap_or_default().to_string_lossy(),
        "threads": threads,
        "load_ms": milliseconds(load),
        "speed": speed,
        "peak_mb": peak,
        "bandwidth_gb_s": bandwidth(threads),
    });
    if !turn {
        report["step_ms"] = steps(&mut model);
        report["retry"] = retry(&mut model);
    }
    println!("{report:#}");
}

fn weights(name: &str) -> Weights {
    match name {
        "stored" => Weights::Stored,
        "blocks" => Weights::Blocks,
        "int8" => Weights::EightBits,
        "f32" => Weights::F32,
        _ => panic!("`--weights={name}` names no precision: say stored, blocks, int8 or f32"),
    }
}

/// Writes the logits that each token of the replies on standard input has before it.
fn logits(model: &mut LocalModel, to: &Path) {
    let ids = |list: &Value| list.as_array().unwrap().iter().map(|id| id.as_u64().unwrap() as u32).collect::<Vec<_>>();
    let texts: Vec<Value> = serde_json::from_reader(stdin().lock()).unwrap();
    let mut to = BufWriter::new(File::create(to).unwrap());
    let context = model.context();
    for text in &texts {
        let (prompt, reply) = (ids(&text["prompt"]), ids(&text["reply"]));
        context.clear();
        assert!(context.prefill(&prompt, &Cancel::new()).unwrap().is_some());
        for token in 0..reply.len() {
            if token > 0 {
                context.append(&reply[token - 1..token], 1).unwrap();
            }
            context.logits(0).iter().for_each(|logit| to.write_all(&logit.to_le_bytes()).unwrap());
        }
    }
    to.flush().unwrap();
}

/// A prompt of 512 tokens, then 128 more one by one.
fn speed(model: &mut LocalModel, rounds: usize) -> Value {
    let (context, cancel) = (model.context(), Cancel::new());
    let ids: Vec<u32> = (0..PROMPT).map(|i| 20 + i * 7919 % 40_000).collect();
    let reply: Vec<u32> = (0..REPLY as u32).map(|i| 20 + i * 104_729 % 40_000).collect();
    let (mut prefill, mut decode) = (Vec::new(), Vec::new());
    for round in 0..=rounds {
        // The first round fills caches.
        let reply = if round == 0 { &reply[..WARM] } else { &reply[..] };
        context.clear();
        let start = Instant::now();
        assert!(context.prefill(black_box(&ids), &cancel).unwrap().is_some());
        prefill.push(start.elapsed());
        let start = Instant::now();
        // The first token of a reply costs no step.
        let (steps, _) = replay(context, reply, false).unwrap();
        decode.push(start.elapsed() / steps as u32);
    }
    let (prefill, decode) = (median(&mut prefill[1..]), median(&mut decode[1..]));
    json!({
        "prefill_tokens_s": f64::from(PROMPT) / prefill.as_secs_f64(),
        "first_token_ms": milliseconds(prefill),
        "decode_tokens_s": 1.0 / decode.as_secs_f64(),
    })
}

/// How long a step of so many tokens takes, all of whose rows are made: what a draft costs.
fn steps(model: &mut LocalModel) -> Value {
    let (context, cancel) = (model.context(), Cancel::new());
    let ids: Vec<u32> = (0..PROMPT).map(|i| 20 + i * 7919 % 40_000).collect();
    context.clear();
    context.prefill(&ids, &cancel).unwrap();
    let time = |rows: usize| {
        let mut times = Vec::new();
        for _ in 0..8 * ROUNDS {
            let start = Instant::now();
            context.append(&ids[..rows], rows).unwrap();
            times.push(start.elapsed());
            context.truncate(ids.len());
        }
        (rows.to_string(), json!(milliseconds(median(&mut times))))
    };
    Value::Object([1, 2, 3, 4, 8, 16].map(time).into_iter().collect())
}

/// A conversation whose last program failed: what is evaluated of it, and how fast a program that differs in one line is
/// written after it.
fn retry(model: &mut LocalModel) -> Value {
    let sampling = Sampling::default();
    let say = |role, content: &str| Message { role, content: content.into() };
    let asked = say(
        Role::User,
        &format!("{}\n\nPrint the revenue of each department.", "Think of the shape of the data first. ".repeat(50)),
    );
    let failed = say(Role::Assistant, &format!("```python\n{PROGRAM}```"));
    let error = say(
        Role::User,
        "The program failed: NameError: name 'totals' is not defined (line 14: print(totals)). Return the whole corrected program.",
    );
    let first = Prompt::new(std::slice::from_ref(&asked), &sampling).with_prefill("```python\n");
    let (first, conversation) = (model.prompt_ids(&first).unwrap(), [asked, failed, error]);
    let again = Prompt::new(&conversation, &sampling).with_prefill("```python\n");
    let again = model.prompt_ids(&again).unwrap();
    let corrected = PROGRAM.replace("print(totals)", "print(by_department)");
    let (program, corrected) = (model.text_ids(PROGRAM).unwrap(), model.text_ids(&corrected).unwrap());

    let (context, cancel) = (model.context(), Cancel::new());
    let mut evaluated = 0;
    let mut times = [Vec::new(), Vec::new()];
    let mut steps = [0; 2];
    let mut rejected = 0;
    for _ in 0..ROUNDS {
        for drafts in [false, true] {
            context.clear();
            context.prefill(&first, &cancel).unwrap();
            replay(context, &program, drafts).unwrap();
            evaluated = context.prefill(&again, &cancel).unwrap().unwrap();
            let start = Instant::now();
            let (run, wrong) = replay(context, &corrected, drafts).unwrap();
            (steps[usize::from(drafts)], rejected) = (run, wrong);
            times[usize::from(drafts)].push(start.elapsed());
        }
    }
    let [plain, drafted] = times.map(|mut times| median(&mut times).as_secs_f64());
    json!({
        "prompt_tokens": again.len(),
        "evaluated_tokens": evaluated,
        "reply_tokens": corrected.len(),
        "steps": steps[0],
        "steps_with_drafts": steps[1],
        "rejected_tokens": rejected,
        "decode_tokens_s": corrected.len() as f64 / plain,
        "decode_tokens_s_with_drafts": corrected.len() as f64 / drafted,
    })
}

const PROGRAM: &str = r#"import io
import pandas as pd

def load(text):
    frame = pd.read_csv(io.StringIO(text))
    frame["date"] = pd.to_datetime(frame["date"])
    frame["quarter"] = frame["date"].dt.quarter
    return frame

data = load(user_input)
data = data[data["revenue"] > 0]
by_department = data.groupby(["department", "quarter"])["revenue"].sum()
by_department = by_department[by_department >= 40000]
print(totals)
print("rows:", len(data))
print("departments:", sorted(data["department"].unique()))
"#;

/// GB/s that `threads` threads read together from memory that no cache holds.
fn bandwidth(threads: usize) -> f64 {
    const WORDS: usize = 1 << 27;
    let memory = vec![1_u64; WORDS];
    let mut times: Vec<Duration> = (0..9)
        .map(|_| {
            let start = Instant::now();
            std::thread::scope(|scope| {
                for part in memory.chunks(WORDS.div_ceil(threads)) {
                    scope.spawn(move || black_box(part.iter().fold(0_u64, |sum, word| sum.wrapping_add(*word))));
                }
            });
            start.elapsed()
        })
        .collect();
    (WORDS * 8) as f64 / median(&mut times).as_secs_f64() / 1e9
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The most memory this process had, in MB, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string(Path::new("/proc/self/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| (kib << 10) / 1_000_000)
}
