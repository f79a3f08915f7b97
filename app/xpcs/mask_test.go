// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/xpcs"
	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/models/geometry"

	sim "github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/tensor"
)

func writeNPY(t *testing.T, name string, v []float64, shape ...int) {
	t.Helper()
	x, err := tensor.From(v, shape...)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := x.WriteNPY(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Each flag masks the pixels that it says, in the order of the command line.
func TestMaskSteps(t *testing.T) {
	t.Chdir(t.TempDir())
	v := make([]float64, 20*30)
	for i := range v {
		v[i] = float64(i)
	}
	v[5*30+5] = 1e6
	writeNPY(t, "image.npy", v, 20, 30)
	os.WriteFile("list.csv", []byte("3,2\n4,2\n"), 0o644)
	const geometry = " --beam-x 15 --beam-y 10 --pixel-size 100um --distance 1 --energy 12.39841984"
	q := func(pixels float64) float64 { return 4 * math.Pi * math.Sin(math.Atan(pixels*1e-4)/2) }
	radius := func(row, col int) float64 { return math.Hypot(float64(row)-10, float64(col)-15) }
	for line, keeps := range map[string]func(row, col int, v float64) bool{
		"--threshold 30:":    func(_, _ int, v float64) bool { return v >= 30 },
		"--threshold :500":   func(_, _ int, v float64) bool { return v < 500 },
		"--threshold 30:500": func(_, _ int, v float64) bool { return v >= 30 && v < 500 },
		"--circle 10,15,3.5": func(r, c int, _ float64) bool { return radius(r, c) > 3.5 },
		"--include --circle 10,15,3.5 --circle 2,2,0.4": func(r, c int, _ float64) bool { return radius(r, c) <= 3.5 || r == 2 && c == 2 },
		"--include --rectangle 10,15,8,10 --exclude --rectangle 10,15,2,2": func(r, c int, _ float64) bool {
			return r >= 6 && r <= 14 && c >= 10 && c <= 20 && !(r >= 9 && r <= 11 && c >= 14 && c <= 16)
		},
		"--polygon 2,2,2,6,6,6,6,2":                       func(r, c int, _ float64) bool { return r < 2 || r > 6 || c < 2 || c > 6 },
		"--line 4,0,4,29,2":                               func(r, _ int, _ float64) bool { return r < 3 || r > 5 },
		"--ellipse 10,15,2.2,5.2":                         func(r, c int, _ float64) bool { return math.Hypot((float64(r)-10)/2.2, (float64(c)-15)/5.2) > 1 },
		"--list list.csv":                                 func(r, c int, _ float64) bool { return r != 2 || c != 3 && c != 4 },
		"--list list.csv --list-row-first":                func(r, c int, _ float64) bool { return c != 2 || r != 3 && r != 4 },
		"--outliers mad:9:tile=10":                        func(r, c int, _ float64) bool { return r != 5 || c != 5 },
		"--threshold 1: --outliers percentile:20:tile=10": func(r, c int, v float64) bool { return v >= 1 && (r != 5 || c != 5) },
		"--parameter q>=0.002&q<0.004" + geometry:         func(r, c int, _ float64) bool { x := q(radius(r, c)); return x >= 0.002 && x < 0.004 },
		"--parameter phi>90|q<0.001" + geometry: func(r, c int, _ float64) bool {
			return math.Atan2(10-float64(r), float64(c)-15)*180/math.Pi > 90 || q(radius(r, c)) < 0.001
		},
	} {
		if code, _, stderr := apptest.Do(t, append([]string{"mask", "out.tif", "--overwrite", "--image", "image.npy"}, strings.Fields(line)...)...); code != 0 {
			t.Errorf("%s: exit %d: %s", line, code, stderr)
			continue
		}
		m, err := maskfile.Read("out.tif", maskfile.Settings{Height: 20, Width: 30})
		if err != nil {
			t.Fatal(err)
		}
		for i, k := range m.Keep {
			if r, c := i/30, i%30; k != keeps(r, c, v[i]) {
				t.Errorf("%s: row %d, column %d is kept: %v", line, r, c, k)
				break
			}
		}
	}
}

// A mask that keeps hardly any pixel may be inverted, which is asked by qmap and by correlate.
func TestMaskThatKeepsFewPixels(t *testing.T) {
	t.Chdir(t.TempDir())
	apptest.WriteMovie(t, "a.h5", apptest.Speckles(t, 30, 1))
	for kept, told := range map[int]bool{16: true, 160: false} {
		keep := make([]float64, 1600)
		copy(keep, slices.Repeat([]float64{1}, kept))
		writeNPY(t, "m.npy", keep, 40, 40)
		for _, line := range []string{apptest.QmapLine + " --mask m.npy --overwrite", "correlate a.h5 --qmap q.hdf --frame-time 1ms --overwrite"} {
			code, _, stderr := apptest.Do(t, strings.Fields(line)...)
			if code != 0 || strings.Contains(stderr, "the mask keeps 16 of 1600 pixels (1 %): is it inverted?") != told {
				t.Errorf("%s with %d pixels: exit %d: %s", line, kept, code, stderr)
			}
		}
	}
}

// Masks of every kind, recipes and blemishes give the same mask, also to qmap.
func TestMaskFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	apptest.WriteMovie(t, "a.h5", apptest.Speckles(t, 30, 1))
	run := func(line string) string {
		t.Helper()
		code, stdout, stderr := apptest.Do(t, strings.Fields(line)...)
		if code != 0 {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
		return stdout
	}
	run("mask m.h5 --image a.h5 --frames 20 --circle 20,20,6 --threshold 0.5: --save-recipe r.json")
	for _, name := range []string{"m.tif", "m.npy", "m.hdf"} {
		sameMask(t, "m.h5", "mask "+name+" --image a.h5 --frames 20 --recipe r.json", name)
	}
	sameMask(t, "m.h5", "mask blemish.h5 --shape 40x40 --blemish m.npy", "blemish.h5")
	sameMask(t, "m.h5", "mask file.npy --shape 40x40 --file m.tif", "file.npy")
	for _, name := range []string{"m.h5", "m.tif", "m.npy", "m.hdf"} {
		run(apptest.QmapLine + " --overwrite --mask " + name)
		sameMask(t, "m.h5", "mask q.npy --overwrite --shape 40x40 --file q.hdf", "q.npy")
	}
	run("mask files.h5 --shape 40x40 --file m.tif --save-recipe files.json")
	sameMask(t, "m.h5", "mask allowed.npy --shape 40x40 --recipe files.json --allow-file m.tif", "allowed.npy")
	var d xpcs.MaskDoc
	if err := json.Unmarshal([]byte(run("mask j.npy --image a.h5 --recipe r.json --circle 5,5,2 --json")), &d); err != nil || len(d.Steps) != 3 || d.Shape != [2]int{40, 40} || d.Kept >= 1600-113 || d.Steps[2].Draw[0].Radius != 2 {
		t.Errorf("%v %+v", err, d)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("mask none.npy --image a.h5 --threshold 1e6:")...); code != 0 || !strings.Contains(stderr, "keeps no pixel") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	writeNPY(t, "equal.npy", append(make([]float64, 24), 1000), 5, 5)
	for step, want := range map[string]string{"outliers mad:6:tile=5": "masks no pixel", "threshold 0:": "step 1, threshold, masks no pixel"} {
		if code, _, stderr := apptest.Do(t, strings.Fields("mask none.npy --overwrite --image equal.npy --"+step)...); code != 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s", step, code, stderr)
		}
	}
	os.WriteFile("bad.json", []byte(`{"version": 9}`), 0o644)
	os.WriteFile("bad.tif", []byte("nothing"), 0o644)
	for line, want := range map[string]struct {
		code       int
		NumberText string
	}{
		"mask m.h5 --image a.h5":                                {exit.CannotWrite, "--overwrite"},
		"mask new.png --image a.h5":                             {exit.CannotWrite, ".png"},
		"mask new.h5":                                           {exit.WrongUsage, "--image"},
		"mask new.h5 --image none.h5":                           {exit.NoInput, "none.h5"},
		"mask new.h5 --image bad.tif":                           {exit.Data, "bad.tif"},
		"mask new.h5 --image a.h5 --recipe bad.json":            {exit.Data, "version 9"},
		"mask new.h5 --image a.h5 --recipe none.json":           {exit.NoInput, "none.json"},
		"mask new.h5 --shape 40x40 --recipe files.json":         {exit.WrongUsage, "--allow-file m.tif"},
		"mask new.h5 --shape 40x41 --recipe r.json":             {exit.Data, "40 x 41"},
		"mask new.h5 --shape 30x41 --file m.tif":                {exit.Data, "30 x 41"},
		"mask new.h5 --image a.h5 --from q.hdf --shape 3x3":     {exit.Data, "3 x 3"},
		"mask new.h5 --shape 40x40 --threshold 1:":              {exit.WrongUsage, "--image"},
		"mask new.h5 --image a.h5 --threshold 5:1":              {exit.WrongUsage, "low below high"},
		"mask new.h5 --image a.h5 --circle 1,2":                 {exit.WrongUsage, "2 numbers"},
		"mask new.h5 --image a.h5 --circle 1,2,-3":              {exit.WrongUsage, "-3"},
		"mask new.h5 --image a.h5 --polygon 1,2,3,4,5":          {exit.WrongUsage, "pairs"},
		"mask new.h5 --image a.h5 --outliers men:3":             {exit.WrongUsage, "percentile or mad"},
		"mask new.h5 --image a.h5 --outliers mad:0":             {exit.WrongUsage, "above 0"},
		"mask new.h5 --image a.h5 --outliers mad:3:rings=10":    {exit.Data, "q"},
		"mask new.h5 --image a.h5 --parameter q>0.1":            {exit.WrongUsage, "--beam-x"},
		"mask new.h5 --image a.h5 --from q.hdf --parameter p>1": {exit.Data, `"p"`},
		"mask new.h5 --image a.h5 --parameter q!0.1":            {exit.WrongUsage, "is not a range"},
		"mask new.h5 --image a.h5 --parameter 3<q<2":            {exit.WrongUsage, "swap"},
		"mask new.h5 --image a.h5 --list none.csv":              {exit.NoInput, "none.csv"},
		"mask new.h5 --image a.h5 --frames 0":                   {exit.WrongUsage, "--frames 0"},
		"mask new.h5 --edit a.h5 --listen 0.0.0.0:0":            {exit.WrongUsage, "127.0.0.1:0"},
		"mask new.h5 --edit a.h5 --image r.json":                {exit.WrongUsage, "two images"},
		"mask new.csv --edit a.h5":                              {exit.WrongUsage, ".tif"},
		"mask new.h5 --edit none.h5":                            {exit.NoInput, "none.h5"},
	} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != want.code || !strings.Contains(stderr, want.NumberText) {
			t.Errorf("%s: exit %d: %s, want %d with %q", line, code, stderr, want.code, want.NumberText)
		}
		if xpcs.There("new.h5") || xpcs.There("new.h5.lock") {
			t.Fatalf("%s: a file is left", line)
		}
	}
}

