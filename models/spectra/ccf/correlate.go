// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ccf

import (
	"fmt"
	"math"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// correlator correlates spectra with all templates T of an arm, at the few lags n that velocities can have:
//
//	sum over j of x_j T_(j-n) + y_j T2_(j-n),   lo <= n <= hi
//
// The spectrum is cut into blocks. The transform of each, over a window that is longer by the number of lags, times that
// of the templates in the same window, adds up over the blocks before the one inverse transform, of which only the lags
// are computed. All of this is matrix products, of all templates and a batch of spectra: for each frequency one over
// blocks, and one for the inverse transform.
type correlator struct {
	arm    *arm
	lo, hi int // lags, in pixels
	window int
	block  int
	blocks int
	rows   int // spectra of a batch
	// programs are those of the backends that share the stars, and devices memory for their runs on GPUs.
	programs []*ad.Program
	devices  []*onDevice
	// transforms are those of the templates: see transform. All States of the program read them.
	transforms []float32
	// levels are what is subtracted from templates before they are transformed, so that float32 rounds less: their
	// continuum, 1, if that is divided out, otherwise their means.
	levels []float64
	// taps are the weights by which four lags from index first give the value at a velocity.
	first []int
	taps  [][4]float64
}

func (c *correlator) lags() int        { return c.hi - c.lo + 1 }
func (c *correlator) frequencies() int { return c.window/2 + 1 }

// lag returns by how many pixels a velocity in km/s shifts a spectrum. The shift of the logarithm of wavelengths is
// atanh(v/c). The reference has c = 300000 km/s, a first-order step and one pixel too many in the range.
func (a *arm) lag(vel float64, compat bool) float64 {
	width := a.logL1 - a.logL0
	if compat {
		return vel / (nodeSpeed * math.Expm1(width/float64(a.points)))
	}
	return math.Atanh(vel/spectra.SpeedOfLight) / (width / float64(a.points-1))
}

// newCorrelator makes the correlator for velocities in ascending order, in km/s.
func newCorrelator(a *arm, velocities []float64, s Settings) (*correlator, error) {
	c := &correlator{arm: a, rows: s.Batch}
	base := make([]int, len(velocities))
	for i, v := range velocities {
		x := a.lag(v, s.Compat)
		n := math.Floor(x)
		base[i] = int(n)
		c.taps = append(c.taps, cubic(x-n))
		if s.Compat {
			c.taps[i] = [4]float64{0, 1 - (x - n), x - n, 0}
		}
	}
	c.lo, c.hi = base[0]-1, base[len(base)-1]+2
	for _, n := range base {
		c.first = append(c.first, n-1-c.lo)
	}
	if c.lags() > a.points {
		return nil, fmt.Errorf("ccf: velocities from %g to %g km/s shift the templates of arm %s by %d to %d of their %d pixels: give a narrower range", velocities[0], velocities[len(velocities)-1], a.name, c.lo, c.hi, a.points)
	}
	c.cut()
	out, inputs := c.graph()
	for _, b := range ad.Spread(s.Backend) {
		b = ad.WithGPUs(b, func(c ad.CUDA) ad.CUDA {
			c.Weights = "" // weights are those of networks: transforms keep their digits
			return c
		})
		program, err := ad.Compile([]*ad.Node{out}, ad.Settings{Inputs: inputs, Precision: 32, Backend: b})
		if err != nil {
			return nil, fmt.Errorf("ccf: arm %s: %w", a.name, err)
		}
		c.programs, c.devices = append(c.programs, program), append(c.devices, &onDevice{})
	}
	c.setLevels()
	c.transforms = c.transform(s)
	return c, nil
}

// onDevice is the memory of runs on a GPU, where the transforms of the templates are once: workers take turns.
type onDevice struct {
	mu    sync.Mutex
	state *ad.State
}

// state returns memory for runs on a backend, whose input 0 has the blocks of spectra: see graph; and what to call when
// the run is over and its output read. own is what the last call returned to the same worker, or nil.
func (c *correlator) state(on int, own *ad.State) (s *ad.State, done func(), err error) {
	p := c.programs[on]
	if p.Device() == "cpu" {
		if s = own; s == nil {
			s = p.NewState()
			err = s.Bind32(1, c.transforms)
		}
		return s, func() {}, err
	}
	d := c.devices[on]
	d.mu.Lock()
	if d.state != nil {
		return d.state, d.mu.Unlock, nil
	}
	s = p.NewState()
	const part = 1 << 16
	wide := make([]float64, part)
	for from := 0; from < len(c.transforms) && err == nil; from += part {
		n := min(part, len(c.transforms)-from)
		for i, v := range c.transforms[from : from+n] {
			wide[i] = float64(v)
		}
		err = s.SetPart(1, from, wide[:n])
	}
	if err != nil {
		d.mu.Unlock()
		return nil, nil, err
	}
	d.state = s
	return s, d.mu.Unlock, nil
}

// cubic returns the weights of four equidistant values in the cubic through them, at a distance x from the second.
func cubic(x float64) [4]float64 {
	return [4]float64{-x * (x - 1) * (x - 2) / 6, (x + 1) * (x - 1) * (x - 2) / 2, -(x + 1) * x * (x - 2) / 2, (x + 1) * x * (x - 1) / 6}
}

// cut chooses the window for which the products take the least time. Numbers of the templates' transforms count twice,
// once for the arithmetic and once for their way from memory.
func (c *correlator) cut() {
	least := math.Inf(1)
	for window := 32; window <= 4096; window += 16 {
		block := window - c.lags() + 1
		if block < 1 {
			continue
		}
		blocks := (c.arm.points + block - 1) / block
		if cost := float64(window/2+1) * float64(16*blocks+2*c.lags()); cost < least {
			least, c.window, c.blocks = cost, window, blocks
			c.block = (c.arm.points + blocks - 1) / blocks
		}
		if blocks == 1 {
			break
		}
	}
	if c.window == 0 { // more lags than any window of the table
		c.block, c.blocks = c.arm.points, 1
		c.window = (c.block + c.lags() + 15) / 16 * 16
	}
}

// graph returns the correlations, of shape (lags, rows templates), the first lag being hi. Inputs are the blocks of x and
// y, of shape (rows, 2, blocks, block), and the transforms of the templates. If the templates keep their continuum, sums
// over x and y stay apart and the shape is (2, lags, rows templates).
func (c *correlator) graph() (out *ad.Node, inputs []*ad.Node) {
	f, n := c.frequencies(), len(c.arm.models)/c.arm.points
	x := ad.Input("spectra", c.rows, 2, c.blocks, c.block)
	// The axes of y are row, x or y, block, part of the product, part of the template, frequency.
	y := ad.Reshape(ad.MatMul(x, c.forward()), c.rows, 2, c.blocks, 2, 2, f)
	if c.arm.continuum {
		t := ad.Input("templates", f, 4*c.blocks, n)
		r := ad.Reshape(ad.Permute(y, 5, 3, 0, 4, 1, 2), f, 2*c.rows, 4*c.blocks)
		return ad.MatMul(c.backward(), ad.Reshape(ad.MatMul(r, t), 2*f, c.rows*n)), []*ad.Node{x, t}
	}
	t := ad.Input("templates", 2*f, 2*c.blocks, n)
	r := ad.Reshape(ad.Permute(y, 1, 5, 3, 0, 4, 2), 2*f, 2*c.rows, 2*c.blocks)
	return ad.MatMul(c.backward(), ad.Reshape(ad.MatMul(r, t), 2, 2*f, c.rows*n)), []*ad.Node{x, t}
}

// forward returns the matrix from a block s to its transform S, in the four places where products T conj(S) need it:
// T_re S_re + T_im S_im is the real part, T_im S_re - T_re S_im the imaginary one.
func (c *correlator) forward() *ad.Node {
	f := c.frequencies()
	d := make([]float64, c.block*4*f)
	for i := range c.block {
		row := d[i*4*f:][:4*f]
		for k := range f {
			sin, cos := math.Sincos(2 * math.Pi * float64(i*k%c.window) / float64(c.window))
			row[k], row[f+k], row[2*f+k], row[3*f+k] = cos, -sin, sin, cos
		}
	}
	return ad.Const(d, c.block, 4*f)
}

// backward returns the matrix of the inverse transform at the lags, from real and imaginary parts of each frequency.
func (c *correlator) backward() *ad.Node {
	f := c.frequencies()
	w := make([]float64, c.lags()*2*f)
	for r := range c.lags() {
		for k := range f {
			m := 2 / float64(c.window)
			if k == 0 || 2*k == c.window {
				m /= 2
			}
			sin, cos := math.Sincos(2 * math.Pi * float64(r*k%c.window) / float64(c.window))
			w[(r*f+k)*2], w[(r*f+k)*2+1] = m*cos, -m*sin
		}
	}
	return ad.Const(w, c.lags(), 2*f)
}

// setLevels sets levels.
func (c *correlator) setLevels() {
	c.levels = make([]float64, len(c.arm.models)/c.arm.points)
	for t := range c.levels {
		if c.levels[t] = 1; !c.arm.continuum {
			sum := 0.0
			for _, v := range c.arm.models[t*c.arm.points:][:c.arm.points] {
				sum += float64(v)
			}
			c.levels[t] = sum / float64(c.arm.points)
		}
	}
}

// transform returns the transforms of templates T less their levels l, and of (T-l)^2 in the windows of the blocks, the
// axes being (frequency, part, square, block, template). If templates keep their continuum, the second is T^2 - l^2 and
// the axes are (square, frequency, part, block, template).
func (c *correlator) transform(s Settings) []float32 {
	f, n, points := c.frequencies(), len(c.arm.models)/c.arm.points, c.arm.points
	out := make([]float32, f*4*c.blocks*n)
	plan := kernels.NewFFT(c.window)
	type scratch struct {
		kernels.FFTWorkspace
		window       []float64
		coefficients []complex128
	}
	workers := make([]*scratch, s.Threads)
	const together = 16 // templates, whose numbers lie side by side
	parallel.Do(s.Threads, (n+together-1)/together, func(k, part int) {
		if workers[k] == nil {
			workers[k] = &scratch{window: make([]float64, c.window), coefficients: make([]complex128, f)}
		}
		w := workers[k]
		for b := range c.blocks {
			for t := part * together; t < min((part+1)*together, n); t++ {
				model, level := c.arm.models[t*points:][:points], c.levels[t]
				for i := range w.window {
					w.window[i] = c.value(model, b*c.block-c.hi+i, s.Compat) - level
				}
				plan.Real64(w.coefficients, w.window, &w.FFTWorkspace)
				c.place(out, w.coefficients, 0, b, t)
				for i, v := range w.window {
					if w.window[i] = v * v; !c.arm.continuum {
						w.window[i] = v * (v + 2*level)
					}
				}
				plan.Real64(w.coefficients, w.window, &w.FFTWorkspace)
				c.place(out, w.coefficients, 1, b, t)
			}
		}
	})
	return out
}

// place writes the transform of a block of a template, or of its square, into those of all.
func (c *correlator) place(out []float32, transform []complex128, square, block, template int) {
	f, n := c.frequencies(), len(c.arm.models)/c.arm.points
	for k, v := range transform {
		re, im := (k*2*2+square)*c.blocks, (k*2*2+2+square)*c.blocks
		if !c.arm.continuum {
			re, im = (square*f+k)*2*c.blocks, ((square*f+k)*2+1)*c.blocks
		}
		out[(re+block)*n+template], out[(im+block)*n+template] = float32(real(v)), float32(imag(v))
	}
}

// value returns the template at pixel i. Beyond its ends it is its continuum, or the value at the end if it has that
// still; with wrap, as in the reference, its other end.
func (c *correlator) value(model []float32, i int, wrap bool) float64 {
	n := len(model)
	switch {
	case wrap:
		i = ((i % n) + n) % n
	case (i < 0 || i >= n) && c.arm.continuum:
		return 1
	default:
		i = min(max(i, 0), n-1)
	}
	return float64(model[i])
}

// put writes x or y of a spectrum, divided by size, into the input of a run.
func (c *correlator) put(input []float32, row, which int, x []float64, size float64) {
	part := input[(row*2+which)*c.blocks*c.block:][:c.blocks*c.block]
	for i, v := range x {
		part[i] = float32(v / size)
	}
	clear(part[len(x):])
}
