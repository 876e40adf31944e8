#!/usr/bin/env python3
"""Compares treepie with libraries for nearest neighbours: time to build, and time to search at equal recall.

See ../README.md. All of it runs on one thread, and the truth is an exact scan by 64 bits: a neighbour counts that is
as near as the k-th nearest, so that ties count. A library is measured at several numbers of nodes that its walk keeps; times at
a recall lie on the line between the two measurements around it.
"""
import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

KEPT = [10, 20, 40, 60, 80, 120, 160, 240, 320, 480, 640]
RECALLS = [0.95, 0.99]
K = 10
# So many that warming up does not count.
PASSES = 20


def read(path):
    if path.endswith(".fvecs"):
        raw = np.fromfile(path, np.int32)
        return raw.reshape(-1, raw[0] + 1)[:, 1:].copy().view(np.float32)
    return np.load(path).astype(np.float32)


def write(path, rows, kind):
    dims = np.full((len(rows), 1), rows.shape[1], np.int32)
    np.hstack([dims, np.ascontiguousarray(rows, kind).view(np.int32)]).tofile(path)


def distances(metric, base, query):
    base, query = np.asarray(base, np.float64), np.asarray(query, np.float64)
    if metric == "l2":
        return ((base - query) ** 2).sum(1)
    product = base @ query
    if metric == "cosine":
        product /= np.linalg.norm(base, axis=1) * np.linalg.norm(query)
    return -product