// Rings of a powder give the geometry back, which qmap and mask read.
func TestCalibrate(t *testing.T) {
	t.Chdir(t.TempDir())
	g := sim.Geometry{Height: 320, Width: 360, CenterRow: 151.37, CenterCol: 188.62, PixelSize: 172e-6, Distance: 0.3514, Energy: 10}
	m, err := g.QMap("q")
	if err != nil {
		t.Fatal(err)
	}
	rng, v := rand.New(rand.NewPCG(1, 2)), make([]float64, g.Height*g.Width)
	for i, q := range m.Values[0] {
		mean := 10.0
		for _, ring := range geometry.SilverBehenate(4) {
			mean += 40 / (ring + 0.02) * math.Exp(-math.Pow((q-ring)/0.0055, 2)/2)
		}
		v[i] = math.Round(mean + math.Sqrt(mean)*rng.NormFloat64())
	}
	writeNPY(t, "agbh.npy", v, g.Height, g.Width)
	const start = " --pixel-size 172um --distance 36cm --energy 10"
	code, stdout, stderr := apptest.Do(t, strings.Fields("fit geometry agbh.npy g.json --rings agbh --json --strict"+start)...)
	var d xpcs.GeometryDoc
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != 0 {
		t.Fatal(code, err, stderr)
	}
	for name, want := range map[string]float64{geometry.CenterRow: g.CenterRow, geometry.CenterCol: g.CenterCol, geometry.Distance: g.Distance} {
		if got, sd := float64(d.X[name]), float64(d.SD[name]); math.Abs(got-want) > 5*sd || !(sd > 0 && sd < 1e-3*want) {
			t.Errorf("%s is %g +- %g, want %g", name, got, sd, want)
		}
	}
	if !d.Check.OK || d.Points < 200 || d.Status != "converged" || len(d.Cov) != 9 || d.Out != "g.json" {
		t.Errorf("%+v", d)
	}
	code, stdout, stderr = apptest.Do(t, strings.Fields("qmap q.hdf --from g.json --dynamic 4x1 --static 8x1 --json")...)
	var q xpcs.QmapDoc
	if err := json.Unmarshal([]byte(stdout), &q); err != nil || code != 0 || q.Values["distance"] != d.X[geometry.Distance] || q.Shape != [2]int{320, 360} {
		t.Error(code, err, stderr)
	}
	code, stdout, _ = apptest.Do(t, strings.Fields("fit geometry agbh.npy --rings 0.10762,0.21525,0.32287 --free energy --from g.json --out cal.csv")...)
	if all := apptest.Rows(t, "cal.csv"); len(all) != 5 || apptest.Cell(t, all, 3, "parameter") != "distance" || apptest.Cell(t, all, 3, "unit") != "m" || apptest.Cell(t, all, 3, "sd") == "" {
		t.Errorf("%q", all)
	}
	if code != 0 || !strings.Contains(stdout, "energy") || !strings.Contains(stdout, "distance     0.3") || !strings.Contains(stdout, "+-") {
		t.Errorf("exit %d: %s", code, stdout)
	}
	for line, want := range map[string]struct {
		code       int
		NumberText string
	}{
		"fit geometry agbh.npy" + start:                                                 {exit.WrongUsage, "--rings"},
		"fit geometry agbh.npy --rings 0.2,0.1" + start:                                 {exit.WrongUsage, "ascending"},
		"fit geometry agbh.npy --rings agbh:0" + start:                                  {exit.WrongUsage, "1 to 100"},
		"fit geometry agbh.npy --rings agbh --free swing" + start:                       {exit.WrongUsage, "swing_h"},
		"fit geometry agbh.npy --rings agbh":                                            {exit.WrongUsage, "--pixel-size, --distance, --energy"},
		"fit geometry agbh.npy --rings agbh --keep-center" + start:                      {exit.WrongUsage, "--beam-x"},
		"fit geometry agbh.npy --rings agbh --within 2" + start:                         {exit.WrongUsage, "--within 2"},
		"fit geometry agbh.npy g.json --rings agbh" + start:                             {exit.CannotWrite, "--overwrite"},
		"fit geometry agbh.npy g.txt --rings agbh" + start:                              {exit.WrongUsage, ".json"},
		"fit geometry none.npy --rings agbh" + start:                                    {exit.NoInput, "none.npy"},
		"fit geometry agbh.npy --rings 5,6 --pixel-size 172um --distance 1 --energy 10": {exit.Data, "ring"},
	} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != want.code || !strings.Contains(stderr, want.NumberText) {
			t.Errorf("%s: exit %d: %s, want %d with %q", line, code, stderr, want.code, want.NumberText)
		}
	}
}
