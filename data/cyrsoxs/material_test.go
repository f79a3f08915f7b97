// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestMaterialOfNRSS(t *testing.T) {
	n := loadNRSS(t).MaterialFile
	name := filepath.Join(t.TempDir(), "Material1.txt")
	if err := os.WriteFile(name, []byte(n.Text), 0o644); err != nil {
		t.Fatal(err)
	}
	m, err := ReadMaterial(name)
	if err != nil || !slices.Equal(m.Energies, n.ParsedEnergies) {
		t.Fatal(m, err)
	}
	for i, e := range m.Energies {
		v := n.Parsed[number(e)]
		if m.Constants[i] != (Constants{v[0], v[1], v[2], v[3]}) {
			t.Errorf("%v eV: %v, want %v", e, m.Constants[i], v)
		}
	}
	if err := WriteMaterial(name, m); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != n.Text {
		t.Errorf("%v: wrote\n%s", err, b)
	}
}

func TestInterpolationOfNRSS(t *testing.T) {
	n := loadNRSS(t).Interpolation
	m := &Material{Energies: n.Table["Energy"]}
	for i := range m.Energies {
		m.Constants = append(m.Constants, Constants{n.Table["DeltaPara"][i], n.Table["BetaPara"][i], n.Table["DeltaPerp"][i], n.Table["BetaPerp"][i]})
	}
	turned := &Material{Energies: slices.Clone(m.Energies), Constants: slices.Clone(m.Constants)}
	slices.Reverse(turned.Energies)
	slices.Reverse(turned.Constants)
	for _, e := range n.Queries {
		v := n.Expected[number(e)]
		want := Constants{v[0], v[1], v[2], v[3]}
		if a, b := m.At(e), turned.At(e); a != want || b != want {
			t.Errorf("%v eV: %v and %v, want %v", e, a, b, want)
		}
	}
	s := m.Sample(n.Queries)
	if s.Constants[2] != m.At(n.Queries[2]) || !slices.Equal(s.Energies, n.Queries) {
		t.Error(s)
	}
	if c := m.At(math.NaN()); c.BetaPara == c.BetaPara {
		t.Error(c)
	}
}

func TestVacuum(t *testing.T) {
	var v Material
	if !v.IsVacuum() || v.At(284) != (Constants{}) || v.Check() != nil {
		t.Error(v.At(284), v.Check())
	}
	name := filepath.Join(t.TempDir(), "Material1.txt")
	if err := WriteMaterial(name, &v); !errors.Is(err, ErrIncomplete) {
		t.Error(err)
	}
	if err := WriteMaterial(name, v.Sample([]float64{270})); err != nil {
		t.Error(err)
	}
	m, err := ReadMaterial(name)
	if err != nil || m.At(300) != (Constants{}) || m.IsVacuum() {
		t.Error(m, err)
	}
}

const row = "{ Energy = %g; BetaPara = 1e-3; DeltaPerp = 4; DeltaPara = 3e-3; BetaPerp = 2e-3 }\n"

func group2(i int, energy float64) string { return fmt.Sprintf("EnergyData%d : "+row, i, energy) }

func TestParseMaterial(t *testing.T) {
	lines := "Energy = 284.5;\nDeltaPara = 3e-3;\nBetaPara = 1e-3;\nDeltaPerp = 4;\nBetaPerp = 2e-3;\n"
	for text, want := range map[string]string{
		group2(0, 284.5) + group2(1, 285):             "[284.5 285]",
		group2(10, 285) + group2(9, 284.5):            "[284.5 285]",
		group2(0, 285) + group2(1, 284.5) + "a = 1;":  "[285 284.5]",
		group2(0, 285) + group2(1, 285):               "[285 285]",
		lines + strings.ReplaceAll(lines, "4.5", "6"): "[284.5 286]",
		"EnergyData0:\n{\n" + lines:                   "[284.5]",
	} {
		m, err := ParseMaterial([]byte(text), "f")
		if err != nil || fmt.Sprint(m.Energies) != want {
			t.Errorf("%s: %v %v, want %s", text, m, err, want)
			continue
		}
		if m.Name != "f" || m.Constants[0] != (Constants{3e-3, 1e-3, 4, 2e-3}) {
			t.Errorf("%+v", m)
		}
	}
}

