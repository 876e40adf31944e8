#!/usr/bin/env python3
"""Measures the memory and time of builds and merges over many vectors with small budgets.

See ../README.md. Rows are those of a file, repeated with noise until there are as many as wanted, or without a file those of
random clusters; they are the same each time. Memory is the anonymous part of what the process has resident (RssAnon), asked for
every 20 ms: pages of files are the system's. For each budget the rows are indexed at once, merged out of several segments, and
indexed with several vectors a document.
"""
import argparse
import base64
import contextlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

BATCH = 10_000
CLUSTERS = 2_000
ROUTES = ["build", "merge", "many"]
# Control groups of memory, of version 1; making one needs rights that root has.
GROUPS = "/sys/fs/cgroup/memory"


def rows(path, wanted, dims, to):
    """Writes so many rows: those of the file, then these with noise of half their deviation; or those of clusters."""
    random = np.random.default_rng(5)
    if path is None:
        given, noise = random.standard_normal((CLUSTERS, dims)).astype(np.float32), np.float32(0.5)
    else:
        given = np.load(path).astype(np.float32)
        noise = np.float32(given.std() / 2)
    out = np.lib.format.open_memmap(to, "w+", np.float32, (wanted, given.shape[1]))
    for first in range(0, wanted, BATCH):
        at = np.arange(first, min(first + BATCH, wanted))
        added = random.standard_normal((len(at), given.shape[1])).astype(np.float32) * noise
        is_given = (at < len(given)) & (path is not None)
        out[at] = given[at % len(given)] + added * ~is_given[:, None]
    out.flush()
    return out


def write_parts(vectors, n_parts, path):
    """Documents and vectors of each part, in files of their own."""
    for nth in range(n_parts):
        some = range(len(vectors) * nth // n_parts, len(vectors) * (nth + 1) // n_parts)
        np.save(path(f"part{nth}.npy"), vectors[some.start : some.stop])
        with open(path(f"part{nth}.jsonl"), "w") as docs:
            docs.writelines('{"n": %d}\n' % n for n in some)


def write_many(vectors, of_doc, to):
    """Documents of several vectors each."""
    with open(to, "w") as docs:
        for first in range(0, len(vectors), of_doc):
            coded = (base64.b64encode(row.tobytes()).decode() for row in vectors[first : first + of_doc])
            docs.write('{"n": %d, "v": ["%s"]}\n' % (first // of_doc, '", "'.join(coded)))


def let_go(*paths):
    """Takes the pages of files out of the page cache."""
    for path in paths:
        with open(path, "rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def anonymous(pid):
    """Bytes of anonymous memory; 0 for a process that is gone."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return next((int(line.split()[1]) << 10 for line in status if line.startswith("RssAnon")), 0)
    except (FileNotFoundError, ProcessLookupError):
        return 0


@contextlib.contextmanager
def control_group(limit):
    """A control group whose anonymous memory and page cache together have at most so many bytes; none without a limit."""
    if limit is None:
        yield None
        return
    group = f"{GROUPS}/treepie-{os.getpid()}"
    os.mkdir(group)
    try:
        with open(f"{group}/memory.limit_in_bytes", "w") as file:
            file.write(str(limit))
        yield group
    finally:
        os.rmdir(group)


def run(command, group=None):
    """Peak of anonymous memory, seconds, and seconds of processors."""

    def enter():
        with open(f"{group}/cgroup.procs", "w") as procs:
            procs.write(str(os.getpid()))

    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    process, peak = subprocess.Popen(command, preexec_fn=enter if group else None), 0
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
    parser.add_argument("base", nargs="?", help="vectors, .npy; without, random clusters")
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--dims", type=int, default=384, help="numbers of a vector of random clusters")
    parser.add_argument("--segments", type=int, default=4, help="segments that are merged")
    parser.add_argument("--vectors-of-document", type=int, default=4, help="of the field with many")
    parser.add_argument("--metric", choices=["cosine", "dot", "l2"], default="cosine")
    parser.add_argument("--memory", default="64MiB,16MiB,1GiB", help="budgets, separated by commas")
    parser.add_argument("--routes", default=",".join(ROUTES), help="some of " + ", ".join(ROUTES))
    parser.add_argument("--held", type=int, help="MiB that memory and page cache of a build or merge have together")
    parser.add_argument("--threads", default="1")
    parser.add_argument("--tool", default="treepie", help="the tool treepie")
    args = parser.parse_args()
    routes = args.routes.split(",")
    if not set(routes) <= set(ROUTES):
        parser.error(f"--routes: expected some of {', '.join(ROUTES)}, found {args.routes}")
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
        path = lambda name: os.path.join(folder, name)
        vectors = rows(args.base, args.rows, args.dims, path("v.npy"))
        dims = vectors.shape[1]
        with open(path("docs.jsonl"), "w") as docs:
            docs.writelines('{"n": %d}\n' % n for n in range(args.rows))
        for name, many in [("schema", ""), ("many", "many = true\n")]:
            with open(path(name + ".toml"), "w") as schema:
                schema.write('[fields.n]\ntype = "u64"\n[fields.v]\ntype = "vector"\n')
                schema.write(f'dims = {dims}\nmetric = "{args.metric}"\n{many}')
        print(f"{args.rows} vectors of {dims} numbers, {args.rows * dims * 4 / 1e6:.0f} MB", flush=True)

        def index(to, docs, rows, schema, memory):
            command = [args.tool, "index", to, path(docs), "--quiet", "--memory", memory, "--threads", args.threads]
            command += ["--schema", path(schema)] if schema else ["--append"]
            return command + (["--vectors", "v=" + path(rows)] if rows else [])

        if "merge" in routes:
            write_parts(vectors, args.segments, path)
            for nth in range(args.segments):
                part = [f"part{nth}.jsonl", f"part{nth}.npy", None if nth else "schema.toml"]
                run(index(path("segments"), *part, "1GiB"))
                [os.remove(path(name)) for name in part[:2]]
        if "many" in routes:
            write_many(vectors, args.vectors_of_document, path("many.jsonl"))
        for memory in args.memory.split(","):
            for route in routes:
                to = path(route + ".tp")
                if route == "build":
                    command = index(to, "docs.jsonl", "v.npy", "schema.toml", memory)
                elif route == "many":
                    command = index(to, "many.jsonl", None, "many.toml", memory)
                else:
                    shutil.copytree(path("segments"), to)
                    command = [args.tool, "merge", to, "--quiet", "--memory", memory, "--threads", args.threads]
                with control_group(args.held << 20 if args.held else None) as group:
                    # Pages that writing the files has left in the cache count for no group: they are let go of.
                    if group:
                        let_go(vectors.filename, path("docs.jsonl"))
                    peak, took, cpu = run(command, group)
                files = sum(os.path.getsize(os.path.join(to, name)) for name in os.listdir(to))
                shutil.rmtree(to)
                print(
                    f"{route:5} --memory {memory}: {peak / 2**20:.1f} MiB anonymous, {took:.1f} s, "
                    f"{cpu:.1f} s of processors, {files / 1e6:.1f} MB",
                    flush=True,
                )


if __name__ == "__main__":
    main()
