package spectra

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/kernels"
)

// LogGrid is a grid of N wavelengths, equally spaced in their logarithm, from exp(First) to exp(Last) Angstrom.
type LogGrid struct {
	First, Last float64
	N           int
}

// Wavelengths returns the grid in Angstrom.
func (g LogGrid) Wavelengths() []float64 {
	lam := make([]float64, g.N)
	for i := range lam {
		lam[i] = math.Exp(g.First + (g.Last-g.First)*float64(i)/float64(g.N-1))
	}
	return lam
}

// Resample interpolates a spectrum linearly to the grid, with its inverse variances, that of a sum of neighbours being
// what their errors give. Beyond the spectrum, and between pixels without information, both are 0.
func (g LogGrid) Resample(lam, flux, ivar []float64) (f, iv []float64) {
	f, iv = make([]float64, g.N), make([]float64, g.N)
	k := 0
	for i, x := range g.Wavelengths() {
		for k+1 < len(lam) && lam[k+1] <= x {
			k++
		}
		if x < lam[0] || k+1 >= len(lam) {
			continue
		}
		right := (x - lam[k]) / (lam[k+1] - lam[k])
		left := 1 - right
		f[i] = left*flux[k] + right*flux[k+1]
		if d := left*left*ivar[k+1] + right*right*ivar[k]; d > 0 {
			iv[i] = ivar[k] * ivar[k+1] / d
		}
	}
	return f, iv
}

// Correlator compares spectra with templates at all lags of pixels of a LogGrid, which counts as periodic.
// It is immutable.
type Correlator struct {
	n, half   int
	templates [][]float32       // less 1
	t, square [][]complex64     // transforms of the templates less 1, and of their squares, without their means
	mean      [][2]float64      // of template less 1 and its square
	wide      [][2][]complex128 // transforms of templates and squares, for Scaled; nil without
	plan      *kernels.FFT
	coarse    *kernels.FFT // of half of the pixels
}

// NewScaledCorrelator takes templates of n pixels that keep their continuum, for Scaled.
func NewScaledCorrelator(n int, templates [][]float32) (*Correlator, error) {
	c, err := NewCorrelator(n, templates)
	if err != nil {
		return nil, err
	}
	var w kernels.FFTWorkspace
	x, square := make([]float64, n), make([]float64, n)
	for _, t := range templates {
		for k, v := range t {
			x[k], square[k] = float64(v), float64(v)*float64(v)
		}
		pair := [2][]complex128{make([]complex128, c.half), make([]complex128, c.half)}
		c.plan.Real64(pair[0], x, &w)
		c.plan.Real64(pair[1], square, &w)
		c.wide = append(c.wide, pair)
	}
	return c, nil
}

// NewCorrelator takes templates of n pixels, whose continuum is 1.
func NewCorrelator(n int, templates [][]float32) (*Correlator, error) {
	c := &Correlator{n: n, half: n/2 + 1, plan: kernels.NewFFT(max(n, 1)), coarse: kernels.NewFFT(max(n/2, 1))}
	var w kernels.FFTWorkspace
	square := make([]float32, n)
	for i, t := range templates {
		if len(t) != n || n < 2 {
			return nil, fmt.Errorf("spectra: template %d has %d pixels: want %d, at least 2", i, len(t), n)
		}
		less, mean := make([]float32, n), [2]float64{}
		for k, v := range t {
			if v != v || math.IsInf(float64(v), 0) {
				return nil, fmt.Errorf("spectra: pixel %d of template %d is %g", k, i, v)
			}
			less[k] = v - 1
			square[k] = less[k] * less[k]
			mean[0] += float64(less[k])
			mean[1] += float64(less[k]) * float64(less[k])
		}
		mean[0] /= float64(n)
		mean[1] /= float64(n)
		a, b := make([]complex64, c.half), make([]complex64, c.half)
		c.plan.Real32(a, less, &w)
		c.plan.Real32(b, square, &w)
		a[0], b[0] = 0, 0
		c.templates, c.t, c.square, c.mean = append(c.templates, less), append(c.t, a), append(c.square, b), append(c.mean, mean)
	}
	return c, nil
}

