// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"encoding/csv"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

// coreShell is the film of polymer-grafted particles of Mukherjee et al., Nature
// Communications 12 (2021) 4896: 32 x 512 x 512 voxels.
type coreShell struct {
	Shape    [3]int     `json:"shape_zyx"`
	PhysSize float64    `json:"PhysSize_nm"`
	Core     float64    `json:"core_radius_vox"`
	Shell    float64    `json:"shell_thickness_vox"`
	PhiIso   float64    `json:"phi_iso"`
	Decay    float64    `json:"decay_order"`
	CentreZ  float64    `json:"center_z_vox"`
	Rotation [3]float64 `json:"EAngleRotation"` // start, increment and end in degrees
	RotMask  int
	Checks   map[string]float64
	Window   [2]float64 `json:"q_window"`
	Tol      float64    `json:"tolerance_max_abs_A"`
	Energies []struct {
		Energy float64
		Optics map[string][4]float64
	}
}

func readCoreShell(t testing.TB) (c coreShell) {
	golden.JSON(t, &c, "scatter", "coreshell_ref", "coreshell_ref.json")
	return c
}

func (c *coreShell) optics() (energies []float64, o Optics) {
	for _, e := range c.Energies {
		var row []Constants
		for i := range 3 {
			v := e.Optics[fmt.Sprintf("mat%d", i+1)]
			row = append(row, Constants{v[0], v[1], v[2], v[3]})
		}
		energies, o = append(energies, e.Energy), append(o, row)
	}
	return energies, o
}

