// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"math"
	"strings"
	"testing"
)

// two is a volume of two ordered materials in double precision.
func two() *Morphology {
	m := &Morphology{Shape: [3]int{2, 3, 4}, PhysSize: 5, Phases: make([]Phase, 2)}
	for i := range m.Phases {
		for _, p := range parts[Euler] {
			f := newField(24, true)
			for k := range f.Float64 {
				f.Float64[k] = 0.5
			}
			*p.field(&m.Phases[i]) = f
		}
	}
	return m
}

// The changes are those behind the names in the reference.
func TestChecksOfNRSS(t *testing.T) {
	changes := map[string]func(m *Morphology){
		"valid":                   func(*Morphology) {},
		"vfrac_sum_1.002":         func(m *Morphology) { m.Phases[0].Vfrac.Float64[7] += 0.002 },
		"vfrac_sum_off_by_5e-6":   func(m *Morphology) { m.Phases[0].Vfrac.Float64[7] += 5e-6 },
		"vfrac_sum_off_by_2e-5":   func(m *Morphology) { m.Phases[0].Vfrac.Float64[7] += 2e-5 },
		"nan_in_theta":            func(m *Morphology) { m.Phases[1].Theta.Float64[3] = math.NaN() },
		"nan_in_vfrac":            func(m *Morphology) { m.Phases[1].Vfrac.Float64[3] = math.NaN() },
		"S_1.0001":                func(m *Morphology) { m.Phases[0].S.Float64[3] = 1.0001 },
		"S_negative":              func(m *Morphology) { m.Phases[0].S.Float64[3] = -1e-3 },
		"vfrac_negative_sum_ok":   func(m *Morphology) { m.Phases[0].Vfrac.Float64[3], m.Phases[1].Vfrac.Float64[3] = -0.1, 1.1 },
		"theta_4pi_psi_-9":        func(m *Morphology) { m.Phases[0].Theta.Float64[0], m.Phases[0].Psi.Float64[0] = 4*math.Pi, -9 },
		"shape_mismatch_S":        func(m *Morphology) { m.Phases[0].S.Float64 = m.Phases[0].S.Float64[:12] },
		"material_shape_mismatch": func(m *Morphology) { m.Phases[1].Vfrac = newField(12, true) },
		"missing_psi":             func(m *Morphology) { m.Phases[0].Psi = Field{} },
		"int_input_is_coerced":    func(*Morphology) {}, // fields hold nothing but floats
	}
	for name, want := range loadNRSS(t).CheckMaterials {
		change, ok := changes[name]
		if !ok {
			t.Errorf("what is %s?", name)
			continue
		}
		m := two()
		change(m)
		if err := m.Check(0); (err == nil) != want.OK {
			t.Errorf("%s: %v, want ok %v", name, err, want.OK)
		}
	}
}

