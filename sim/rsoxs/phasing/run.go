// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package phasing

import (
	"context"
	"math"
	"math/cmplx"
	"slices"

	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// run is one start: its fields, row by row, and the memory of its transforms.
type run struct {
	*solver
	fields         [][]float64
	support        []bool
	residual, left float64
	f              [][]complex128
	ws             kernels.FFTWorkspace
}

// run iterates from random values inside the support.
func (v *solver) run(ctx context.Context, number int) *run {
	random := tensor.NewStream(v.Seed, purpose, uint32(number+1))
	var fields [][]float64
	for range v.Fields {
		x := make([]float64, v.n)
		for i := range x {
			if u := random.Float64(); v.original[i] {
				x[i] = u
			}
		}
		fields = append(fields, x)
	}
	return v.runFrom(ctx, fields)
}

// runFrom iterates from fields, which it takes over.
func (v *solver) runFrom(ctx context.Context, fields [][]float64) *run {
	r := &run{solver: v, support: slices.Clone(v.original), fields: fields}
	for range fields {
		r.f = append(r.f, make([]complex128, v.n))
	}
	last := v.Iterations - v.Iterations/5
	for i := range v.Iterations {
		if ctx.Err() != nil {
			return r
		}
		if v.Shrink > 0 && i > 0 && i%v.Shrink == 0 && i <= last {
			r.shrink(float64(i) / float64(last))
		}
		switch {
		case v.Method == "er" || i >= last:
			r.step(func(x, m, s float64) float64 { return s })
		case v.Method == "hio":
			beta := v.Beta
			defaultTo(&beta, 0.8)
			r.step(func(x, m, s float64) float64 {
				if m == s {
					return m
				}
				return x - beta*(m-s)
			})
		default:
			beta := v.Beta
			defaultTo(&beta, 0.85+0.14*math.Pow(float64(i)/float64(last), 4))
			r.reflect(beta)
		}
	}
	r.judge()
	return r
}

// step replaces each value x by f(x, m, s), with m its projection onto the data and s that of m onto what is known of the sample.
func (r *run) step(f func(x, m, s float64) float64) {
	m := r.onData()
	s := r.onSample(m)
	for k, x := range r.fields {
		for i := range x {
			x[i] = f(x[i], m[k][i], s[k][i])
		}
	}
}

// reflect is a step of relaxed averaged alternating reflections, beta/2 (R_S R_M + 1) x + (1 - beta) P_M x with the reflections R = 2 P - 1.
//
// Reference: D. R. Luke, doi:10.1088/0266-5611/21/1/004.
func (r *run) reflect(beta float64) {
	m := r.onData()
	mirrored := make([][]float64, len(m))
	for k := range m {
		mirrored[k] = make([]float64, r.n)
		for i := range mirrored[k] {
			mirrored[k][i] = 2*m[k][i] - r.fields[k][i]
		}
	}
	s := r.onSample(mirrored)
	for k, x := range r.fields {
		for i := range x {
			x[i] = beta/2*(2*s[k][i]-mirrored[k][i]+x[i]) + (1-beta)*m[k][i]
		}
	}
}

// onData returns the fields nearest to r's that have the measured intensities.
func (r *run) onData() [][]float64 {
	r.transform()
	if r.single != nil {
		f := r.f[0]
		for i, m := range r.single {
			switch a := cmplx.Abs(f[i]); {
			case m != m:
			case a > 0:
				f[i] *= complex(m/a, 0)
			default:
				f[i] = complex(m, 0)
			}
		}
	} else {
		r.newton()
	}
	out := make([][]float64, len(r.f))
	work := make([]complex128, r.n)
	for k, f := range r.f {
		r.fft.Complex128(work, f, false, &r.ws)
		out[k] = make([]float64, r.n)
		for i, z := range work {
			out[k][i] = real(z) / float64(r.n)
		}
	}
	return out
}

// transform fills the transforms of the fields, sums of exp(+i q r).
func (r *run) transform() {
	for k, x := range r.fields {
		for i, v := range x {
			r.f[k][i] = complex(v, 0)
		}
		r.fft.Complex128(r.f[k], r.f[k], true, &r.ws)
	}
}

// newton moves the transforms at each q by the shortest way to the intensities of all patterns, in a few damped steps of Gauss and Newton:
// with J the derivatives of the intensities, the step is J^T (J J^T + damping)^-1 times what they lack.
func (r *run) newton() {
	p, n := len(r.Patterns), r.Fields
	jac, gram, lack := make([][]complex128, p), make([][]float64, p), make([]float64, p)
	for i := range jac {
		jac[i], gram[i] = make([]complex128, n), make([]float64, p)
	}
	z := make([]complex128, n)
	for q := range r.n {
		for k := range z {
			z[k] = r.f[k][q]
		}
		for range 4 {
			if !r.lacks(q, z, jac, lack) {
				break
			}
			trace := 0.0
			for a := range p {
				for b := range p {
					gram[a][b] = 0
					for k := range n {
						gram[a][b] += real(jac[a][k])*real(jac[b][k]) + imag(jac[a][k])*imag(jac[b][k])
					}
				}
				trace += gram[a][a]
			}
			for a := range p {
				gram[a][a] += 1e-6*trace + 1e-300
			}
			solve(gram, lack)
			for a := range p {
				for k := range n {
					z[k] += jac[a][k] * complex(lack[a], 0)
				}
			}
		}
		for k := range z {
			r.f[k][q] = z[k]
		}
	}
}

// lacks fills the derivatives of the intensities with respect to the transforms z, as real and imaginary parts, and what the intensities
// lack. It reports whether any pattern was measured there.
func (r *run) lacks(q int, z []complex128, jac [][]complex128, lack []float64) (measured bool) {
	for p, x := range r.Patterns {
		clear(jac[p])
		lack[p] = 0
		y := r.used[p][q]
		if y != y {
			continue
		}
		measured = true
		have := 0.0
		for _, c := range x.Components {
			var a complex128
			for k := range z {
				a += c[k] * z[k]
			}
			have += real(a)*real(a) + imag(a)*imag(a)
			for k := range z {
				jac[p][k] += 2 * a * cmplx.Conj(c[k])
			}
		}
		lack[p] = y - have
	}
	return measured
}

// solve replaces b by the solution of a x = b for a small positive definite a, which it overwrites.
func solve(a [][]float64, b []float64) {
	n := len(b)
	for i := range n {
		for j := range i {
			f := a[i][j] / a[j][j]
			for k := j; k < n; k++ {
				a[i][k] -= f * a[j][k]
			}
			b[i] -= f * b[j]
		}
	}
	for i := n - 1; i >= 0; i-- {
		for k := i + 1; k < n; k++ {
			b[i] -= a[i][k] * b[k]
		}
		b[i] /= a[i][i]
	}
}

// onSample returns the nearest fields inside the support whose volume fractions are possible; the others are at most as large as these.
func (r *run) onSample(x [][]float64) [][]float64 {
	out := make([][]float64, len(x))
	for k := range x {
		out[k] = make([]float64, r.n)
	}
	most := 1.0
	if r.Unlimited {
		most = math.Inf(1)
	}
	for i, in := range r.support {
		if !in {
			continue
		}
		v := min(max(x[0][i], 0), most)
		out[0][i] = v
		for k := 1; k < len(x); k++ {
			out[k][i] = min(max(x[k][i], -v), v)
		}
	}
	if r.Histogram != nil {
		r.matched(out[0])
	}
	return out
}

// matched gives the values inside the support the distribution of the histogram, in their order.
func (r *run) matched(x []float64) {
	var at []int
	for i, in := range r.support {
		if in {
			at = append(at, i)
		}
	}
	slices.SortFunc(at, func(a, b int) int {
		switch {
		case x[a] < x[b]:
			return -1
		case x[a] > x[b]:
			return 1
		}
		return a - b
	})
	sorted := slices.Sorted(slices.Values(r.Histogram))
	for k, i := range at {
		x[i] = sorted[min(len(sorted)-1, int((float64(k)+0.5)/float64(len(at))*float64(len(sorted))))]
	}
}

// shrink takes as support where the blurred volume fraction is above the threshold, inside the original one. done goes from 0 to 1, while
// the blur becomes finer.
//
// Reference: S. Marchesini et al., doi:10.1103/PhysRevB.68.140101.
func (r *run) shrink(done float64) {
	sd := 2.5 - 1.5*done
	blurred := make([]complex128, r.n)
	for i, v := range r.onSample(r.fields)[0] {
		blurred[i] = complex(v, 0)
	}
	r.fft.Complex128(blurred, blurred, true, &r.ws)
	for i := range blurred {
		y, x := r.wave(i)
		blurred[i] *= complex(math.Exp(-sd*sd*(y*y+x*x)/2), 0)
	}
	r.fft.Complex128(blurred, blurred, false, &r.ws)
	most := 0.0
	for _, z := range blurred {
		most = max(most, real(z))
	}
	next, some := make([]bool, r.n), false
	for i, z := range blurred {
		next[i] = r.original[i] && real(z) > r.Threshold*most
		some = some || next[i]
	}
	if some {
		r.support = next
	}
}

// wave returns q of index i in radians per voxel.
func (v *solver) wave(i int) (y, x float64) {
	at := func(i, n int) float64 {
		if i > n/2 {
			i -= n
		}
		return 2 * math.Pi * float64(i) / float64(n)
	}
	return at(i/v.Shape[1], v.Shape[0]), at(i%v.Shape[1], v.Shape[1])
}

// judge computes the residuals of the sample.
func (r *run) judge() {
	r.fields = r.onSample(r.fields)
	r.transform()
	for set, data := range [][][]float64{r.used, r.free} {
		off, all := 0.0, 0.0
		for p, x := range r.Patterns {
			for q, y := range data[p] {
				if y != y {
					continue
				}
				d := math.Sqrt(r.intensity(x, q)) - math.Sqrt(y)
				off, all = off+d*d, all+y
			}
		}
		if rms := math.Sqrt(off / max(all, 1e-300)); set == 0 {
			r.residual = rms
		} else {
			r.left = rms
		}
	}
}

// intensity is that of a pattern at index q of the transforms.
func (r *run) intensity(x Pattern, q int) (have float64) {
	for _, c := range x.Components {
		var a complex128
		for k := range r.f {
			a += c[k] * r.f[k][q]
		}
		have += real(a)*real(a) + imag(a)*imag(a)
	}
	return have
}
