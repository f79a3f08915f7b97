// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/safetensors"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/models/nn"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

// torchNetworks builds the networks of peerNetworks in PyTorch, trains them from our weights, and writes what came out in our
// layout. An argument is a folder named after a network and its precision, with the files weights and data, to which it adds results.
const torchNetworks = `
import os, sys, torch
import torch.nn as T
import torch.nn.functional as F
from safetensors.torch import load_file, save_file

torch.set_num_threads(1)

class MLP(T.Module):
    def __init__(s):
        super().__init__()
        s.a, s.b, s.c = T.Linear(6, 12), T.Linear(12, 8), T.Linear(8, 2)
    def forward(s, x):
        return s.c(F.gelu(s.b(torch.tanh(s.a(x)))))

class Conv(T.Module):
    def __init__(s):
        super().__init__()
        s.conv1, s.norm1 = T.Conv2d(1, 4, 3, padding=1, bias=False), T.BatchNorm2d(4)
        s.conv2, s.norm2 = T.Conv2d(4, 6, 3, stride=2, groups=2, bias=False), T.BatchNorm2d(6)
        s.out = T.Linear(6, 3)
    def forward(s, x):
        h = F.max_pool2d(F.relu(s.norm1(s.conv1(x))), 3, stride=2, padding=1)
        return s.out(F.adaptive_avg_pool2d(F.silu(s.norm2(s.conv2(h))), 1).flatten(1))

class Recurrent(T.Module):
    def __init__(s, layer, gates):
        super().__init__()
        s.layer, s.out = layer(3, 5), T.Linear(5, 2)
        free = torch.zeros(gates * 5, dtype=dtype) # ours has one vector of biases
        if gates == 3:
            free[10:] = 1
        s.layer.bias_hh_l0.register_hook(lambda g: g * free)
    def forward(s, x):
        return s.out(s.layer(x.transpose(0, 1))[0][-1])

class Transformer(T.Module):
    def __init__(s):
        super().__init__()
        s.words, s.norm1, s.norm2 = T.Embedding(11, 8), T.LayerNorm(8), T.LayerNorm(8)
        s.attention = T.MultiheadAttention(8, 2, batch_first=True)
        s.wide, s.narrow, s.out = T.Linear(8, 16), T.Linear(16, 8), T.Linear(8, 3)
    def forward(s, x):
        h = s.words(x)
        n = s.norm1(h)
        mask = torch.triu(torch.ones(x.shape[1], x.shape[1], dtype=torch.bool), 1)
        h = h + s.attention(n, n, n, attn_mask=mask, need_weights=False)[0]
        h = h + s.narrow(F.gelu(s.wide(s.norm2(h))))
        return s.out(h.mean(1))

class Autoencoder(T.Module):
    def __init__(s):
        super().__init__()
        s.in1, s.in2 = T.Conv2d(1, 3, 3, stride=2, padding=1), T.Conv2d(3, 6, 3, stride=2, padding=1)
        s.out1 = T.ConvTranspose2d(6, 3, 3, stride=2, padding=1, output_padding=1)
        s.out2 = T.ConvTranspose2d(3, 1, 3, stride=2, padding=1, output_padding=1)
    def forward(s, x):
        h = F.elu(s.in2(F.elu(s.in1(x))))
        return torch.sigmoid(s.out2(F.elu(s.out1(h))))

def make():
    return {"mlp": MLP, "convnet": Conv, "rnn": lambda: Recurrent(T.RNN, 1), "lstm": lambda: Recurrent(T.LSTM, 4), "gru": lambda: Recurrent(T.GRU, 3),
            "transformer": Transformer, "autoencoder": Autoencoder}[kind]().to(dtype)

def loss(m, r):
    if kind == "mlp":
        return F.mse_loss(r, y)
    if kind == "autoencoder":
        return F.mse_loss(r, x)
    return F.cross_entropy(r, y, label_smoothing=0.1)

# Dense layers are transposed; recurrent ones have one vector of biases; projections of attention stand by themselves.
def theirs(m, w):
    to = {}
    for name, mod in m.named_modules():
        p = name + "."
        if isinstance(mod, (T.RNN, T.LSTM, T.GRU)):
            u = mod.hidden_size
            to[p + "weight_ih_l0"], to[p + "weight_hh_l0"] = w[p + "input"].T, w[p + "hidden"].T
            to[p + "bias_ih_l0"] = w[p + "bias"]
            to[p + "bias_hh_l0"] = torch.zeros_like(w[p + "bias"])
            if isinstance(mod, T.GRU):
                to[p + "bias_hh_l0"][2 * u:] = w[p + "new"]
        elif isinstance(mod, T.MultiheadAttention):
            parts = ["query", "key", "value"]
            to[p + "in_proj_weight"] = torch.cat([w[p + k + ".weight"].T for k in parts])
            to[p + "in_proj_bias"] = torch.cat([w[p + k + ".bias"] for k in parts])
            to[p + "out_proj.weight"], to[p + "out_proj.bias"] = w[p + "out.weight"].T, w[p + "out.bias"]
        elif isinstance(mod, T.Linear) and not name.endswith("out_proj"):
            to[p + "weight"], to[p + "bias"] = w[p + "weight"].T, w[p + "bias"]
        elif not list(mod.children()) and not name.endswith("out_proj"):
            to.update({k: v for k, v in w.items() if k.startswith(p)})
    return to

def ours(m, s):
    to = {}
    for name, mod in m.named_modules():
        p = name + "."
        if isinstance(mod, (T.RNN, T.LSTM, T.GRU)):
            to[p + "input"], to[p + "hidden"], to[p + "bias"] = s[p + "weight_ih_l0"].T, s[p + "weight_hh_l0"].T, s[p + "bias_ih_l0"]
            if isinstance(mod, T.GRU):
                to[p + "new"] = s[p + "bias_hh_l0"][2 * mod.hidden_size:]
        elif isinstance(mod, T.MultiheadAttention):
            for k, a, b in zip(["query", "key", "value"], s[p + "in_proj_weight"].chunk(3), s[p + "in_proj_bias"].chunk(3)):
                to[p + k + ".weight"], to[p + k + ".bias"] = a.T, b
            to[p + "out.weight"], to[p + "out.bias"] = s[p + "out_proj.weight"].T, s[p + "out_proj.bias"]
        elif isinstance(mod, T.Linear) and not name.endswith("out_proj"):
            to[p + "weight"], to[p + "bias"] = s[p + "weight"].T, s[p + "bias"]
        elif not list(mod.children()) and not name.endswith("out_proj"):
            to.update({k: v for k, v in s.items() if k.startswith(p) and not k.endswith("num_batches_tracked")})
    return to

rules = {"gradient": (1, lambda p: torch.optim.SGD(p, lr=1)),
    "sgd": (20, lambda p: torch.optim.SGD(p, lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.01)),
    "adam": (20, lambda p: torch.optim.Adam(p, lr=0.01)),
    "adamw": (20, lambda p: torch.optim.AdamW(p, lr=0.01, weight_decay=0.1, amsgrad=True)),
    "rmsprop": (20, lambda p: torch.optim.RMSprop(p, lr=0.002, momentum=0.5))}
for folder in sys.argv[1:]:
    kind, bits = os.path.basename(folder).split("-")
    dtype = torch.float64 if bits == "64" else torch.float32
    start = {k: v.to(dtype) for k, v in load_file(folder + "/weights").items()}
    data = load_file(folder + "/data")
    x, y = data["x"], data["y"]
    if kind != "transformer":
        x = x.to(dtype)
    y = y.to(dtype) if y.dim() > 1 else y.long()
    got = {}
    for rule, (steps, optimizer) in rules.items():
        m = make()
        missing = m.load_state_dict(theirs(m, start), strict=False)
        assert all(k.endswith("num_batches_tracked") for k in missing.missing_keys) and not missing.unexpected_keys, missing
        m.train()
        o = optimizer(m.parameters())
        for _ in range(steps):
            o.zero_grad()
            l = loss(m, m(x))
            l.backward()
            o.step()
        got[rule + "/last"] = l.detach().reshape(1)
        for k, v in ours(m, m.state_dict()).items():
            got[rule + "/" + k] = v
        m.eval()
        with torch.no_grad():
            r = m(x)
            got[rule + "/judged"], got[rule + "/result"] = loss(m, r).reshape(1), r
    save_file({k: v.contiguous().double() for k, v in got.items()}, folder + "/results")
`

