// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/golden/desi"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/models/expr"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
)

// Posteriors of many bins are the same however they are shared out, and have verdicts.
func TestSampleG2(t *testing.T) {
	dir := t.TempDir()
	curves(t, filepath.Join(dir, "a.csv"), 3, 4)
	config := filepath.Join(dir, "c.yaml")
	write(t, config, "work: sample g2\nfiles: a.csv\nbins: 1-3,9\nwarmup: 200\ndraws: 200\nchains: 2\nkeep_draws: true\nblock: 1\nretries: 0\npriors: {tau: 'lognormal(-6, 2)'}\n")
	m := made(t, config)
	whole := done(t, m, 1)
	same(t, whole, done(t, m, 3))
	if len(whole) != 4 || !strings.Contains(whole[3].Err, "no bin 9: the file has 4") {
		t.Fatalf("%+v", whole)
	}
	for i, r := range whole[:3] {
		want := 1e-3 * math.Pow(1.5, float64(i+1))
		if tau, sd := r.Numbers[3], r.Numbers[4]; math.Abs(tau-want) > 5*sd || !(sd < 0.2*want) {
			t.Errorf("bin %d: tau %g +- %g, want %g", i+1, tau, sd, want)
		}
		if _, err := os.Stat(filepath.Join(dir, "out", "draws", r.Texts[2])); err != nil {
			t.Error(err)
		}
	}
}

// Energies of morphologies are simulated as by one run, wherever each is done.
func TestSimRSoXS(t *testing.T) {
	dir := t.TempDir()
	if err := demo.WriteParticle(context.Background(), dir, "test"); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "c.yaml")
	write(t, config, "work: sim rsoxs\nfiles: particle.h5\nprecision: 64\n")
	m := made(t, config)
	if m.Items != 3 || m.Block != 3 || !Wide(m) {
		t.Fatalf("%+v", m)
	}
	whole := done(t, m, 1)
	write(t, config, "work: sim rsoxs\nfiles: particle.h5\nprecision: 64\nblock: 1\n")
	os.RemoveAll(filepath.Join(dir, "out"))
	same(t, whole, done(t, made(t, config), 3))
	for _, r := range whole {
		if r.Err != "" {
			t.Fatal(r.Err)
		}
		if _, err := os.Stat(filepath.Join(dir, "out", r.Texts[1])); err != nil || r.Numbers[1] == 0 {
			t.Error(err, r)
		}
	}
	write(t, filepath.Join(dir, "x", "particle.h5"), "")
	write(t, config, "work: sim rsoxs\nfiles: [particle.h5, ./particle.h5]\n")
	l, err := Read(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Create(filepath.Join(dir, "two", "manifest.txt")); err == nil || !strings.Contains(err.Error(), "the same folder") {
		t.Error(err)
	}
}

// Files of frames are correlated as by one run, wherever each is done, and one that is no good is told.
func TestCorrelate(t *testing.T) {
	dir := t.TempDir()
	movie := demo.Particles(1)
	movie.Frames, movie.Geometry.Height, movie.Geometry.Width = 60, 40, 40
	movie.Geometry.CenterRow, movie.Geometry.CenterCol = 20, 20
	if err := movie.Write(dir); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, "movie.h5"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "b", "movie.h5"), string(b))
	write(t, filepath.Join(dir, "poisoned.h5"), "nothing")
	config := filepath.Join(dir, "c.yaml")
	write(t, config, "work: correlate\nfiles: [movie.h5, b/movie.h5, poisoned.h5]\nqmap: qmap.hdf\ncorrelation: both\nbins: 1-2\nretries: 0\n")
	m := made(t, config)
	if m.Items != 3 || !Wide(m) {
		t.Fatalf("%+v", m)
	}
	whole := done(t, m, 1)
	os.RemoveAll(filepath.Join(dir, "out"))
	same(t, whole, done(t, made(t, config), 3))
	for i, r := range whole {
		if i == 2 {
			if !strings.Contains(r.Err, "poisoned.h5") {
				t.Error(r.Err)
			}
			continue
		}
		if r.Err != "" || r.Numbers[0] != 60 || r.Numbers[2] != 8 {
			t.Errorf("%+v", r)
		}
		res, err := nexus.Open(filepath.Join(dir, "out", r.Texts[1]))
		if err != nil {
			t.Fatal(err)
		}
		if res.Multitau == nil || len(res.Twotime.Bins) != 2 {
			t.Errorf("%+v", res)
		}
		res.Close()
	}
	write(t, config, "work: correlate\nfiles: movie.h5\n")
	if _, err := Read(config); err == nil || !strings.Contains(err.Error(), "name the q-map file") {
		t.Error(err)
	}
}

