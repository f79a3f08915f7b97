// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

func gridOf(name string) Grid {
	if name == "fft" {
		return ExactGrid
	}
	return CyRSoXSGrid
}

// isotropicBody is one isotropic material.
func isotropicBody(shape [3]int, size float64, v []float64) *Morphology {
	t, err := tensor.From(v, shape[:]...)
	if err != nil {
		panic(err)
	}
	return &Morphology{PhysSize: size, Materials: []Material{{Vfrac: t}}}
}

// A cosine volume scatters into two pixels, in closed form.
func TestGratings(t *testing.T) {
	var f struct {
		Rows []struct {
			Shape    [3]int  `json:"shape_zyx"`
			Cycles   [3]int  `json:"cycles_zyx"`
			PhysSize float64 `json:"PhysSize_nm"`
			Energy   float64
			Optics   [4]float64
			Angle    float64 `json:"E_angle_deg"`
			Grid     string
			Peaks    []struct {
				Pixel      [2]int
				ClosedForm float64 `json:"closed_form"`
			}
			Other float64 `json:"largest_other_pixel_over_peak"`
		}
	}
	golden.JSON(t, &f, "scatter", "analytic", "grating.json")
	for _, r := range f.Rows {
		n := r.Shape
		v := make([]float64, n[0]*n[1]*n[2])
		for i := range v {
			z, y, x := i/(n[1]*n[2]), i/n[2]%n[1], i%n[2]
			phase := float64(r.Cycles[0]*z)/float64(n[0]) + float64(r.Cycles[1]*y)/float64(n[1]) + float64(r.Cycles[2]*x)/float64(n[2])
			v[i] = 0.5 + 0.5*math.Cos(2*math.Pi*phase)
		}
		s, err := New(n, r.PhysSize, Config{Energies: []float64{r.Energy}, Grid: gridOf(r.Grid)})
		if err != nil {
			t.Fatal(err)
		}
		image := single(t, s, isotropicBody(n, r.PhysSize, v), Constants{r.Optics[0], r.Optics[1], r.Optics[2], r.Optics[3]}, r.Angle)
		top := 0.0
		for _, p := range r.Peaks {
			top = max(top, p.ClosedForm)
		}
		for _, p := range r.Peaks {
			at := p.Pixel[0]*n[2] + p.Pixel[1]
			if math.Abs(image[at]-p.ClosedForm) > 1e-9*top {
				t.Errorf("%v %v: pixel %v is %v, want %v", r.Cycles, r.Grid, p.Pixel, image[at], p.ClosedForm)
			}
			image[at] = 0
		}
		for i, v := range image {
			if v > 1e-20*top {
				t.Errorf("%v %v: pixel %d is %g of the peak", r.Cycles, r.Grid, i, v/top)
			}
		}
	}
}

