// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/median"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/sim/spectra"
	"github.com/euryale-dev/euryale/tensor"
)

// Rebin brings the templates of a catalogue that are not marked as bad to the pixels and the resolution of an
// arm. A spectrum is weighted by photons, convolved and averaged over the pixels, its level is taken out, and
// its natural logarithm is kept.
//
// It needs memory for the result, 4 bytes (8 with Float64) for each pixel of each template; for one
// spectrum as it is read, in each thread; and for the weights, 8 bytes for each sample within 5
// standard deviations of the line spread of each pixel, once if all templates have the same
// wavelengths. That is 0.2 GB for 7,000 templates of one arm of DESI.
//
// When ctx ends, or a template cannot be used and Skip is not set, there is no result.
func Rebin(ctx context.Context, c *rvspecfit.Catalog, s Settings) (*rvspecfit.Library, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	mapper, err := s.mapper(c.ParNames)
	if err != nil {
		return nil, err
	}
	lam := s.wavelengths()
	spread, err := s.spread(lam)
	if err != nil {
		return nil, err
	}
	b := &rebinner{Settings: s, lam: lam, weights: weightCache{pixels: lam, spread: spread}}
	if b.WaveFile != "" && b.Read == nil {
		if err := b.readWave(); err != nil {
			return nil, err
		}
	}
	for _, e := range c.Entries {
		if !e.Bad {
			b.entries = append(b.entries, e)
		}
	}
	if len(b.entries) == 0 {
		return nil, fmt.Errorf("build: all %d templates of the catalogue are marked as bad: leave at least one unmarked", len(c.Entries))
	}
	if err := b.run(ctx); err != nil {
		return nil, err
	}
	return b.library(c.ParNames, mapper)
}

// mapper finds the parameters whose logarithms are taken.
func (s *Settings) mapper(names []string) (m rvspecfit.Mapper, err error) {
	logs := s.LogParams
	if logs == nil && slices.Contains(names, "teff") {
		logs = []string{"teff"}
	}
	for _, name := range logs {
		k := slices.Index(names, name)
		if k < 0 {
			return m, fmt.Errorf("build: the logarithm of %q cannot be taken: choose from the parameters %s", name, strings.Join(names, ", "))
		}
		m.Log = append(m.Log, k)
	}
	return m, nil
}

type rebinner struct {
	Settings
	lam     []float64
	weights weightCache
	entries []rvspecfit.Entry
	wave    []float64 // of the wave file

	single []float32 // templates, one after another; or double
	double []float64
	norms  []float64
	failed []error
}

func (b *rebinner) run(ctx context.Context) error {
	n, pixels := len(b.entries), len(b.lam)
	b.norms, b.failed = make([]float64, n), make([]error, n)
	if b.Float64 {
		b.double = make([]float64, n*pixels)
	} else {
		b.single = make([]float32, n*pixels)
	}
	threads := b.Threads
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var mu sync.Mutex
	done := 0
	parallel.Do(threads, n, func(_, i int) {
		if ctx.Err() != nil {
			return
		}
		err := b.one(i)
		mu.Lock()
		defer mu.Unlock()
		done++
		if b.Report != nil {
			b.Report(Progress{File: b.entries[i].File, Done: done, Total: n, Err: err})
		}
		if b.failed[i] = err; err != nil && !b.Skip {
			stop(err)
		}
	})
	return context.Cause(ctx)
}

// one makes a template.
func (b *rebinner) one(i int) error {
	e := b.entries[i]
	for _, k := range e.Params {
		if math.IsNaN(k) || math.IsInf(k, 0) {
			return fmt.Errorf("build: %s has the parameters %v: want finite numbers", e.File, e.Params)
		}
	}
	flux, err := b.pixels(e)
	if err == nil {
		b.norms[i], err = normalise(b.lam, flux, b.Normalisation)
	}
	if err != nil {
		return fmt.Errorf("build: arm %s, template %s: %w", b.Setup, e.File, err)
	}
	for k, v := range flux {
		if b.Float64 {
			b.double[i*len(flux)+k] = math.Log(v)
		} else {
			b.single[i*len(flux)+k] = float32(math.Log(v))
		}
	}
	return nil
}

