// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/tensor"
)

// direct computes a pattern as the equations are written: for every energy, beam
// and angle the polarization of every voxel, its transform in three dimensions, the
// whole intensity in reciprocal space, the cut, the rotation. Slow, and written
// apart from what it checks.
type direct struct {
	m   *Morphology
	o   Optics
	cfg Config
	n   [3]int
}

func (d *direct) pattern() []float64 {
	d.n = d.m.Shape()
	var out []float64
	for e, energy := range d.cfg.Energies {
		for _, k := range d.cfg.K {
			out = append(out, d.image(Wavenumber(energy), d.o[e], k)...)
		}
	}
	return out
}

// image returns the mean over the angles.
func (d *direct) image(wave float64, o []Constants, k vec) []float64 {
	sum, count := make([]float64, d.n[1]*d.n[2]), make([]float64, d.n[1]*d.n[2])
	b := newBeam(&d.cfg, k)
	for _, angle := range b.angles {
		s, c := math.Sincos(angle)
		var e vec
		for i := range e {
			e[i] = c*b.e1[i] + s*b.e2[i]
		}
		p := d.polarization(o, e)
		if d.cfg.Frame == MaterialFrame {
			p = rotated(p, turn(k, angle).product(fromZ(k)).transposed())
		}
		image := d.detector(d.transformed(p), wave, k)
		for y := range d.n[1] {
			for x := range d.n[2] {
				if v := bilinear(image, d.n[1], d.n[2], y, x, angle); v == v {
					sum[y*d.n[2]+x] += v
					count[y*d.n[2]+x]++
				}
			}
		}
	}
	for i, n := range count {
		switch {
		case !d.cfg.RotMask && int(n) < len(b.angles):
			sum[i] = math.NaN()
		case n > 0:
			sum[i] /= n
		}
	}
	return d.tilted(sum, k)
}

// tilted reads an image in the plane of the detector, whose axes are those of the
// plane across the beam turned by both smallest rotations.
func (d *direct) tilted(image []float64, k vec) []float64 {
	if d.cfg.Case == Transmission {
		return image
	}
	a := fromZ(d.cfg.Detector).product(fromZ(k))
	det := a[0][0]*a[1][1] - a[0][1]*a[1][0]
	out := make([]float64, len(image))
	for y := range d.n[1] {
		for x := range d.n[2] {
			at := y*d.n[2] + x
			out[at] = affine(image, d.n[1], d.n[2], y, x, [4]float64{a[1][1] / det, -a[0][1] / det, -a[1][0] / det, a[0][0] / det})
			if outside := out[at] != out[at]; outside && d.cfg.RotMask {
				out[at] = 0
			}
		}
	}
	return out
}

// polarization returns p = (e - 1) E/(4 pi), windowed, component by component.
func (d *direct) polarization(o []Constants, e vec) (p [3][]complex128) {
	size := d.n[0] * d.n[1] * d.n[2]
	for i := range p {
		p[i] = make([]complex128, size)
	}
	for i, m := range d.m.Materials {
		para, perp := complex(1-o[i].DeltaPara, o[i].BetaPara), complex(1-o[i].DeltaPerp, o[i].BetaPerp)
		mean := (para + 2*perp) / 3
		for v := range size {
			aligned, rest, s := voxel(&m, v)
			a := complex(rest, 0)*(mean*mean-1) + complex(aligned, 0)*(perp*perp-1)
			along := complex(aligned*dot(s, e), 0) * (para*para - perp*perp)
			for j := range p {
				p[j][v] += complex(d.window(v)/(4*math.Pi), 0) * (a*complex(e[j], 0) + along*complex(s[j], 0))
			}
		}
	}
	return p
}

// voxel returns the aligned and the other volume fraction of a voxel, and the
// director.
func voxel(m *Material, v int) (aligned, rest float64, s vec) {
	switch {
	case m.vector():
		a := m.Align.Float64s()[3*v : 3*v+3]
		s = vec{a[0], a[1], a[2]}
		aligned = dot(s, s)
		if aligned > 0 {
			s = scale(1/math.Sqrt(aligned), s)
		}
		return aligned, m.Unaligned.Float64s()[v], s
	case m.isotropic():
		return 0, m.Vfrac.Float64s()[v], s
	}
	f, order := m.Vfrac.Float64s()[v], m.S.Float64s()[v]
	st, ct := math.Sincos(m.Theta.Float64s()[v])
	sp, cp := math.Sincos(m.Psi.Float64s()[v])
	return f * order, f * (1 - order), vec{cp * st, sp * st, ct}
}