func TestBadMaterials(t *testing.T) {
	for want, text := range map[string]string{
		"f: there is no group EnergyData0":                           "a = 1;",
		"f: line 2 (EnergyData1): it has no BetaPerp: add BetaPerp":  group2(0, 284) + strings.Replace(group2(1, 285), "BetaPerp", "Betaperp", 1),
		"f: line 1 (EnergyData0): BetaPara is a text, want a number": strings.Replace(group2(0, 284), "1e-3", `"x"`, 1),
		"f: the energy -5 is not a positive":                         group2(0, -5),
		"f: the energy 285 eV has two sets of constants":             group2(0, 285) + strings.Replace(group2(1, 285), "4", "5", 1),
		"libconfig: f: line 1, column 15: the group has no end":      "EnergyData0 : { Energy = 284; BetaPara = 1e-3;",
		"libconfig: f: line 1, column 1: found '='":                  "= 1",
		"libconfig: f: line 2, column 1: the setting Energy":         "Energy = 284.5\nEnergy = 3",
	} {
		m, err := ParseMaterial([]byte(text), "f")
		if err == nil || m != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

func TestReadMaterials(t *testing.T) {
	dir := t.TempDir()
	if _, err := ReadMaterials(dir); !errors.Is(err, ErrIncomplete) {
		t.Error(err)
	}
	put := func(i int, text string) {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("Material%d.txt", i)), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := 1; i <= 11; i++ {
		put(i, group2(0, 270+float64(i)))
	}
	all, err := ReadMaterials(dir)
	if err != nil || len(all) != 11 || all[9].Energies[0] != 280 {
		t.Error(len(all), err)
	}
	if err := os.Remove(filepath.Join(dir, "Material3.txt")); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadMaterials(dir); err == nil || !strings.Contains(err.Error(), "has Material4.txt but no Material3.txt") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "material3.TXT"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadMaterials(dir); err == nil || !strings.Contains(err.Error(), "rename material3.TXT to Material3.txt") {
		t.Error(err)
	}
	put(3, "x")
	if _, err := ReadMaterials(dir); err == nil || !strings.Contains(err.Error(), "Material3.txt: line 1, column 2") {
		t.Error(err)
	}
}

// Energies in keV are told once, and not for each material.
func TestOpticsOfEnergiesInKeV(t *testing.T) {
	m := &Material{Name: "PS", Energies: []float64{270, 280}, Constants: make([]Constants, 2)}
	_, _, err := Optics([]*Material{m, {}, m}, []float64{0.27, 0.28})
	if want := "cyrsoxs: energies: [0.27 0.28] are in none of the tables of constants, whose energies are 1000 times as large: are they in keV?: energies are in eV: [270 280]"; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestOptics(t *testing.T) {
	m := &Material{Name: "PS", Energies: []float64{270, 280, 290}, Constants: []Constants{{BetaPara: 1}, {BetaPara: 2}, {BetaPara: 3}}}
	n, warnings, err := Optics([]*Material{m, {}}, []float64{270.0005, 280})
	if err != nil || warnings != nil || n[0][0].BetaPara != 1 || n[1][0].BetaPara != 2 || n[1][1] != (Constants{}) {
		t.Error(n, warnings, err)
	}
	n, warnings, err = Optics([]*Material{m}, []float64{290, 270})
	if err != nil || len(warnings) != 1 || n[0][0].BetaPara != 3 || n[1][0].BetaPara != 1 {
		t.Error(n, warnings, err)
	}
	n, _, err = Optics([]*Material{m, {Energies: []float64{270}, Constants: make([]Constants, 1)}}, []float64{270, 281, 290})
	if n != nil || err == nil || strings.Count(err.Error(), "\n") != 2 || !strings.Contains(err.Error(), "PS: it has no energy 281 eV; the nearest is 280 eV") ||
		!strings.Contains(err.Error(), "material 2: it has no energy 290") {
		t.Error(n, err)
	}
}

// A negative beta is told with the material, the number and the energy.
func TestNegativeBeta(t *testing.T) {
	m := &Material{Name: "PS.txt", Energies: []float64{270, 280, 290}, Constants: []Constants{{BetaPara: 1, DeltaPara: -1}, {BetaPara: 2, BetaPerp: -2e-3}, {BetaPara: -3}}}
	for want, energies := range map[string][]float64{
		"PS.txt: BetaPerp is -0.002 at 280 eV: matter":                                          {270, 280},
		"PS.txt: BetaPerp is -0.002 at 280 eV, and beta is negative at 2 of 3 energies: matter": {270, 280, 290},
	} {
		n, warnings, err := Optics([]*Material{{}, m}, energies)
		if err != nil || n == nil || len(warnings) != 1 || !strings.HasPrefix(warnings[0], want) {
			t.Errorf("%v, %q, want %q", err, warnings, want)
		}
	}
}

func TestCheckMaterial(t *testing.T) {
	for _, m := range []*Material{
		{Energies: []float64{1, 2}, Constants: make([]Constants, 1)},
		{Energies: []float64{1}, Constants: []Constants{{BetaPara: math.NaN()}}},
		{Energies: []float64{math.Inf(1)}, Constants: make([]Constants, 1)},
	} {
		if err := m.Check(); err == nil {
			t.Errorf("%+v", m)
		}
	}
}

func FuzzParseMaterial(f *testing.F) {
	f.Add([]byte(group2(0, 284.5) + group2(1, 285)))
	f.Add([]byte("Energy = 284.5;\nDeltaPara = 3e-3;\nBetaPara = 1e-3;\nDeltaPerp = 4;\nBetaPerp = 2e-3;\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		m, err := ParseMaterial(text, "f")
		if err != nil {
			return
		}
		back, err := ParseMaterial([]byte(m.String()), "f")
		if err != nil || !reflect.DeepEqual(back, m) {
			t.Fatalf("%+v, want %+v: %v", back, m, err)
		}
	})
}
