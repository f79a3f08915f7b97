// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package noise

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// mostModes is the largest number of coherent modes that are drawn. A contrast below 1/mostModes is had by scaling the fluctuations of so
// many.
const mostModes = 8

// Speckles draws the photon counts of the pixels of an angle: the intensity of a field of several
// coherent modes, times a factor of each pixel that does not change.
type Speckles struct {
	frames int
	parts  []Part    // their correlations as lower triangles
	modes  []float64 // share of each mode in the intensity
	scale  float64   // of the fluctuations
	static float64   // variance of the factor that does not change
	mean   float64   // counts of a pixel in a frame; +Inf: no shot noise
	ws     kernels.Workspace
	noise  []float64
	field  [2][]float64
}

// NewSpeckles makes Speckles with a contrast, an offset and 1/count of a pixel.
func NewSpeckles(parts []Part, frames int, contrast, offset, inverseCount float64) (*Speckles, error) {
	s := &Speckles{frames: frames, static: max(0, offset-1), mean: 1 / inverseCount, scale: 1}
	for _, p := range parts {
		l, err := lowerTriangle(p.Correlation, frames)
		if err != nil {
			return nil, err
		}
		s.parts = append(s.parts, Part{l, append([]float64(nil), p.Re...), append([]float64(nil), p.Im...)})
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
	return nil, errors.New("noise: the correlation of the field has negative eigenvalues, and no field has such a correlation: check the correlations")
}

// Draw fills out (frames, pixels) with counts.
func (s *Speckles) Draw(z *tensor.Stream, pixels int, out []float64) {
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
func (s *Speckles) add(p Part, side, pixels int) {
	const rows = 128
	n := s.frames
	block := make([]float64, min(rows, n)*pixels)
	for from := 0; from < n; from += rows { // the triangle is 0 to the right of its diagonal
		m := min(rows, n-from)
		if p.Re == nil {
			kernels.Gemm64(kernels.Best(), &s.ws, false, false, m, pixels, from+m, 1, p.Correlation[from*n:], n, s.noise, pixels, 1, s.field[side][from*pixels:], pixels)
			continue
		}
		kernels.Gemm64(kernels.Best(), &s.ws, false, false, m, pixels, from+m, 1, p.Correlation[from*n:], n, s.noise, pixels, 0, block, pixels)
		cross := p.Im // i times the imaginary side is minus the real one
		sign := 1.0
		if side == 1 {
			sign = -1
		}
		for i := range m {
			re, im := p.Re[from+i], sign*cross[from+i]
			kernels.AddScaled64(s.field[side][(from+i)*pixels:(from+i+1)*pixels], block[i*pixels:(i+1)*pixels], re)
			kernels.AddScaled64(s.field[1-side][(from+i)*pixels:(from+i+1)*pixels], block[i*pixels:(i+1)*pixels], im)
		}
	}
}

// batch is the number of pixels that are drawn at once.
const batch = 256

// Correlated draws pixels and returns their two-time correlations.
func (s *Speckles) Correlated(pixels int, z tensor.Stream) []float64 {
	n := s.frames
	products, mean := make([]float64, n*n), make([]float64, n)
	counts := make([]float64, n*batch)
	for left := pixels; left > 0; left -= batch {
		m := min(batch, left)
		c := counts[:n*m]
		s.Draw(&z, m, c)
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