// single returns the image of one angle of the electric field before it is turned.
func single(t *testing.T, s *Simulator, m *Morphology, c Constants, degrees float64) []float64 {
	t.Helper()
	if err := s.Transform(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	if err := s.ready(context.Background(), Optics{{c}}, false); err != nil {
		t.Fatal(err)
	}
	b := *s.beams[0]
	b.angles = []float64{degrees * math.Pi / 180}
	h := s.newExposure(&b, folded(b.angles, LabFrame), 0, []Constants{c})
	s.spectra.expose([]*exposure{h})
	image := make([]float64, s.shape[1]*s.shape[2])
	h.mixRow(image, 0, 0)
	return image
}

// ball returns the volume fractions of a ball in the middle of n^3 voxels, from
// points on a lattice of sub^3 per voxel.
func ball(n, radius, sub int) []float64 {
	v := make([]float64, n*n*n)
	c, r2 := float64(n-1)/2, float64(radius*radius)
	lo, hi := max(0, n/2-radius-2), min(n-1, n/2+radius+1)
	offset := make([]float64, sub)
	for i := range offset {
		offset[i] = (float64(i)+0.5)/float64(sub) - 0.5
	}
	for z := lo; z <= hi; z++ {
		for y := lo; y <= hi; y++ {
			for x := lo; x <= hi; x++ {
				count := 0
				for _, dz := range offset {
					for _, dy := range offset {
						for _, dx := range offset {
							a, b, d := float64(z)-c+dz, float64(y)-c+dy, float64(x)-c+dx
							if a*a+b*b+d*d <= r2 {
								count++
							}
						}
					}
				}
				v[(z*n+y)*n+x] = float64(count) / float64(sub*sub*sub)
			}
		}
	}
	return v
}

type sphereRow struct {
	N        int
	R        int     `json:"R_vox"`
	Sub      int     `json:"supersample"`
	PhysSize float64 `json:"PhysSize_nm"`
	Energy   float64
	Optics   [4]float64
	Grid     string
	Volume   float64 `json:"volume_rel_err"`
	RMS0     float64 `json:"sinc0_rms_log10"`
	Max0     float64 `json:"sinc0_max_log10"`
	N0       int     `json:"sinc0_npix"`
	RMS1     float64 `json:"sinc1_rms_log10"`
	Max1     float64 `json:"sinc1_max_log10"`
	N1       int     `json:"sinc1_npix"`
}

// A ball of voxels scatters as the form factor of a sphere says, to the known
// errors of its voxels.
func TestSpheres(t *testing.T) {
	var f struct{ Rows []sphereRow }
	golden.JSON(t, &f, "scatter", "sphere", "sphere_table.json")
	for _, r := range f.Rows {
		if r.N > 64 && !tier.Slow {
			continue
		}
		t.Run(fmt.Sprintf("n%d/R%d/sub%d/%s", r.N, r.R, r.Sub, r.Grid), func(t *testing.T) { r.check(t) })
	}
}

func (r *sphereRow) check(t *testing.T) {
	v := ball(r.N, r.R, r.Sub)
	sum := 0.0
	for _, x := range v {
		sum += x
	}
	if d := sum/(4./3*math.Pi*math.Pow(float64(r.R), 3)) - 1; math.Abs(d-r.Volume) > 1e-9 {
		t.Errorf("volume is off by %v, want %v", d, r.Volume)
	}
	n := [3]int{r.N, r.N, r.N}
	s, err := New(n, r.PhysSize, Config{Energies: []float64{r.Energy}, Grid: gridOf(r.Grid)})
	if err != nil {
		t.Fatal(err)
	}
	c := Constants{r.Optics[0], r.Optics[1], r.Optics[2], r.Optics[3]}
	image := single(t, s, isotropicBody(n, r.PhysSize, v), c, 0)
	for k, want := range [2]struct {
		rms, max float64
		n        int
	}{{r.RMS0, r.Max0, r.N0}, {r.RMS1, r.Max1, r.N1}} {
		rms, worst, count := r.errors(s, image, c, k == 1)
		if count != want.n || math.Abs(rms-want.rms) > 1e-6 || math.Abs(worst-want.max) > 1e-6 {
			t.Errorf("box %d: rms %v max %v of %d pixels, want %v, %v, %d", k, rms, worst, count, want.rms, want.max, want.n)
		}
	}
}

// errors compares an image with the form factor, times that of a voxel if box.
func (r *sphereRow) errors(s *Simulator, image []float64, c Constants, box bool) (rms, worst float64, n int) {
	form := make([]float64, len(image)) // 0 where it is not compared
	v := newView(s.layout.lattice, s.beams[0], r.Energy, Linear)
	exact, top := newLattice(v.n, v.a, ExactGrid), 0.0
	for y := range r.N {
		for x := range r.N {
			q := math.Hypot(exact.q(1, y), exact.q(2, x))
			if y == r.N/2 && x == r.N/2 || !(q*float64(r.R)*r.PhysSize < 10) || !(q < 0.6*math.Pi/r.PhysSize) {
				continue
			}
			if f := r.form(v, c, y, x, box); f == f {
				form[y*r.N+x] = f
				top = max(top, f)
			}
		}
	}
	for i, f := range form {
		if f > 1e-3*top {
			d := math.Abs(math.Log10(image[i] / f))
			rms, worst, n = rms+d*d, max(worst, d), n+1
		}
	}
	return math.Sqrt(rms / float64(n)), worst, n
}

// form is the intensity of a sphere, E along x, where the pixel reads the
// transform: with the frequencies that the planes truly have.
func (r *sphereRow) form(v *view, c Constants, y, x int, box bool) (sum float64) {
	at, ok := v.cut(y, x)
	if !ok {
		return math.NaN()
	}
	n := complex(1-c.DeltaPara, c.BetaPara)
	contrast := abs2(n*n-1) / (16 * math.Pi * math.Pi)
	exact := newLattice(v.n, v.a, ExactGrid)
	for dz, w := range at.weights() {
		if w == 0 {
			continue
		}
		kappa := v.transfer(at.z+dz, y, x)
		var e vec
		for i := range e {
			e[i] = -kappa[i] * kappa[0]
		}
		e[0] += v.wave * v.wave
		q := vec{exact.q(2, x), exact.q(1, y), exact.q(0, at.z+dz)}
		f := r.amplitude(q, box)
		sum += w * dot(e, e) * contrast * f * f
	}
	return sum
}

// amplitude is the transform of a sphere, of its voxels' boxes too if box.
func (r *sphereRow) amplitude(q vec, box bool) float64 {
	u := math.Sqrt(dot(q, q)) * float64(r.R) * r.PhysSize
	f := 4. / 3 * math.Pi * math.Pow(float64(r.R), 3)
	if u > 1e-6 {
		f *= 3 * (math.Sin(u) - u*math.Cos(u)) / (u * u * u)
	}
	if box {
		for _, p := range q {
			if h := p * r.PhysSize / 2; h != 0 {
				f *= math.Sin(h) / h
			}
		}
	}
	return f
}