// Templates returns the number of templates.
func (c *Correlator) Templates() int { return len(c.templates) }

// Data is a spectrum, or the sum of several, as a Correlator compares it.
type Data struct {
	weighted, weight []float64 // (flux - 1) ivar, and ivar
	sums             [2]float64
	constant         float64 // sum of (flux-1)^2 ivar
	w, v             []complex64
	squares          float64         // sum of flux^2 ivar
	wide             [2][]complex128 // of flux ivar and ivar, for Scaled
}

// NewData takes spectra on the grid of the correlator, divided by their continuum, and their inverse variances.
// Several spectra, of several exposures, count together.
func (c *Correlator) NewData(flux, ivar [][]float64) *Data {
	d := &Data{weighted: make([]float64, c.n), weight: make([]float64, c.n), w: make([]complex64, c.half), v: make([]complex64, c.half)}
	for e := range flux {
		for k, f := range flux[e] {
			iv := ivar[e][k]
			d.weighted[k] += (f - 1) * iv
			d.weight[k] += iv
			d.constant += (f - 1) * (f - 1) * iv
			d.squares += f * f * iv
		}
	}
	a, b := make([]float32, c.n), make([]float32, c.n)
	for k := range a {
		a[k], b[k] = float32(d.weighted[k]), float32(d.weight[k])
		d.sums[0] += d.weighted[k]
		d.sums[1] += d.weight[k]
	}
	var w kernels.FFTWorkspace
	c.plan.Real32(d.w, a, &w)
	c.plan.Real32(d.v, b, &w)
	for k := range d.w {
		x, y := d.w[k], d.v[k]
		d.w[k], d.v[k] = complex(real(x), -imag(x)), complex(real(y), -imag(y))
	}
	if c.wide == nil {
		return d
	}
	x := make([]float64, c.n)
	for k := range x {
		x[k] = d.weighted[k] + d.weight[k]
	}
	d.wide = [2][]complex128{make([]complex128, c.half), make([]complex128, c.half)}
	c.plan.Real64(d.wide[0], x, &w)
	c.plan.Real64(d.wide[1], d.weight, &w)
	for part := range d.wide {
		for k, v := range d.wide[part] {
			d.wide[part][k] = complex(real(v), -imag(v))
		}
	}
	return d
}

// Workspace is the scratch memory of one goroutine.
type Workspace struct {
	fft  kernels.FFTWorkspace
	x    []complex64
	lags []float32
	wide []complex128
	sums [2][]float64
}

// Compare sets chi[i] to the chi-square of template t, the sum over pixels k of (flux - T[k-lag])^2 ivar, for lag =
// by (from + i): at a shift to longer wavelengths by lag pixels. If by is 2, structure of less than 4 pixels does not
// count, and it takes half of the time.
func (c *Correlator) Compare(chi []float64, d *Data, t, from, by int, w *Workspace) {
	if len(w.x) < c.half {
		w.x, w.lags = make([]complex64, c.half), make([]float32, c.n)
	}
	plan, n := c.plan, c.n
	if by == 2 {
		plan, n = c.coarse, c.n/2
	}
	m := n/2 + 1
	a, b, p, q, x := c.t[t][:m], c.square[t][:m], d.w[:m], d.v[:m], w.x[:m]
	for k := range a {
		ar, ai, br, bi := real(a[k]), imag(a[k]), real(b[k]), imag(b[k])
		pr, pi, qr, qi := real(p[k]), imag(p[k]), real(q[k]), imag(q[k])
		x[k] = complex(qr*br-qi*bi-2*(pr*ar-pi*ai), qr*bi+qi*br-2*(pr*ai+pi*ar))
	}
	plan.RealInverse32(w.lags[:n], x, &w.fft)
	constant := d.constant + c.mean[t][1]*d.sums[1] - 2*c.mean[t][0]*d.sums[0]
	for i := range chi {
		// x is the transform of the template times the conjugate of the data's: its inverse is at -lag.
		k := (-(from+i)%n + n) % n
		chi[i] = float64(w.lags[k])/float64(c.n) + constant
	}
}

