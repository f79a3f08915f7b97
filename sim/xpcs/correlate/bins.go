// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// binning turns averages over time of every pixel into g2 of bins, by a compiled graph.
type binning struct{ state *ad.State }

// zeroDenominator replaces a product of means that is 0, so that the ratio of such a pixel is next to nothing.
const zeroDenominator = 1e8

// compileBinning compiles, for the pixels of a part,
//
//	g2 = mean over the static bins s of a dynamic bin of <P>_s / (<A>_s <B>_s)
//	err = standard deviation over its pixels of P / (A B), over the square root of their number
//
// with the averages over time P of products, A of earlier and B of later frames of a pixel.
func compileBinning(p part, zero float64, ddof int, backend ad.Backend) (*ad.Program, error) {
	bins := len(p.bins)
	place := map[int]int{}
	for i, bin := range p.bins {
		place[bin] = i
	}
	var inside, ofStatic, ofBin, staticBin []int // pixels in dynamic bins; static bins numbered anew
	statics := map[int]int{}
	for i, d := range p.dynamic {
		bin, ok := place[d]
		if !ok {
			continue
		}
		s, ok := statics[p.static[i]]
		if !ok {
			s = len(statics)
			statics[p.static[i]] = s
			staticBin = append(staticBin, bin)
		}
		inside, ofStatic, ofBin = append(inside, i), append(ofStatic, s), append(ofBin, bin)
	}
	n := len(p.pixels)
	in := make([]*ad.Node, 3)
	for i, name := range []string{"products", "earlier", "later"} {
		in[i] = ad.Input(name, n)
	}
	index := func(v []int) *ad.Node { return ad.Ints(v, len(v)) }
	pixel, static, bin, owner := index(inside), index(ofStatic), index(ofBin), index(staticBin)
	one := ad.Full(1, len(inside))
	overStatic := func(x *ad.Node) *ad.Node { return ad.ScatterAdd(x, static, 0, len(staticBin)) }
	overBin := func(x *ad.Node) *ad.Node { return ad.ScatterAdd(x, bin, 0, bins) }
	var v, mean [3]*ad.Node
	for i := range in {
		if v[i] = in[i]; len(inside) < n {
			v[i] = ad.Gather(in[i], pixel, 0)
		}
		mean[i] = ad.Div(overStatic(v[i]), overStatic(one))
	}
	ratio := ad.Div(mean[0], nonzero(ad.Mul(mean[1], mean[2]), zero))
	g2 := ad.Div(ad.ScatterAdd(ratio, owner, 0, bins), ad.ScatterAdd(ad.Full(1, len(staticBin)), owner, 0, bins))
	alone := ad.Div(v[0], nonzero(ad.Mul(v[1], v[2]), zero))
	count := overBin(one)
	off := ad.Sub(alone, ad.Gather(ad.Div(overBin(alone), count), bin, 0))
	err := ad.Sqrt(ad.Div(overBin(ad.Square(off)), ad.Mul(count, ad.Shift(count, -float64(ddof)))))
	return ad.Compile([]*ad.Node{g2, err}, ad.Settings{Inputs: in, Backend: backend})
}

// nonzero returns x with zeros replaced.
func nonzero(x *ad.Node, zero float64) *ad.Node {
	return ad.Where(ad.Equal(x, ad.Scalar(0)), ad.Scalar(zero), x)
}

// inputs returns where the averages of the pixels go.
func (b *binning) inputs() (products, earlier, later []float64) {
	return b.state.Input(0), b.state.Input(1), b.state.Input(2)
}

// singleRounding is the size, relative to g2, of errors that come from frames in single precision alone: at a delay of a single pair of frames
// the ratio of each pixel is 1.
const singleRounding = 3e-7

// run returns g2 and its error for each bin of the part.
func (b *binning) run() (g2, err []float64, fail error) {
	if fail := b.state.Run(); fail != nil {
		return nil, nil, fail
	}
	g2, err = b.state.OutputFloat64(0), b.state.OutputFloat64(1)
	for i, e := range err {
		if e <= singleRounding*math.Abs(g2[i]) {
			err[i] = 0
		}
	}
	return g2, err, nil
}

// bin is the pixels of a dynamic bin, for covariances.
type bin struct {
	pixels []int // places in the part
	static []int // static bin of each, numbered within the bin
	count  []int // pixels of each static bin
}

func (p part) members() []bin {
	all := make([]bin, len(p.bins))
	place := map[int]int{}
	for i, b := range p.bins {
		place[b] = i
	}
	numbers := make([]map[int]int, len(p.bins))
	for i, d := range p.dynamic {
		k, ok := place[d]
		if !ok {
			continue
		}
		if numbers[k] == nil {
			numbers[k] = map[int]int{}
		}
		s, ok := numbers[k][p.static[i]]
		if !ok {
			s = len(all[k].count)
			numbers[k][p.static[i]] = s
			all[k].count = append(all[k].count, 0)
		}
		all[k].count[s]++
		all[k].pixels, all[k].static = append(all[k].pixels, i), append(all[k].static, s)
	}
	return all
}

// chunk is the number of pixels whose products are summed by one run of a covariance program.
const chunk = 2048

// common is how many pixels' weight the scatter of the whole dynamic bin has in that of a static bin.
const common = 50

