package rsoxs

import (
	"math"

	"gonum.org/v1/gonum/dsp/fourier"
)

// transformer transforms slices of ny x nx real numbers to their half spectra and
// back, without normalisation. Complex numbers are pairs.
type transformer[T float] struct {
	ny, nx int
	r      *fourier.FFT
	c      *fourier.CmplxFFT
}

func newTransformer[T float](ny, nx int) *transformer[T] {
	return &transformer[T]{ny, nx, fourier.NewFFT(nx), fourier.NewCmplxFFT(ny)}
}

func (t *transformer[T]) forward(dst, src []T) {
	h := t.nx/2 + 1
	row := make([]float64, t.nx)
	for y := range t.ny {
		for x := range row {
			row[x] = float64(src[y*t.nx+x])
		}
		for x, z := range t.r.Coefficients(nil, row) {
			dst[2*(y*h+x)], dst[2*(y*h+x)+1] = T(real(z)), T(imag(z))
		}
	}
	col := make([]complex128, t.ny)
	for x := range h {
		for y := range col {
			col[y] = complex(float64(dst[2*(y*h+x)]), float64(dst[2*(y*h+x)+1]))
		}
		for y, z := range t.c.Coefficients(nil, col) {
			dst[2*(y*h+x)], dst[2*(y*h+x)+1] = T(real(z)), T(imag(z))
		}
	}
}

func (t *transformer[T]) inverse(dst, src []T) {
	h := t.nx/2 + 1
	tmp := make([]complex128, t.ny*h)
	col := make([]complex128, t.ny)
	for x := range h {
		for y := range col {
			col[y] = complex(float64(src[2*(y*h+x)]), float64(src[2*(y*h+x)+1]))
		}
		for y, z := range t.c.Sequence(nil, col) {
			tmp[y*h+x] = z
		}
	}
	for y := range t.ny {
		for x, v := range t.r.Sequence(nil, tmp[y*h:(y+1)*h]) {
			dst[y*t.nx+x] = T(v)
		}
	}
}

func sinCos[T float](s, c, x []T) {
	for i, v := range x {
		a, b := math.Sincos(float64(v))
		s[i], c[i] = T(a), T(b)
	}
}

// addPair adds a x to c and b x to s.
func addPair[T float](c, s, x []T, a, b T) {
	for i, v := range x {
		c[i] += a * v
		s[i] += b * v
	}
}

// pairSum adds a c + b s to dst.
func pairSum[T float](dst, c, s []T, a, b T) {
	for i := range dst {
		dst[i] += a*c[i] + b*s[i]
	}
}
