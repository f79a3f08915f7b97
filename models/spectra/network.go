// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Layer is a linear layer of a network: y = W x + b.
type Layer struct {
	In, Out int
	W       []float64 // matrix of weights, (Out, In), row-major
	B       []float64
}

func (l *Layer) check() error {
	if l.In < 1 || l.Out < 1 || len(l.W) != l.In*l.Out || len(l.B) != l.Out {
		return fmt.Errorf("spectra: a layer of %s and %d outputs has %d weights and %d biases: want inputs times outputs, and one for each output", errtext.Count(l.In, "input"), l.Out, len(l.W), len(l.B))
	}
	for _, list := range [][]float64{l.W, l.B} {
		for i, x := range list {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				return fmt.Errorf("spectra: weight %d of a layer of %s and %d outputs is %v: want finite numbers", i, errtext.Count(l.In, "input"), l.Out, x)
			}
		}
	}
	return nil
}

// Network is a neural network from parameters to log spectra: linear layers with SiLU activations,
// and a last one without, whose rows are like principal components.
type Network struct {
	Mean, SD []float64 // means and standard deviations of the mapped parameters, by which they are standardised
	Layers   []Layer
	// Hulls are the convex hulls of the library in the planes of pairs of its standardised
	// parameters.
	Hulls []PlaneHull

	points []float64 // of which these are the hulls
}

// mostLog bounds the logarithms of fluxes.
const mostLog = 300

// NewNetwork checks that the layers fit together. points are the standardised parameters of the library, one
// row for each template, whose hulls in the planes of parameters 0 and 1, 2 and 3, and so on, are the inside.
func NewNetwork(mean, sd []float64, layers []Layer, points []float64) (*Network, error) {
	d := len(mean)
	if d == 0 || len(sd) != d || len(points)%d != 0 || len(layers) == 0 {
		return nil, fmt.Errorf("spectra: the network has %s, %d means, %s and %s of points: want at least one layer, and a mean and a standard deviation for each parameter", errtext.Count(len(layers), "layer"), d, errtext.Count(len(sd), "standard deviation"), errtext.Count(len(points), "coordinate"))
	}
	for k, s := range sd {
		if !(s > 0) {
			return nil, fmt.Errorf("spectra: parameter %d of the network has the standard deviation %v: want a positive number", k, s)
		}
	}
	in := d
	for _, l := range layers {
		if err := l.check(); err != nil {
			return nil, err
		}
		if l.In != in {
			return nil, fmt.Errorf("spectra: a layer of %d inputs follows one of %s: want as many", l.In, errtext.Count(in, "output"))
		}
		in = l.Out
	}
	n := &Network{Mean: mean, SD: sd, Layers: layers, points: points}
	for k := 0; k < d; k += 2 {
		h, err := newPlaneHull(points, d, k, min(k+1, d-1))
		if err != nil {
			return nil, err
		}
		n.Hulls = append(n.Hulls, h)
	}
	return n, nil
}

// Dim returns the number of parameters.
func (n *Network) Dim() int { return len(n.Mean) }

// box returns the ends of the mapped parameters of the library that the network was trained with.
func (n *Network) box() (lower, upper []float64) {
	d := n.Dim()
	lower, upper = slices.Repeat([]float64{math.Inf(1)}, d), slices.Repeat([]float64{math.Inf(-1)}, d)
	for i, x := range n.points {
		k := i % d
		lower[k], upper[k] = min(lower[k], n.Mean[k]+n.SD[k]*x), max(upper[k], n.Mean[k]+n.SD[k]*x)
	}
	return lower, upper
}

// Pixels returns the length of a spectrum.
func (n *Network) Pixels() int { return n.Layers[len(n.Layers)-1].Out }

// Interpolate evaluates the network. Outside is the square of the distance, in standard deviations,
// to the farthest side of the hulls beyond which a point lies.
func (n *Network) Interpolate(x *ad.Node) (logFlux, outside *ad.Node) {
	scale := make([]float64, n.Dim())
	for k, s := range n.SD {
		scale[k] = 1 / s
	}
	y := ad.Mul(ad.Sub(x, ad.Const(n.Mean)), ad.Const(scale))
	weights := make([]*ad.Node, 0, 2*len(n.Layers))
	for _, l := range n.Layers {
		weights = append(weights, ad.Const(l.W, l.Out, l.In), ad.Const(l.B))
	}
	return ad.Clip(forward(y, weights), -mostLog, mostLog), n.outside(y)
}

// forward evaluates layers, a matrix and a vector each, at standardised parameters.
func forward(y *ad.Node, weights []*ad.Node) *ad.Node {
	s := y.Shape()
	if len(s) == 1 {
		y = ad.Reshape(y, 1, s[0])
	}
	for i := 0; i < len(weights); i += 2 {
		y = ad.Add(ad.MatMul(y, ad.T(weights[i])), weights[i+1])
		if i+2 < len(weights) {
			y = ad.Mul(y, ad.Sigmoid(y))
		}
	}
	if len(s) == 1 {
		y = ad.Reshape(y, y.Shape()[1])
	}
	return y
}

func (n *Network) outside(y *ad.Node) *ad.Node {
	var far *ad.Node
	for _, h := range n.Hulls {
		if d := h.distance(y); far == nil {
			far = d
		} else {
			far = ad.Maximum(far, d)
		}
	}
	return ad.Square(ad.Maximum(far, ad.Scalar(0)))
}
