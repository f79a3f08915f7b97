// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"errors"
	"testing"
)

// correlate visits every product of a convolution.
func correlate(c Convolution, visit func(x, w, y int)) {
	v, _ := c.describe()
	p, q := v.Output()
	per, kg := v.C/v.Groups, v.K/v.Groups
	for n := range v.N {
		for k := range v.K {
			for i := range p * q {
				for j := range per * v.R * v.S {
					ch, r, s := j/(v.R*v.S), j/v.S%v.R, j%v.S
					h, w := i/q*v.StrideH-v.PadH+r*v.DilationH, i%q*v.StrideW-v.PadW+s*v.DilationW
					if h >= 0 && w >= 0 && h < v.H && w < v.W {
						visit(((n*v.C+k/kg*per+ch)*v.H+h)*v.W+w, k*per*v.R*v.S+j, (n*v.K+k)*p*q+i)
					}
				}
			}
		}
	}
}

var convolutions = []Convolution{
	{N: 2, C: 3, H: 5, W: 6, K: 4, R: 3, S: 2},
	{N: 1, C: 4, H: 7, W: 5, K: 6, R: 3, S: 3, PadH: 1, PadW: 2, StrideH: 2, Groups: 2},
	{N: 2, C: 2, H: 6, W: 7, K: 2, R: 2, S: 3, PadW: 1, StrideW: 3, DilationH: 2, Groups: 2},
}

func TestConvolution(t *testing.T) {
	for seed, c := range convolutions {
		t.Run("", func(t *testing.T) {
			_, d := withLibraries(t, seed)
			checkConvolution(t, d, seed, c)
		})
	}
}

// checkConvolution compares the three passes with the definition.
func checkConvolution(t *testing.T, d *Device, seed int, c Convolution) {
	t.Helper()
	c.Type = Type(seed % 2)
	p, q := c.Output()
	groups := max(c.Groups, 1)
	nx, nw, ny := c.N*c.C*c.H*c.W, c.K*c.C/groups*c.R*c.S, c.N*c.K*p*q
	hx, hw, hy := random(nx, 1), random(nw, 2), random(ny, 3)
	y, dx, dw := make([]float64, ny), make([]float64, nx), make([]float64, nw)
	correlate(c, func(i, j, k int) {
		y[k] += hx[i] * hw[j]
		dx[i] += hw[j] * hy[k]
		dw[j] += hx[i] * hy[k]
	})
	l, s, typ := d.Libraries(), d.Default(), c.Type
	bx, bw, by := upload(t, d, typ, hx), upload(t, d, typ, hw), upload(t, d, typ, hy)
	oy, ox, ow := alloc(t, d, nil, 8*ny), alloc(t, d, nil, 8*nx), alloc(t, d, nil, 8*nw)
	if err := errors.Join(l.Convolve(s, c, oy.At(0), bx.At(0), bw.At(0)), l.ConvolveGradX(s, c, ox.At(0), bw.At(0), by.At(0)),
		l.ConvolveGradW(s, c, ow.At(0), bx.At(0), by.At(0))); err != nil {
		t.Fatal(err)
	}
	agrees(t, "y", download(t, s, typ, oy, ny), y, 5*tolerance(typ))
	agrees(t, "dx", download(t, s, typ, ox, nx), dx, 5*tolerance(typ))
	agrees(t, "dw", download(t, s, typ, ow, nw), dw, 5*tolerance(typ))
	free(bx, bw, by, oy, ox, ow)
}
