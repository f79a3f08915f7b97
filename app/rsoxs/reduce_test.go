// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/app/rsoxs"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/tensor"
)

// reduced names the cases whose images NRSS has reduced.
type reduced struct {
	Cases    map[string]string `json:"input_cases"`
	Energies []float64
	PhysSize float64   `json:"PhysSize_nm"`
	Wedges   []float64 `json:"wedges_deg"`
}

func readReduced(t *testing.T) (r reduced, arrays map[string]*tensor.Tensor) {
	t.Helper()
	golden.JSON(t, &r, "scatter", "reduce", "reduce.json")
	return r, apptest.ReadNPZ(t, "scatter", "reduce", "reduce.npz")
}

// folder writes the images of a case as a simulation would.
func (r reduced) folder(t *testing.T, id string) string {
	t.Helper()
	return patternFolder(t, r.Energies, apptest.ReadNPZ(t, "scatter", "cases", id, "expected.npz")["images"])
}

// patternFolder writes images [energy, beam, qy, qx].
func patternFolder(t *testing.T, energies []float64, images *tensor.Tensor) string {
	t.Helper()
	s, v := images.Shape(), images.Float64s()
	n := s[2] * s[3]
	var all []*cyrsoxs.Pattern
	for e, energy := range energies {
		p := &cyrsoxs.Pattern{Energy: energy, Shape: [2]int{s[2], s[3]}}
		for b := range s[1] {
			at := (e*s[1] + b) * n
			p.KVectors, p.Images = append(p.KVectors, [3]float64{0, 0, 1}), append(p.Images, cyrsoxs.Field{Float64: v[at : at+n]})
		}
		all = append(all, p)
	}
	dir := t.TempDir()
	if err := cyrsoxs.WritePatterns(dir, all); err != nil {
		t.Fatal(err)
	}
	return dir
}

func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	top := 0.0
	for _, w := range want {
		if math.Abs(w) > top {
			top = math.Abs(w)
		}
	}
	for i, w := range want {
		if math.IsNaN(w) != math.IsNaN(got[i]) || math.Abs(got[i]-w) > tolerance*top {
			t.Errorf("%s: number %d is %g, want %g", what, i, got[i], w)
			return
		}
	}
}

func floats(v []frame.Number) (out []float64) {
	for _, x := range v {
		out = append(out, float64(x))
	}
	return out
}

// Curves are those of NRSS, run on the same images.
func TestReduceRSoXSAgainstReference(t *testing.T) {
	ref, want := readReduced(t)
	for mask, id := range ref.Cases {
		dir := ref.folder(t, id)
		for axis, part := range map[string]string{"abs": "", "common": "_common"} {
			for _, wedge := range ref.Wedges {
				code, out, stderr := apptest.Do(t, "reduce", "rsoxs", dir, "--phys-size", fmt.Sprint(ref.PhysSize), "--axis", axis, "--wedge", fmt.Sprint(wedge), "--json")
				var doc rsoxs.ReduceDoc
				if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || len(doc.Curves) != len(ref.Energies) {
					t.Fatalf("%v, exit %d: %s", err, code, stderr)
				}
				name := fmt.Sprintf("%s_w%g", mask, wedge)
				all, a := want[name+part+"_I_para_perp"].Float64s(), want[name+"_A"].Float64s()
				for e, c := range doc.Curves {
					n := len(c.Q)
					for k, column := range []string{"I", "I_para", "I_perp"} {
						near(t, name+part+" "+column, floats(c.Means[column]), all[(3*e+k)*n:(3*e+k+1)*n], 1e-9)
					}
					if axis == "abs" {
						near(t, name+" A", floats(c.Means["A"]), a[e*n:(e+1)*n], 1e-9)
						near(t, name+" q", floats(c.Q), want["q_abs"].Float64s()[e*n:(e+1)*n], 1e-12)
					}
				}
			}
		}
	}
}

// The map over chi and q is that of NRSS, and the table has it in order.
func TestReduceRSoXSTable(t *testing.T) {
	ref, want := readReduced(t)
	for name, id := range ref.Cases {
		t.Run(name, func(t *testing.T) { ref.checkTable(t, id, want[name+"_polar"].Float64s()) })
	}
}