func (d *direct) window(v int) float64 {
	if d.cfg.Window == NoWindow {
		return 1
	}
	w := 1.0
	for axis, at := range [3]int{v / (d.n[1] * d.n[2]), v / d.n[2] % d.n[1], v % d.n[2]} {
		n := float64(d.n[axis])
		if d.cfg.Window == SymmetricHann {
			n--
		}
		if axis > 0 || d.n[0] > 1 {
			w *= 0.5 - 0.5*math.Cos(2*math.Pi*float64(at)/n)
		}
	}
	return w
}

func rotated(p [3][]complex128, r mat3) (q [3][]complex128) {
	for i := range q {
		q[i] = make([]complex128, len(p[i]))
		for v := range q[i] {
			q[i][v] = complex(r[i][0], 0)*p[0][v] + complex(r[i][1], 0)*p[1][v] + complex(r[i][2], 0)*p[2][v]
		}
	}
	return q
}

// transformed returns the transform with the mean of its neighbours at q = 0.
func (d *direct) transformed(p [3][]complex128) [3][]complex128 {
	nz, ny, nx := d.n[0], d.n[1], d.n[2]
	plan := kernels.NewFFT(nz, ny, nx)
	for i := range p {
		f := p[i]
		plan.Complex128(f, f, false, nil)
		mean := f[1%nx] + f[nx-1] + f[(1%ny)*nx] + f[(ny-1)*nx]
		if n := 4; nz > 1 {
			mean += f[(1%nz)*ny*nx] + f[(nz-1)*ny*nx]
			f[0] = mean / 6
		} else {
			f[0] = mean / complex(float64(n), 0)
		}
	}
	return p
}

// detector cuts the intensity with the Ewald sphere.
func (d *direct) detector(f [3][]complex128, wave float64, k vec) []float64 {
	l := newLattice(d.n, d.m.PhysSize, d.cfg.Grid)
	image := make([]float64, d.n[1]*d.n[2])
	for y := range d.n[1] {
		for x := range d.n[2] {
			image[y*d.n[2]+x] = d.cut(l, f, wave, k, y, x)
		}
	}
	return image
}

func (d *direct) cut(l *lattice, f [3][]complex128, wave float64, k vec, y, x int) float64 {
	qx, qy := l.q(2, x), l.q(1, y)
	rest := wave*wave - math.Pow(wave*k[0]+qx, 2) - math.Pow(wave*k[1]+qy, 2)
	if rest < 0 || d.cfg.Grid == CyRSoXSGrid && (x == d.n[2]-1 || y == d.n[1]-1) {
		return math.NaN()
	}
	if d.n[0] == 1 {
		return d.intensity(l, f, wave, k, 0, y, x)
	}
	z := (math.Sqrt(rest) - wave*k[2] - l.q(0, 0)) / (l.q(0, 1) - l.q(0, 0))
	if d.cfg.Interpolation == Nearest {
		if z = math.Floor(z + 0.5); z < 0 || int(z) >= d.n[0] {
			return math.NaN()
		}
		return d.intensity(l, f, wave, k, int(z), y, x)
	}
	z0 := int(math.Floor(z))
	w := z - math.Floor(z)
	switch {
	case z0 < 0 || z0 >= d.n[0] || z0 == d.n[0]-1 && w > 0:
		return math.NaN()
	case w == 0:
		return d.intensity(l, f, wave, k, z0, y, x)
	}
	return (1-w)*d.intensity(l, f, wave, k, z0, y, x) + w*d.intensity(l, f, wave, k, z0+1, y, x)
}

// intensity is |k^2 A - kappa (kappa . A)|^2 at one element.
func (d *direct) intensity(l *lattice, f [3][]complex128, wave float64, k vec, z, y, x int) (sum float64) {
	at := (l.index(0, z)*d.n[1]+l.index(1, y))*d.n[2] + l.index(2, x)
	kappa := vec{wave*k[0] + l.q(2, x), wave*k[1] + l.q(1, y), wave*k[2] + l.q(0, z)}
	var along complex128
	for i := range kappa {
		along += complex(kappa[i], 0) * f[i][at]
	}
	for i := range kappa {
		sum += abs2(complex(wave*wave, 0)*f[i][at] - complex(kappa[i], 0)*along)
	}
	return sum
}

// bilinear reads the image turned by angle, NaN outside.
func bilinear(image []float64, ny, nx, y, x int, angle float64) float64 {
	s, c := math.Sincos(angle)
	return affine(image, ny, nx, y, x, [4]float64{c, -s, s, c})
}

// affine reads the image at m times the way from the centre.
func affine(image []float64, ny, nx, y, x int, m [4]float64) float64 {
	dx, dy := float64(x)-float64(nx)/2, float64(y)-float64(ny)/2
	sx, sy := m[0]*dx+m[1]*dy+float64(nx)/2, m[2]*dx+m[3]*dy+float64(ny)/2
	sum := 0.0
	for _, iy := range []float64{math.Floor(sy + snap), math.Floor(sy+snap) + 1} {
		for _, ix := range []float64{math.Floor(sx + snap), math.Floor(sx+snap) + 1} {
			w := hat(sy-iy) * hat(sx-ix)
			if w == 0 {
				continue
			}
			if iy < 0 || ix < 0 || int(iy) >= ny || int(ix) >= nx {
				return math.NaN()
			}
			sum += w * image[int(iy)*nx+int(ix)]
		}
	}
	return sum
}