// weights returns what the outer product of phi of a pixel (see covariance) counts in the covariance of g2, for each static bin, and the number
// of pixels of equal weight that estimate it as well. The covariance is
//
//	1/S^2 sum over the S static bins of V_s / n_s,   V_s = (sum over its n_s pixels of phi phi^T + common V) / (n_s - 1 + common)
//
// with V the scatter of all pixels about the means of their static bins. Alone, a static bin of one pixel would not
// seem to scatter, while it counts in g2 as much as the others, and one of few pixels would decide alone how it does.
func (b bin) weights() (w []float64, samples float64) {
	pooled, free := 0.0, 0.0
	w = make([]float64, len(b.count))
	for s, c := range b.count {
		free += float64(c - 1)
		w[s] = 1 / (float64(c) * float64(c-1+common))
		pooled += common * w[s]
	}
	sum, squares, all := 0.0, 0.0, float64(len(b.count))
	for s, c := range b.count {
		w[s] = (w[s] + pooled/free) / (all * all)
		sum, squares = sum+float64(c)*w[s], squares+float64(c)*w[s]*w[s]
	}
	return w, sum * sum / squares
}

// scatter is how the points of g2 of a bin vary, by the scatter of its pixels.
type scatter struct {
	cov, skew []float64
	area      float64 // about the number of pixels of a speckle
	samples   float64 // number of pixels of equal weight that estimate cov as well
}

// covariance estimates the covariance of the points of g2 of a bin from the scatter of its pixels: a pixel moves g2
// by
//
//	psi = phi / (pixels of s, static bins),   phi = g2_s (P/<P>_s - A/<A>_s - B/<B>_s + 1)
//
// and the covariance is the sum over pixels of phi phi^T with the weights of bin.weights. moments gives the averages P, A and B of pixel p at
// delay k. It is NaN for fewer than two pixels more than static bins. Where neighbours move together beyond chance, which near finds, as in speckles that are
// wider than a pixel, covariance and skew are multiplied by area, about the number of pixels of a speckle.
//
// skew is sum psi (phi^T cov^-1 phi) with the weights. Where a pixel moves g2 upwards it also makes its variance larger, so that a fit that weights by
// cov gives it less weight than its opposite: to first order in 1/n the estimate is off by what -skew does to it.
func covariance(b bin, delays int, moments func(p, k int) (products, earlier, later float64), prog *ad.Program, near *neighbours) (*scatter, error) {
	cov := make([]float64, delays*delays)
	n, s := len(b.pixels), len(b.count)
	if n < s+2 {
		for i := range cov {
			cov[i] = math.NaN()
		}
		return &scatter{cov, nil, 1, float64(n)}, nil
	}
	weight, samples := b.weights()
	mean := make([][3]float64, delays*s)
	for i, p := range b.pixels {
		for k := range delays {
			x, y, z := moments(p, k)
			m, c := &mean[k*s+b.static[i]], float64(b.count[b.static[i]])
			m[0], m[1], m[2] = m[0]+x/c, m[1]+y/c, m[2]+z/c
		}
	}
	st := prog.NewState()
	psi := st.Input(0)
	fill := func(from int) {
		clear(psi)
		for i := from; i < min(from+chunk, n); i++ {
			for k := range delays {
				x, y, z := moments(b.pixels[i], k)
				m := mean[k*s+b.static[i]]
				v := m[0] / (m[1] * m[2]) * (x/m[0] - y/m[1] - z/m[2] + 1) * math.Sqrt(weight[b.static[i]])
				if m[0] == 0 || m[1]*m[2] == 0 {
					v = 0
				}
				psi[k*chunk+i-from] = v
			}
		}
	}
	for from := 0; from < n; from += chunk {
		fill(from)
		if err := st.Run(); err != nil {
			return nil, err
		}
		for i := range min(chunk, n-from) {
			near.keep(from+i, func(k int) float64 { return psi[k*chunk+i] })
		}
		for i, v := range st.Output(0) {
			cov[i] += v
		}
	}
	area := near.area()
	l := slices.Clone(cov)
	if row, _ := linalg.Cholesky(l, delays); row >= 0 {
		return &scatter{scaled(cov, area), nil, area, samples}, nil
	}
	skew := make([]float64, delays)
	x, z := make([]float64, delays), make([]float64, delays)
	for from := 0; from < n; from += chunk {
		fill(from)
		for i := range min(chunk, n-from) {
			size := 0.0
			for k := range delays {
				x[k] = psi[k*chunk+i]
				v := x[k]
				for j := range k {
					v -= l[k*delays+j] * z[j]
				}
				z[k] = v / l[k*delays+k]
				size += z[k] * z[k]
			}
			of := b.static[from+i]
			size /= float64(b.count[of]*s) * math.Sqrt(weight[of])
			for k, v := range x {
				skew[k] += v * size
			}
		}
	}
	return &scatter{scaled(cov, area), scaled(skew, area), area, samples}, nil
}

func scaled(v []float64, factor float64) []float64 {
	for i := range v {
		v[i] *= factor
	}
	return v
}

// outer compiles the sum of outer products of the columns of a (delays, chunk) array.
func outer(delays int) (*ad.Program, error) {
	x := ad.Input("psi", delays, chunk)
	return ad.Compile([]*ad.Node{ad.MatMul(x, ad.T(x))}, ad.Settings{Backend: ad.CPU{Threads: 1}})
}
