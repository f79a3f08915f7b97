"""Operations of euryale bench gpu in PyTorch, and Fourier transforms in CuPy, on the first GPU: gpu.py [FILE]

Prints a line for each operation, with medians in ms of 21 samples by events of the device, of which each repeats the
operation until it takes about 0.2 ms, in turn on four sets of arrays. FILE gets the same as JSON.
"""

import json
import statistics
import sys

import torch
import torch.nn.functional as F

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
torch.manual_seed(1)
SAMPLES, WARMUP, SETS = 21, 3, 4


def operations():
    for n, name in ((1_000, "1K"), (10_000, "10K"), (100_000, "100K"), (1_000_000, "1M"), (10_000_000, "10M")):
        yield f"vector add {name}", torch.add, [(n,), (n,)]
    for n in (128, 256, 512, 1024, 2048):
        yield f"matmul {n}", torch.matmul, [(n, n), (n, n)]
    for b, c, h, w, out in ((32, 64, 128, 128, 128), (1, 32, 64, 64, 64)):
        yield f"conv 3x3 ({b},{c},{h},{w})->{out}", lambda x, k: F.conv2d(x, k, padding=1), [(b, c, h, w), (out, c, 3, 3)]
    yield "relu 1M", F.relu, [(1_000_000,)]
    yield "max pool 2x2 (32,64,128,128)", lambda x: F.max_pool2d(x, 2), [(32, 64, 128, 128)]
    yield "batch norm (32,64,32,32)", lambda x: F.batch_norm(x, None, None, training=True), [(32, 64, 32, 32)]
    yield "sum 10M", torch.sum, [(10_000_000,)]
    yield "softmax (4096,1024)", lambda x: torch.softmax(x, 1), [(4096, 1024)]
    yield "transpose (4096,4096)", lambda x: x.t().contiguous(), [(4096, 4096)]
    yield "cumulative sum 10M", lambda x: torch.cumsum(x, 0), [(10_000_000,)]
    yield "sort 8K", lambda x: torch.sort(x)[0], [(8192,)]
    yield "sort 1M", lambda x: torch.sort(x)[0], [(1_000_000,)]
    yield "fft (1024,1024)", lambda x: torch.fft.fft(torch.view_as_complex(x)), [(1024, 1024, 2)]
    yield "fft 2d (1024,1024)", lambda x: torch.fft.fft2(torch.view_as_complex(x)), [(1024, 1024, 2)]
    # What a pattern of 32 slices of 512 x 512 voxels transforms: three components.
    yield "fft 2d (96,512,512)", lambda x: torch.fft.fft2(torch.view_as_complex(x)), [(96, 512, 512, 2)]
    yield "fft 3d (3,32,512,512)", lambda x: torch.fft.fftn(torch.view_as_complex(x), dim=(1, 2, 3)), [(3, 32, 512, 512, 2)]


def events(run):
    """The median of SAMPLES after WARMUP, in ms for one call, and how many a sample had."""
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))

    def sample(n):
        begin.record()
        for _ in range(n):
            run()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / n

    sample(WARMUP)
    n = max(1, min(200, int(0.2 / max(sample(10), 1e-4))))
    for _ in range(WARMUP):
        sample(n)
    return statistics.median(sample(n) for _ in range(SAMPLES)), n


def measured(f, sets):
    turn = [0]

    def run():
        turn[0] += 1
        return f(*sets[turn[0] % SETS])

    return events(run)


def replayed(f, sets):
    """The same operations captured as one CUDA graph."""
    n = 20
    graph = torch.cuda.CUDAGraph()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        f(*sets[0])
    torch.cuda.synchronize()
    with torch.cuda.graph(graph, stream=stream):
        for i in range(n):
            f(*sets[i % SETS])
    t, _ = events(graph.replay)
    return t / n


def main():
    rows = []
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, CUDA {torch.version.cuda}\n")
    print(f"{'operation':32} {'eager ms':>10} {'graph ms':>10}")
    for name, f, shapes in operations():
        sets = [[2 * torch.rand(s, device="cuda") - 1 for s in shapes] for _ in range(SETS)]
        row = {"name": name, "eager_ms": measured(f, sets)[0]}
        try:
            row["graph_ms"] = replayed(f, sets)
        except RuntimeError as e:  # an operation that cannot be captured
            row["error"] = str(e).splitlines()[0]
        rows.append(row)
        print(f"{name:32} {row['eager_ms']:10.4f} {row.get('graph_ms', float('nan')):10.4f}", flush=True)
        del sets
        torch.cuda.empty_cache()
    try:
        import cupy
    except ImportError:
        print("CuPy is not installed")
    else:
        for name, shape, axes in (("fft 2d (1024,1024)", (1024, 1024), (0, 1)), ("fft 2d (96,512,512)", (96, 512, 512), (1, 2))):
            x = cupy.random.random(shape, dtype=cupy.float32).astype(cupy.complex64)
            stream = cupy.cuda.ExternalStream(torch.cuda.current_stream().cuda_stream)
            with stream:
                t, _ = events(lambda: cupy.fft.fftn(x, axes=axes))
            rows.append({"name": "CuPy " + name, "eager_ms": t})
            print(f"{'CuPy ' + name:32} {t:10.4f}", flush=True)
    if len(sys.argv) > 1:
        with open(sys.argv[1], "w") as f:
            json.dump(rows, f, indent=1)


main()
