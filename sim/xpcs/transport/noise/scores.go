// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package noise

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// PairScores returns the matrices from which the errors of parameters fitted to pairs follow: H =
// J'WJ, and P times Q = J'W V W J with the covariance V of entries over P speckles without
// cumulants of higher order, Q_ab = tr(C A_a C A_b)/(2 P) with A = W J. c is C of the fitted model
// (frames, frames), weights and derivatives J are symmetric matrices likewise; the diagonal and
// pairs that are not used have the weight 0.
func PairScores(frames int, c, weights []float64, derivatives [][]float64) (h, q *mat.SymDense) {
	p := len(derivatives)
	h, q = mat.NewSymDense(p, nil), mat.NewSymDense(p, nil)
	var ws kernels.Workspace
	weighted := make([]float64, frames*frames)
	products := make([][]float64, p) // C A_a
	for a, d := range derivatives {
		for i, w := range weights {
			weighted[i] = w * d[i]
		}
		products[a] = make([]float64, frames*frames)
		kernels.Gemm64(kernels.Best(), &ws, false, false, frames, frames, frames, 1, c, frames, weighted, frames, 0, products[a], frames)
		for b := range a + 1 {
			h.SetSym(b, a, dot(weighted, derivatives[b])/2)
		}
	}
	turned := weighted
	for a := range p {
		for i := range frames {
			for j := range frames {
				turned[j*frames+i] = products[a][i*frames+j]
			}
		}
		for b := a; b < p; b++ {
			q.SetSym(a, b, dot(turned, products[b])/2)
		}
	}
	return h, q
}

// EntryScores holds what a pixel adds to the scores J'W (c2 - model) of parameters that are fitted to
// pairs, as it scatters over simulated pixels.
type EntryScores struct {
	H, Q    *mat.SymDense // information J'WJ, and the covariance of the scores of one pixel
	Scatter float64       // sum over the pairs of weight times variance of one pixel
}

// SimulatedScores is PairScores with all moments of speckles and photons, and with the effect of the
// frames' means, by which c2 is divided: the score of a pixel for parameter a is
//
//	sum_i<j A_ij (d_i d_j - C_ij (d_i + d_j)),  A = W J_a,  d = count/mean - 1
//
// to first order in the fluctuations of the means. Arguments are those of PairScores; the number of
// pixels is rounded up to whole batches.
func (s *Speckles) SimulatedScores(c, weights []float64, derivatives [][]float64, pixels int, z tensor.Stream) EntryScores {
	n, p := s.frames, len(derivatives)
	out := EntryScores{H: mat.NewSymDense(p, nil)}
	forms, linear := make([][]float64, p), make([][]float64, p)  // A/2, and the sums of rows of A C
	mixed, squared := make([]float64, n*n), make([]float64, n*n) // W C and W C^2
	rest, known := make([]float64, n), 0.0                       // rows of W C^2, and their sum
	for i := range n {
		for j := range n {
			at := i*n + j
			mixed[at] = weights[at] * c[at]
			squared[at] = mixed[at] * c[at]
			rest[i] += squared[at]
		}
		known += rest[i] / 2
	}
	for a, d := range derivatives {
		forms[a], linear[a] = make([]float64, n*n), make([]float64, n)
		for i := range n {
			for j := range n {
				at := i*n + j
				forms[a][at] = weights[at] * d[at] / 2
				linear[a][i] += 2 * forms[a][at] * c[at]
			}
		}
		for b := range a + 1 {
			out.H.SetSym(b, a, dot(forms[a], derivatives[b]))
		}
	}
	square, product := make([]float64, n*batch), make([]float64, n*batch)
	apply := func(form, to []float64) {
		kernels.Gemm64(kernels.Best(), &s.ws, false, false, n, batch, n, 1, form, n, to, batch, 0, product, batch)
	}
	scatter, all := 0.0, 0.0
	out.Q = s.formScatter(forms, linear, pixels, &z, func(frames []float64) { // w (d_i d_j - C (d_i + d_j))^2 over the pairs
		for i, v := range frames {
			square[i] = v * v
		}
		apply(weights, square)
		scatter += dot(square, product) / 2
		apply(mixed, frames)
		scatter -= 2 * dot(square, product)
		apply(squared, frames)
		scatter += dot(frames, product)
		for i := range n {
			for _, v := range square[i*batch : (i+1)*batch] {
				scatter += rest[i] * v
			}
		}
		all += batch
	})
	out.Scatter = scatter/all - known
	return out
}

