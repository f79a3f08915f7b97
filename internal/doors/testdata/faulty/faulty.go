// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package faulty adds parts that panic when they are used.
package faulty

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/models/g2"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
	"github.com/euryale-dev/euryale/viz"
)

var nothing []float64

func node() *ad.Node { return ad.Scalar(nothing[3]) }

// armed is set once the parts are registered, where some of them are tried.
var armed bool

// Rare draws and has a density only until armed.
func Rare() dist.Dist {
	return dist.Dist{Name: "rare", Support: dist.Real,
		LogProbOf: func(x *ad.Node) *ad.Node {
			if armed {
				return node()
			}
			return ad.Neg(ad.Square(x))
		},
		RandOf: func(dist.Source, []float64) float64 {
			if armed {
				return nothing[3]
			}
			return 0
		},
	}
}

// Drawless has a density and no random numbers.
func Drawless() dist.Dist {
	d := Rare()
	d.Name, d.LogProbOf = "drawless", func(x *ad.Node) *ad.Node { return ad.Scale(-0.5, ad.Square(x)) }
	return d
}

// Late is an operation whose program panics at large values.
func Late(x *ad.Node) *ad.Node {
	return ad.Call(&ad.Custom{Name: "late",
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) { return in[0], nil },
		Forward: func(out []float64, in ...[]float64) error {
			copy(out, in[0])
			if armed {
				out[0] = nothing[3]
			}
			return nil
		},
		VJP: func(g, y *ad.Node, in []*ad.Node) []*ad.Node { return []*ad.Node{g} },
	}, x)
}

func init() {
	param := func(name string) g2.Param {
		return g2.Param{Name: name, Start: 1, Lower: 0, Upper: 2, Prior: dist.Normal(1, 1)}
	}
	mean := func(p []*ad.Node, x *ad.Node) *ad.Node { return ad.Mul(p[0], x) }
	g2.Register(g2.Model{Name: "mean", Of: "delay", Formula: "a x", Params: []g2.Param{param("a")},
		Mean: func(p []*ad.Node, x *ad.Node) *ad.Node {
			if armed {
				return node()
			}
			return mean(p, x)
		}})
	g2.Register(g2.Model{Name: "starts", Of: "delay", Formula: "a x", Params: []g2.Param{param("a")},
		Mean: mean, Starts: func(c g2.Curve) [][]float64 {
			if c.X[0] == 1 {
				return [][]float64{{nothing[3]}}
			}
			return nil
		}})
	dist.Register(dist.Family{Name: "rare", Make: func(...any) dist.Dist { return Rare() }, At: [][]float64{{}}})
	dist.Register(dist.Family{Name: "drawless", Make: func(...any) dist.Dist { return Drawless() }, At: [][]float64{{}}})
	morph.Register("hollow", morph.Definition{About: "nothing", Params: []morph.Parameter{{Name: "radius", About: "radius", Needed: true}},
		Build: func(*morph.Problem, morph.Grid, morph.Values) morph.Scene {
			return morph.Scene{Materials: make([]rsoxs.MaterialNodes, int(nothing[3]))}
		}})
	morph.RegisterNuisance("leak", morph.Nuisance{About: "a leak", Params: []morph.Parameter{{Name: "leak", About: "a leak", Default: new(float64)}},
		Apply: func(at morph.Values, intensity, q *ad.Node) *ad.Node { return node() }})
	viz.Register(viz.Kind{Name: "torn", About: "a torn picture", Draw: func(viz.Draws, ...string) (*viz.Figure, error) {
		return nil, []error{}[int(nothing[3])]
	}})
	formula.Register("late", 1, func(in []*ad.Node) *ad.Node { return Late(in[0]) })
	armed = true
}
