// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/tensor"
)

// Relaxation says how the choice of the k largest is made differentiable.
type Relaxation int

const (
	// Sigmoid: y_i = 1/(1 + exp(-(h_i - tau)/T)) with tau such that the sum of y is k.
	// It equals entropic optimal transport to two bins with regularisation 2 T (Xie et
	// al., NeurIPS 2020).
	Sigmoid Relaxation = iota
	// CappedSimplex: y_i = h_i/T - tau within 0 to 1, sum k: most elements are 0 or 1
	// and have no gradient (Sander et al., ICML 2023).
	CappedSimplex
	// Threshold: Sigmoid with tau half-way between the k-th and the next element; the
	// sum is only about k.
	Threshold
)

// KCap chooses k of n neurons by their inputs.
type KCap struct {
	Kind        Relaxation
	Temperature float64 // temperature T, in units of the input
	// T replaces Temperature if it changes from run to run; it is a scalar.
	T *ad.Node
	// Straight makes the choice hard, 0 or 1, but gives it the gradient of the soft choice.
	Straight bool
	// Hard makes the choice hard, without a gradient.
	Hard bool
}

// Of returns the activities of neurons with inputs h [..., n], of which k fire, or all if k is n or
// more. k is a scalar: a whole number unless Kind is Sigmoid, and constant with Threshold.
//
// Gradient: with respect to h, of any order; with Sigmoid also with respect to k.
//
// On a device each row is one block of threads: the bisection for tau reduces within it.
func (c KCap) Of(h, k *ad.Node) *ad.Node {
	if c.Hard {
		return ad.Call(capOf("hard", hardRow, nil), h, k)
	}
	soft := c.soft(c.scaled(h), k)
	if !c.Straight {
		return soft
	}
	hard := ad.Call(capOf("hard", hardRow, nil), h, k)
	return ad.Add(soft, ad.StopGradient(ad.Sub(hard, soft)))
}

func (c KCap) scaled(h *ad.Node) *ad.Node {
	if c.T != nil {
		return ad.Div(h, c.T)
	}
	return ad.Scale(1/c.Temperature, h)
}

// soft applies the cap to x = h/T.
func (c KCap) soft(x, k *ad.Node) *ad.Node {
	switch c.Kind {
	case CappedSimplex:
		return ad.Call(capOf("capped_simplex", simplexRow, simplexBack), x, k)
	case Threshold:
		return threshold(x, k)
	}
	return ad.Call(capOf("sigmoid", sigmoidRow, sigmoidBack), x, k)
}

// threshold is the sigmoid about the mean of the k-th largest and the next element.
func threshold(x, k *ad.Node) *ad.Node {
	last := len(x.Shape()) - 1
	v, err := ad.Numbers(k)
	if err != nil || last < 0 {
		return fault(fmt.Errorf("connectome: Threshold cannot use k %v with inputs %v: k must be a constant, and the inputs need an axis of neurons, [..., n]", k, x))
	}
	at := int(v[0][0])
	if at < 1 {
		return fault(fmt.Errorf("connectome: %d of %s are to fire: want at least 1", at, errtext.Count(x.Shape()[last], "neuron")))
	}
	if at >= x.Shape()[last] {
		return ad.Full(1, x.Shape()...)
	}
	top, _ := ad.TopK(x, at+1, last, true)
	middle := ad.Scale(0.5, ad.Add(ad.Slice(top, last, at-1, at), ad.Slice(top, last, at, at+1)))
	return ad.Sigmoid(ad.Sub(x, middle))
}

// capOf makes the operation that applies row to the last axis; back computes its gradient.
func capOf(name string, row func(y, x []float64, k float64), back func(g, y *ad.Node) (x, k *ad.Node)) *ad.Custom {
	n := 0
	c := &ad.Custom{Name: "connectome." + name,
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) {
			if len(in[0]) == 0 || in[1].Size() != 1 {
				return nil, fmt.Errorf("the inputs have shape %v and k has shape %v: want [..., n] and a scalar", in[0], in[1])
			}
			n = in[0][len(in[0])-1]
			return in[0], nil
		},
		Forward: func(out []float64, in ...[]float64) error {
			k := in[1][0]
			if !(k > 0) {
				return fmt.Errorf("%g of %s are to fire: want more than 0", k, errtext.Count(n, "neuron"))
			}
			for i := 0; i < len(out); i += n {
				row(out[i:i+n], in[0][i:i+n], min(k, float64(n)))
			}
			return nil
		}}
	c.VJP = func(g, y *ad.Node, x []*ad.Node) []*ad.Node {
		if back == nil {
			return make([]*ad.Node, 2)
		}
		gx, gk := back(g, y)
		return []*ad.Node{gx, gk}
	}
	return c
}

