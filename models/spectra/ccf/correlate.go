package ccf

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/dsp/fourier"

	ad "github.com/euryale-dev/euryale/autodiff"
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
	arm     *arm
	lo, hi  int // lags, in pixels
	window  int
	block   int
	blocks  int
	rows    int // spectra of a batch
	program *ad.Program
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
		return nil, fmt.Errorf("ccf: velocities from %g to %g km/s shift the templates of arm %s by %d to %d of their %d pixels: want a narrower range", velocities[0], velocities[len(velocities)-1], a.name, c.lo, c.hi, a.points)
	}
	c.cut()
	program, err := ad.Compile([]*ad.Node{c.graph(s.Compat)}, ad.Settings{Precision: 32, Backend: s.Backend})
	if err != nil {
		return nil, fmt.Errorf("ccf: arm %s: %w", a.name, err)
	}
	c.program = program
	return c, nil
}

// cubic returns the weights of four equidistant values in the cubic through them, at a distance x from the second.
func cubic(x float64) [4]float64 {
	return [4]float64{-x * (x - 1) * (x - 2) / 6, (x + 1) * (x - 1) * (x - 2) / 2, -(x + 1) * x * (x - 2) / 2, (x + 1) * x * (x - 1) / 6}
}

// cut chooses the window for which the products take the fewest operations.
func (c *correlator) cut() {
	least := math.Inf(1)
	for window := 32; window <= 4096; window += 16 {
		block := window - c.lags() + 1
		if block < 1 {
			continue
		}
		blocks := (c.arm.points + block - 1) / block
		if cost := float64(window/2+1) * float64(8*blocks+2*c.lags()); cost < least {
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

// graph returns the correlations, of shape (lags, rows templates): first those of hi. Its input has the blocks of x and
// y, of shape (rows, 2, blocks, block). If the templates keep their continuum, sums over x and y stay apart and the
// shape is (2, lags, rows templates).
func (c *correlator) graph(wrap bool) *ad.Node {
	f, n := c.frequencies(), len(c.arm.models)/c.arm.points
	x := ad.Input("spectra", c.rows, 2, c.blocks, c.block)
	y := ad.Reshape(ad.MatMul(x, c.forward()), c.rows, 2, c.blocks, 2, 2, f) // (row, x or y, block, part of product, part of template, frequency)
	w := c.backward()
	t := c.transforms(wrap)
	if c.arm.continuum {
		r := ad.Reshape(ad.Permute(y, 5, 3, 0, 4, 1, 2), f, 2*c.rows, 4*c.blocks)
		return ad.MatMul(w, ad.Reshape(ad.MatMul(r, ad.Const(t, f, 4*c.blocks, n)), 2*f, c.rows*n))
	}
	// Here templates have the axes (x or y, frequency, part, block, template).
	r := ad.Reshape(ad.Permute(y, 1, 5, 3, 0, 4, 2), 2*f, 2*c.rows, 2*c.blocks)
	return ad.MatMul(w, ad.Reshape(ad.MatMul(r, ad.Const(t, 2*f, 2*c.blocks, n)), 2, 2*f, c.rows*n))
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

// transforms returns the transforms of all templates and of their squares in the windows of the blocks. Templates whose
// continuum is divided out count less 1, so that only lines make rounding errors. Beyond its ends a template is its
// continuum, 1, or the value at the end if it has it still; with wrap, as in the reference, its other end.
//
// The axes are those that graph needs: (frequency, part, square, block, template), or with the continuum
// (square, frequency, part, block, template).
func (c *correlator) transforms(wrap bool) []float64 {
	f, n, points := c.frequencies(), len(c.arm.models)/c.arm.points, c.arm.points
	out := make([]float64, f*4*c.blocks*n)
	plan := fourier.NewFFT(c.window)
	window, coefficients := make([]float64, c.window), make([]complex128, f)
	for t := range n {
		model := c.arm.models[t*points:][:points]
		for b := range c.blocks {
			for square := range 2 {
				for i := range window {
					window[i] = c.value(model, b*c.block-c.hi+i, wrap)
					if square == 1 {
						window[i] *= window[i]
					}
				}
				plan.Coefficients(coefficients, window)
				for k, v := range coefficients {
					re, im := ((k*2+0)*2+square)*c.blocks+b, ((k*2+1)*2+square)*c.blocks+b
					if !c.arm.continuum {
						re, im = ((square*f+k)*2+0)*c.blocks+b, ((square*f+k)*2+1)*c.blocks+b
					}
					out[re*n+t], out[im*n+t] = real(v), imag(v)
				}
			}
		}
	}
	return out
}

// value returns the template at pixel i, which may be beyond its ends.
func (c *correlator) value(model []float32, i int, wrap bool) float64 {
	n := len(model)
	continuum := 0.0
	if c.arm.continuum {
		continuum = 1
	}
	switch {
	case wrap:
		i = ((i % n) + n) % n
	case (i < 0 || i >= n) && c.arm.continuum:
		return 0
	default:
		i = min(max(i, 0), n-1)
	}
	return float64(model[i]) - continuum
}

// put writes x or y of a spectrum into the input of a run.
func (c *correlator) put(input []float32, row, which int, x []float64, scale float64) {
	part := input[(row*2+which)*c.blocks*c.block:][:c.blocks*c.block]
	for i, v := range x {
		part[i] = float32(v * scale)
	}
	clear(part[len(x):])
}
