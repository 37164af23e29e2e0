"""Writes tokenizer_kinds.json: two small vocabularies, one trained on this repository's own texts, and the ids that llama.cpp gives
for the texts of tokenizer_ids.json (and a few more) with them and every kind of pre-tokenizer.

    pip install gguf sentencepiece && npm install node-llama-cpp && python tokenizer_kinds.py > tokenizer_kinds.json
"""

import io
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import sentencepiece
from gguf import GGUFWriter

HERE = Path(__file__).parent
PRE = [
    "smollm", "gpt-2", "llama-bpe", "smaug-bpe", "qwen2", "qwen35", "tekken", "gpt-4o", "deepseek-llm", "deepseek-coder", "deepseek-v3",
    "seed-coder", "bailingmoe", "falcon", "bloom", "viking", "default",
]
MORE = [
    "camelCaseWords XMLHttpRequest HTTPServer", "ÉCOLE École naïveTÉ ΑΒΓαβγ", "I'LL we'Re THEY'D it's", "a/b//c /usr/bin\n/", "x=1;y+=2\n\n\n  z",
    "1234567 12,345.678", "中文abc日本123한국", "नमस्ते दुनिया", "   \n  \t\n x", "#include<a>\r\n\r\nint", "$100 + €5 = ~£9^2|`x`", "end  \n",
]


def write_gguf(path, model, tokens, types, pre=None, merges=None, scores=None, space_prefix=None):
    writer = GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_context_length(64)
    writer.add_embedding_length(64)
    writer.add_feed_forward_length(64)
    writer.add_head_count(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model(model)
    writer.add_token_list(tokens)
    writer.add_token_types(types)
    if pre is not None:
        writer.add_tokenizer_pre(pre)
        writer.add_token_merges(merges)
    if scores is not None:
        writer.add_token_scores(scores)
    if space_prefix is not None:
        writer.add_add_space_prefix(space_prefix)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def pairs_bpe(texts):
    """Merges of two bytes only, of all that stand beside each other in the texts: whatever cuts them shows in the ids."""
    stand_ins = byte_stand_ins()
    coded = ["".join(stand_ins[byte] for byte in text.encode()) for text in texts]
    pairs = sorted({text[i : i + 2] for text in coded for i in range(len(text) - 1)})
    random.Random(1).shuffle(pairs)
    tokens = ["<unk>", "<s>", "</s>", *stand_ins, *pairs]
    return {"tokens": tokens, "merges": [" ".join(pair) for pair in pairs], "types": [2, 3, 3] + [1] * (len(tokens) - 3)}


def byte_stand_ins():
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = iter(range(256, 512))
    return [chr(byte) if byte in printable else chr(next(others)) for byte in range(256)]


def train_sentencepiece(corpus):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus), model_writer=out, vocab_size=700, model_type="bpe", byte_fallback=True,
        normalization_rule_name="identity", remove_extra_whitespaces=False, allow_whitespace_only_pieces=True, minloglevel=2,
    )
    trained = sentencepiece.SentencePieceProcessor(model_proto=out.getvalue())
    ids = range(trained.get_piece_size())
    kind = lambda i: 2 if trained.is_unknown(i) else 3 if trained.is_control(i) else 6 if trained.is_byte(i) else 1
    return {
        "tokens": [trained.id_to_piece(i) for i in ids], "scores": [trained.get_score(i) for i in ids], "types": [kind(i) for i in ids],
    }


def main():
    corpus = [line for name in ["README.md", "ARCHITECTURE.md", "SECURITY.md"] for line in (HERE / "../.." / name).open()]
    corpus += ["    x = 1\n        return y  # two  spaces   three\n\n\n"] * 20
    texts = [case["text"] for case in json.loads((HERE / "tokenizer_ids.json").read_text())] + MORE
    bpe, pieces = pairs_bpe(texts), train_sentencepiece(corpus)
    with tempfile.TemporaryDirectory() as folder:
        for pre in PRE:
            write_gguf(f"{folder}/{pre}.gguf", "gpt2", bpe["tokens"], bpe["types"], pre=pre, merges=bpe["merges"])
        for name, prefix in [("sentencepiece", True), ("sentencepiece without prefix", False)]:
            write_gguf(f"{folder}/{name}.gguf", "llama", pieces["tokens"], pieces["types"], scores=pieces["scores"], space_prefix=prefix)
        names = [*PRE, "sentencepiece", "sentencepiece without prefix"]
        request = Path(folder) / "request.json"
        request.write_text(json.dumps({"names": names, "texts": texts}))
        node = subprocess.run(["node", "tokenizer_kinds.mjs", request], cwd=HERE, stdout=subprocess.PIPE, text=True, check=True)
    ids = json.loads(node.stdout)
    compact = lambda value: json.dumps(value, separators=(",", ":"))
    parts = [f'"bpe": {compact(bpe)}', f'"sentencepiece": {compact(pieces)}', f'"texts": {compact(texts)}']
    rows = ",\n".join(f"{json.dumps(name)}: {compact(found)}" for name, found in ids.items())
    sys.stdout.write("{\n" + ",\n".join(parts) + ',\n"ids": {\n' + rows + "\n}\n}\n")


if __name__ == "__main__":
    main()
