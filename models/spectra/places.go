// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// places are the stars of one run of a program. Data of a star are sent to a device once, when it gets its place;
// parameters with every run.
type places struct {
	l      *layout
	s      *ad.State
	params [][]float64 // velocities, rotation, and the library's
	filled []bool
	good   []float64
}

func newPlaces(l *layout, p *ad.Program) *places {
	s := &places{l: l, s: p.NewState()}
	for k := range l.velocities + 2 {
		s.params = append(s.params, make([]float64, p.Inputs()[k].Size()))
	}
	s.filled = make([]bool, len(s.params[l.velocities]))
	return s
}

// lent returns places that nobody uses, and new ones if there are none.
func (l *layout) lent(p *ad.Program) *places {
	l.f.mu.Lock()
	list := l.unused[p]
	if n := len(list); n > 0 {
		l.unused[p] = list[:n-1]
		l.f.mu.Unlock()
		return list[n-1]
	}
	l.f.mu.Unlock()
	return newPlaces(l, p)
}

// back keeps places on a GPU, whose memory takes long to make, for the next call.
func (l *layout) back(s *places) {
	p := s.s.Program()
	if p.Device() == "cpu" {
		return
	}
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	if l.unused == nil {
		l.unused = map[*ad.Program][]*places{}
	}
	l.unused[p] = append(l.unused[p], s)
}

// fill gives a star's data to place i.
func (s *places) fill(i int, star *Star) error {
	at := s.l.velocities + 2
	put := func(from int, data []float64) error {
		at++
		return s.s.SetPart(at-1, from, data)
	}
	for _, x := range star.Spectra {
		n := len(x.Lam)
		if len(s.good) < n {
			s.good = make([]float64, n)
		}
		x.good(s.good[:n])
		for _, data := range [][]float64{x.Flux, x.Err, s.good[:n]} {
			if err := put(i*n, data); err != nil {
				return err
			}
		}
		if x.Resolution != nil {
			if err := put(i*len(x.Resolution.Band), x.Resolution.Band); err != nil {
				return err
			}
		}
	}
	s.filled[i] = true
	return nil
}

// set gives parameters to place i.
func (s *places) set(i int, theta []float64) {
	v := s.l.velocities
	for k := range v + 1 {
		s.params[k][i] = theta[k]
	}
	copy(s.params[v+1][i*len(theta[v+1:]):], theta[v+1:])
}

// run runs the program.
func (s *places) run() error {
	for k, x := range s.params {
		if err := s.s.SetInput(k, x); err != nil {
			return err
		}
	}
	return s.s.Run()
}

// output returns output k of the last run.
func (s *places) output(k int) []float64 {
	if s.s.Program().Precision() == 64 {
		return s.s.Output(k)
	}
	return s.s.OutputFloat64(k)
}

// mostStars is the most stars that are fitted side by side on a GPU unless Settings.Batch says more: with more, the products
// of matrices do not become faster. mostDescribed is the most whose minima are described side by side.
const mostStars, mostDescribed = 1024, 256

// mostScans is the most velocity posteriors that are scanned at the same time on a GPU: as many as there are streams for
// work that overlaps.
const mostScans = 8

// described is the number of stars that are described side by side.
func (l *layout) described() int { return min(l.batch, mostDescribed) }

// place chooses the number of stars that are fitted side by side, and what a GPU has no room for is an error.
func (l *layout) place() error {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	if l.batch > 0 {
		return nil
	}
	if ad.OnProcessor(l.f.s.Backend) {
		l.batch = l.f.s.Batch
		return nil
	}
	// Memory grows with the stars from what the constants take.
	var bytes [2]int
	for k := range bytes {
		g, outs := l.searchOf(2 + 2*k)
		p, err := ad.Compile(outs, ad.Settings{Inputs: g.inputs, Precision: l.f.s.Precision, Backend: ad.CPU{Threads: 1}})
		if err != nil {
			return fmt.Errorf("spectra: %w", err)
		}
		bytes[k] = p.Bytes()
	}
	star := (bytes[1] - bytes[0]) / 2
	fixed, batch := max(0, bytes[0]-2*star), l.f.s.Batch
	for _, b := range ad.Spread(l.f.s.Backend) {
		least := fixed + star*max(1, l.f.s.Batch)
		what := fmt.Sprintf("fits of spectra with %s a star (%d stars side by side)", errtext.Count(l.pixels, "pixel"), max(1, l.f.s.Batch))
		d, err := ad.DeviceFor(b, ad.Need{Name: what, Work: star * max(16, l.f.s.Batch), Least: least})
		if err != nil {
			return fmt.Errorf("spectra: %w", err)
		}
		most := 16 // on the processor
		if d != nil {
			room, err := d.Room()
			if err != nil {
				return fmt.Errorf("spectra: %w", err)
			}
			for most = mostStars; most > 1 && fixed+most*star > int(room/2); { // the other half describes minima, and scans velocities
				most /= 2
			}
		}
		if l.f.s.Batch == 0 && (batch == 0 || most < batch) {
			batch = most
		}
	}
	l.batch = batch
	return nil
}
