package cuda_test

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// layerNorm normalises rows to mean 0 and variance 1.
func layerNorm(x *ad.Node) *ad.Node {
	rows := x.Shape()[0]
	d := ad.Sub(x, ad.Reshape(ad.MeanAxes(x, 1), rows, 1))
	return ad.Mul(d, ad.Rsqrt(ad.Shift(ad.Reshape(ad.MeanAxes(ad.Square(d), 1), rows, 1), 1e-5)))
}

// rowChains are graphs that go over rows several times.
var rowChains = map[string]func(x *ad.Node) *ad.Node{
	"softmax":     func(x *ad.Node) *ad.Node { return ad.Softmax(x, 1) },
	"log softmax": func(x *ad.Node) *ad.Node { return ad.LogSoftmax(x, 1) },
	"logsumexp":   func(x *ad.Node) *ad.Node { return ad.LogSumExp(x, 1) },
	"layer norm":  layerNorm,
}

// Chains over rows are one kernel, and so are their gradients.
func TestRowChainsAreOneKernel(t *testing.T) {
	pretend.Shared(t)
	for name, f := range rowChains {
		x := ad.Input("x", 64, 100)
		y := f(x)
		g := ad.Input("g", y.Shape()...)
		for _, out := range []*ad.Node{y, ad.VJP(y, g, x)[0]} {
			p, err := ad.Compile([]*ad.Node{out}, ad.Settings{Backend: ad.CUDA{}})
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(p.String(), ": 1 kernels") {
				t.Errorf("%s: %v", name, p)
			}
		}
	}
}

// Rows of all lengths: of parts of a warp, a warp, a block, and rows that registers do not hold.
func TestRowChainParity(t *testing.T) {
	pretend.Shared(t)
	var in, outs []*ad.Node
	var values [][]float64
	for i, shape := range [][]int{{5, 2}, {9, 10}, {3, 33}, {40, 64}, {2, 257}, {3, 1000}, {2, 3000}} {
		x, g := ad.Input("x", shape...), ad.Input("g", shape...)
		in, values = append(in, x, g), append(values, random(x.Size(), uint64(i)), random(x.Size(), uint64(i+100)))
		for _, f := range rowChains {
			y := f(x)
			if len(y.Shape()) == 1 {
				outs = append(outs, y, ad.Grad(ad.Sum(ad.Square(y)), x)[0])
				continue
			}
			outs = append(outs, y, ad.Grad(ad.Sum(ad.Mul(g, ad.Square(y))), x)[0])
		}
	}
	// Arrays that joined loops read in another order.
	x := in[6]
	y := ad.Softmax(x, 1)
	outs = append(outs, ad.Add(ad.Softmax(ad.Reshape(ad.T(y), 40, 64), 1), ad.Reshape(ad.SumAxes(y, 0), 1, 64)))
	values[0][3], values[2][10], values[4][0] = values[0][3]*1e300, values[2][10]-800, 900
	same(t, outs, in, values, map[int]float64{64: 1e-12})
	for i, v := range values { // saturated rows have gradients that cancel, which float32 has no digits for
		for k := range v {
			values[i][k] = 0.3 * math.Sin(float64(3*k+i))
		}
	}
	same(t, outs, in, values, map[int]float64{32: 1e-4})
}
