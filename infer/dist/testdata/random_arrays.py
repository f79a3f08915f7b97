#!/usr/bin/env python3
# Copyright The Euryale Authors
# SPDX-License-Identifier: Apache-2.0
"""Writes random_arrays/*.bin.gz: log densities and tails of distributions of arrays, with derivatives, at random points.

It is random_points.py for the families of reference_arrays.py, at sizes from 1 to 5. Each file is a sequence of blocks of
points whose arrays have the same shapes: the number of points (4 bytes), which of LogProb, LogCDF and LogCCDF there are (a
byte of bits), the number of arrays, the value first, and for each its kind (a letter), its number of axes and its lengths.
Then come columns of numbers, as planes of bytes: the free numbers of the arrays (8 bytes), and for each function the value
(5), the power of two by which it moves for a relative change of 1 of the inputs (1, with 128 added; where it is above 127, another point is drawn), and for each free
number the derivative (4) and the power of two by which that moves, relative to itself (1). Elements of symmetric matrices
move relative to the roots of the diagonal. Needs python-flint 0.9. Usage: random_arrays.py [-n POINTS] [FAMILY ...]
"""
import gzip
import math
import multiprocessing
import os
import random
import signal
import struct
import sys
import time

from jets import ZERO, Jet
from random_points import NOT, alarm, evaluate, rounded
from reference_arrays import FAMILIES

SIZES = 5


def draw(rng, name, n):
    arrays = FAMILIES[name][0](rng, n)
    each = "".join(("i" if a.kind == "whole" else "r") * len(a.numbers) for a in arrays)
    return arrays, each, [v for a in arrays for v in a.numbers], [v for a in arrays for v in a.scales]


def given(f, arrays):
    def g(*numbers):
        out, at = [], 0
        for a in arrays:
            out.append(a.nested(list(numbers[at:at + len(a.numbers)])))
            at += len(a.numbers)
        return f(*out)
    return g


def moved(slopes, scales, each):
    """128 and the power of two of how far the value moves"""
    total = sum((abs(d * s) for d, s, k in zip(slopes, scales, each) if k == "r" and not d.is_nan()), ZERO).abs_upper()
    return 0 if not total > 0 else int(max(1, 128 + math.ceil(float(total.log().mid()) / math.log(2))))


def chunk(job):
    name, first, n = job
    signal.signal(signal.SIGALRM, alarm)
    rows, failed, start = [], 0, time.time()
    for i in range(first, first + n):
        rng = random.Random("euryale array %s %d" % (name, i))
        while True:
            arrays, each, numbers, scales = draw(rng, name, 1 + i % SIZES)
            row, bad = [struct.pack(">d", v) for v in numbers], False
            for f in FAMILIES[name][1:]:
                if f is None:
                    continue
                out = evaluate(given(f, arrays), numbers, each, scales)
                v, slopes, lost = out or (NOT, [], [])
                power = moved(slopes, scales, each)
                if out is None or power > 255:
                    bad = True
                    break
                row += [rounded(v.v if isinstance(v, Jet) else v, 5), bytes([power])]
                for k, d, b in zip(each, slopes, lost):
                    if k == "r":
                        row += [rounded(d, 4), bytes([b])]
            if bad:
                failed += 1
                continue
            rows.append((tuple((a.kind[0], a.shape) for a in arrays), row))
            break
    return rows, failed, time.time() - start


def block(name, shapes, rows):
    head = struct.pack(">IBB", len(rows), sum(1 << i for i, f in enumerate(FAMILIES[name][1:]) if f is not None), len(shapes))
    for kind, shape in shapes:
        head += kind.encode() + bytes([len(shape), *shape])
    return head + b"".join(bytes(v[plane] for v in c) for c in zip(*rows) for plane in range(len(c[0])))


def write(name, rows):
    groups = {}
    for shapes, row in rows:
        groups.setdefault(shapes, []).append(row)
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "random_arrays")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name + ".bin.gz"), "wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as out:
        out.write(b"".join(block(name, s, r) for s, r in groups.items()))


def main():
    args = sys.argv[1:]
    n, step = 2000, 10
    if args[:1] == ["-n"]:
        n, args = int(args[1]), args[2:]
    with multiprocessing.Pool(int(os.environ.get("JOBS", "2"))) as pool:
        for name in args or sorted(FAMILIES):
            rows, failed, took = [], 0, 0.0
            for more, bad, seconds in pool.imap(chunk, [(name, i, min(step, n - i)) for i in range(0, n, step)]):
                rows, failed, took = rows + more, failed + bad, took + seconds
            write(name, rows)
            print("%s: %d points in %.0f s, without a reference %d" % (name, n, took, failed), flush=True)


if __name__ == "__main__":
    main()