def cpu(children=False):
    used = resource.getrusage(resource.RUSAGE_CHILDREN if children else resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Data:
    def __init__(self, base, queries, metric):
        self.base, self.queries, self.metric = base, queries, metric
        self.nearest, self.last = [], []
        exact = base.astype(np.float64)
        for query in queries:
            far = distances(metric, exact, query)
            nearest = np.argsort(far, kind="stable")[:K]
            self.nearest.append(nearest)
            self.last.append(far[nearest[-1]])
        # Libraries take vectors of length 1 and their product for a cosine.
        unit = lambda rows: rows / np.linalg.norm(rows, axis=1, keepdims=True)
        self.rows, self.asked = (unit(base), unit(queries)) if metric == "cosine" else (base, queries)

    def recall(self, found):
        hits = 0
        for query, ids, last in zip(self.queries, found, self.last):
            far = distances(self.metric, self.base[ids], query)
            hits += (far <= last + abs(last) * 1e-9).sum()
        return hits / (K * len(self.queries))


def measure(data, search):
    """Recall and microseconds of each number of nodes."""
    for kept in KEPT:
        found, least = search(kept), float("inf")
        for _ in range(PASSES):
            start = time.process_time()
            search(kept)
            least = min(least, time.process_time() - start)
        yield kept, data.recall(np.asarray(found)), least * 1e6 / len(data.queries)


def report(name, build, points):
    points = list(points)
    shown = " ".join(f"{kept}:{recall:.4f}/{us:.0f}" for kept, recall, us in points)
    at = []
    for wanted in RECALLS:
        time_at = "-"
        if points[0][1] >= wanted:
            time_at = f"<= {points[0][2]:.0f}"
        for (_, before, us), (_, after, more) in zip(points, points[1:]):
            if before < wanted <= after:
                time_at = f"{us + (wanted - before) / (after - before) * (more - us):.0f}"
                break
        at.append(f"{time_at} us @ {wanted}")
    print(f"{name}: build {build:.2f} s; {', '.join(at)}\n    {shown}", flush=True)


def hnswlib(data):
    import hnswlib

    space = {"l2": "l2", "cosine": "ip", "dot": "ip"}[data.metric]
    start = cpu()
    index = hnswlib.Index(space, data.base.shape[1])
    index.init_index(len(data.base), ef_construction=200, M=16)
    index.add_items(data.rows, num_threads=1)
    build = cpu() - start

    def search(kept):
        index.set_ef(kept)
        return index.knn_query(data.asked, K, num_threads=1)[0]

    return build, search


def usearch(data):
    from usearch.index import Index

    metric = {"l2": "l2sq", "cosine": "ip", "dot": "ip"}[data.metric]
    start = cpu()
    index = Index(ndim=data.base.shape[1], metric=metric, dtype="f32", connectivity=16, expansion_add=128)
    index.add(np.arange(len(data.base)), data.rows, threads=1)
    build = cpu() - start

    def search(kept):
        index.expansion_search = kept
        return index.search(data.asked, K, threads=1).keys

    return build, search


def faiss(data, kind):
    import faiss

    faiss.omp_set_num_threads(1)
    metric = faiss.METRIC_L2 if data.metric == "l2" else faiss.METRIC_INNER_PRODUCT
    start = cpu()
    index = faiss.index_factory(data.base.shape[1], f"HNSW32,{kind}", metric)
    index.hnsw.efConstruction = 200
    if kind != "Flat":
        index.train(data.rows)
    index.add(data.rows)
    build = cpu() - start

    def search(kept):
        index.hnsw.efSearch = kept
        return index.search(data.asked, K)[1]

    return build, search


def treepie(data, tool):
    """Indexes with the tool, once with a graph and once without; the difference is what the graph takes."""
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        write(path("base.fvecs"), data.base, np.float32)
        write(path("queries.fvecs"), data.queries, np.float32)
        write(path("truth.ivecs"), np.array(data.nearest), np.int32)
        with open(path("docs.jsonl"), "w") as docs:
            docs.writelines('{"n": %d}\n' % n for n in range(len(data.base)))
        took = {}
        for graph in ["none", "auto"]:
            with open(path("schema.toml"), "w") as schema:
                schema.write('[fields.n]\ntype = "u64"\n[fields.v]\ntype = "vector"\n')
                schema.write(f'dims = {data.base.shape[1]}\nmetric = "{data.metric}"\ngraph = "{graph}"\n')
            start = cpu(True)
            index = [tool, "index", path(graph), path("docs.jsonl"), "--schema", path("schema.toml"), "--threads", "1"]
            subprocess.run(index + ["--vectors", "v=" + path("base.fvecs"), "--quiet"], check=True)
            took[graph] = cpu(True) - start
        points = []
        for kept in KEPT:
            bench = [tool, "bench", path("auto"), "--knn", path("queries.fvecs"), "--truth", path("truth.ivecs")]
            bench += ["--k", str(K), "--ef", str(kept), "--passes", str(PASSES), "--format", "json"]
            lines = subprocess.run(bench, check=True, capture_output=True, text=True).stdout.splitlines()
            each = [json.loads(line) for line in lines[:-1]]
            least = sum(line["us_min"] for line in each) / len(each)
            points.append((kept, json.loads(lines[-1])["recall"]["mean"], least))
        report("treepie", took["auto"] - took["none"], points)
        print(f"    with vectors and documents {took['auto']:.2f} s, without graph {took['none']:.2f} s")


def parser_of(description):
    """Options of all scripts that search vectors for others."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("base", help="vectors, .npy or .fvecs")
    parser.add_argument("queries", help="vectors, .npy or .fvecs; or a number: so many are taken out of the base")
    parser.add_argument("--metric", choices=["cosine", "dot", "l2"], default="cosine")
    return parser


def main():
    parser = parser_of(__doc__)
    parser.add_argument("--tool", default="treepie", help="the tool treepie")
    parser.add_argument("--peers", default="treepie,hnswlib,usearch,faiss,faiss-sq8")
    args = parser.parse_args()
    base = read(args.base)
    if args.queries.isdigit():
        step = len(base) // int(args.queries)
        taken = np.arange(0, step * int(args.queries), step)
        queries, base = base[taken], np.delete(base, taken, axis=0)
    else:
        queries = read(args.queries)
    base = base[np.linalg.norm(base, axis=1) > 0]
    data = Data(np.ascontiguousarray(base), np.ascontiguousarray(queries), args.metric)
    print(f"{len(base)} vectors of {base.shape[1]} numbers, {len(queries)} queries, {args.metric}, best {K}", flush=True)
    makers = {"hnswlib": hnswlib, "usearch": usearch, "faiss": lambda data: faiss(data, "Flat")}
    makers["faiss-sq8"] = lambda data: faiss(data, "SQ8")
    for peer in args.peers.split(","):
        if peer == "treepie":
            treepie(data, args.tool)
        elif peer in makers:
            build, search = makers[peer](data)
            report(peer, build, measure(data, search))
        else:
            sys.exit(f"no peer is called {peer}: there are treepie, {', '.join(makers)}")


if __name__ == "__main__":
    main()
