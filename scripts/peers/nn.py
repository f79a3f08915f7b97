"""Training of neural networks by PyTorch, in float32: nn.py WHAT, which is

    convnet       2048 images of 28 x 28, two convolutions with batch normalisation, Adam, batches of 64
    depthwise     256 images of 16 channels of 32 x 32, depthwise and pointwise convolutions, Adam, batches of 32
    mlp           8192 spectra of 512 points to 5 numbers, two layers of 256 units, Adam, batches of 128
    lstm          1024 sequences of 60 steps of 8 numbers, 64 units, Adam, batches of 64
    transformer   512 texts of 64 words, two blocks of 64 features and 4 heads, AdamW, batches of 32

Work is one pass over the examples, in random order.
"""

import sys

from serve import THREADS, serve

import torch
import torch.nn as T
import torch.nn.functional as F

torch.set_num_threads(THREADS)
torch.manual_seed(1)


class Last(T.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.out = T.LSTM(8, 64), T.Linear(64, 4)

    def forward(self, x):
        return self.out(self.layer(x.transpose(0, 1))[0][-1])


class Block(T.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = T.LayerNorm(64), T.LayerNorm(64)
        self.query, self.key, self.value, self.out = (T.Linear(64, 64) for _ in range(4))
        self.wide, self.narrow = T.Linear(64, 256), T.Linear(256, 64)

    def forward(self, x):
        n = self.norm1(x)
        split = lambda f: f(n).unflatten(2, (4, 16)).transpose(1, 2)
        a = F.scaled_dot_product_attention(split(self.query), split(self.key), split(self.value), is_causal=True)
        x = x + self.out(a.transpose(1, 2).flatten(2))
        return x + self.narrow(F.gelu(self.wide(self.norm2(x))))


class Words(T.Module):
    def __init__(self):
        super().__init__()
        self.words, self.blocks, self.out = T.Embedding(100, 64), T.Sequential(Block(), Block()), T.Linear(64, 4)

    def forward(self, x):
        return self.out(self.blocks(self.words(x)).mean(1))


def depthwise(c):
    return [T.Conv2d(c, c, 3, padding=1, groups=c), T.BatchNorm2d(c), T.ReLU6(), T.Conv2d(c, 2 * c, 1), T.BatchNorm2d(2 * c), T.ReLU6()]


NETWORKS = {
    "convnet": lambda: T.Sequential(T.Conv2d(1, 16, 3, padding=1), T.BatchNorm2d(16), T.ReLU(), T.MaxPool2d(2),
                                    T.Conv2d(16, 32, 3, padding=1), T.BatchNorm2d(32), T.ReLU(), T.MaxPool2d(2), T.Flatten(),
                                    T.Linear(32 * 49, 64), T.ReLU(), T.Linear(64, 10)),
    "depthwise": lambda: T.Sequential(*depthwise(16), *depthwise(32), T.AdaptiveAvgPool2d(1), T.Flatten(), T.Linear(64, 10)),
    "mlp": lambda: T.Sequential(T.Linear(512, 256), T.SiLU(), T.Linear(256, 256), T.SiLU(), T.Linear(256, 5)),
    "lstm": Last,
    "transformer": Words,
}

SIZES = {"convnet": (2048, 64, (1, 28, 28), 10), "depthwise": (256, 32, (16, 32, 32), 10), "mlp": (8192, 128, (512,), 0),
         "lstm": (1024, 64, (60, 8), 4), "transformer": (512, 32, (64,), 4)}


def main():
    what = sys.argv[1]
    n, batch, shape, classes = SIZES[what]
    network = NETWORKS[what]()
    x = torch.randint(100, (n, *shape)) if what == "transformer" else torch.randn(n, *shape)
    y = torch.randint(classes, (n,)) if classes else torch.randn(n, 5)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3) if what == "transformer" else torch.optim.Adam(network.parameters(), lr=1e-3)

    def work():
        order = torch.randperm(n)
        for k in range(0, n - batch + 1, batch):
            at = order[k:k + batch]
            optimizer.zero_grad()
            r = network(x[at])
            loss = F.cross_entropy(r, y[at]) if classes else F.mse_loss(r, y[at])
            loss.backward()
            optimizer.step()
            loss.item()
        return None, None

    serve(f"PyTorch {torch.__version__}", work)


main()
