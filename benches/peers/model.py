"""The same prompt and reply on this project and its peers, as one table. See README.md beside this file."""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

import gguf
import numpy as np

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
PROMPT, REPLY = 512, 128
Q8, Q4 = gguf.GGMLQuantizationType.Q8_0, gguf.GGMLQuantizationType.Q4_0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for models, kept between runs")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--turns", type=int, default=3, help="how often each engine has its turn")
    parser.add_argument("--only", help="models whose name holds this")
    return parser.parse_args()


def main():
    asked = arguments()
    asked.work.mkdir(parents=True, exist_ok=True)
    binary = build()
    source = embedded(binary, asked.work)
    models = {
        "SmolLM2-135M q8_0": (asked.work / "smollm2-q8_0.gguf", lambda file: widen(source, file)),
        "random 1.5B q8_0": (asked.work / "random-1.5b-q8_0.gguf", lambda file: random_model(source, file, Q8)),
        "random 1.5B q4_0": (asked.work / "random-1.5b-q4_0.gguf", lambda file: random_model(source, file, Q4)),
    }
    for name, (file, make) in models.items():
        if asked.only and asked.only not in name:
            continue
        if not file.exists():
            print(f"writing {file}", file=sys.stderr)
            make(file.with_suffix(".part"))
            file.with_suffix(".part").rename(file)
        show(name, file, measure(asked, binary, file))


