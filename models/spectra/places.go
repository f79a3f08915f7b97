package spectra

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
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

// described is the number of stars that are described side by side.
func (l *layout) described() int { return min(l.batch, mostDescribed) }

// place chooses the number of stars that are fitted side by side, and what a GPU has no room for is an error.
func (l *layout) place() error {
	l.f.mu.Lock()
	defer l.f.mu.Unlock()
	if l.batch > 0 {
		return nil
	}
	if _, cpu := l.f.s.Backend.(ad.CPU); cpu {
		l.batch = l.f.s.Batch
		return nil
	}
	const probe = 2
	g, outs := l.searchOf(probe)
	p, err := ad.Compile(outs, ad.Settings{Inputs: g.inputs, Precision: l.f.s.Precision, Backend: ad.CPU{Threads: 1}})
	if err != nil {
		return fmt.Errorf("spectra: %w", err)
	}
	star, batch := p.Bytes()/probe, l.f.s.Batch
	for _, b := range ad.Spread(l.f.s.Backend) {
		least := star
		if l.f.s.Batch > 0 {
			least *= l.f.s.Batch
		}
		what := fmt.Sprintf("fits of %d stars side by side, of %d pixels in %d spectra each", max(1, l.f.s.Batch), l.pixels, len(l.spectra))
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
			for most = mostStars; most > 1 && most*star > int(room/2); { // the other half describes minima, and scans velocities
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