// peerNetworks are networks that torchNetworks has too: how they are built, the shapes of an example's x and y, how many whole
// numbers x is drawn from (0: it is normal), and classes of y (0: it is normal).
var peerNetworks = map[string]struct {
	result       func(m *nn.Model, x *ad.Node) *ad.Node
	x, y         []int
	later        bool
	words, class int
}{
	"mlp": {x: []int{6}, y: []int{2}, result: func(m *nn.Model, x *ad.Node) *ad.Node {
		return m.Dense("c", nn.GELU(m.Dense("b", ad.Tanh(m.Dense("a", x, 12)), 8)), 2)
	}},
	"convnet": {x: []int{1, 12, 11}, class: 3, result: func(m *nn.Model, x *ad.Node) *ad.Node {
		h := ad.Conv2D(x, m.Param("conv1.weight", nn.He(1), 4, 1, 3, 3), ad.Convolution{Pad: [2]int{1, 1}})
		h = ad.MaxPool2D(nn.ReLU(m.BatchNorm("norm1", h)), ad.Pooling{Size: [2]int{3, 3}, Stride: [2]int{2, 2}, Pad: [2]int{1, 1}})
		h = ad.Conv2D(h, m.Param("conv2.weight", nn.He(1), 6, 2, 3, 3), ad.Convolution{Stride: [2]int{2, 2}, Groups: 2})
		h = nn.GlobalAveragePool(nn.SiLU(m.BatchNorm("norm2", h)))
		return m.Dense("out", m.Dropout(h, 0), 3)
	}},
	"rnn": {x: []int{7, 3}, later: true, class: 2, result: func(m *nn.Model, x *ad.Node) *ad.Node {
		_, h := m.RNN("layer", x, 5)
		return m.Dense("out", h, 2)
	}},
	"lstm": {x: []int{7, 3}, later: true, class: 2, result: func(m *nn.Model, x *ad.Node) *ad.Node {
		_, h, _ := m.LSTM("layer", x, 5)
		return m.Dense("out", h, 2)
	}},
	"gru": {x: []int{7, 3}, later: true, class: 2, result: func(m *nn.Model, x *ad.Node) *ad.Node {
		_, h := m.GRU("layer", x, 5)
		return m.Dense("out", h, 2)
	}},
	"transformer": {x: []int{9}, words: 11, class: 3, result: func(m *nn.Model, x *ad.Node) *ad.Node {
		h := m.Embedding("words", x, 11, 8)
		h = ad.Add(h, m.Attention("attention", m.LayerNorm("norm1", h), 2, true))
		h = ad.Add(h, m.Dense("narrow", nn.GELU(m.Dense("wide", m.LayerNorm("norm2", h), 16)), 8))
		return m.Dense("out", ad.MeanAxes(h, 1), 3)
	}},
	"autoencoder": {x: []int{1, 8, 8}, y: []int{1}, result: func(m *nn.Model, x *ad.Node) *ad.Node {
		half := ad.Convolution{Stride: [2]int{2, 2}, Pad: [2]int{1, 1}}
		elu := func(x *ad.Node) *ad.Node { return nn.ELU(x, 1) }
		h := elu(m.Conv2D("in2", elu(m.Conv2D("in1", x, 3, 3, half)), 6, 3, half))
		h = elu(m.ConvTranspose2D("out1", h, 3, 3, half, [2]int{1, 1}))
		return ad.Sigmoid(m.ConvTranspose2D("out2", h, 1, 3, half, [2]int{1, 1}))
	}},
}