func (r reduced) checkTable(t *testing.T, id string, polar []float64) {
	dir, size := r.folder(t, id), fmt.Sprint(r.PhysSize)
	file := filepath.Join(dir, fmt.Sprintf("Energy_%.2f.h5", r.Energies[0]))
	code, out, stderr := apptest.Do(t, "reduce", "rsoxs", file, "--phys-size", size, "--layout", "integrated")
	rows, err := csv.NewReader(strings.NewReader(out)).ReadAll()
	if code != 0 || err != nil || strings.Join(rows[0], ",") != "energy (eV),beam,chi (deg),q (1/nm),I" {
		t.Fatalf("exit %d: %s %v", code, stderr, err)
	}
	var got []float64
	for _, r := range rows[1:] {
		v, err := strconv.ParseFloat(r[4], 64)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v)
	}
	near(t, "polar", got, polar, 1e-9)
	for layout, head := range map[string]string{"all": "I,I_para,I_perp,A", "i_only": "I", "i_para_i_perp": "I_para,I_perp", "i_a": "I,A"} {
		name := filepath.Join(dir, layout+".csv")
		code, out, stderr := apptest.Do(t, "reduce", "rsoxs", dir, name, "--phys-size", size, "--layout", layout, "--radii", "true")
		b, err := os.ReadFile(name)
		if code != 0 || out != "" || err != nil || !strings.HasPrefix(string(b), "energy (eV),beam,q (1/nm),"+head+fmt.Sprintf("\n%v,0,0,", r.Energies[0])) {
			t.Errorf("%s: exit %d: %s %v\n%.80s", layout, code, stderr, err, b)
		}
	}
}

// The edge of a voxel is found where a simulation left it.
func TestReduceRSoXSFindsVoxels(t *testing.T) {
	morphology := apptest.WorkInSample(t)
	if code, _, stderr := apptest.Do(t, "sim", "rsoxs", morphology); code != 0 {
		t.Fatal(stderr)
	}
	_, want, _ := apptest.Do(t, "reduce", "rsoxs", "HDF5", "--phys-size", "5")
	if _, _, stderr := apptest.Do(t, "reduce", "rsoxs", "HDF5", "--phys-size", "50"); !strings.Contains(stderr, "taken as 50 nm, as the flag says, although what lies beside the images says 5 nm") {
		t.Errorf("another edge than that of the simulation: %s", stderr)
	}
	for i, args := range [][]string{{"HDF5"}, {"HDF5/Energy_284.40.h5", "HDF5/Energy_285.20.h5"}, {"HDF5"}, {"HDF5", "--morphology", morphology}} {
		if i == 2 { // the log alone
			if err := os.Remove("HDF5/run.json"); err != nil {
				t.Fatal(err)
			}
		}
		if code, out, stderr := apptest.Do(t, append([]string{"reduce", "rsoxs"}, args...)...); code != 0 || out != want {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
	}
	if err := os.Remove(rsoxs.LogName); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"HDF5", 64, "Try: --phys-size"},
		{"HDF5 --phys-size -1", 64, "--phys-size -1"},
		{"HDF5 --phys-size 5 --radii tru --wedge 200", 64, `did you mean "true"?; --wedge 200`},
		{"HDF5 --phys-size 5 --layout i_b", 64, "i_para_i_perp"},
		{"HDF5 --phys-size 5 --axis absolute", 64, "perp, abs or common"},
		{"none --phys-size 5", 66, "none"},
		{". --phys-size 5", 66, "no Energy_*.h5"},
		{"config.txt --phys-size 5", 65, "no energy in the name of the file"},
		{"HDF5 HDF5/Energy_284.40.h5 --phys-size 5", 65, "appears twice"},
		{"HDF5 --morphology config.txt", 65, "config.txt"},
		{"", 64, "reduce rsoxs needs a folder or a file"},
		{"HDF5 none/x.csv --phys-size 5", 73, ""},
	} {
		if code, out, stderr := apptest.Do(t, append([]string{"reduce", "rsoxs"}, strings.Fields(c.args)...)...); code != c.code || !strings.Contains(stderr, c.says) || out != "" {
			t.Errorf("%s\nexit %d, want %d: %s", c.args, code, c.code, stderr)
		}
	}
}
