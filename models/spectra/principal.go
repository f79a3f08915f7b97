// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/tensor"
)

// principal returns the first k principal components of rows of spectra, of unit length each, and the
// standard deviations of the scores. It iterates a random subspace (Halko, Martinsson and Tropp 2011,
// doi:10.1137/090771806), so that the cost is that of some products with the spectra.
func principal(spectra, mean []float64, pixels, k int, seed uint64) (components, scores []float64, err error) {
	count := len(spectra) / pixels
	if k < 1 || k > min(count, pixels) {
		return nil, nil, fmt.Errorf("spectra: %d principal components of %d spectra of %s are wanted: ask for at least 1 and at most the smaller of the two", k, count, errtext.Count(pixels, "pixel"))
	}
	centred := make([]float64, len(spectra))
	for i, v := range spectra {
		centred[i] = v - mean[i%pixels]
	}
	wide := min(k+10, count, pixels)
	y, q, b := ad.Input("y", count, pixels), ad.Input("q", count, wide), ad.Input("b", pixels, wide)
	down, err := newProduct(ad.MatMul(ad.T(y), q), y, q, centred)
	if err != nil {
		return nil, nil, err
	}
	up, err := newProduct(ad.MatMul(y, b), y, b, centred)
	if err != nil {
		return nil, nil, err
	}
	random := tensor.NewStream(seed, purposeNoise, 0)
	basis := random.NormalTo(make([]float64, count*wide))
	const rounds = 6
	for range rounds {
		if basis, err = down(basis); err != nil {
			return nil, nil, err
		}
		if basis, err = up(orthonormal(basis, wide)); err != nil {
			return nil, nil, err
		}
		basis = orthonormal(basis, wide)
	}
	small, err := down(basis) // Y^T Q, whose left singular vectors are the components
	if err != nil {
		return nil, nil, err
	}
	var svd mat.SVD
	if !svd.Factorize(mat.NewDense(pixels, wide, small), mat.SVDThin) {
		return nil, nil, fmt.Errorf("spectra: the singular values of %d spectra were not found: check that all fluxes are finite", count)
	}
	values := svd.Values(nil)
	var u mat.Dense
	svd.UTo(&u)
	components, scores = make([]float64, k*pixels), make([]float64, k)
	for i := range k {
		scores[i] = values[i] / math.Sqrt(float64(count))
		for p := range pixels {
			components[i*pixels+p] = u.At(p, i)
		}
	}
	return components, scores, nil
}

// newProduct returns a function that gives a product for other values of its second factor.
func newProduct(z, y, q *ad.Node, data []float64) (func([]float64) ([]float64, error), error) {
	p, err := ad.Compile([]*ad.Node{z}, ad.Settings{Inputs: []*ad.Node{y, q}})
	if err != nil {
		return nil, err
	}
	s := p.NewState()
	if err := s.Bind(0, data); err != nil {
		return nil, err
	}
	return func(x []float64) ([]float64, error) {
		if err := s.SetInput(1, x); err != nil {
			return nil, err
		}
		if err := s.Run(); err != nil {
			return nil, err
		}
		return append([]float64(nil), s.Output(0)...), nil
	}, nil
}

// orthonormal returns an orthonormal basis of the columns of rows of n numbers.
func orthonormal(x []float64, n int) []float64 {
	var qr mat.QR
	m := len(x) / n
	qr.Factorize(mat.NewDense(m, n, x))
	var q mat.Dense
	qr.QTo(&q)
	out := make([]float64, m*n)
	for i := range m {
		for k := range n {
			out[i*n+k] = q.At(i, k)
		}
	}
	return out
}
