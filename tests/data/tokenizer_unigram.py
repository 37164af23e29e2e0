"""Writes tokenizer_unigram.json: small unigram vocabularies, trained on this repository's own texts, and the ids that SentencePiece
and llama.cpp give with them for the texts of tokenizer_kinds.py.

    pip install gguf sentencepiece && npm install node-llama-cpp && python tokenizer_unigram.py > tokenizer_unigram.json

With the argument `nfkc` it writes those of SentencePiece's own normalization, whose map of characters is large.
"""

import io
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import sentencepiece
from gguf import GGUFWriter
from sentencepiece import sentencepiece_model_pb2
from tokenizer_kinds import HERE, MORE

# What characters become.
RULES = {
    "\t": " ", "\n": " ", "\r": " ", "\u00a0": " ", "ﬁ": "fi", "Ａ": "A", "１": "1", "™": "TM", "½": "1/2", "e\u0301": "é", "…": "...",
    "\u200b": "", "한": "han",
}
EVEN_MORE = ["  two  spaces  ", "ﬁne Ａ１ ½™ e\u0301t…\u200b", "\u200b\u200bx", "<0x0A> <0x41>", "<s>a</s> <unk>", "ẞ🙂ßѪѪ 你好 x", " ", "▁a ▁ b", "ﬁ\u0301"]


def train(corpus, **how):
    out = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(corpus), model_writer=out, vocab_size=500, model_type="unigram", minloglevel=2, num_threads=1, **how
    )
    return out.getvalue()


def description(model):
    proto = sentencepiece_model_pb2.ModelProto.FromString(model)
    rules = proto.normalizer_spec
    return {
        "tokens": [piece.piece for piece in proto.pieces], "scores": [piece.score for piece in proto.pieces],
        "types": [piece.type for piece in proto.pieces], "unknown": proto.trainer_spec.unk_id, "space_prefix": rules.add_dummy_prefix,
        "single_spaces": rules.remove_extra_whitespaces, "charsmap": list(rules.precompiled_charsmap),
    }


def write_gguf(path, kind):
    writer = GGUFWriter(path, "llama")
    writer.add_block_count(1)
    writer.add_context_length(64)
    writer.add_embedding_length(64)
    writer.add_feed_forward_length(64)
    writer.add_head_count(1)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_tokenizer_model("t5")
    writer.add_token_list(kind["tokens"])
    writer.add_token_types(kind["types"])
    writer.add_token_scores(kind["scores"])
    writer.add_add_space_prefix(kind["space_prefix"])
    writer.add_remove_extra_whitespaces(kind["single_spaces"])
    if kind["charsmap"]:
        writer.add_precompiled_charsmap(bytes(kind["charsmap"]))
    writer.add_unk_token_id(kind["unknown"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_add_bos_token(False)
    writer.add_add_eos_token(False)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.close()


def main():
    corpus = [line for name in ["README.md", "ARCHITECTURE.md", "SECURITY.md"] for line in (HERE / "../.." / name).open()]
    corpus += ["    x = 1\n        return y  # two  spaces   three\n\n\n"] * 20
    texts = [case["text"] for case in json.loads((HERE / "tokenizer_ids.json").read_text())] + MORE + EVEN_MORE
    as_it_is = {"normalization_rule_name": "identity", "remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True}
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "rules.tsv"
        points = lambda text: " ".join(f"{ord(character):X}" for character in text)
        rules.write_text("".join(f"{points(source)}\t{points(target)}\n" for source, target in RULES.items()))
        models = {"nfkc": train(corpus)} if sys.argv[1:] == ["nfkc"] else {
            "bytes": train(corpus, byte_fallback=True, **as_it_is),
            "without prefix": train(corpus, add_dummy_prefix=False, **as_it_is),
            "normalized": train(corpus, normalization_rule_tsv=str(rules)),
        }
        kinds = {name: description(model) for name, model in models.items()}
        for name, kind in kinds.items():
            write_gguf(f"{folder}/{name}.gguf", kind)
        request = Path(folder) / "request.json"
        request.write_text(json.dumps({"names": list(kinds), "texts": texts}))
        node = subprocess.run(["node", "tokenizer_kinds.mjs", request], cwd=HERE, stdout=subprocess.PIPE, text=True, check=True)
    for name, ids in json.loads(node.stdout).items():
        kinds[name]["llama.cpp"] = ids
        kinds[name]["sentencepiece"] = sentencepiece.SentencePieceProcessor(model_proto=models[name]).encode(texts)
    compact = lambda value: json.dumps(value, separators=(",", ":"))
    rows = ",\n".join(
        f"{json.dumps(name)}: {{\n" + ",\n".join(f"{json.dumps(key)}: {compact(value)}" for key, value in kind.items()) + "\n}"
        for name, kind in kinds.items()
    )
    sys.stdout.write(f'{{\n"texts": {compact(texts)},\n"kinds": {{\n{rows}\n}}\n}}\n')


if __name__ == "__main__":
    main()