def build():
    """The bench of this project, built; its path."""
    made = subprocess.run(
        ["cargo", "bench", "--bench", "decode", "--no-run", "--message-format=json"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout
    lines = [json.loads(line) for line in made.splitlines()]
    return next(line["executable"] for line in lines if line.get("target", {}).get("name") == "decode" and line.get("executable"))


def embedded(binary, work):
    """The default model's GGUF, as the bench finds or fetches it."""
    path = subprocess.run([binary, "--where"], check=True, capture_output=True, text=True, cwd=work).stdout.strip()
    return gguf.GGUFReader(path)


def field(reader, key):
    return reader.fields[key].contents()


def copy_tokenizer(source, writer, vocabulary):
    tokens, kinds = field(source, "tokenizer.ggml.tokens"), field(source, "tokenizer.ggml.token_type")
    filler = [f"<filler {index}>" for index in range(vocabulary - len(tokens))]
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("smollm")
    writer.add_token_list(tokens + filler)
    writer.add_token_types(list(kinds) + [1] * len(filler))
    writer.add_token_merges(field(source, "tokenizer.ggml.merges"))
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_chat_template(field(source, "tokenizer.chat_template"))


def sizes(writer, layers, context, width, hidden, heads, kv_heads, epsilon, base):
    writer.add_block_count(layers)
    writer.add_context_length(context)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(hidden)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    writer.add_layer_norm_rms_eps(epsilon)
    writer.add_rope_freq_base(base)


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def widen(source, file):
    """The default model with every matrix as Q8_0."""
    writer = gguf.GGUFWriter(file, "llama")
    of = lambda key: field(source, f"llama.{key}")
    sizes(writer, of("block_count"), of("context_length"), of("embedding_length"), of("feed_forward_length"),
          of("attention.head_count"), of("attention.head_count_kv"), of("attention.layer_norm_rms_epsilon"), of("rope.freq_base"))
    writer.add_rope_dimension_count(of("rope.dimension_count"))
    copy_tokenizer(source, writer, len(field(source, "tokenizer.ggml.tokens")))
    for tensor in source.tensors:
        weights = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
        if weights.ndim == 1:
            writer.add_tensor(tensor.name, weights)
        else:
            writer.add_tensor(tensor.name, gguf.quantize(weights, Q8), raw_dtype=Q8)
    finish(writer)


def random_model(source, file, kind):
    """Random weights in the shapes of Qwen2.5-1.5B."""
    layers, width, hidden, heads, kv_heads, vocabulary = 28, 1536, 8960, 12, 2, 151_936
    writer = gguf.GGUFWriter(file, "qwen2")
    sizes(writer, layers, 32_768, width, hidden, heads, kv_heads, 1e-6, 1e6)
    copy_tokenizer(source, writer, vocabulary)
    random = np.random.default_rng(1)
    quants = {Q8: 32, Q4: 16}[kind]
    scale = np.frombuffer(np.float16({Q8: 0.02 / 74, Q4: 0.02 / 4.6}[kind]).tobytes(), np.uint8)

    def matrix(name, rows, row):
        blocks = np.empty((rows * row // 32, 2 + quants), np.uint8)
        blocks[:, :2] = scale
        blocks[:, 2:] = random.integers(0, 256, (len(blocks), quants), np.uint8)
        writer.add_tensor(name, blocks.reshape(rows, -1), raw_dtype=kind)

    matrix("token_embd.weight", vocabulary, width)
    writer.add_tensor("output_norm.weight", np.ones(width, np.float32))
    for layer in range(layers):
        name = f"blk.{layer}."
        for norm in ("attn_norm", "ffn_norm"):
            writer.add_tensor(name + norm + ".weight", np.ones(width, np.float32))
        for part, rows in (("q", width), ("k", kv_heads * width // heads), ("v", kv_heads * width // heads)):
            matrix(name + f"attn_{part}.weight", rows, width)
            writer.add_tensor(name + f"attn_{part}.bias", random.normal(0, 0.1, rows).astype(np.float32))
        for part, rows, row in (("attn_output", width, width), ("ffn_gate", hidden, width), ("ffn_up", hidden, width), ("ffn_down", width, hidden)):
            matrix(name + part + ".weight", rows, row)
    finish(writer)


def for_genai(built, folder, threads):
    """The graph that we built, behind the inputs that onnxruntime-genai gives."""
    import onnx
    from onnx import TensorProto, helper

    model = onnx.load(built / "model.onnx", load_external_data=False)
    graph = model.graph
    for name in ("seqlens_k", "total_sequence_length", "num_logits_to_keep"):
        graph.input.remove(next(port for port in graph.input if port.name == name))
    graph.input.append(helper.make_tensor_value_info("attention_mask", TensorProto.INT64, ["batch", "total_sequence"]))
    constant = lambda name, dims, values: graph.initializer.append(helper.make_tensor(name, TensorProto.INT64, dims, values))
    constant("num_logits_to_keep", [], [1])
    constant("genai_axis", [1], [1])
    constant("genai_one", [], [1])
    cast = dict(to=TensorProto.INT32)
    for node in reversed([
        helper.make_node("ReduceSum", ["attention_mask", "genai_axis"], ["genai_count"], keepdims=0),
        helper.make_node("Sub", ["genai_count", "genai_one"], ["genai_last"]),
        helper.make_node("Cast", ["genai_last"], ["seqlens_k"], **cast),
        helper.make_node("Shape", ["attention_mask"], ["genai_shape"]),
        helper.make_node("Gather", ["genai_shape", "genai_one"], ["genai_total"]),
        helper.make_node("Cast", ["genai_total"], ["total_sequence_length"], **cast),
    ]):
        graph.node.insert(0, node)
    # Only the last position's logits are made, as in its own exports without a needless head.
    logits = next(port for port in graph.output if port.name == "logits").type.tensor_type.shape.dim
    logits[1].Clear()
    logits[1].dim_value = 1
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    onnx.save(model, folder / "model.onnx")
    os.link(built / "model.onnx.data", folder / "model.onnx.data")
    cache = next(port for port in graph.input if port.name == "past_key_values.0.key").type.tensor_type.shape.dim
    layers = sum(port.name.endswith(".key") for port in graph.input)
    (folder / "genai_config.json").write_text(json.dumps({
        "model": {
            "bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 2, "context_length": 2048, "type": "llama", "vocab_size": logits[2].dim_value,
            "decoder": {
                "session_options": {"provider_options": [], "intra_op_num_threads": threads},
                "filename": "model.onnx", "head_size": cache[3].dim_value, "hidden_size": 0,
                "num_attention_heads": cache[1].dim_value, "num_hidden_layers": layers, "num_key_value_heads": cache[1].dim_value,
                "inputs": {"input_ids": "input_ids", "attention_mask": "attention_mask",
                           "past_key_names": "past_key_values.%d.key", "past_value_names": "past_key_values.%d.value"},
                "outputs": {"logits": "logits", "present_key_names": "present.%d.key", "present_value_names": "present.%d.value"},
            }},
        "search": {"max_length": 2048, "do_sample": False, "past_present_share_buffer": True},
    }))


def measure(asked, binary, file):
    built = asked.work / (file.stem + "-onnx")
    numbers = [str(number) for number in (asked.threads, PROMPT, REPLY, 3)]
    ours = [binary, str(file.resolve()), str(asked.threads), f"--keep={built.resolve()}"]
    commands = {"this project": ours}
    results = {"this project": [run(ours)]}
    genai = asked.work / (file.stem + "-genai")
    for_genai(built, genai, asked.threads)
    python = [sys.executable, str(HERE / "engines.py")]
    commands["onnxruntime-genai"] = [*python, "genai", str(genai), *numbers]
    commands["llama.cpp"] = ["node", str(HERE / "llama.mjs"), str(file.resolve()), *numbers]
    if "smollm2" in file.name:
        commands["transformers (f32)"] = [*python, "transformers", str(file), *numbers]
    for turn in range(asked.turns):
        for engine, command in commands.items():
            if engine == "this project" and turn == 0:
                continue
            results.setdefault(engine, []).append(run(command))
    return results


def run(command):
    ended = subprocess.run(command, capture_output=True, text=True, cwd=HERE)
    if ended.returncode != 0:
        last = (ended.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"left out: {' '.join(command[:3])}: {last}", file=sys.stderr)
        return None
    report = json.loads(ended.stdout)
    return {**report, **report.pop("speed", {})}


def show(name, file, results):
    results = {engine: [one for one in all_ if one] for engine, all_ in results.items()}
    results = {engine: all_ for engine, all_ in results.items() if all_}
    median = lambda all_, key: statistics.median(one[key] for one in all_)
    ours = results["this project"]
    bandwidth = median(ours, "bandwidth_gb_s")
    # The embedding is the head as well, so every weight is read for every token.
    weights = sum(tensor.n_bytes for tensor in gguf.GGUFReader(file).tensors) / 1e6
    limit = bandwidth * 1e3 / weights
    print(f"\n## {name} ({file.name}, {file.stat().st_size >> 20} MB)\n")
    print("| engine | prefill tokens/s | decode tokens/s | first token ms | load ms | peak MB | decode to the limit |")
    print("|---|---|---|---|---|---|---|")
    for engine, all_ in results.items():
        row = [median(all_, key) for key in ("prefill_tokens_s", "decode_tokens_s", "first_token_ms", "load_ms", "peak_mb")]
        print(f"| {engine} | {row[0]:.0f} | {row[1]:.1f} | {row[2]:.0f} | {row[3]:.0f} | {row[4]:.0f} | {row[1] / limit:.2f} |")
    print(f"\nMemory bandwidth {bandwidth:.1f} GB/s; the file's {weights:.0f} MB of weights are read for each token: at most {limit:.1f} tokens/s.")
    retry = ours[-1]["retry"]
    plain, drafted = retry["decode_tokens_s"], retry["decode_tokens_s_with_drafts"]
    print(f"A retry here: {retry['evaluated_tokens']} of {retry['prompt_tokens']} tokens of the conversation are evaluated; a program of "
          f"{retry['reply_tokens']} tokens corrected in one line comes at {drafted:.1f} tokens/s with drafts, {plain:.1f} without "
          f"({drafted / plain:.1f} times; {retry['steps_with_drafts']} steps instead of {retry['steps']}).", flush=True)


main()