// hardRow sets the k largest elements to 1; among equals the lower index comes first.
func hardRow(y, x []float64, k float64) {
	at := kth(append([]float64{}, x...), int(k))
	left := int(k)
	for i, v := range x {
		y[i] = 0
		if v > at {
			y[i] = 1
			left--
		}
	}
	for i, v := range x {
		if left > 0 && v == at {
			y[i] = 1
			left--
		}
	}
}

// kth returns the k-th largest element and reorders x: Hoare's selection.
func kth(x []float64, k int) float64 {
	lo, hi := 0, len(x)-1
	for lo < hi {
		pivot := x[(lo+hi)/2]
		i, j := lo, hi
		for i <= j {
			for x[i] > pivot {
				i++
			}
			for x[j] < pivot {
				j--
			}
			if i <= j {
				x[i], x[j] = x[j], x[i]
				i++
				j--
			}
		}
		switch {
		case k-1 <= j:
			hi = j
		case k-1 >= i:
			lo = i
		default:
			return x[k-1]
		}
	}
	return x[k-1]
}

// sigmoidRow finds tau by Newton's method within a bracket.
func sigmoidRow(y, x []float64, k float64) {
	n := float64(len(x))
	if k == n {
		for i := range y {
			y[i] = 1
		}
		return
	}
	odds := math.Log(k / (n - k))
	lo, hi := slices.Min(x)-odds, slices.Max(x)-odds // all inputs equal would give these
	tau := (lo + hi) / 2
	for range 200 {
		sum, slope := 0.0, 0.0
		for i, v := range x {
			y[i] = 1 / (1 + math.Exp(tau-v))
			sum += y[i]
			slope += y[i] * (1 - y[i])
		}
		if sum > k {
			lo = tau
		} else {
			hi = tau
		}
		if math.Abs(sum-k) <= 1e-15*k || hi-lo <= 1e-15*math.Max(math.Abs(lo), math.Abs(hi)) {
			return
		}
		if tau += (sum - k) / slope; !(tau > lo && tau < hi) {
			tau = (lo + hi) / 2
		}
	}
}

// sigmoidBack: with s = y (1 - y), dy = s (dx - sum(s dx)/sum(s)) + s/sum(s) dk.
func sigmoidBack(g, y *ad.Node) (x, k *ad.Node) {
	s := ad.Mul(y, ad.Sub(ad.Scalar(1), y))
	total := rowSum(s)
	total = ad.Where(ad.Equal(total, ad.Scalar(0)), ad.Scalar(1), total) // 0 where all fire
	share := ad.Div(rowSum(ad.Mul(s, g)), total)
	return ad.Mul(s, ad.Sub(g, share)), ad.Sum(share)
}

// simplexRow finds tau by Newton's method within a bracket: the sum is linear between
// the values of tau at which an element enters or leaves the interior, so the last step
// is exact.
func simplexRow(y, x []float64, k float64) {
	if k == float64(len(x)) {
		for i := range y {
			y[i] = 1
		}
		return
	}
	lo, hi := slices.Min(x)-1, slices.Max(x) // sums n and 0
	tau := hi - k/float64(len(x))
	for range 200 {
		sum, inside := 0.0, 0
		for _, v := range x {
			switch d := v - tau; {
			case d >= 1:
				sum++
			case d > 0:
				sum += d
				inside++
			}
		}
		if sum > k {
			lo = tau
		} else {
			hi = tau
		}
		if math.Abs(sum-k) <= 1e-15*k || hi-lo <= 1e-16*math.Max(math.Abs(lo), math.Abs(hi)) {
			break
		}
		if tau += (sum - k) / float64(inside); !(tau > lo && tau < hi) {
			tau = (lo + hi) / 2
		}
	}
	for j, v := range x {
		y[j] = math.Min(math.Max(v-tau, 0), 1)
	}
}

// simplexBack: on the interior, where 0 < y < 1, dy = dx less its mean there.
func simplexBack(g, y *ad.Node) (x, k *ad.Node) {
	inside := ad.StopGradient(ad.Mul(ad.Greater(y, ad.Scalar(0)), ad.Less(y, ad.Scalar(1))))
	n := ad.Maximum(rowSum(inside), ad.Scalar(1))
	mean := ad.Div(rowSum(ad.Mul(inside, g)), n)
	return ad.Mul(inside, ad.Sub(g, mean)), ad.Sum(mean)
}

// rowSum sums over the last axis and keeps it, with length 1.
func rowSum(x *ad.Node) *ad.Node {
	shape := x.Shape().Clone()
	shape[len(shape)-1] = 1
	return ad.Reshape(ad.SumAxes(x, -1), shape...)
}
