package autodiff_test

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
)

// positive chooses between a for x > 0 and b elsewhere.
func positive(x, a, b *ad.Node) *ad.Node { return ad.Where(ad.Greater(x, ad.Scalar(0)), a, b) }

// activations are functions of networks as graphs of our operations, with a parameter of some.
var activations = map[string]func(x *ad.Node, p float64) *ad.Node{
	"relu":       func(x *ad.Node, _ float64) *ad.Node { return ad.ReLU(x) },
	"leaky_relu": func(x *ad.Node, p float64) *ad.Node { return positive(x, x, ad.Scale(p, x)) },
	"elu":        func(x *ad.Node, p float64) *ad.Node { return positive(x, x, ad.Scale(p, ad.Expm1(x))) },
	"celu":       func(x *ad.Node, p float64) *ad.Node { return positive(x, x, ad.Scale(p, ad.Expm1(ad.Scale(1/p, x)))) },
	"selu": func(x *ad.Node, _ float64) *ad.Node {
		return ad.Scale(1.0507009873554804934193349852946, positive(x, x, ad.Scale(1.6732632423543772848170429916717, ad.Expm1(x))))
	},
	"gelu": func(x *ad.Node, _ float64) *ad.Node { return ad.Mul(x, ad.Phi(x)) },
	"gelu_tanh": func(x *ad.Node, _ float64) *ad.Node {
		inner := ad.Scale(math.Sqrt(2/math.Pi), ad.Add(x, ad.Scale(0.044715, ad.Mul(x, ad.Square(x)))))
		return ad.Mul(ad.Scale(0.5, x), ad.Shift(ad.Tanh(inner), 1))
	},
	"silu":        func(x *ad.Node, _ float64) *ad.Node { return ad.Mul(x, ad.Sigmoid(x)) },
	"mish":        func(x *ad.Node, _ float64) *ad.Node { return ad.Mul(x, ad.Tanh(ad.Softplus(x))) },
	"softplus":    func(x *ad.Node, _ float64) *ad.Node { return ad.Softplus(x) },
	"softsign":    func(x *ad.Node, _ float64) *ad.Node { return ad.Div(x, ad.Shift(ad.Abs(x), 1)) },
	"sigmoid":     func(x *ad.Node, _ float64) *ad.Node { return ad.Sigmoid(x) },
	"log_sigmoid": func(x *ad.Node, _ float64) *ad.Node { return ad.LogSigmoid(x) },
	"tanh":        func(x *ad.Node, _ float64) *ad.Node { return ad.Tanh(x) },
	"hardswish":   func(x *ad.Node, _ float64) *ad.Node { return ad.Mul(x, ad.Scale(1./6, ad.Clip(ad.Shift(x, 3), 0, 6))) },
	"hardsigmoid": func(x *ad.Node, _ float64) *ad.Node { return ad.Scale(1./6, ad.Clip(ad.Shift(x, 3), 0, 6)) },
	"hardtanh":    func(x *ad.Node, _ float64) *ad.Node { return ad.Clip(x, -1, 1) },
	"relu6":       func(x *ad.Node, _ float64) *ad.Node { return ad.Clip(x, 0, 6) },
}

func TestActivationGoldens(t *testing.T) { check(t, activationGoldens(t)) }

func activationGoldens(t *testing.T) (list []goldenCase) {
	for _, c := range golden.Family(t, "cuda", "nn_activation.json") {
		f := activations[c.Op]
		if f == nil {
			t.Errorf("no activation %s", c.Op)
			continue
		}
		p := 0.0
		for _, v := range c.Attrs {
			p = v.(float64)
		}
		x, g := ad.Input("x", c.Inputs["x"].Shape...), ad.Input("g", c.Inputs["grad_y"].Shape...)
		y := f(x, p)
		list = append(list, goldenCase{c, map[string]*ad.Node{"y": y, "grad_x": ad.VJP(y, g, x)[0]}, []*ad.Node{x, g},
			[][]float64{c.Inputs["x"].Values(), c.Inputs["grad_y"].Values()}, func(name string) (float64, float64) {
				switch {
				case name == "y":
					return 1e-14, 4e-7
				case c.Op == "celu" || c.Op == "hardsigmoid":
					return 5e-8, 1e-5 // the reference rounds 1/alpha and 1/6 to float32 in these gradients
				}
				return 1e-12, 1e-5
			}})
	}
	return list
}

func TestGatherGoldens(t *testing.T) { check(t, gatherGoldens(t)) }

func gatherGoldens(t *testing.T) (list []goldenCase) {
	for _, c := range golden.Family(t, "cuda", "nn_gather.json") {
		from := "x"
		if c.Op == "embedding" {
			from = "table"
		}
		in, ix, gy := c.Inputs[from], c.Inputs["index"], c.Inputs["grad_y"]
		x, idx, g := ad.Input("x", in.Shape...), ad.IntInput("i", ix.Shape...), ad.Input("g", gy.Shape...)
		var y *ad.Node
		switch c.Op {
		case "embedding":
			rows := x
			if pad, ok := c.Attrs["padding_index"].(float64); ok { // that row has no gradient
				trained := make([]float64, in.Shape[0])
				for i := range trained {
					trained[i] = 1
				}
				trained[int(pad)] = 0
				rows = ad.Where(ad.Const(trained, len(trained), 1), x, ad.StopGradient(x))
			}
			y = ad.Gather(rows, idx, 0)
		case "index_select":
			y = ad.Gather(x, idx, int(c.Attrs["axis"].(float64)))
		case "gather":
			y = ad.TakeAlong(x, idx, int(c.Attrs["axis"].(float64)))
		case "scatter_add":
			y = ad.ScatterAlong(x, idx, int(c.Attrs["axis"].(float64)), int(c.Attrs["size"].(float64)))
		default:
			t.Errorf("no operation %s", c.Op)
			continue
		}
		list = append(list, goldenCase{c, map[string]*ad.Node{"y": y, "grad_" + from: ad.VJP(y, g, x)[0]}, []*ad.Node{x, idx, g},
			[][]float64{in.Values(), ix.Values(), gy.Values()}, func(name string) (float64, float64) {
				if name == "y" {
					return 1e-14, 4e-7
				}
				return 1e-12, 1e-5
			}})
	}
	return list
}