func TestCheckSaysWhere(t *testing.T) {
	for want, change := range map[string]func(m *Morphology){
		"Phases: the volume fractions sum to 1.13 at voxel (z 1, y 1, x 3), want 1 within 1e-05": func(m *Morphology) { m.Phases[0].Vfrac.Float64[19] = 0.63 },
		"Mat_2_S: it is 2 at voxel (z 0, y 2, x 1): keep it between 0 and 1":                     func(m *Morphology) { m.Phases[1].S.Float64[9] = 2 },
		"Mat_1_Psi: it is +Inf at voxel (z 0, y 0, x 0)":                                         func(m *Morphology) { m.Phases[0].Psi.Float64[0] = math.Inf(1) },
		"Mat_1_S: it has 12 numbers, but [2 3 4] voxels need 24":                                 func(m *Morphology) { m.Phases[0].S.Float64 = m.Phases[0].S.Float64[:12] },
		"Mat_1_Vfrac: it is missing":                                                             func(m *Morphology) { m.Phases[0].Vfrac = Field{} },
		"Mat_1_Theta: there is no order parameter for it":                                        func(m *Morphology) { m.Phases[0].S = Field{} },
		"Mat_1_S: it is given in both precisions":                                                func(m *Morphology) { m.Phases[0].S.Float32 = make([]float32, 24) },
		"PhysSize: it is NaN":                                                                    func(m *Morphology) { m.PhysSize = math.NaN() },
		"Shape: it is [0 3 4]":                                                                   func(m *Morphology) { m.Shape[0] = 0 },
		"Phases: it is empty":                                                                    func(m *Morphology) { m.Phases = nil },
		"Type: there is no type 3":                                                               func(m *Morphology) { m.Type = 3 },
	} {
		m := two()
		change(m)
		if err := m.Check(0); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	m := two()
	m.Phases[0].S, m.Phases[0].Theta, m.Phases[0].Psi = Field{}, Field{}, Field{} // isotropic
	m.Phases[1].Vfrac.Float64[0] += 9e-4
	if err := m.Check(HalfTolerance); err != nil {
		t.Error(err)
	}
	m.Phases[1].S.Float64[1], m.Phases[1].Psi.Float64[0] = 7, math.NaN()
	if err := m.Check(0); strings.Count(err.Error(), "\n") != 1 {
		t.Error(err)
	}
	v := two().ToVector()
	if err := v.Check(0); err != nil {
		t.Error(err)
	}
	v.Phases[0].Alignment.Float64[5] = -1.5
	if err := v.Check(0); err == nil || !strings.Contains(err.Error(), "Mat_1_alignment: it is -1.5 at voxel (z 0, y 0, x 1)") {
		t.Error(err)
	}
}

func TestVectorToEulerOfNRSS(t *testing.T) {
	n := loadNRSS(t).VectorToEuler
	m := &Morphology{PhysSize: 1, Type: Vector, Phases: make([]Phase, len(n.Alignment))}
	flat := func(v [][][]float64) (out []float64) {
		for _, plane := range v {
			for _, row := range plane {
				out = append(out, row...)
			}
		}
		return out
	}
	m.Shape = [3]int{len(n.S[0]), len(n.S[0][0]), len(n.S[0][0][0])}
	for i := range m.Phases {
		m.Phases[i].Unaligned.Float64 = flat(n.Unaligned[i])
		for _, plane := range n.Alignment[i] {
			for _, row := range plane {
				for _, s := range row {
					m.Phases[i].Alignment.Float64 = append(m.Phases[i].Alignment.Float64, s[:]...)
				}
			}
		}
	}
	e := m.ToEuler(6)
	for i := range m.Phases {
		for key, f := range map[string][2][]float64{
			"Vfrac": {e.Phases[i].Vfrac.Float64, flat(n.Vfrac[i])}, "S": {e.Phases[i].S.Float64, flat(n.S[i])},
			"Theta": {e.Phases[i].Theta.Float64, flat(n.Theta[i])}, "Psi": {e.Phases[i].Psi.Float64, flat(n.Psi[i])},
		} {
			for k, want := range f[1] { // the last bit of acos and atan2 is the library's
				if math.Abs(f[0][k]-want) > 4e-16*math.Max(1, math.Abs(want)) {
					t.Errorf("material %d %s voxel %d: %v, want %v", i+1, key, k, f[0][k], want)
				}
			}
		}
	}
	if err := e.Check(0); err != nil {
		t.Error(err)
	}
	if e.ToEuler(6) != e || m.ToVector() != m {
		t.Error("nothing to convert")
	}
}

// There and back is the same volume, but for the sign of nothing.
func TestEulerToVectorAndBack(t *testing.T) {
	for _, double := range []bool{false, true} {
		m := sample(Euler, double)
		back := m.ToVector().ToEuler(0)
		limit := 1e-6
		if double {
			limit = 1e-14
		}
		for v := range m.Voxels() {
			a, b := &m.Phases[0], &back.Phases[0]
			director := func(p *Phase) [3]float64 {
				sin := math.Sin(p.Theta.At(v))
				return [3]float64{math.Cos(p.Psi.At(v)) * sin, math.Sin(p.Psi.At(v)) * sin, math.Cos(p.Theta.At(v))}
			}
			if math.Abs(a.Vfrac.At(v)-b.Vfrac.At(v)) > limit || math.Abs(a.S.At(v)-b.S.At(v)) > limit || distance(director(a), director(b)) > 4*limit {
				t.Fatalf("voxel %d: %v %v %v, want %v %v %v", v, b.Vfrac.At(v), b.S.At(v), director(b), a.Vfrac.At(v), a.S.At(v), director(a))
			}
		}
	}
}