// particles reads the centres, (x, y) in voxels.
func particles(t testing.TB) (list [][2]int) {
	f, err := os.Open(golden.Path(t, "scatter", "coreshell_ref", "particle_xy_voxels.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows[1:] {
		x, _ := strconv.Atoi(r[0])
		y, _ := strconv.Atoi(r[1])
		list = append(list, [2]int{x, y})
	}
	return list
}

// build makes the morphology: a voxel belongs to the first particle whose shell
// reaches it, component by component of the radial vector.
func (c *coreShell) build(t testing.TB) *Morphology {
	n := c.Shape[0] * c.Shape[1] * c.Shape[2]
	core, shell := make([]float32, n), make([]float32, n)
	radial := [3][]float32{make([]float32, n), make([]float32, n), make([]float32, n)}
	r := c.Core + c.Shell
	for _, p := range particles(t) {
		c.around(p, int(math.Ceil(r)), func(at int, d [3]float64) {
			m := d[0]*d[0] + d[1]*d[1] + d[2]*d[2]
			if m <= c.Core*c.Core {
				core[at] = 1
			}
			if core[at] == 1 || float32(m) > float32(r*r) {
				return
			}
			shell[at] = 1
			for k := range radial {
				if radial[k][at] == 0 {
					radial[k][at] = float32(d[k])
				}
			}
		})
	}
	return c.fields(core, shell, radial)
}

// around calls f for the voxels of a box with their place relative to the centre.
func (c *coreShell) around(p [2]int, r int, f func(at int, d [3]float64)) {
	nz, ny, nx := c.Shape[0], c.Shape[1], c.Shape[2]
	cz := int(c.CentreZ)
	for z := max(0, cz-r); z <= min(nz-1, cz+r); z++ {
		for y := max(0, p[1]-r); y <= min(ny-1, p[1]+r); y++ {
			for x := max(0, p[0]-r); x <= min(nx-1, p[0]+r); x++ {
				f((z*ny+y)*nx+x, [3]float64{float64(x - p[0]), float64(y - p[1]), float64(z - cz)})
			}
		}
	}
}

func (c *coreShell) fields(core, shell []float32, radial [3][]float32) *Morphology {
	n := len(core)
	matrix, s, theta, psi := make([]float32, n), make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range core {
		if core[i] == 1 {
			shell[i] = 0
		}
		matrix[i] = 1 - core[i] - shell[i]
		if shell[i] == 0 {
			continue
		}
		x, y, z := float64(radial[0][i]), float64(radial[1][i]), float64(radial[2][i])
		s[i] = float32((1 - c.PhiIso) * math.Pow(c.Core/math.Sqrt(x*x+y*y+z*z), c.Decay))
		theta[i], psi[i] = float32(math.Atan2(math.Hypot(x, y), z)), float32(math.Atan2(y, x))
	}
	array := func(v []float32) *tensor.Tensor { t, _ := tensor.From(v, c.Shape[:]...); return t }
	return &Morphology{PhysSize: c.PhysSize, Materials: []Material{
		{Name: "core", Vfrac: array(core)},
		{Name: "shell", Vfrac: array(shell), S: array(s), Theta: array(theta), Psi: array(psi)},
		{Name: "matrix", Vfrac: array(matrix)},
	}}
}

func total(t *tensor.Tensor) (sum float64) {
	for _, v := range t.Data().([]float32) {
		sum += float64(v)
	}
	return sum
}

func TestCoreShell(t *testing.T) {
	c := readCoreShell(t)
	m := c.build(t)
	for name, got := range map[string]float64{
		"core_voxels": total(m.Materials[0].Vfrac), "shell_voxels": total(m.Materials[1].Vfrac), "matrix_voxels": total(m.Materials[2].Vfrac),
		"shell_S_sum": total(m.Materials[1].S), "shell_theta_sum": total(m.Materials[1].Theta), "shell_psi_sum": total(m.Materials[1].Psi),
	} {
		if want := c.Checks[name]; math.Abs(got-want) > 1e-6*want {
			t.Errorf("%s %v, want %v", name, got, want)
		}
	}
	energies, o := c.optics()
	for _, bits := range []int{32, 64} {
		if bits == 64 && !tier.Slow { // A_float64 is within the tolerance of the float32 run too
			continue
		}
		start := time.Now()
		p, err := Simulate(context.Background(), m, o, Config{Energies: energies, Angles: Angles{c.Rotation[0], c.Rotation[1], c.Rotation[2]}, RotMask: c.RotMask == 1, Precision: bits})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%d bits: %v", bits, time.Since(start))
		compareAnisotropy(t, &c, p)
	}
}

// curve returns the array REF_ENERGY, in whatever way its name writes the energy.
func curve(t *testing.T, arrays map[string]*tensor.Tensor, ref string, energy float64) []float64 {
	t.Helper()
	for name, x := range arrays {
		if e, err := strconv.ParseFloat(strings.TrimPrefix(name, ref+"_"), 64); err == nil && e == energy {
			return x.Float64s()
		}
	}
	t.Fatalf("there is no %s at %g eV", ref, energy)
	return nil
}

func compareAnisotropy(t *testing.T, c *coreShell, p *Pattern) {
	d, err := Reduction{Radii: PixelRadii, Wedge: 20, Para: []float64{180}, Perp: []float64{90}}.NewReducer(p)
	if err != nil {
		t.Fatal(err)
	}
	curves, err := d.Reduce(p)
	if err != nil {
		t.Fatal(err)
	}
	want := npz(t, "scatter", "coreshell_ref", "A_q.npz")
	q := want["q"].Float64s()
	for e, energy := range p.Energies {
		got := curves.A.Index(0, e).Index(0, 0).Float64s()
		for _, ref := range []string{"A_cyrsoxs", "A_float64"} {
			worst := 0.0
			for i, w := range curve(t, want, ref, energy) {
				if q[i] >= c.Window[0] && q[i] <= c.Window[1] {
					worst = max(worst, math.Abs(got[i]-w))
				}
			}
			if t.Logf("%.1f eV: %.2g from %s", energy, worst, ref); !(worst <= c.Tol) {
				t.Errorf("%.1f eV: A differs by %g from %s, want %g", energy, worst, ref, c.Tol)
			}
		}
	}
}
