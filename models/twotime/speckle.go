package twotime

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/tensor"
)

// mostModes is the largest number of coherent modes that are drawn. A contrast below 1/mostModes is had by scaling the fluctuations of so
// many.
const mostModes = 8

// speckles draws the counts of pixels of an angle: the intensity of a field of several coherent modes, times a factor of each pixel that
// does not change, seen as photons.
type speckles struct {
	frames int
	parts  []part    // their correlations as lower triangles
	modes  []float64 // share of each mode in the intensity
	scale  float64   // of the fluctuations
	static float64   // variance of the factor that does not change
	mean   float64   // counts of a pixel in a frame; +Inf: no shot noise
	ws     kernels.Workspace
	noise  []float64
	field  [2][]float64
}

// newSpeckles takes a contrast, an offset and 1/count of a pixel.
func newSpeckles(parts []part, frames int, contrast, offset, inverseCount float64) (*speckles, error) {
	s := &speckles{frames: frames, static: max(0, offset-1), mean: 1 / inverseCount, scale: 1}
	for _, p := range parts {
		l, err := lowerTriangle(p.correlation, frames)
		if err != nil {
			return nil, err
		}
		s.parts = append(s.parts, part{l, append([]float64(nil), p.re...), append([]float64(nil), p.im...)})
	}
	beta := contrast / (1 + s.static)
	switch {
	case beta > 1: // no field has it; as near as can be
		s.scale, beta = math.Sqrt(beta), 1
	case beta <= 0:
		s.scale, beta = 0, 1
	case beta < 1./mostModes:
		s.scale, beta = math.Sqrt(beta*mostModes), 1./mostModes
	}
	// n-1 modes of a share a and one of b: their shares are 1 together, and the squares beta
	n := math.Ceil(1/beta - 1e-9)
	a := 1.
	if n > 1 {
		a = (1 + math.Sqrt(max(0, (n*beta-1)/(n-1)))) / n
	}
	for range int(n) - 1 {
		s.modes = append(s.modes, a)
	}
	s.modes = append(s.modes, 1-a*(n-1))
	if n == 1 {
		s.modes = []float64{1}
	}
	return s, nil
}

// lowerTriangle is the Cholesky factor of a correlation, of which the smallest eigenvalues may have been rounded to below 0.
func lowerTriangle(correlation []float64, n int) ([]float64, error) {
	for jitter := 1e-12; jitter < 1e-4; jitter *= 100 {
		a := mat.NewSymDense(n, append([]float64(nil), correlation...))
		for i := range n {
			a.SetSym(i, i, a.At(i, i)+jitter)
		}
		var c mat.Cholesky
		if c.Factorize(a) {
			out := make([]float64, n*n)
			mat.NewDense(n, n, out).Copy(c.RawU().T())
			return out, nil
		}
	}
	return nil, errors.New("twotime: the correlation of the field has negative eigenvalues: no field has it")
}

// draw fills out (frames, pixels) with counts.
func (s *speckles) draw(z *tensor.Stream, pixels int, out []float64) {
	size := s.frames * pixels
	if len(s.noise) != size {
		s.noise = make([]float64, size)
		s.field = [2][]float64{make([]float64, size), make([]float64, size)}
	}
	clear(out)
	for _, share := range s.modes {
		for _, f := range s.field {
			clear(f)
		}
		for _, p := range s.parts {
			for side := range s.field {
				z.NormalTo(s.noise)
				s.add(p, side, pixels)
			}
		}
		for i := range out {
			out[i] += share / 2 * (s.field[0][i]*s.field[0][i] + s.field[1][i]*s.field[1][i])
		}
	}
	factors := make([]float64, pixels)
	for k := range factors {
		factors[k] = 1
		if s.static > 0 {
			factors[k] = distuv.Gamma{Alpha: 1 / s.static, Beta: 1 / s.static, Src: z.Rand()}.Rand()
		}
	}
	poisson := distuv.Poisson{Src: z.Rand()}
	for i := range out {
		out[i] = (1 + s.scale*(out[i]-1)) * factors[i%pixels]
		if !math.IsInf(s.mean, 1) {
			if poisson.Lambda = s.mean * max(0, out[i]); poisson.Lambda > 0 {
				out[i] = poisson.Rand() / s.mean
			} else {
				out[i] = 0
			}
		}
	}
}

