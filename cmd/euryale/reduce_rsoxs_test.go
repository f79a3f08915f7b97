package main

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

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/internal/golden"
)

// imageFolder writes the images of a reference case as a simulation would.
func imageFolder(t *testing.T, id string) (dir string, energies []float64) {
	t.Helper()
	var c scatterCase
	golden.JSON(t, &c, "scatter", "cases", id, "case.json")
	images := readNPZ(t, "scatter", "cases", id, "expected.npz")["images"]
	s, v := images.Shape(), images.Float64s()
	n := s[2] * s[3]
	var all []*cyrsoxs.Pattern
	for e, energy := range c.Config.Energies {
		p := &cyrsoxs.Pattern{Energy: energy, Shape: [2]int{s[2], s[3]}}
		for b := range s[1] {
			at := (e*s[1] + b) * n
			p.KVectors, p.Images = append(p.KVectors, [3]float64{0, 0, 1}), append(p.Images, cyrsoxs.Field{Float64: v[at : at+n]})
		}
		all = append(all, p)
	}
	dir = t.TempDir()
	if err := cyrsoxs.WritePatterns(dir, all); err != nil {
		t.Fatal(err)
	}
	return dir, c.Config.Energies
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

func floats(v []number) (out []float64) {
	for _, x := range v {
		out = append(out, float64(x))
	}
	return out
}

// Curves are those of NRSS, run on the same images.
func TestReduceRSoXSAgainstReference(t *testing.T) {
	want := readNPZ(t, "scatter", "reduce", "reduce.npz")
	for mask, id := range map[string]string{"mask1": "g19", "mask0": "g20"} {
		dir, energies := imageFolder(t, id)
		for axis, part := range map[string]string{"abs": "", "common": "_common"} {
			for _, wedge := range []string{"90", "40"} {
				code, out, stderr := do(t, "reduce", "rsoxs", dir, "--phys-size", "5", "--axis", axis, "--wedge", wedge, "--json")
				var doc reduceDoc
				if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || len(doc.Curves) != len(energies) {
					t.Fatalf("%v, exit %d: %s", err, code, stderr)
				}
				name := fmt.Sprintf("%s_w%s", mask, wedge)
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
	want := readNPZ(t, "scatter", "reduce", "reduce.npz")
	dir, energies := imageFolder(t, "g19")
	file := filepath.Join(dir, fmt.Sprintf("Energy_%.2f.h5", energies[0]))
	code, out, stderr := do(t, "reduce", "rsoxs", file, "--phys-size", "5", "--layout", "integrated")
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
	near(t, "polar", got, want["mask1_polar"].Float64s(), 1e-9)
	for layout, head := range map[string]string{"all": "I,I_para,I_perp,A", "i_only": "I", "i_para_i_perp": "I_para,I_perp", "i_a": "I,A"} {
		name := filepath.Join(dir, layout+".csv")
		code, out, stderr := do(t, "reduce", "rsoxs", dir, name, "--phys-size", "5", "--layout", layout, "--radii", "true")
		b, err := os.ReadFile(name)
		if code != 0 || out != "" || err != nil || !strings.HasPrefix(string(b), "energy (eV),beam,q (1/nm),"+head+"\n284.4,0,0,") {
			t.Errorf("%s: exit %d: %s %v\n%.80s", layout, code, stderr, err, b)
		}
	}
}

// The edge of a voxel is found where a simulation left it.
func TestReduceRSoXSFindsVoxels(t *testing.T) {
	_, morphology := workIn(t, "g01")
	if code, _, stderr := do(t, "sim", "rsoxs", morphology); code != 0 {
		t.Fatal(stderr)
	}
	_, want, _ := do(t, "reduce", "rsoxs", "HDF5", "--phys-size", "5")
	for i, args := range [][]string{{"HDF5"}, {"HDF5/Energy_284.40.h5", "HDF5/Energy_285.20.h5"}, {"HDF5"}, {"HDF5", "--morphology", morphology}} {
		if i == 2 { // the log alone
			if err := os.Remove("HDF5/run.json"); err != nil {
				t.Fatal(err)
			}
		}
		if code, out, stderr := do(t, append([]string{"reduce", "rsoxs"}, args...)...); code != 0 || out != want {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
	}
	if err := os.Remove(logName); err != nil {
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
		{"HDF5 --phys-size 5 --axis absolute", 64, "perp, abs, common"},
		{"none --phys-size 5", 66, "none"},
		{". --phys-size 5", 66, "no Energy_*.h5"},
		{"config.txt --phys-size 5", 65, "no energy in its name"},
		{"HDF5 HDF5/Energy_284.40.h5 --phys-size 5", 65, "there twice"},
		{"HDF5 --morphology config.txt", 65, "config.txt"},
		{"", 64, "requires at least 1"},
		{"HDF5 none/x.csv --phys-size 5", 73, ""},
	} {
		if code, out, stderr := do(t, append([]string{"reduce", "rsoxs"}, strings.Fields(c.args)...)...); code != c.code || !strings.Contains(stderr, c.says) || out != "" {
			t.Errorf("%s\nexit %d, want %d: %s", c.args, code, c.code, stderr)
		}
	}
}