// formScatter returns the covariance over simulated pixels of quadratic forms sum_i d_i (sum_j A_ij d_j - l_i) of d = count/mean - 1. The number of
// pixels is rounded up to whole batches, each of which is handed to also, (frames, batch).
func (s *Speckles) formScatter(forms, linear [][]float64, pixels int, z *tensor.Stream, also func(d []float64)) *mat.SymDense {
	n, p := s.frames, len(forms)
	d, product := make([]float64, n*batch), make([]float64, n*batch)
	scores, mean, cov := make([]float64, p*batch), make([]float64, p), make([]float64, p*p)
	batches := (pixels + batch - 1) / batch
	for range batches {
		s.Draw(z, batch, d)
		for i := range d {
			d[i]--
		}
		clear(scores)
		for a := range p {
			kernels.Gemm64(kernels.Best(), &s.ws, false, false, n, batch, n, 1, forms[a], n, d, batch, 0, product, batch)
			of := scores[a*batch : (a+1)*batch]
			for i, l := range linear[a] {
				for x, v := range d[i*batch : (i+1)*batch] {
					of[x] += v * (product[i*batch+x] - l)
				}
			}
			for _, v := range of {
				mean[a] += v
			}
		}
		kernels.Gemm64(kernels.Best(), &s.ws, false, true, p, p, batch, 1, scores, batch, scores, batch, 1, cov, p)
		also(d)
	}
	all, out := float64(batches*batch), mat.NewSymDense(p, nil)
	for a := range p {
		for b := range a + 1 {
			out.SetSym(b, a, (cov[a*p+b]-mean[a]*mean[b]/all)/(all-1))
		}
	}
	return out
}

func dot(a, b []float64) float64 { return kernels.Dot64(kernels.Best())(&a[0], &b[0], len(a)) }

// framePixels is the number of pixels that scores are simulated of.
const framePixels = 8192

// FrameScores returns the information of one pixel under the likelihood of frames, H_ab = tr(C^-1
// D_a C^-1 D_b)/2 for derivatives D, and the covariance Q of its scores over simulated pixels.
func (s *Speckles) FrameScores(c *mat.SymDense, derivatives []*mat.SymDense, z tensor.Stream) (h, q *mat.SymDense, err error) {
	n, p := s.frames, len(derivatives)
	var factor mat.Cholesky
	var inverse mat.SymDense
	if !factor.Factorize(c) || factor.InverseTo(&inverse) != nil {
		return nil, nil, fmt.Errorf("noise: the covariance of %d frames is not positive definite at the mode: check contrast and offset there", n)
	}
	h = mat.NewSymDense(p, nil)
	forms, linear := make([][]float64, p), make([][]float64, p) // B = C^-1 D C^-1/2, and twice the sums of rows of B C
	for a, d := range derivatives {
		var left, both mat.Dense
		left.Mul(&inverse, d)
		both.Mul(&left, &inverse)
		both.Scale(0.5, &both)
		forms[a], linear[a] = both.RawMatrix().Data, make([]float64, n)
		for i := range n {
			for j := range n {
				linear[a][i] += 2 * both.At(i, j) * c.At(i, j)
			}
		}
		for b := range a + 1 {
			sum := 0.0
			for i := range n {
				for j := range n {
					sum += both.At(i, j) * derivatives[b].At(i, j)
				}
			}
			h.SetSym(b, a, sum)
		}
	}
	q = s.formScatter(forms, linear, framePixels, &z, func([]float64) {})
	for a := range p {
		for b := range a + 1 {
			if v := q.At(b, a); math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, nil, fmt.Errorf("noise: the scatter of the scores of parameters %d and %d is %g: check the point at which it is computed", b, a, v)
			}
		}
	}
	return h, q, nil
}
