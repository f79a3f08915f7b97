// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package motion_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/models/twotime/motion"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
	"github.com/euryale-dev/euryale/sim/xpcs/transport/noise"
	"github.com/euryale-dev/euryale/tensor"
)

// still is the configuration of a sample that diffuses.
const still = `
analysis_mode: static_anisotropic
analyzer_parameters: {dt: 0.1, start_frame: 1, scattering: {wavevector_q: 0.0054}}
initial_parameters: {fixed_parameters: {D_offset: 0}}
`

// movie is a simulated measurement with something that the models of a fit do not have.
type movie struct {
	config           string
	theta            []float64
	pixels, frames   int
	angles           []float64
	contrast, count  float64 // count is the mean of a pixel in a frame
	jump             float64 // share of the correlation that is lost in the middle
	drift            float64 // v^2 t^2 at the whole length: g falls as exp(-v^2 lag^2)
	dead             float64 // dead time of the detector over the mean time between photons; 0 for none
	loss, background float64 // share of the intensity that is lost in a fifth of the frames, and light without speckles beside the mean of 1
	starts           int
	seed             uint64
}

// fit simulates a movie and fits it.
func (m movie) fit(t *testing.T) *motion.Fit {
	t.Helper()
	c := config(t, m.config)
	n := m.frames
	times := c.Clock.Times(1, n, c.Step)
	setup := motion.Setup(c, c.Q, m.angles, times, c.Step)
	fields, err := noise.NewFields(setup)
	if err != nil {
		t.Fatal(err)
	}
	var c2 [][]float64
	var lost []float64
	for k, phi := range m.angles {
		_, parts, err := fields.At(m.theta, phi)
		if err != nil {
			t.Fatal(err)
		}
		field := slices.Clone(parts[0].Correlation)
		for i := range n {
			for j := range n {
				if (i < n/2) != (j < n/2) {
					field[i*n+j] *= math.Sqrt(1 - m.jump)
				}
				field[i*n+j] *= math.Exp(-m.drift * math.Pow(float64(i-j)/float64(n), 2) / 2)
			}
		}
		source, err := noise.NewSpeckles([]noise.Part{{Correlation: field}}, n, m.contrast, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		z := tensor.NewStream(m.seed, 7, uint32(k))
		x := make([]float64, n*m.pixels)
		source.Draw(&z, m.pixels, x)
		if m.dead > 0 {
			one, share := m.missing(t, x, &z)
			c2, lost = append(c2, one), append(lost, share)
			continue
		}
		c2 = append(c2, m.correlated(x, &z))
	}
	p, err := motion.New(c, &homodyne.Correlation{Q: c.Q, Phi: m.angles, First: 1, Last: n, Step: c.Step, C2: c2}, times)
	if err != nil {
		t.Fatal(err)
	}
	p.Data.Lost = lost
	f, err := p.Fit(context.Background(), motion.FitSettings{Starts: max(1, m.starts), Seed: m.seed})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// correlated turns intensities (frames, pixels) into counts and returns their two-time correlation.
func (m movie) correlated(x []float64, z *tensor.Stream) []float64 {
	n, pixels := m.frames, m.pixels
	mean := make([]float64, n)
	for i := range n {
		level := 1.
		if i >= n/3 && i < n/3+n/5 {
			level -= m.loss
		}
		for p := range pixels {
			v := x[i*pixels+p]*level + m.background
			if m.count > 0 { // many photons are nearly normal, and only the variance of few matters
				v += math.Sqrt(v/m.count) * z.Normal()
			}
			x[i*pixels+p] = v
			mean[i] += v / float64(pixels)
		}
	}
	c2 := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			sum := 0.0
			for p := range pixels {
				sum += x[i*pixels+p] * x[j*pixels+p]
			}
			c2[i*n+j] = sum / (float64(pixels) * mean[i] * mean[j])
			c2[j*n+i] = c2[i*n+j]
		}
	}
	return c2
}

// missing counts photons of intensities (frames, pixels) with a detector that misses those within its dead time after the last that it counted. It
// returns their two-time correlation, and the share that the counts say is missed at their mean.
func (m movie) missing(t *testing.T, x []float64, z *tensor.Stream) (c2 []float64, lost float64) {
	t.Helper()
	frames := make([]float32, len(x))
	for i, v := range x {
		for at := z.Exp() / (v * m.count); at < 1; at += m.dead/m.count + z.Exp()/(v*m.count) {
			frames[i]++
		}
	}
	maps := correlate.Maps{Height: 1, Width: m.pixels, Dynamic: slices.Repeat([]int32{1}, m.pixels)}
	s := correlate.Settings{Photons: true, Intensities: func(r *correlate.Result) {
		n := nexus.PhotonNoise{Mean: r.Photons[0].Mean, DeadTime: r.Photons[0].DeadTime}
		lost = n.Lost()
	}}
	err := correlate.Twotime(context.Background(), correlate.FromArray(frames, m.frames, 1, m.pixels), maps, s, func(r *correlate.Map) error {
		c2 = slices.Clone(r.C2)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c2, lost
}

// few is a movie of few speckles with two modes.
func few(seed uint64) movie {
	return movie{config: still, theta: []float64{4e4, 0.1, 0}, pixels: 350, frames: 40, angles: []float64{0, 45, 90}, contrast: 0.5, count: 1, seed: seed}
}

// A jump and a loss of intensity are named, at sizes that move a parameter by its error.
func TestVerdictNamesWhatHappened(t *testing.T) {
	for want, plant := range map[string]func(m *movie){
		"a jump of the sample or the beam": func(m *movie) { m.jump = 0.7 },
		"as of frames with fewer counts":   func(m *movie) { m.loss = 0.6 },
		"(dead time)":                      func(m *movie) { m.dead, m.count, m.angles = 0.5, 20, m.angles[:1] },
		"":                                 func(*movie) {},
	} {
		m := few(1)
		plant(&m)
		f := m.fit(t)
		if f.Verdict.Disagrees() != (want != "") || !strings.Contains(f.Verdict.String(), want) {
			t.Errorf("want %q: %v", want, f.Verdict)
		}
	}
}

// Where contrast and decay are hardly told apart, the verdict says that intervals are rough, with the numbers of speckles.
func TestVerdictSaysThatIntervalsAreRough(t *testing.T) {
	for d0, want := range map[float64]bool{4000: true, 4e4: false} {
		m := few(2)
		m.theta[0], m.angles = d0, m.angles[:1]
		f := m.fit(t)
		if text := f.Verdict.String(); strings.Contains(text, "are rough") != want || strings.Contains(text, "speckles an angle; intervals of 95 % are lopsided: contrast") != want {
			t.Errorf("D0 %g: %v", d0, text)
		}
	}
}
