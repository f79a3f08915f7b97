// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Models returns the models of a star's spectra at points of its parameters, such as draws from its
// posterior: template times continuum in units of flux, at every pixel, for each point and each
// spectrum. The continuum is the one that fits best at the point. Points have the parameters of
// [Fit].Names.
func (f *Fitter) Models(star *Star, points [][]float64) ([][][]float64, error) {
	l, err := f.layoutOfSpectra(star)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", star.Name, err)
	}
	for i, x := range points {
		if len(x) != len(l.names) {
			return nil, fmt.Errorf("spectra: point %d of %s has %s: want %d, for %s", i, star.Name, errtext.Count(len(x), "number"), len(l.names), strings.Join(l.names, ", "))
		}
	}
	if err := l.place(); err != nil {
		return nil, err
	}
	batch := l.described()
	p, err := l.models()
	if err != nil {
		return nil, err
	}
	s := newPlaces(l, p)
	for i := range batch {
		if err := s.fill(i, star); err != nil {
			return nil, err
		}
	}
	out := make([][][]float64, len(points))
	for from := 0; from < len(points); from += batch {
		for i := range batch { // places without a point have the last one
			s.set(i, points[min(from+i, len(points)-1)])
		}
		if err := s.run(); err != nil {
			return nil, err
		}
		for i := range min(batch, len(points)-from) {
			for k, x := range star.Spectra {
				n := len(x.Lam)
				out[from+i] = append(out[from+i], append([]float64(nil), s.output(k)[i*n:(i+1)*n]...))
			}
		}
	}
	return out, nil
}

// models returns the program of the models of stars.
func (l *layout) models() (*ad.Program, error) {
	return l.program("models", 0, func() (*graph, []*ad.Node) {
		g := l.build(l.described(), 0)
		var outs []*ad.Node
		for _, s := range g.like.Spectra {
			outs = append(outs, ad.Mul(s.Continuum, s.Model))
		}
		return g, outs
	})
}
