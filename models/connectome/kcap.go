package connectome

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// Relaxation is how the choice of the k largest is made differentiable.
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

// KCap chooses k of n neurons by their input.
type KCap struct {
	Kind        Relaxation
	Temperature float64 // T, in units of the input
	// Straight makes the choice hard, 0 or 1, with the gradient of the soft one.
	Straight bool
}

// Of returns the activities of neurons with inputs h [..., n], of which k (a scalar, a
// whole number unless Kind is Sigmoid; constant with Threshold) fire.
//
// Gradient: with respect to h, of any order; with Sigmoid also to k.
func (c KCap) Of(h, k *ad.Node) *ad.Node {
	soft := c.soft(ad.Scale(1/c.Temperature, h), k)
	if !c.Straight {
		return soft
	}
	hard := ad.Call(capOf("hard", hardRow, nil), h, k)
	return ad.Add(soft, ad.StopGradient(ad.Sub(hard, soft)))
}

// soft caps x = h/T.
func (c KCap) soft(x, k *ad.Node) *ad.Node {
	switch c.Kind {
	case CappedSimplex:
		return ad.Call(capOf("capped_simplex", simplexRow, simplexBack), x, k)
	case Threshold:
		return threshold(x, k)
	}
	return ad.Call(capOf("sigmoid", sigmoidRow, sigmoidBack), x, k)
}

// threshold is the sigmoid about the mean of the k-th and the next largest elements.
func threshold(x, k *ad.Node) *ad.Node {
	last := len(x.Shape()) - 1
	v, err := ad.Eval(k)
	if err != nil || last < 0 {
		return ad.Call(capOf("threshold: k must be a constant", hardRow, nil), k, x)
	}
	at := int(v[0].Float64s()[0])
	top, _ := ad.TopK(x, at+1, last, true)
	middle := ad.Scale(0.5, ad.Add(ad.Slice(top, last, at-1, at), ad.Slice(top, last, at, at+1)))
	return ad.Sigmoid(ad.Sub(x, middle))
}

// capOf makes the operation that applies row to the last axis; back is its gradient.
func capOf(name string, row func(y, x []float64, k float64), back func(g, y *ad.Node) (x, k *ad.Node)) *ad.Custom {
	n := 0
	c := &ad.Custom{Name: "connectome." + name,
		Shape: func(in ...tensor.Shape) (tensor.Shape, error) {
			if len(in[0]) == 0 || in[1].Size() != 1 {
				return nil, fmt.Errorf("inputs of shape %v and k of shape %v: want [..., n] and a scalar", in[0], in[1])
			}
			n = in[0][len(in[0])-1]
			return in[0], nil
		},
		Forward: func(out []float64, in ...[]float64) error {
			k := in[1][0]
			if !(k > 0 && k <= float64(n)) {
				return fmt.Errorf("%g of %d neurons fire: want more than 0 and at most all", k, n)
			}
			for i := 0; i < len(out); i += n {
				row(out[i:i+n], in[0][i:i+n], k)
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

// hardRow sets the k largest to 1, the lower number first among equals.
func hardRow(y, x []float64, k float64) {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[b], x[a]) })
	clear(y)
	for _, i := range order[:int(k)] {
		y[i] = 1
	}
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
	share := ad.Div(rowSum(ad.Mul(s, g)), total)
	return ad.Mul(s, ad.Sub(g, share)), ad.Sum(share)
}

// simplexRow finds tau by sorting where elements enter and leave the interior.
func simplexRow(y, x []float64, k float64) {
	ends := make([]float64, 0, 2*len(x)) // values of tau at which the sum has a corner
	for _, v := range x {
		ends = append(ends, v, v-1)
	}
	slices.Sort(ends)
	sum := func(tau float64) (s float64) {
		for _, v := range x {
			s += math.Min(math.Max(v-tau, 0), 1)
		}
		return s
	}
	i, _ := slices.BinarySearchFunc(ends, k, func(tau, k float64) int { return cmp.Compare(k, sum(tau)) })
	tau := ends[min(i, len(ends)-1)]
	if i > 0 && i < len(ends) { // the sum is linear between the corners
		a, b := ends[i-1], ends[i]
		if sa, sb := sum(a), sum(b); sa != sb {
			tau = a + (b-a)*(sa-k)/(sa-sb)
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
