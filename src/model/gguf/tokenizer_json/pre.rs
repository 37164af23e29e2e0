//! How byte-level BPE cuts text before it merges, by llama.cpp's name for it.
//!
//! The patterns are those of llama.cpp's `llama-vocab.cpp`, each applied to what the one before it left apart. For two
//! families it has only approximations of the models' own; there the models' own are used.

use serde_json::{Value, json};

use crate::{Error, Result};

/// One way of cutting text.
pub(super) struct PreTokenizer {
    patterns: &'static [&'static str],
    /// A piece that is a token as it stands is not merged up to.
    pub ignore_merges: bool,
    /// A prompt begins with the beginning-of-text token unless the file says otherwise.
    pub adds_first: bool,
}

const GPT_2: &str = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";
const LLAMA_3: &str = concat!(
    r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
const QWEN_2: &str = concat!(
    r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
const QWEN_35: &str = concat!(
    r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}",
    r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
const SEED_CODER: &str = concat!(
    r"(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
    r"| ?[^\s\p{L}\p{N}\r\n]+|\s*[\r\n]+|\s+(?!\S)|\s+"
);
const BAILING: &str = concat!(
    r"'(?:[sSdDmMtT]|[lL][lL]|[vV][eE]|[rR][eE])|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}",
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+"
);
/// The models' own; llama.cpp takes letters that are not ASCII for both cases.
const TEKKEN: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*",
    r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
/// As with [`TEKKEN`].
const GPT_4O: &str = concat!(
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?",
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
const DEEPSEEK_3: &str = concat!(
    r##"[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"##,
    r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
);
const CJK: &str = "[\u{4e00}-\u{9fa5}\u{800}-\u{4e00}\u{ac00}-\u{d7ff}]+";
const BLOOM: &str = " ?[^(\\s|.,!?\u{2026}\u{3002}\u{ff0c}\u{3001}\u{964}\u{6d4}\u{60c})]+";
/// Letters that have cases.
const DEEPSEEK_LETTERS: &str = concat!(
    "\\s?[A-Za-z\u{b5}\u{c0}-\u{d6}\u{d8}-\u{f6}\u{f8}-\u{1ba}\u{1bc}-\u{1bf}\u{1c4}-\u{293}",
    "\u{295}-\u{2af}\u{370}-\u{373}\u{376}\u{377}\u{37b}-\u{37d}\u{37f}\u{386}",
    "\u{388}-\u{38a}\u{38c}\u{38e}-\u{3a1}\u{3a3}-\u{3f5}\u{3f7}-\u{481}\u{48a}-\u{52f}\u{531}-\u{556}",
    "\u{10a0}-\u{10c5}\u{13a0}-\u{13f5}\u{13f8}-\u{13fd}\u{1c90}-\u{1cba}\u{1cbd}-\u{1cbf}\u{1d00}-\u{1d2b}\u{1d6b}-\u{1d77}",
    "\u{1d79}-\u{1d9a}\u{1e00}-\u{1f15}\u{1f18}-\u{1f1d}\u{1f20}-\u{1f45}\u{1f48}-\u{1f4d}\u{1f50}-\u{1f57}\u{1f59}",
    "\u{1f5b}\u{1f5d}\u{1f5f}-\u{1f7d}\u{1f80}-\u{1fb4}\u{1fb6}-\u{1fbc}\u{1fbe}\u{1fc2}-\u{1fc4}",
    "\u{1fc6}-\u{1fcc}\u{1fd0}-\u{1fd3}\u{1fd6}-\u{1fdb}\u{1fe0}-\u{1fec}\u{1ff2}-\u{1ff4}\u{1ff6}-\u{1ffc}\u{2102}",
    "\u{2107}\u{210a}-\u{2113}\u{2115}\u{2119}-\u{211d}\u{2124}\u{2126}\u{2128}",
    "\u{212a}-\u{212d}\u{212f}-\u{2134}\u{2139}\u{213c}-\u{213f}\u{2145}-\u{2149}\u{214e}\u{2183}",
    "\u{2184}\u{2c00}-\u{2c7b}\u{2c7e}-\u{2ce4}\u{2ceb}-\u{2cee}\u{2cf2}\u{2cf3}\u{a640}-\u{a66d}",
    "\u{a680}-\u{a69b}\u{a722}-\u{a76f}\u{a771}-\u{a787}\u{a78b}-\u{a78e}\u{ab70}-\u{abbf}\u{fb00}-\u{fb06}\u{fb13}-\u{fb17}",
    "\u{ff21}-\u{ff3a}\u{ff41}-\u{ff5a}\u{10400}-\u{1044f}\u{104b0}-\u{104d3}\u{104d8}-\u{104fb}\u{10c80}-\u{10cb2}\u{10cc0}-\u{10cf2}",
    "\u{118a0}-\u{118df}\u{1e900}-\u{1e943}]+",
);

const fn cut(patterns: &'static [&'static str]) -> PreTokenizer {
    PreTokenizer { patterns, ignore_merges: false, adds_first: false }
}

const fn cut_and_look_up(patterns: &'static [&'static str]) -> PreTokenizer {
    PreTokenizer { patterns, ignore_merges: true, adds_first: true }
}

impl PreTokenizer {
    pub fn named(name: &str) -> Result<Self> {
        Ok(match name {
            "smollm" | "starcoder" | "refact" | "command-r" | "codeshell" | "exaone" | "minerva-7b" | "mellum2" => {
                cut(&[r"\p{N}", GPT_2])
            }
            "gpt-2" | "phi-2" | "mpt" | "olmo" | "jais" | "trillion" | "granite-docling" | "gigachat" | "a.x-4.0"
            | "mellum" | "exaone4" => cut(&[GPT_2]),
            "llama-bpe" | "llama3" | "llama-v3" | "falcon3" | "falcon-h1" | "pixtral" | "midm-2.0" | "lfm2" => {
                cut_and_look_up(&[LLAMA_3])
            }
            "dbrx" | "smaug-bpe" | "glm4" | "chatglm-bpe" => cut(&[LLAMA_3]),
            "qwen2" | "deepseek-r1-qwen" | "stablelm2" | "hunyuan" | "solar-open" | "megrez" | "kormo" | "grok-2" => {
                cut(&[QWEN_2])
            }
            "qwen35" => cut(&[QWEN_35]),
            "tekken" => cut_and_look_up(&[TEKKEN]),
            "gpt-4o" | "llama4" | "kanana2" | "minimax-m2" => cut(&[GPT_4O]),
            "deepseek-llm" => cut(&[
                "[\r\n]",
                DEEPSEEK_LETTERS,
                "\\s?[!-/:-~\u{ff01}-\u{ff0f}\u{ff1a}-\u{ff5e}\u{2018}-\u{201f}\u{3000}-\u{3002}]+",
                r"\s+$",
                CJK,
                r"\p{N}+",
            ]),
            "deepseek-coder" => cut(&["[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", CJK, r"\p{N}"]),
            "deepseek-v3" | "hunyuan-dense" | "joyai-llm" => {
                cut(&[r"\p{N}{1,3}", "[\u{4e00}-\u{9fa5}\u{3040}-\u{309f}\u{30a0}-\u{30ff}]+", DEEPSEEK_3])
            }
            "seed-coder" => cut(&[SEED_CODER]),
            "bailingmoe" | "bailingmoe2" => cut(&[BAILING]),
            "falcon" => cut(&[r"[\p{P}\$\+<=>\^~\|`]+", GPT_2, "[0-9][0-9][0-9]"]),
            "bloom" | "poro-chat" | "gpt3-finnish" => cut(&[BLOOM]),
            "viking" => cut(&[BLOOM, r"\p{N}"]),
            "default" => cut(&[r"[\p{P}\$\+<=>\^~\|]+", GPT_2, r"\p{N}+", "[0-9][0-9][0-9]"]),
            _ => {
                return Err(Error::model(format!("its pre-tokenizer is `{name}`, which is not supported"))
                    .advise("take another model, or a newer release of this program"));
            }
        })
    }

    /// As `tokenizer.json` has it.
    pub fn json(&self) -> Value {
        let split = |pattern: &&str| json!({"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": false});
        let mut steps: Vec<Value> = self.patterns.iter().map(split).collect();
        steps.push(json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": false}));
        json!({"type": "Sequence", "pretokenizers": steps})
    }
}