// pixels returns the flux of a template at the pixels.
func (b *rebinner) pixels(e rvspecfit.Entry) ([]float64, error) {
	read := b.Read
	if read == nil {
		read = b.readFITS
	}
	lam, flux, err := read(e)
	if err != nil {
		return nil, err
	}
	if len(lam) != len(flux) {
		return nil, fmt.Errorf("there are %d fluxes, but %s: want as many", len(flux), errtext.Count(len(lam), "wavelength"))
	}
	if b.Air {
		lam = b.weights.air(lam)
	}
	r, err := b.weights.of(lam)
	if err != nil {
		return nil, err
	}
	photons := make([]float64, len(lam))
	for k, last := r.Range(); k < last; k++ {
		photons[k] = flux[k] * lam[k]
	}
	out := make([]float64, len(b.lam))
	r.Apply(out, photons)
	for k, x := range b.lam {
		if out[k] /= x; !(out[k] > 0) || math.IsInf(out[k], 0) {
			return nil, fmt.Errorf("the flux at %g Angstrom is %g: want it positive, because its logarithm is kept", x, out[k])
		}
	}
	return out, nil
}

// normalise takes the level out of a spectrum, and returns the logarithm of that at the middle.
func normalise(lam, flux []float64, by Normalisation) (lognorm float64, err error) {
	switch by {
	case NoNormalisation:
		return 0, nil
	case Median:
		m := median.Of(flux)
		for i := range flux {
			flux[i] /= m
		}
		return math.Log(m), nil
	}
	half := len(lam) / 2
	l1, l2 := median.Of(lam[:half]), median.Of(lam[half:])
	y1, y2 := math.Log(median.Of(flux[:half])), math.Log(median.Of(flux[half:]))
	slope := (y2 - y1) / (l2 - l1)
	for i, x := range lam {
		flux[i] /= math.Exp(y1 + slope*(x-l1))
	}
	return y1 + slope*(lam[half]-l1), nil
}

// library puts the templates together that could be made.
func (b *rebinner) library(names []string, m rvspecfit.Mapper) (*rvspecfit.Library, error) {
	l := &rvspecfit.Library{Setup: b.Setup, Lam: b.lam, LogStep: !b.Linear, LogSpec: true, ParNames: slices.Clone(names), Mapper: m,
		Revision: b.Revision, Software: "euryale", Command: b.Command}
	pixels, n := len(b.lam), 0
	var params [][]float64
	for i, e := range b.entries {
		if b.failed[i] != nil {
			continue
		}
		if b.Float64 {
			copy(b.double[n*pixels:(n+1)*pixels], b.double[i*pixels:(i+1)*pixels])
		} else {
			copy(b.single[n*pixels:(n+1)*pixels], b.single[i*pixels:(i+1)*pixels])
		}
		params, n = append(params, e.Params), n+1
		l.FileIDs, l.LogNorms = append(l.FileIDs, e.ID), append(l.LogNorms, b.norms[i])
	}
	if n == 0 {
		return nil, fmt.Errorf("build: none of %s can be used: %w", errtext.Count(len(b.entries), "template"), errors.Join(b.failed[:min(3, len(b.failed))]...))
	}
	columns := make([]float64, 0, n*len(names))
	for k := range names {
		for _, p := range params {
			columns = append(columns, p[k])
		}
	}
	var err error
	if l.Points, err = tensor.From(columns, len(names), n); err != nil {
		return nil, err
	}
	if b.Float64 {
		l.Spectra, err = tensor.From(b.double[:n*pixels], n, pixels)
	} else {
		l.Spectra, err = tensor.From(b.single[:n*pixels], n, pixels)
	}
	return l, err
}

// weightCache keeps the weights of the last wavelengths.
type weightCache struct {
	pixels []float64
	spread spectra.LineSpread

	mu          sync.Mutex
	lam         []float64
	r           *spectra.Rebinning
	err         error
	vacuum, dry []float64 // the last wavelengths in vacuum, and in air
}

// of returns the weights for spectra at wavelengths lam.
func (w *weightCache) of(lam []float64) (*spectra.Rebinning, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.r == nil && w.err == nil || !same(lam, w.lam) {
		w.lam = lam
		w.r, w.err = spectra.NewRebinning(w.pixels, lam, w.spread)
	}
	return w.r, w.err
}

// air returns wavelengths in air.
func (w *weightCache) air(lam []float64) []float64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.dry == nil || !same(lam, w.vacuum) {
		w.vacuum, w.dry = lam, make([]float64, len(lam))
		for i, x := range lam {
			w.dry[i] = spectra.Air(x)
		}
	}
	return w.dry
}

func same(a, b []float64) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0] || slices.Equal(a, b))
}

func (s *Settings) path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(s.Dir, filepath.FromSlash(name))
}
