// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// parameters are the trained inputs of one fibre; an input that is not trained is nil.
type parameters struct{ theta, gain, beta *ad.Node }

// layout makes the inputs of all fibres; flat lists them in the order in which the
// vector of parameters holds them.
func (c *Circuit) layout() (by []parameters, flat []*ad.Node) {
	for _, f := range c.Fibres {
		var p parameters
		if !f.FixWeights && f.Edges.Len() > 0 {
			p.theta = ad.Input("theta "+f.Name(), f.Edges.Len())
			flat = append(flat, p.theta)
		}
		if f.LearnGain {
			p.gain = ad.Input("gain " + f.Name())
			flat = append(flat, p.gain)
		}
		if f.LearnBeta {
			p.beta = ad.Input("beta " + f.Name())
			flat = append(flat, p.beta)
		}
		by = append(by, p)
	}
	return by, flat
}

// Start returns the vector of parameters before training: for each fibre theta, one number for each
// synapse, then gain and beta before softplus, if they are trained.
func (c *Circuit) Start() []float64 {
	var x []float64
	for _, f := range c.Fibres {
		if !f.FixWeights {
			x = append(x, make([]float64, f.Edges.Len())...)
		}
		if f.LearnGain {
			x = append(x, math.Log(math.Expm1(f.gain())))
		}
		if f.LearnBeta {
			x = append(x, math.Log(math.Expm1(f.Beta)))
		}
	}
	return x
}

// Trained holds the values of one fibre in a vector of parameters.
type Trained struct {
	Weight     []float64 // weight of each synapse, gain included
	Gain, Beta float64
}

// Read splits a vector of parameters by the names of fibres.
func (c *Circuit) Read(x []float64) (map[string]Trained, error) {
	if want := len(c.Start()); len(x) != want {
		return nil, fmt.Errorf("connectome: %d parameters were given, but the circuit has %d: pass as many as Start returns", len(x), want)
	}
	out := map[string]Trained{}
	take := func(n int) []float64 {
		v := x[:n]
		x = x[n:]
		return v
	}
	for _, f := range c.Fibres {
		r := Trained{Weight: append([]float64{}, f.Edges.weights()...), Gain: f.gain(), Beta: f.Beta}
		if !f.FixWeights {
			for i, v := range take(f.Edges.Len()) {
				r.Weight[i] *= math.Exp(v)
			}
		}
		if f.LearnGain {
			r.Gain = softplus(take(1)[0])
		}
		if f.LearnBeta {
			r.Beta = softplus(take(1)[0])
		}
		for i := range r.Weight {
			r.Weight[i] *= r.Gain
		}
		out[f.Name()] = r
	}
	return out, nil
}

func softplus(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }

// weights returns log-weights and weights of the synapses.
func (p parameters) weights(f *Fibre) (theta, w *ad.Node) {
	theta, w = ad.Full(0, f.Edges.Len()), ad.Const(f.Edges.weights(), f.Edges.Len())
	if p.theta != nil {
		theta, w = p.theta, ad.Mul(w, ad.Exp(p.theta))
	}
	if p.gain != nil {
		return theta, ad.Mul(ad.Softplus(p.gain), w)
	}
	return theta, ad.Scale(f.gain(), w)
}

func (p parameters) plasticity(f *Fibre) *ad.Node {
	if p.beta != nil {
		return ad.Softplus(p.beta)
	}
	return ad.Scalar(f.Beta)
}

func failing(err error) func(...tensor.Shape) (tensor.Shape, error) {
	return func(...tensor.Shape) (tensor.Shape, error) { return nil, err }
}

// rounded writes x to dst in a precision: "64", "32" or "bf16", the nearest number with 8 binary
// digits, ties to even.
func rounded(dst, x []float64, precision string) {
	for i, v := range x {
		switch precision {
		case "32":
			v = float64(float32(v))
		case "bf16":
			v = float64(tensor.BFloat16Of(float32(v)).Float32())
		}
		dst[i] = v
	}
}