// hat is the weight of a pixel at a distance: a weight within snap of 0 or 1 counts as
// that.
func hat(d float64) float64 {
	switch w := 1 - math.Abs(d); {
	case w <= snap:
		return 0
	case w >= 1-snap:
		return 1
	default:
		return w
	}
}

// The simulator agrees with the direct algorithm for any volume and setting.
func TestDirect(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		m, o := randomMorphology(r)
		cfg := randomConfig(r, len(o))
		s, err := New(m.Shape(), m.PhysSize, cfg)
		if err != nil {
			r.Fatal(err)
		}
		if err := s.Transform(context.Background(), m); err != nil {
			r.Fatal(err)
		}
		p, err := s.Pattern(context.Background(), o)
		if err != nil {
			r.Fatal(err)
		}
		d := &direct{m: m, o: o, cfg: s.cfg}
		got, want := p.Intensity.Float64s(), d.pattern()
		top := 0.0
		for _, w := range want {
			if w == w {
				top = math.Max(top, w)
			}
		}
		for i, w := range want {
			if math.IsNaN(w) != math.IsNaN(got[i]) || math.Abs(got[i]-w) > 1e-9*top {
				r.Fatalf("%v %+v: element %d is %g, want %g (largest %g)", m.Shape(), cfg, i, got[i], w, top)
			}
		}
	})
}

func randomMorphology(r *rapid.T) (*Morphology, Optics) {
	shape := [3]int{rapid.IntRange(1, 5).Draw(r, "nz"), rapid.IntRange(2, 7).Draw(r, "ny"), rapid.IntRange(2, 8).Draw(r, "nx")}
	src := tensor.NewStream(rapid.Uint64().Draw(r, "seed"), 1, 0)
	array := func(scale float64, shape ...int) *tensor.Tensor {
		t := tensor.New(tensor.Float64, shape...)
		for i, d := 0, t.Data().([]float64); i < len(d); i++ {
			d[i] = scale * src.Float64()
		}
		return t
	}
	m := &Morphology{PhysSize: rapid.Float64Range(1.5, 8).Draw(r, "size")}
	energies := rapid.IntRange(1, 2).Draw(r, "energies")
	o := make(Optics, energies)
	for i := range rapid.IntRange(1, 3).Draw(r, "materials") {
		n := shape[:]
		switch kind := rapid.IntRange(0, 2).Draw(r, fmt.Sprint("kind", i)); kind {
		case 0:
			m.Materials = append(m.Materials, Material{Vfrac: array(1, n...)})
		case 1:
			m.Materials = append(m.Materials, Material{Vfrac: array(1, n...), S: array(1, n...), Theta: array(4, n...), Psi: array(-7, n...)})
		case 2:
			m.Materials = append(m.Materials, Material{Align: array(0.6, append(n, 3)...), Unaligned: array(0.5, n...)})
		}
		for e := range o {
			o[e] = append(o[e], Constants{1e-3 * src.Normal(), 1e-3 * src.Normal(), 1e-3 * src.Normal(), 1e-3 * src.Normal()})
		}
	}
	return m, o
}

func randomConfig(r *rapid.T, energies int) Config {
	// Angles keep away from quarter turns, where which pixels are reached is a matter
	// of rounding.
	cfg := Config{Angles: Angles{3, rapid.Float64Range(7, 40).Draw(r, "step"), 80}}
	if rapid.Bool().Draw(r, "circle") { // opposite angles share their images
		cfg.Angles = Angles{-17, 36, 343}
	}
	for e := range energies {
		cfg.Energies = append(cfg.Energies, 270+10*float64(e))
	}
	cfg.Interpolation = Interpolation(rapid.IntRange(0, 1).Draw(r, "interpolation"))
	cfg.Window = Window(rapid.IntRange(0, 2).Draw(r, "window"))
	cfg.Frame = Frame(rapid.IntRange(0, 1).Draw(r, "frame"))
	cfg.Grid = Grid(rapid.IntRange(0, 1).Draw(r, "grid"))
	cfg.RotMask = rapid.Bool().Draw(r, "mask")
	cfg.Workers = rapid.IntRange(1, 3).Draw(r, "workers")
	if rapid.Bool().Draw(r, "oblique") {
		cfg.Case = BeamDivergence
		cfg.K = [][3]float64{{0.1, -0.2, 1}, {-0.05, 0.02, 0.7}}
		cfg.CorrectBaseAngle = rapid.Bool().Draw(r, "corrected")
	}
	return cfg
}
