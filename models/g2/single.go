package g2

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

var (
	tauParam      = Param{Name: "tau", Unit: "s", Start: 1, Lower: 1e-6, Upper: 1e6, Prior: dist.LogNormal(0, 2)}
	baselineParam = Param{Name: "baseline", Start: 1, Lower: 0, Upper: 2, Prior: dist.Normal(1, 0.1)}
	contrastParam = Param{Name: "contrast", Start: 0.3, Lower: 0, Upper: 1, Prior: dist.HalfNormal(1)}
)

func init() {
	laws = append(laws, Law{
		Name: "single", Of: "delay",
		Formula: "baseline + contrast exp(-2 x/tau)",
		Params:  []Param{tauParam, baselineParam, contrastParam},
		mean: func(p []*ad.Node, x *ad.Node) *ad.Node {
			return ad.Add(p[1], ad.Mul(p[2], decay(x, p[0])))
		},
		starts: func(c Curve) [][]float64 {
			g := c.guess()
			return [][]float64{{g.tau, g.baseline, g.contrast}}
		},
		oneMinus: -1,
	})
}