// Ranks of a calibration are those of one run.
func TestSBC(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "line.json"), line)
	config := filepath.Join(dir, "c.yaml")
	write(t, config, "work: sbc\nproblem: line.json\nfits: 24\nranks: 19\nwarmup: 100\ndraws: 100\nblock: 5\nseed: 4\n")
	m := made(t, config)
	whole := done(t, m, 1)
	same(t, whole, done(t, m, 3))
	p, err := expr.Parse([]byte(line))
	if err != nil {
		t.Fatal(err)
	}
	model, err := p.Model()
	if err != nil {
		t.Fatal(err)
	}
	post, err := model.Compile()
	if err != nil {
		t.Fatal(err)
	}
	one, err := infer.SBC(context.Background(), post, infer.SBCSettings{Fits: 24, Draws: 19, Seed: 4, Sample: infer.Settings{Warmup: 100, Draws: 100, Chains: 1, Seed: 4}})
	if err != nil {
		t.Fatal(err)
	}
	for i, ranks := range one.Ranks.Ranks {
		for k, r := range ranks {
			if float64(r) != whole[k].Numbers[i] {
				t.Fatalf("fit %d: rank of %s is %g, want %d", k, one.Ranks.Names[i], whole[k].Numbers[i], r)
			}
		}
	}
	store := batch.Store(t.TempDir())
	task, err := Open(m, Env{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := batch.Run(context.Background(), m, task, batch.Settings{Store: store, Shard: batch.Whole}); err != nil {
		t.Fatal(err)
	}
	g, err := Merge(m, store, t.TempDir(), Env{})
	if err != nil || g.Ranks.Fits != 24 || !strings.Contains(g.Finding, "24 fits") {
		t.Fatalf("%v %+v", err, g)
	}
}

// A sweep calls a command for every point, and takes numbers from what it prints.
func TestSweep(t *testing.T) {
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("lacks /bin/sh")
	}
	dir := t.TempDir()
	config := filepath.Join(dir, "c.yaml")
	write(t, config, `work: sweep
program: /bin/sh
command: ["-c", 'test {a} != 3 || { echo "Error: no threes" >&2; exit 5; }; mkdir "{out}"; echo {item} > "{out}/x"; echo "{\"v\": [1, {\"w\": {a}{b}}], \"s\": \"NaN\", \"seed\": {seed}}"']
grid: {a: [1, 2, 3], b: [5, 7]}
take: {w: v.1.w, last: v.-1.w, nothing: s, seed: seed}
block: 1
retries: 0
`)
	m := made(t, config)
	whole := done(t, m, 1)
	same(t, whole, done(t, m, 2))
	if len(whole) != 6 {
		t.Fatalf("%+v", whole)
	}
	for i, want := range []float64{15, 17, 25, 27} {
		r := whole[i]
		if r.Err != "" || r.Numbers[0] != want || r.Numbers[1] != want || !math.IsNaN(r.Numbers[2]) || r.Numbers[3] != float64(batch.Seed(0, int64(i))>>1) || r.Texts[0]+r.Texts[1] != fmt.Sprint(want) {
			t.Errorf("%+v, want %g", r, want)
		}
		if b, err := os.ReadFile(filepath.Join(dir, "out", "points", fmt.Sprintf("%09d", i), "x")); err != nil || string(b) != fmt.Sprintln(i) {
			t.Error(string(b), err)
		}
	}
	if !strings.Contains(whole[4].Err, "exit status 5: Error: no threes") {
		t.Error(whole[4].Err)
	}

	write(t, filepath.Join(dir, "in.txt"), "{\"v\": {x}, \"w\": {item}, \"other\": \"{y}\"}")
	write(t, config, "work: sweep\nprogram: /bin/cat\ncommand: '{doc}'\ntemplate: {doc: in.txt}\ngrid: {x: [3, 4]}\ntake: {v: v, w: w}\n")
	os.RemoveAll(filepath.Join(dir, "out"))
	if whole = done(t, made(t, config), 1); whole[1].Err != "" || whole[1].Numbers[0] != 4 || whole[1].Numbers[1] != 1 {
		t.Errorf("%+v", whole)
	}
	write(t, filepath.Join(dir, "points.csv"), "name, x\nfirst, 1.5\nsecond,2\n")
	write(t, config, "work: sweep\nprogram: /bin/echo\ncommand: ['{\"v\": {x}}']\npoints: points.csv\ntake: {v: v}\n")
	l, err := Read(config)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := l.Create(filepath.Join(dir, "p", "manifest.txt")); err == nil || !strings.Contains(err.Error(), "nor a template uses name") {
		t.Error(err)
	}
	write(t, config, "work: sweep\nprogram: /bin/echo\ncommand: ['{\"v\": {x}, \"{name}\": 1}']\npoints: points.csv\ntake: {v: v, w: w}\nretries: 0\n")
	os.RemoveAll(filepath.Join(dir, "out"))
	whole = done(t, made(t, config), 1)
	if !strings.Contains(whole[0].Err, "take: w: the document has no key w: want one of first, v") {
		t.Errorf("%+v", whole[0])
	}
}