// At is Compare at one lag, in float64 and directly.
func (c *Correlator) At(d *Data, t, lag int) float64 {
	sum := d.constant
	x := c.templates[t]
	k := (-lag%c.n + c.n) % c.n
	for i := range d.weight {
		v := float64(x[k])
		sum += v * (v*d.weight[i] - 2*d.weighted[i])
		if k++; k == c.n {
			k = 0
		}
	}
	return sum
}

// Scaled is Compare for templates times the factors that fit best. Flux and templates keep their continuum. It needs
// a correlator made by NewScaledCorrelator.
func (c *Correlator) Scaled(chi []float64, d *Data, t, from int, w *Workspace) {
	if len(w.wide) != c.half {
		w.wide = make([]complex128, c.half)
		w.sums = [2][]float64{make([]float64, c.n), make([]float64, c.n)}
	}
	for part, pair := range [2][2][]complex128{{c.wide[t][0], d.wide[0]}, {c.wide[t][1], d.wide[1]}} {
		for k := range w.wide {
			w.wide[k] = pair[0][k] * pair[1][k]
		}
		c.plan.RealInverse64(w.sums[part], w.wide, &w.fft)
	}
	for i := range chi {
		k := (-(from+i)%c.n + c.n) % c.n
		num, den := w.sums[0][k]/float64(c.n), w.sums[1][k]/float64(c.n)
		chi[i] = d.squares
		if den > 1e-12*math.Abs(d.sums[1]) {
			chi[i] -= num * num / den
		}
	}
}

// referencePixel returns the velocity of a pixel in the reference, which takes lags for multiples of it, with N pixels
// between first and last, and c = 3e5 km/s.
func (g LogGrid) referencePixel() float64 {
	return math.Expm1((g.Last-g.First)/float64(g.N)) * referenceC
}

// Lags returns the range of lags, multiples of by pixels, that velocities from lo to hi (km/s) need, with one more at
// both ends, and the velocity of each. With compat they are as in the reference: multiples of that of a pixel too narrow by 1/N, with
// c = 3e5 km/s.
func (g LogGrid) Lags(lo, hi float64, by int, compat bool) (from int, vel []float64) {
	step := float64(by) * (g.Last - g.First) / float64(g.N-1)
	velocity := func(lag int) float64 { return SpeedOfLight * math.Tanh(float64(lag)*step) }
	lagOf := func(v float64) float64 { return math.Atanh(v/SpeedOfLight) / step }
	if compat {
		pixel := float64(by) * g.referencePixel()
		velocity = func(lag int) float64 { return float64(lag) * pixel }
		lagOf = func(v float64) float64 { return v / pixel }
	}
	from = int(math.Floor(lagOf(lo))) - 1
	to := int(math.Ceil(lagOf(hi))) + 1
	for lag := from; lag <= to; lag++ {
		vel = append(vel, velocity(lag))
	}
	return from, vel
}

// Transforms sets the discrete Fourier transforms of a template of n pixels and of its square: n/2+1 numbers each.
func Transforms(t, square []complex128, pixels []float64) {
	plan := kernels.NewFFT(len(pixels))
	plan.Real64(t, pixels, nil)
	x := make([]float64, len(pixels))
	for k, v := range pixels {
		x[k] = v * v
	}
	plan.Real64(square, x, nil)
}

// MedianFilter returns medians of windows of an odd number of pixels; beyond the ends are zeros.
func MedianFilter(x []float64, window int) []float64 {
	out, part := make([]float64, len(x)), make([]float64, window)
	half := window / 2
	for i := range x {
		for j := range part {
			part[j] = 0
			if k := i + j - half; k >= 0 && k < len(x) {
				part[j] = x[k]
			}
		}
		slices.Sort(part)
		out[i] = part[half]
	}
	return out
}
