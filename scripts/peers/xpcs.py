"""Work of photon correlation with NumPy, SciPy and PyTorch: python xpcs.py WHAT [numpy|torch].

WHAT is qmap, partition, gaussian, multitau, sparse, twotime or fits. The frames are those of frame() here, which the
races make too.
"""

import os
import sys

from serve import THREADS, asked, serve

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

import numpy as np

what, how = sys.argv[1], (sys.argv[2:] + ["numpy"])[0]


def frame(f, pixels, levels):
    """Counts below levels that look random, of frame f."""
    h = (np.arange(pixels, dtype=np.uint64) * 2654435761 + np.uint64(f * 40503)) & 0xFFFFFFFF
    h ^= h >> 15
    h = (h * 2246822519) & 0xFFFFFFFF
    h ^= h >> 13
    return h % levels


def qmap(side):
    row, col = np.meshgrid(np.arange(side) - 0.47 * side, np.arange(side) - 0.52 * side, indexing="ij")
    k = 2 * np.pi / (12.39841984 / 10)
    r = np.hypot(row, col) * 75e-6
    alpha = np.arctan(r / 5)
    return 2 * k * np.sin(alpha / 2), np.rad2deg(-np.arctan2(row, col))


def divide(x, n):
    edges = np.linspace(x.min(), x.max(), n + 1)
    index = np.digitize(np.round(x, 12), np.round(edges, 12))
    index[x == x.max()] = n
    index[index < 1] = 1
    return index


def cells(a, b, n):
    raw = (a - 1) * n + b
    _, index = np.unique(raw, return_inverse=True)
    return index.reshape(raw.shape) + 1


def lags(frames):
    out = [(0, t) for t in range(1, 5)]
    level = 0
    while True:
        for x in (5, 6, 7, 8):
            if x * 2**level >= frames // 2**level * 2**level:
                return out
            out.append((level, x))
        level += 1


class Level:
    """Sums of products of the frames of one level, in blocks."""

    def __init__(self, xp, pixels, wanted):
        self.xp, self.wanted = xp, wanted
        self.past = xp.zeros((8, pixels), dtype=xp.float32)
        self.seen, self.half = 0, None
        self.sums = [xp.zeros(pixels, dtype=xp.float64) for _ in wanted]
        self.head = xp.zeros((8, pixels), dtype=xp.float32)
        self.total = xp.zeros(pixels, dtype=xp.float64)

    def add(self, block):
        xp = self.xp
        joined = xp.concatenate([self.past, block]) if xp is np else xp.cat([self.past, block])
        n = len(block)
        for i, t in enumerate(self.wanted):
            self.sums[i] += (joined[8:] * joined[8 - t : 8 - t + n]).sum(0)
        for i in range(self.seen, min(self.seen + n, 8)):
            self.head[i] = block[i - self.seen]
        self.total += block.sum(0)
        self.seen += n
        self.past = joined[-8:]
        if self.half is not None:
            block = xp.concatenate([self.half, block]) if xp is np else xp.cat([self.half, block])
        self.half = block[len(block) // 2 * 2 :] if len(block) % 2 else None
        block = block[: len(block) // 2 * 2]
        return block[::2] + block[1::2]


def multitau(xp, blocks, frames, pixels, dynamic, static):
    wanted = {}
    for level, t in lags(frames):
        wanted.setdefault(level, []).append(t)
    levels = [Level(xp, pixels, wanted[k]) for k in sorted(wanted)]
    for block in blocks:
        for level in levels:
            if not len(block):
                break
            block = level.add(block)
    mean = lambda v, bins: np.bincount(bins, np.asarray(v), minlength=bins.max() + 1) / np.bincount(bins)
    out = []
    owner = np.zeros(static.max() + 1, int)
    owner[static] = dynamic
    for k, level in enumerate(levels):
        for i, t in enumerate(level.wanted):
            n = level.seen - t
            earlier = np.asarray(level.total) - np.asarray(level.past)[8 - t :].sum(0)
            later = np.asarray(level.total) - np.asarray(level.head)[:t].sum(0)
            ratio = mean(level.sums[i], static) / n / (mean(earlier, static) / n * mean(later, static) / n)
            out.append(np.bincount(owner, ratio) / np.bincount(owner))
    return np.array(out)


def bins(side, n):
    return np.arange(side * side) * n // (side * side)


def main():
    given = asked()
    if what == "qmap":
        return f"NumPy {np.__version__}", lambda: (None, float(sum(v.mean() for v in qmap(given["side"]))))
    if what == "partition":
        q, phi = qmap(given["side"])

        def work():
            d = cells(divide(q, 36), divide(phi, 36), 36)
            s = cells(divide(q, 360), divide(phi, 360), 360)
            return None, float(d.mean() + s.mean())

        return f"NumPy {np.__version__}", work
    if what == "gaussian":
        import scipy
        from scipy.ndimage import gaussian_filter

        x = frame(0, given["side"] ** 2, 1013).reshape(given["side"], -1).astype(float)
        return f"SciPy {scipy.__version__}", lambda: (None, float(np.square(gaussian_filter(x, given["sigma"])).mean()))
    if what in ("multitau", "sparse"):
        side, count, dynamic, static = given["side"], given["frames"], bins(given["side"], 36), bins(given["side"], 360)
        pool = [frame(f, side * side, 5) for f in range(16)]
        if what == "sparse":
            pool = [(frame(f, side * side, 1000) == 0) for f in range(16)]
            events = [np.flatnonzero(p) for p in pool]
        version = f"NumPy {np.__version__}"
        xp = np
        if how == "torch":
            import torch as xp

            xp.set_num_threads(THREADS)
            version = f"PyTorch {xp.__version__}"
        pool = np.array(pool, dtype=np.float32)

        def blocks():
            for at in range(0, count, 16):
                n = min(16, count - at)
                if what == "multitau":
                    block = pool[:n]
                else:
                    block = np.zeros((n, side * side), dtype=np.float32)
                    for i in range(n):
                        block[i, events[i]] = 1
                yield block if xp is np else xp.from_numpy(np.ascontiguousarray(block))

        return version, lambda: (count, float(multitau(xp, blocks(), count, side * side, dynamic, static).mean()))
    if what == "twotime":
        x = np.array([frame(f, given["pixels"], 5) for f in range(given["frames"])], dtype=np.float32)

        def work():
            y = x / x.mean(1, keepdims=True)
            s = y.sum(1)
            c = y @ y.T * (x.shape[1] / np.outer(s, s))
            return None, float(c.mean())

        return f"NumPy {np.__version__}", work
    import scipy
    from scipy.optimize import curve_fit

    t, rows, sd = np.array(given["t"]), np.array(given["rows"]), np.array(given["sd"])
    lower, upper = [0.04, t[0] / 20, 0.5, 0.95], [0.8, t[-1] * 10, 2, 1.05]
    model = lambda x, a, b, c, d: a * np.exp(-2 * (x / b) ** c) + d
    start = [(lower[0] + upper[0]) / 2, np.sqrt(lower[1] * upper[1]), 1.25, 1.0]

    def work():
        b = [curve_fit(model, t, y, start, sd, bounds=(lower, upper))[0][1] for y in rows]
        return len(rows), float(np.mean(b))

    return f"SciPy {scipy.__version__}", work


serve(*main())