// add adds a part driven by the noise of the real (0) or the imaginary (1) side to the field.
func (s *speckles) add(p part, side, pixels int) {
	const rows = 128
	n := s.frames
	block := make([]float64, min(rows, n)*pixels)
	for from := 0; from < n; from += rows { // the triangle is 0 to the right of its diagonal
		m := min(rows, n-from)
		if p.re == nil {
			kernels.Gemm64(kernels.Best(), &s.ws, false, false, m, pixels, from+m, 1, p.correlation[from*n:], n, s.noise, pixels, 1, s.field[side][from*pixels:], pixels)
			continue
		}
		kernels.Gemm64(kernels.Best(), &s.ws, false, false, m, pixels, from+m, 1, p.correlation[from*n:], n, s.noise, pixels, 0, block, pixels)
		cross := p.im // i times the imaginary side is minus the real one
		sign := 1.0
		if side == 1 {
			sign = -1
		}
		for i := range m {
			re, im := p.re[from+i], sign*cross[from+i]
			kernels.AddScaled64(s.field[side][(from+i)*pixels:(from+i+1)*pixels], block[i*pixels:(i+1)*pixels], re)
			kernels.AddScaled64(s.field[1-side][(from+i)*pixels:(from+i+1)*pixels], block[i*pixels:(i+1)*pixels], im)
		}
	}
}

// Sample is what Simulate measures: the parameters of the motion, contrast and offset of each angle, the speckles that are averaged over,
// each a pixel that is independent of the others, and the mean count of one in a frame (0: no shot noise). An offset above 1 is a
// brightness of pixels that does not change.
type Sample struct {
	Theta            []float64
	Contrast, Offset []float64
	Speckles         int
	MeanCount        float64
	Seed             uint64
}

// Simulate draws frames of photons of a sample and correlates them: (frames, frames) for each angle, with the diagonal as it is measured.
// Noise of the result says how it was made.
func Simulate(ctx context.Context, s transport.Setup, sample Sample) (*Data, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	if err := s.Domain(sample.Theta); err != nil {
		return nil, err
	}
	angles, n := len(s.Angles), len(s.Times)
	if len(sample.Contrast) != angles || len(sample.Offset) != angles {
		return nil, fmt.Errorf("twotime: %d contrasts and %d offsets for %d angles: want one for each", len(sample.Contrast), len(sample.Offset), angles)
	}
	if sample.Speckles < 2 || !(sample.MeanCount >= 0) || math.IsInf(sample.MeanCount, 1) {
		return nil, fmt.Errorf("twotime: %d speckles of %g counts: want at least 2, and a finite count of at least 0", sample.Speckles, sample.MeanCount)
	}
	inverse := 0.0
	if sample.MeanCount > 0 {
		inverse = 1 / sample.MeanCount
	}
	f, err := newFields(s)
	if err != nil {
		return nil, err
	}
	d := &Data{Setup: s}
	for k, angle := range s.Angles {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if !(sample.Contrast[k] > 0 && sample.Contrast[k] <= 1) || !(sample.Offset[k] >= 1) || math.IsInf(sample.Offset[k], 1) {
			return nil, fmt.Errorf("twotime: angle %d has contrast %g and offset %g: want a contrast in (0, 1] and an offset of at least 1 of speckles that are simulated",
				k, sample.Contrast[k], sample.Offset[k])
		}
		_, parts, err := f.at(sample.Theta, angle)
		if err != nil {
			return nil, err
		}
		source, err := newSpeckles(parts, n, sample.Contrast[k], sample.Offset[k], inverse)
		if err != nil {
			return nil, err
		}
		d.C2 = append(d.C2, source.correlated(sample.Speckles, tensor.NewStream(sample.Seed, drawSimulation, uint32(k))))
		d.Noise = append(d.Noise, Noise{Speckles: float64(sample.Speckles), InverseCount: inverse})
	}
	return d, nil
}

// Purposes of random numbers.
const (
	drawSimulation = 1 + iota
	drawCovariance
)

// batch is the number of pixels that are drawn at once.
const batch = 256

// correlated draws pixels and returns their two-time correlations.
func (s *speckles) correlated(pixels int, z tensor.Stream) []float64 {
	n := s.frames
	products, mean := make([]float64, n*n), make([]float64, n)
	counts := make([]float64, n*batch)
	for left := pixels; left > 0; left -= batch {
		m := min(batch, left)
		c := counts[:n*m]
		s.draw(&z, m, c)
		kernels.Gemm64(kernels.Best(), &s.ws, false, true, n, n, m, 1, c, m, c, m, 1, products, n)
		for i := range n {
			for _, v := range c[i*m : (i+1)*m] {
				mean[i] += v
			}
		}
	}
	for i := range n {
		for j := range n {
			products[i*n+j] *= float64(pixels) / (mean[i] * mean[j])
		}
	}
	return products
}

// inParallel runs f for each angle on threads, and returns the first error.
func inParallel(ctx context.Context, threads, angles int, f func(hand, angle int) error) error {
	errs := make([]error, angles)
	parallel.Do(max(1, threads), angles, func(hand, angle int) {
		if errs[angle] = ctx.Err(); errs[angle] == nil {
			errs[angle] = f(hand, angle)
		}
	})
	return errors.Join(errs...)
}
