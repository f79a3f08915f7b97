// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/data/netcdf"
	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/tensor"
)

// Images of a detector are reduced by its geometry: what scatters evenly into all directions has the same I at all q, and no A; what goes as
// the squared cosine of the direction has the A of its wedges.
func TestReduceMeasured(t *testing.T) {
	t.Chdir(t.TempDir())
	const n, rate, seconds = 40, 7000.0, 10.0
	flat, cosine, mask := tensor.New(tensor.Float64, n, n), tensor.New(tensor.Float64, n, n), tensor.New(tensor.Float64, n, n)
	for i := range n * n {
		x, y := (float64(i%n)+0.5-n/2)*0.25, (float64(i/n)+0.5-n/2)*0.25
		flat.Data().([]float64)[i] = math.Round(rate * seconds * math.Pow(1+(x*x+y*y)/100, -1.5)) // 10 mm away
		cosine.Data().([]float64)[i] = math.Round(rate * seconds * math.Pow(1+(x*x+y*y)/100, -1.5) * x * x / (x*x + y*y))
	}
	flat.Data().([]float64)[n*n/2], mask.Data().([]float64)[n*n/2] = 1e9, 1 // a hot pixel
	for name, a := range map[string]*tensor.Tensor{"flat.npy": flat, "cosine.npy": cosine, "mask.npy": mask} {
		f, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.WriteNPY(f); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	problem := func(data string) string {
		b, err := json.Marshal(map[string]any{"model": "core_shell", "grid": map[string]any{"shape": []int{8, 8, 8}, "voxel": 2}, "data": data + ".npy", "energies": []float64{285}, "exposure": seconds, "polarization": 0,
			"geometry": map[string]any{"distance": 10, "pixel": 0.25, "beam": []float64{n / 2, n / 2}}, "masks": []any{map[string]any{"file": "mask.npy", "keep": "zero"}},
			"parameters": map[string]any{"radius": map[string]any{"start": 3}, "shell": map[string]any{"start": 1}, "aligned": map[string]any{"start": 0.5}}, "constants": [][][4]float64{{{1e-3, 1e-4, 1e-3, 1e-4}}, {{0, 0, 0, 0}}}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(data+".json", b, 0o644); err != nil {
			t.Fatal(err)
		}
		return data + ".json"
	}
	rows := func(args ...string) (out []map[string]float64) {
		t.Helper()
		code, stdout, stderr := apptest.Do(t, append([]string{"reduce", "rsoxs"}, args...)...)
		if code != 0 {
			t.Fatal(stderr)
		}
		all, err := csv.NewReader(strings.NewReader(stdout)).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range all[1:] {
			row := map[string]float64{}
			for i, text := range line {
				name, _, _ := strings.Cut(all[0][i], " ")
				row[name], _ = strconv.ParseFloat(text, 64)
			}
			out = append(out, row)
		}
		return out
	}
	even := rows(problem("flat"))
	if len(even) < 15 {
		t.Fatalf("%d bins", len(even))
	}
	for _, r := range even {
		if math.Abs(r["I"]/rate-1) > 1e-4 || math.Abs(r["A"]) > 1e-4 || r["I_error"] < 1 || r["I_error"] > 0.01*rate {
			t.Errorf("even light: %v", r)
		}
	}
	want := (math.Pi/4 + 0.5) / (math.Pi / 2) // of the wedge along the field, 90 degrees wide, less that across it: over their sum
	want = 2*want - 1
	for _, r := range rows(problem("cosine"))[8:16] {
		if math.Abs(r["A"]-want) > 0.05 || math.Abs(r["I"]/rate-0.5) > 0.02 {
			t.Errorf("a squared cosine: %v, want A %.3f and I %g", r, want, rate/2)
		}
	}
	if all := rows("cosine.json", "--layout", "integrated"); all[0]["chi"] >= all[len(all)-1]["chi"] {
		t.Errorf("the map goes from %v to %v", all[0], all[len(all)-1])
	}
	file := func(name string, angle float64) map[string]any {
		return map[string]any{"file": name, "masks": []any{map[string]any{"file": "mask.npy", "keep": "zero"}}, "polarization": angle}
	}
	b, err := os.ReadFile("flat.json")
	if err != nil {
		t.Fatal(err)
	}
	var document map[string]any
	if err := json.Unmarshal(b, &document); err != nil {
		t.Fatal(err)
	}
	document["data"] = []any{file("flat.npy", 0), file("cosine.npy", 90)}
	if b, err = json.Marshal(document); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("two.json", b, 0o644); err != nil {
		t.Fatal(err)
	}
	if both := rows("two.json"); len(both) != 2*len(even) || both[len(both)-1]["polarization"] != 90 {
		t.Errorf("two files of one detector have %d lines, want %d", len(both), 2*len(even))
	}
	for _, out := range []string{"c.nc", "c.zarr"} {
		if code, _, stderr := apptest.Do(t, "reduce", "rsoxs", "flat.json", out); code != 0 {
			t.Fatal(stderr)
		}
		if code, _, stderr := apptest.Do(t, "reduce", "rsoxs", "flat.json", out); code != 73 || !strings.Contains(stderr, out) {
			t.Errorf("%s again: code %d, %s", out, code, stderr)
		}
		if code, _, stderr := apptest.Do(t, "reduce", "rsoxs", "flat.json", out, "--overwrite"); code != 0 {
			t.Error(stderr)
		}
		read := netcdf.Open
		if filepath.Ext(out) == ".zarr" {
			read = zarr.Open
		}
		tree, err := read(out)
		if err != nil {
			t.Fatal(err)
		}
		if v := tree.Groups()[0].Var("A_error"); v == nil || len(v.Dims) != 4 || v.Shape[3] != len(even) {
			t.Errorf("%s holds %v", out, v)
		}
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"c.nc"}, 65, "reduced already"},
		{[]string{"flat.json", "cosine.json"}, 64, "one problem file"},
		{[]string{"flat.json", "--radii", "true"}, 64, "measured ones are reduced over |q|"},
		{[]string{"none.nc"}, 66, "none.nc"},
		{[]string{"flat.npy"}, 65, "reduce rsoxs PROBLEM.json"},
		{[]string{"c.nc", "curves.xyz"}, 66, "end in .csv"},
	} {
		if code, _, stderr := apptest.Do(t, append([]string{"reduce", "rsoxs"}, c.args...)...); code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: code %d, want %d; %s", c.args, code, c.code, stderr)
		}
	}
}
