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

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parent.parent
PROMPT, REPLY = 512, 128
OURS = {"this project": "stored", "this project, ONNX Runtime's blocks": "blocks"}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    add_arguments(parser)
    parser.add_argument("--turns", type=int, default=3, help="how often each engine has its turn")
    parser.add_argument("--prepare", action="store_true", help="only build what is measured later")
    asked = parser.parse_args()
    binary = build()
    for file in models(asked, binary):
        engines = prepare(asked, binary, file)
        if not asked.prepare:
            show(file, {name: disk for name, (_, disk) in engines.items()}, measure(asked, engines))


def add_arguments(parser):
    parser.add_argument("--work", type=pathlib.Path, required=True, help="folder for built models, kept between runs")
    parser.add_argument("--models", type=pathlib.Path, nargs="+", help="GGUF files; else those in the program's cache")
    parser.add_argument("--threads", type=int, default=2)


def build():
    """The bench of this project, built; its path."""
    made = subprocess.run(
        ["cargo", "bench", "--bench", "decode", "--no-run", "--message-format=json"],
        cwd=ROOT, check=True, capture_output=True, text=True).stdout
    lines = [json.loads(line) for line in made.splitlines()]
    return next(line["executable"] for line in lines if line.get("target", {}).get("name") == "decode" and line.get("executable"))


def models(asked, binary):
    """The files to measure; the work folder is there then."""
    asked.work = asked.work.resolve()
    asked.work.mkdir(parents=True, exist_ok=True)
    cache = pathlib.Path(subprocess.run([binary, "--cache"], check=True, capture_output=True, text=True).stdout.strip())
    found = asked.models or sorted(cache.glob("gguf/*/model.gguf"), key=lambda file: file.stat().st_size)
    return [file.resolve() for file in found] or sys.exit(f"no model is in the cache {cache}: name files with --models FILE.gguf")


def name_of(file):
    """What the file itself says that it is."""
    fields = gguf.GGUFReader(file).fields
    kind = gguf.LlamaFileType(fields["general.file_type"].contents()).name.removeprefix("MOSTLY_")
    said = [fields[key].contents() for key in ("general.basename", "general.size_label") if key in fields]
    return " ".join([*said, kind])


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


def prepare(asked, binary, file):
    """The command of each engine, everything that it needs being there, and the files that it keeps on disk."""
    built = asked.work / name_of(file)
    numbers = [str(number) for number in (PROMPT, REPLY, 1)]
    engines = {}
    for name, weights in OURS.items():
        command = [binary, str(file), str(asked.threads), f"--weights={weights}", f"--keep={built / weights}"]
        subprocess.run([*command, "--build"], check=True)
        engines[name] = [*command, "--turn"], [file, *(built / weights).iterdir()]
    genai = built / "genai"
    for_genai(built / "blocks", genai, asked.threads)
    engines["onnxruntime-genai"] = [sys.executable, str(HERE / "genai.py"), str(genai), *numbers], [*genai.iterdir()]
    engines["llama.cpp"] = ["node", str(HERE / "llama.mjs"), str(file), str(asked.threads), *numbers], [file]
    return engines


def measure(asked, engines):
    results = {name: [] for name in engines}
    for _ in range(asked.turns):
        for name, (command, _) in engines.items():
            results[name].append(run(command))
    return {name: [one for one in all_ if one] for name, all_ in results.items() if any(all_)}


def run(command):
    try:
        ended = subprocess.run(command, capture_output=True, text=True, cwd=HERE, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        last = (getattr(error, "stderr", "") or str(error)).strip().splitlines()[-1]
        print(f"left out: {' '.join(command[:3])}: {last}", file=sys.stderr)
        return None
    report = json.loads(ended.stdout)
    return {**report, **report.pop("speed", {})}


def megabytes(files):
    """What the files take on disk; one file under two names counts once."""
    sizes = {(file.stat().st_dev, file.stat().st_ino): file.stat().st_size for file in files}
    return sum(sizes.values()) / 1e6


def show(file, disk, results):
    median = lambda all_, key: statistics.median(one[key] for one in all_)
    bandwidth = median(results["this project"], "bandwidth_gb_s")
    # The embedding is the head as well, so every weight is read for every token.
    weights = sum(tensor.n_bytes for tensor in gguf.GGUFReader(file).tensors) / 1e6
    limit = bandwidth * 1e3 / weights
    print(f"\n## {name_of(file)} ({file.stat().st_size / 1e6:.0f} MB)\n")
    print("| engine | prefill tokens/s | decode tokens/s | first token ms | load ms | peak MB | disk MB | decode to the limit |")
    print("|---|---|---|---|---|---|---|---|")
    for name, all_ in results.items():
        row = [median(all_, key) for key in ("prefill_tokens_s", "decode_tokens_s", "first_token_ms", "load_ms", "peak_mb")]
        print(f"| {name} | {row[0]:.0f} | {row[1]:.1f} | {row[2]:.0f} | {row[3]:.0f} | {row[4]:.0f} "
              f"| {megabytes(disk[name]):.0f} | {row[1] / limit:.2f} |")
    print(f"\nMemory bandwidth {bandwidth:.1f} GB/s; the file's {weights:.0f} MB of weights are read for each token: "
          f"at most {limit:.1f} tokens/s.", flush=True)


if __name__ == "__main__":
    main()
