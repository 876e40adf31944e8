#!/usr/bin/env python3
"""Measures the memory and time of a build over many vectors with a small budget.

See ../README.md. Rows of a file are repeated with noise until there are as many as wanted, which is the same each time. Memory
is the anonymous part of what the process has resident (RssAnon), asked for every 20 ms: pages of files are the system's.
"""
import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

BATCH = 10_000


def rows(path, wanted, to):
    """Writes so many rows: those of the file, then these with noise of half their deviation."""
    given = np.load(path).astype(np.float32)
    random, noise = np.random.default_rng(5), np.float32(given.std() / 2)
    out = np.lib.format.open_memmap(to, "w+", np.float32, (wanted, given.shape[1]))
    for first in range(0, wanted, BATCH):
        at = np.arange(first, min(first + BATCH, wanted))
        added = random.standard_normal((len(at), given.shape[1])).astype(np.float32) * noise
        out[at] = given[at % len(given)] + added * (at >= len(given))[:, None]
    out.flush()
    return given.shape[1]


def anonymous(pid):
    """Bytes of anonymous memory; 0 for a process that is gone."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon")), 0)
    except (FileNotFoundError, ProcessLookupError):
        return 0


def run(command):
    """Peak of anonymous memory, seconds, and seconds of processors."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process, peak = subprocess.Popen(command), 0
    while process.poll() is None:
        peak = max(peak, anonymous(process.pid))
        time.sleep(0.02)
    took = time.monotonic() - start
    if process.returncode:
        sys.exit(f"{command} ended with {process.returncode}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return peak, took, used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base", help="vectors, .npy")
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--metric", choices=["cosine", "dot", "l2"], default="cosine")
    parser.add_argument("--memory", default="64MiB,16MiB,1GiB", help="budgets, separated by commas")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--tool", default="treepie", help="the tool treepie")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        path = lambda name: os.path.join(folder, name)
        dims = rows(args.base, args.rows, path("v.npy"))
        with open(path("docs.jsonl"), "w") as docs:
            docs.writelines('{"n": %d}\n' % n for n in range(args.rows))
        with open(path("schema.toml"), "w") as schema:
            schema.write('[fields.n]\ntype = "u64"\n[fields.v]\ntype = "vector"\n')
            schema.write(f'dims = {dims}\nmetric = "{args.metric}"\n')
        print(f"{args.rows} vectors of {dims} numbers, {args.rows * dims * 4 / 1e6:.0f} MB", flush=True)
        for nth, memory in enumerate(args.memory.split(",")):
            to = path(str(nth))
            index = [args.tool, "index", to, path("docs.jsonl"), "--schema", path("schema.toml"), "--quiet"]
            index += ["--vectors", "v=" + path("v.npy"), "--memory", memory, "--threads", args.threads]
            peak, took, cpu = run(index)
            files = sum(os.path.getsize(os.path.join(to, name)) for name in os.listdir(to))
            print(
                f"--memory {memory}: {peak / 2**20:.1f} MiB anonymous, {took:.1f} s, {cpu:.1f} s of processors, "
                f"{files / 1e6:.1f} MB",
                flush=True,
            )


if __name__ == "__main__":
    main()