// Networks trained here and in PyTorch, from the same weights, have the same losses, gradients, weights after 20 steps of each rule,
// running statistics and results in evaluation.
func TestTrainsAsPyTorch(t *testing.T) {
	py := peer.Python(t, "torch", "safetensors")
	var pairs []*pair
	var folders []string
	for _, name := range slices.Sorted(maps.Keys(peerNetworks)) {
		for _, bits := range []int{64, 32} {
			p := newPair(t, name, bits)
			pairs, folders = append(pairs, p), append(folders, p.folder)
		}
	}
	py.Run(t, torchNetworks, folders...)
	for _, p := range pairs {
		t.Run(filepath.Base(p.folder), p.compare)
	}
}

// pair is a network here and in PyTorch, with one batch of data.
type pair struct {
	folder  string
	bits    int
	network func() *nn.Network
	data    nn.Source
}

func newPair(t *testing.T, name string, bits int) *pair {
	t.Helper()
	const n = 16
	c := peerNetworks[name]
	build := func(m *nn.Model, in []*ad.Node) nn.Outputs {
		r := c.result(m, in[0])
		o := nn.Outputs{Results: map[string]*ad.Node{"result": r}}
		switch {
		case name == "autoencoder":
			o.Loss = nn.MSE(r, in[0], nn.Mean)
		case c.class > 0:
			o.Loss = nn.CrossEntropy(r, in[1], nn.Labels{Smoothing: 0.1})
		default:
			o.Loss = nn.MSE(r, in[1], nn.Mean)
		}
		return o
	}
	inputs := []nn.Input{{Name: "x", Shape: c.x, Ints: c.words > 0, Later: c.later}, {Name: "y", Shape: c.y, Ints: c.class > 0}}
	p := &pair{folder: filepath.Join(t.TempDir(), fmt.Sprintf("%s-%d", name, bits)), bits: bits}
	p.network = func() *nn.Network {
		net, err := nn.New(build, inputs, nn.Settings{Seed: 3, Batch: n, Precision: bits})
		if err != nil {
			t.Fatal(err)
		}
		return net
	}
	x, y := peerData(t, 1, c.words, append([]int{n}, c.x...)), peerData(t, 2, c.class, append([]int{n}, c.y...))
	var err error
	if p.data, err = nn.Arrays(x, y); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(p.folder, 0o777), safetensors.Save(filepath.Join(p.folder, "weights"), p.network().Weights(), nil),
		safetensors.Save(filepath.Join(p.folder, "data"), map[string]*tensor.Tensor{"x": x, "y": y}, nil)); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pair) compare(t *testing.T) {
	want, _, err := safetensors.Load(filepath.Join(p.folder, "results"))
	if err != nil {
		t.Fatal(err)
	}
	worst := 0.0
	for rule, s := range map[string]nn.Training{
		"gradient": {Epochs: 1, Rule: optim.SGD{}, LR: 1},
		"sgd":      {Epochs: 20, Rule: optim.SGD{Momentum: 0.9, Nesterov: true, WeightDecay: 0.01}, LR: 0.05},
		"adam":     {Epochs: 20, Rule: optim.Adam{}, LR: 0.01},
		"adamw":    {Epochs: 20, Rule: optim.Adam{Decoupled: true, WeightDecay: 0.1, AMSGrad: true}, LR: 0.01},
		"rmsprop":  {Epochs: 20, Rule: optim.RMSProp{Momentum: 0.5}, LR: 0.002},
	} {
		limit := map[int]float64{64: 1e-12, 32: 1e-5}[p.bits]
		if s.Epochs > 1 { // rules that divide by the size of small gradients spread rounding
			limit *= 100
		}
		check := func(what string, got []float64) {
			d := distance(got, want[rule+"/"+what].Float64s())
			worst = max(worst, d/limit)
			if !(d <= limit) {
				t.Errorf("%s, %s: the difference is %.3g, want at most %.1g", rule, what, d, limit)
			}
		}
		net, ctx := p.network(), context.Background()
		h, err := net.Train(ctx, p.data, s)
		if err != nil {
			t.Fatal(err)
		}
		e, err := net.Evaluate(ctx, p.data)
		if err != nil {
			t.Fatal(err)
		}
		r, err := net.Predict(ctx, p.data)
		if err != nil {
			t.Fatal(err)
		}
		check("last", []float64{h.Epochs[len(h.Epochs)-1].Loss})
		check("judged", []float64{e.Loss})
		check("result", r["result"].Float64s())
		for name, w := range net.Weights() {
			if name != "attention.key.bias" { // softmax does not change with it, so that its gradient is rounding
				check(name, w.Convert(tensor.Float64).Float64s())
			}
		}
	}
	t.Logf("largest difference: %.2g of what is allowed", worst)
}

// peerData are normal numbers, or whole ones below classes.
func peerData(t *testing.T, seed uint64, classes int, shape []int) *tensor.Tensor {
	t.Helper()
	s := tensor.NewStream(seed, 4, 0)
	v, labels := make([]float64, tensor.Shape(shape).Size()), make([]int64, tensor.Shape(shape).Size())
	for i := range v {
		v[i] = s.Normal()
		labels[i] = int64(s.IntN(max(1, classes)))
	}
	var data any = v
	if classes > 0 {
		data = labels
	}
	x, err := tensor.From(data, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// distance is the norm of a-b, relative to that of b.
func distance(a, b []float64) float64 {
	var d, size float64
	for i := range b {
		d, size = d+(a[i]-b[i])*(a[i]-b[i]), size+b[i]*b[i]
	}
	return math.Sqrt(d / size)
}