// Stars of a file are fitted alike however they are shared out, and the tables are those of one run.
func TestFitSpectra(t *testing.T) {
	tier.SlowOnly(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "data", "coadd-bad.fits"), "nothing")
	coadds := desi.Copy(t, filepath.Join(dir, "data"))
	settings := desi.Runs(t)[0].Config(t, "nn")
	config := filepath.Join(dir, "c.yaml")
	write(t, config, "work: fit spectra\nfiles: data/coadd-*.fits\nconfig: "+settings+"\nzbest_include: true\nblock: 2\nretries: 0\n")
	m := made(t, config)
	store := batch.Store(filepath.Join(dir, "out", "results"))
	whole := done(t, m, 1)
	if tier.Slow {
		same(t, whole, done(t, m, 3))
	}
	failed := 0
	for _, r := range whole {
		if r.Err != "" {
			failed++
		}
	}
	if failed != 1 {
		t.Fatalf("%d failed", failed)
	}
	task, err := Open(m, Env{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := batch.Run(context.Background(), m, task, batch.Settings{Store: store, Shard: batch.Whole}); err != nil {
		t.Fatal(err)
	}
	g, err := Merge(m, store, filepath.Join(dir, "out"), Env{})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(g.Finding, fmt.Sprintf("of %d files", len(coadds))) {
		t.Error(g.Finding)
	}
	sameTable(t, filepath.Join(dir, "out"), whole)
	// The same by one run.
	c, err := rvspecfit.ReadConfig(settings)
	if err != nil {
		t.Fatal(err)
	}
	p, err := fitfile.New(fitfile.Settings{Config: c})
	if err != nil {
		t.Fatal(err)
	}
	ours := filepath.Join(dir, "one.fits")
	models := filepath.Join(dir, "mod.fits")
	one, err := p.DESI(context.Background(), filepath.Join(dir, "data", coadds[0]), fitfile.DESIJob{Table: ours, Models: models, Select: survey.Selection{WithRedshifts: true}})
	if err != nil {
		t.Fatal(err)
	}
	sameFITS(t, filepath.Join(dir, "out", "desi", "data", "rvtab_"+coadds[0]), ours, "RVTAB")
	for _, arm := range one.Results.Chosen.Arms {
		sameFITS(t, filepath.Join(dir, "out", "desi", "data", "rvmod_"+coadds[0]), models, strings.ToUpper(arm)+"_MODEL")
	}
	// Models that are lost are not zeros.
	kept, err := filepath.Glob(filepath.Join(modelsFolder(filepath.Join(dir, "out"), "data/"+coadds[0]), "*"))
	if err != nil || len(kept) == 0 {
		t.Fatalf("%v, %v", kept, err)
	}
	if err := os.Remove(kept[0]); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(m, store, filepath.Join(dir, "out"), Env{}); err == nil || !strings.Contains(err.Error(), "the model of row") {
		t.Errorf("a merge without a file of models: %v", err)
	}
}

// sameTable compares the FITS table of a batch of spectra with its results.
func sameTable(t *testing.T, folder string, results []batch.Record) {
	t.Helper()
	f, err := fits.Open(filepath.Join(folder, TableFITS))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table, err := f.Table("STARS")
	if err != nil {
		t.Fatal(err)
	}
	results = slices.DeleteFunc(slices.Clone(results), func(r batch.Record) bool { return r.Err != "" })
	numbers := func(name string) []float64 {
		c, err := table.Column(name)
		if err != nil {
			t.Fatal(err)
		}
		x, err := c.Float64s()
		if err != nil || len(x) != len(results) {
			t.Fatalf("%s: %d rows, %v: want %d", name, len(x), err, len(results))
		}
		return x
	}
	items, velocities := numbers("ITEM"), numbers("VRAD")
	column, err := table.Column("FILE")
	if err != nil {
		t.Fatal(err)
	}
	files, err := column.Strings()
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		v := r.Numbers[1] // after the row in the file
		if int64(items[i]) != r.Item || velocities[i] != v && !(math.IsNaN(v) && math.IsNaN(velocities[i])) || files[i] != r.Texts[0] {
			t.Errorf("row %d: item %v, velocity %v, file %q: want %d, %v, %q", i, items[i], velocities[i], files[i], r.Item, v, r.Texts[0])
		}
	}
	if c, err := table.Column("VRAD"); err != nil || c.Unit != "km/s" {
		t.Errorf("VRAD: %v, %v", c, err)
	}
}

// sameFITS compares an extension of two files, byte by byte behind its header.
func sameFITS(t *testing.T, got, want, extension string) {
	t.Helper()
	data := func(name string) []byte {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		at := bytes.Index(b, []byte("'"+extension))
		if at < 0 {
			t.Fatalf("%s has no %s", name, extension)
		}
		end := bytes.Index(b[at:], []byte("END     "))
		from := (at + end + 2880) / 2880 * 2880
		return b[from:min(len(b), from+2880)]
	}
	if !bytes.Equal(data(got), data(want)) {
		t.Errorf("%s of %s and %s differ", extension, got, want)
	}
}
