// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

// nrss holds what NRSS answers.
type nrss struct {
	Interpolation struct {
		Table    map[string][]float64
		Queries  []float64
		Expected map[string][4]float64
	}
	CheckMaterials map[string]struct{ OK bool } `json:"check_materials"`
	Attenuation    struct {
		Rows []struct {
			Theta, Psi, Energy float64
			Optics             [4]float64
			Film               float64 `json:"film_nm"`
			Transmission       float64
		}
	}
}

func readNRSS(t *testing.T) (n nrss) {
	golden.JSON(t, &n, "scatter", "nrss", "nrss.json")
	return n
}

func TestTablesOfNRSS(t *testing.T) {
	n := readNRSS(t).Interpolation
	table := Table{Energies: n.Table["Energy"]}
	for i := range table.Energies {
		table.Constants = append(table.Constants, Constants{n.Table["DeltaPara"][i], n.Table["BetaPara"][i], n.Table["DeltaPerp"][i], n.Table["BetaPerp"][i]})
	}
	o, err := Tabulate(n.Queries, table)
	if err != nil || len(n.Queries) == 0 {
		t.Fatal(err)
	}
	for i, q := range n.Queries {
		for key, w := range n.Expected {
			if e, _ := strconv.ParseFloat(key, 64); e == q {
				c := o[i][0]
				near(t, key, []float64{c.DeltaPara, c.BetaPara, c.DeltaPerp, c.BetaPerp}, w[:], 1e-14)
			}
		}
	}
	for _, bad := range []Table{{}, {Energies: []float64{1, 1}, Constants: make([]Constants, 2)}, {Energies: []float64{1}}, {Energies: []float64{math.NaN()}, Constants: make([]Constants, 1)}} {
		if _, err := Tabulate([]float64{285}, bad); err == nil {
			t.Errorf("%v: no error", bad)
		}
	}
}

func TestTransmissionOfNRSS(t *testing.T) {
	rows := readNRSS(t).Attenuation.Rows
	for _, r := range rows {
		got := Constants{r.Optics[0], r.Optics[1], r.Optics[2], r.Optics[3]}.Transmission(r.Energy, r.Film, r.Theta, r.Psi)
		if !(math.Abs(got-r.Transmission) <= 1e-13) {
			t.Errorf("%+v: %v", r, got)
		}
	}
	if len(rows) == 0 {
		t.Error("no rows")
	}
}

func TestBinaryContrast(t *testing.T) {
	a, b := Constants{3e-3, 1e-3, 0, 1e-3}, Constants{2e-3, 0, 2e-3, 0}
	if got, want := BinaryContrast(a, b, 100), 1e8*2e-6; math.Abs(got-want) > 1e-12*want { // means differ by 1e-3 in both
		t.Errorf("%g, want %g", got, want)
	}
}

// checked is a volume that passes.
func checked() *Morphology {
	s := []int{2, 3, 4}
	v := noise(1, 0.1, 0.9, s...)
	rest := v.Copy()
	for i, d := 0, rest.Data().([]float64); i < len(d); i++ {
		d[i] = 1 - d[i]
	}
	return &Morphology{PhysSize: 1, Materials: []Material{{Vfrac: v, S: noise(2, 0, 1, s...), Theta: noise(3, 0, 3, s...), Psi: noise(4, -3, 3, s...)}, {Vfrac: rest}}}
}

// Check accepts and refuses what NRSS does. The file only names what is done to a
// volume, so the names stand here; those of another set are listed.
func TestCheckIsThatOfNRSS(t *testing.T) {
	set := func(at func(m *Morphology) *tensor.Tensor, f func(v float64) float64) func(m *Morphology) {
		return func(m *Morphology) {
			d := at(m).Data().([]float64)
			d[5] = f(d[5])
		}
	}
	to := func(x float64) func(float64) float64 { return func(float64) float64 { return x } }
	add := func(x float64) func(float64) float64 { return func(v float64) float64 { return v + x } }
	v := func(m *Morphology) *tensor.Tensor { return m.Materials[0].Vfrac }
	s := func(m *Morphology) *tensor.Tensor { return m.Materials[0].S }
	theta := func(m *Morphology) *tensor.Tensor { return m.Materials[0].Theta }
	psi := func(m *Morphology) *tensor.Tensor { return m.Materials[0].Psi }
	cases := map[string]func(m *Morphology){
		"valid": func(*Morphology) {}, "vfrac_sum_1.002": set(v, add(2e-3)), "vfrac_sum_off_by_5e-6": set(v, add(5e-6)),
		"vfrac_sum_off_by_2e-5": set(v, add(2e-5)), "nan_in_theta": set(theta, to(math.NaN())), "nan_in_vfrac": set(v, to(math.NaN())),
		"S_1.0001": set(s, to(1.0001)), "S_negative": set(s, to(-0.1)),
		"vfrac_negative_sum_ok": func(m *Morphology) {
			set(v, to(-0.1))(m)
			m.Materials[1].Vfrac.Data().([]float64)[5] = 1.1
		},
		"theta_4pi_psi_-9": func(m *Morphology) { set(theta, to(4*math.Pi))(m); set(psi, to(-9))(m) },
		"missing_psi":      func(m *Morphology) { m.Materials[0].Psi = nil },
		"int_input_is_coerced": func(m *Morphology) { // by the caller, here
			m.Materials[0].S = m.Materials[0].S.Convert(tensor.Int64).Convert(tensor.Float64)
		},
		"shape_mismatch_S":        func(m *Morphology) { m.Materials[0].S = noise(1, 0, 1, 2, 3, 3) },
		"material_shape_mismatch": func(m *Morphology) { m.Materials[1].Vfrac = noise(1, 0, 1, 2, 3, 3) },
	}
	for name, want := range readNRSS(t).CheckMaterials {
		change, ok := cases[name]
		if !ok {
			t.Logf("not compared: this test does not know how to make %s", name)
			continue
		}
		m := checked()
		change(m)
		if err := m.Check(0); (err == nil) != want.OK {
			t.Errorf("%s: %v", name, err)
		}
	}
	m := checked()
	cases["vfrac_sum_1.002"](m)
	if err := m.Check(0); err == nil || !strings.Contains(err.Error(), "[0 1 1]") {
		t.Errorf("%v: want the voxel", err)
	}
	if err := m.Check(1e-2); err != nil {
		t.Error(err)
	}
}

func TestNormalize(t *testing.T) {
	m, _ := blend3([3]int{2, 3, 4}, 1)
	m.Materials[2].Vfrac = m.Materials[0].Vfrac // shared arrays are scaled once
	want := m.Materials[1].Align.Copy().Float64s()
	if err := m.Normalize(); err != nil {
		t.Fatal(err)
	}
	if err := m.Check(1e-14); err != nil {
		t.Error(err)
	}
	got := m.Materials[1].Align.Float64s()
	if a, b := got[1]/got[0], want[1]/want[0]; math.Abs(a-b) > 1e-13*math.Abs(b) {
		t.Errorf("directors turned: %v, want %v", a, b)
	}
	empty := &Morphology{PhysSize: 1, Materials: []Material{{Vfrac: noise(1, 0, 0, 2, 3, 4)}}}
	if err := empty.Normalize(); err == nil || !strings.Contains(err.Error(), "vacuum") {
		t.Errorf("empty: %v", err)
	}
}
