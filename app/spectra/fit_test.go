// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/app/spectra"
	"github.com/euryale-dev/euryale/data/survey"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/tier"
)

// starData makes the demonstration's library and spectra once for all tests, and returns a folder that has them.
var starData = sync.OnceValues(func() (map[string][]byte, error) {
	dir, err := os.MkdirTemp("", "stars")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	a := &frame.App{Command: "test"}
	if _, err := spectra.MakeStars(context.Background(), a, dir, 8); err != nil {
		return nil, err
	}
	files := map[string][]byte{"config.yaml": []byte("template_lib: library.h5\nmin_vel: -600\nmax_vel: 600\n")}
	for _, name := range []string{"library.h5", "coadd-demo.fits", "redrock-demo.fits"} {
		if files[name], err = os.ReadFile(filepath.Join(dir, name)); err != nil {
			return nil, err
		}
	}
	return files, nil
})

func starFolder(t *testing.T) string {
	t.Helper()
	files, err := starData()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, b := range files {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Files of DESI: tables, status, what is there, what is broken, and queues.
func TestFitSpectraOfDESI(t *testing.T) {
	dir := starFolder(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	good, err := os.ReadFile(at("coadd-demo.fits"))
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{"coadd-b.fits": good, "coadd-bad.fits": good[:len(good)/2]} {
		if err := os.WriteFile(at(name), b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	base := []string{"fit", "spectra", "--config", at("config.yaml"), "--no_subdirs", "--targetid", "39627000000000001,39627000000000002", "--json", "--quiet"}
	with := func(args ...string) (int, spectra.DesiDoc, string) {
		code, out, stderr := apptest.Do(t, append(append([]string(nil), base...), args...)...)
		var doc spectra.DesiDoc
		if out != "" {
			if err := json.Unmarshal([]byte(out), &doc); err != nil {
				t.Fatal(err)
			}
		}
		return code, doc, stderr
	}
	out := at("out")
	code, doc, stderr := with(at("coadd-demo.fits"), "--output_dir", out, "--process_status_file", at("status.txt"), "--zbest_include", "--extra-columns", "--report", "--doplot", "--figure_dir", at("figs"))
	if code != exit.OK || len(doc.Files) != 1 || doc.Files[0].Status != "SUCCESS" || doc.Files[0].Fitted != 2 {
		t.Fatalf("exit %d, %+v: %s", code, doc, stderr)
	}
	for _, name := range []string{"rvtab_coadd-demo.fits", "rvmod_coadd-demo.fits", "rvtab_coadd-demo_report/report.html"} {
		if !foreign.Exists(filepath.Join(out, name)) {
			t.Errorf("there is no %s", name)
		}
	}
	if b, err := os.ReadFile(at("status.txt")); err != nil || !strings.HasPrefix(string(b), at("coadd-demo.fits")+" SUCCESS 2 ") {
		t.Errorf("%s, %v", b, err)
	}
	if found, _ := filepath.Glob(at("figs/fig_*.png")); len(found) != 2 {
		t.Errorf("pictures: %v", found)
	}
	if left, _ := filepath.Glob(filepath.Join(out, "*.journal*")); left != nil {
		t.Errorf("left: %v", left)
	}
	// A file of which no fiber can be fitted has failed, also beside others; so has a selection of nothing.
	bad := bytes.ReplaceAll(bytes.ReplaceAll(good, []byte("CHECKSUM="), []byte("XHECKSUM=")), []byte("DATASUM ="), []byte("XATASUM ="))
	for at := 0; ; {
		k := bytes.Index(bad[at:], []byte("_FLUX"))
		if k < 0 {
			break
		}
		at += k + 1
		data := at - at%2880 + 2880 // the header of an image has one block
		next := bytes.Index(bad[data:], []byte("XTENSION"))
		for i := data; i+4 <= data+next; i += 4 {
			copy(bad[i:], []byte{0x7f, 0xc0, 0, 0})
		}
	}
	if err := os.WriteFile(at("coadd-nan.fits"), bad, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, files := range [][]string{{at("coadd-nan.fits")}, {at("coadd-demo.fits"), at("coadd-nan.fits")}} {
		code, doc, stderr := with(append(files, "--output_dir", at("nan"), "--overwrite")...)
		if last := doc.Files[len(files)-1]; code != exit.Data || last.Status != "FAILURE" || !strings.Contains(stderr, "none of 2 fibers could be fitted") {
			t.Errorf("%v: exit %d, %+v: %s", files, code, last, stderr)
		}
	}
	if code, _, stderr := apptest.Do(t, "fit", "spectra", "--config", at("config.yaml"), at("coadd-demo.fits"), "--output_dir", at("none"), "--targetid", "1", "--quiet"); code != exit.Data || !strings.Contains(stderr, "no fiber was selected") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	// What is there is not replaced unasked.
	if code, _, stderr := with(at("coadd-demo.fits"), "--output_dir", out); code != exit.CannotWrite || !strings.Contains(stderr, "--skipexisting") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	// A broken file ends no other, unless asked.
	code, doc, stderr = with(at("coadd-demo.fits"), at("coadd-bad.fits"), at("coadd-b.fits"), "--output_dir", out, "--skipexisting", "--process_status_file", at("status.txt"))
	if code != exit.Data || len(doc.Files) != 3 && !strings.Contains(stderr, "1 of 3 files failed") {
		t.Errorf("exit %d, %+v: %s", code, doc, stderr)
	}
	b, err := os.ReadFile(at("status.txt"))
	if lines := strings.Split(strings.TrimSpace(string(b)), "\n"); err != nil || len(lines) != 4 || !strings.Contains(lines[1], " EXISTING ") || !strings.Contains(lines[2], " FAILURE ") || !strings.Contains(lines[3], " SUCCESS ") {
		t.Errorf("%s", b)
	}
	if code, _, stderr := with(at("coadd-bad.fits"), "--output_dir", out, "--throw_exceptions"); code == exit.OK || strings.Contains(stderr, "files failed") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	// A queue is eaten up.
	queue := at("queue.txt")
	if err := os.WriteFile(queue, []byte(at("coadd-demo.fits")+"\n\n"+at("coadd-b.fits")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	code, doc, stderr = with("--queue_file", queue, "--output_dir", at("q"))
	if left, err := os.ReadFile(queue); code != exit.OK || len(doc.Files) != 2 || err != nil || len(left) != 0 {
		t.Errorf("exit %d, %+v, left %q: %s", code, doc, left, stderr)
	}
	for says, args := range map[string][]string{
		"--minsn NaN":                    {at("coadd-demo.fits"), "--minsn", "NaN"},
		"want b, r and z":                {at("coadd-demo.fits"), "--fitarm", "b,q"},
		"is only for DESI files":         {at("library.csv"), "--fitarm", "b"},
		"leave out":                      {at("coadd-demo.fits"), "--queue_file", queue},
		"cannot be used with DESI files": {at("coadd-demo.fits"), "--arm", "desi_b"},
		"--air cannot be used":           {at("coadd-demo.fits"), "--air"},
		"want ccf or":                    {at("coadd-demo.fits"), "--param_init", "x"},
		"--npoly 0":                      {at("coadd-demo.fits"), "--npoly", "0"},
		"would be one":                   {at("coadd-demo.fits"), "--output_tab_prefix", "rvmod"},
		"both be written":                {at("coadd-demo.fits"), at("coadd-demo.fits"), "--output_dir", at("new")},
	} {
		if strings.HasSuffix(args[0], ".csv") {
			if err := os.WriteFile(args[0], []byte("wavelength,flux,error\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			code, _, stderr := apptest.Do(t, "fit", "spectra", "--config", at("config.yaml"), args[0], "--fitarm", "b")
			if code != exit.WrongUsage || !strings.Contains(stderr, says) {
				t.Errorf("exit %d: %s: want %q", code, stderr, says)
			}
			continue
		}
		if code, _, stderr := with(args...); code != exit.WrongUsage || !strings.Contains(stderr, says) {
			t.Errorf("%v: exit %d: %s: want %q", args, code, stderr, says)
		}
	}
}

// A file that another process has claimed is waited for. It is fitted here if that process ends without its table.
func TestFitSpectraClaimedElsewhere(t *testing.T) {
	tier.SlowOnly(t)
	dir := starFolder(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	fit := func(meanwhile func()) (int, string, string) {
		if err := os.WriteFile(at("rvtab_coadd-demo.fits.claim"), []byte(`{"pid":1,"host":"another","token":"X"}`), 0o666); err != nil {
			t.Fatal(err)
		}
		var done sync.WaitGroup
		done.Go(func() {
			time.Sleep(300 * time.Millisecond)
			meanwhile()
		})
		defer done.Wait()
		return apptest.Do(t, "fit", "spectra", "--config", at("config.yaml"), at("coadd-demo.fits"), "--no_subdirs", "--output_dir", dir, "--targetid", "39627000000000001", "--json")
	}
	code, out, stderr := fit(func() { os.Remove(at("rvtab_coadd-demo.fits.claim")) })
	var doc spectra.DesiDoc
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != exit.OK || len(doc.Files) != 1 || doc.Files[0].Status != "SUCCESS" || !foreign.Exists(at("rvtab_coadd-demo.fits")) {
		t.Errorf("ended without a table: exit %d, %s: %s", code, out, stderr)
	}
	os.Remove(at("rvtab_coadd-demo.fits"))
	code, out, stderr = fit(func() { os.WriteFile(at("rvtab_coadd-demo.fits"), []byte("from another"), 0o666) })
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != exit.OK || len(doc.Files) != 1 || doc.Files[0].Status != "ELSEWHERE" {
		t.Errorf("done by another: exit %d, %s: %s", code, out, stderr)
	}
	if b, err := os.ReadFile(at("rvtab_coadd-demo.fits")); err != nil || string(b) != "from another" {
		t.Errorf("the table from another process was replaced: %v", err)
	}
	// A table that was made with other settings is not what was asked for.
	if code, _, stderr := apptest.Do(t, "fit", "spectra", "--config", at("config.yaml"), at("coadd-demo.fits"), "--no_subdirs", "--output_dir", at("other"), "--targetid", "39627000000000001", "--npoly", "5"); code != exit.OK {
		t.Fatal(stderr)
	}
	os.Remove(at("rvtab_coadd-demo.fits"))
	code, _, stderr = fit(func() { os.Rename(at("other/rvtab_coadd-demo.fits"), at("rvtab_coadd-demo.fits")) })
	if code != exit.CannotWrite || !strings.Contains(stderr, "was made meanwhile by another process, with another command line (") || strings.Count(stderr, "Error: "+at("rvtab_coadd-demo.fits")) > 1 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// A run in which no fiber could be fitted says so by its exit code, and still writes the table.
func TestNoFiberFitted(t *testing.T) {
	dir := starFolder(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	code, _, stderr := apptest.Do(t, "fit", "spectra", "--config", at("config.yaml"), at("coadd-demo.fits"), "--no_subdirs", "--output_dir", dir, "--targetid", "39627000000000001", "--npoly", "900")
	if code != exit.Data || !strings.Contains(stderr, "none of 1 fiber could be fitted") || !strings.Contains(stderr, "900 functions") || !foreign.Exists(at("rvtab_coadd-demo.fits")) {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// plainStar writes a star of the file of DESI as three CSV tables.
func plainStar(t *testing.T, dir string) (names []string) {
	d, err := survey.OpenDESI(filepath.Join(dir, "coadd-demo.fits"))
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	arms, err := d.Fiber(0, d.Arms, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range arms {
		var b strings.Builder
		b.WriteString("wavelength,flux,error\n")
		for k := range a.Wave {
			fmt.Fprintf(&b, "%.10g,%.8g,%.8g\n", a.Wave[k], a.Flux[k], a.Err[k])
		}
		name := filepath.Join(dir, a.Name+".csv")
		if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	return names
}

// withoutErrors writes a table of a spectrum without its column of errors.
func withoutErrors(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for line := range strings.Lines(string(b)) {
		out.WriteString(line[:strings.LastIndex(line, ",")] + "\n")
	}
	return apptest.Write(t, "bare.csv", out.String())
}

// Single spectra: a star of three of them, its posterior, interrupted and resumed, and its picture.
func TestFitAndSampleSpectra(t *testing.T) {
	tier.SlowOnly(t)
	dir := starFolder(t)
	names := plainStar(t, dir)
	config := []string{"--config", filepath.Join(dir, "config.yaml"), "--arm", "desi_b,desi_r,desi_z", "--quiet"}
	call := func(verb []string, args ...string) (int, string, string) {
		return apptest.Do(t, append(append(append([]string(nil), verb...), config...), args...)...)
	}
	fit := filepath.Join(dir, "fit")
	code, out, stderr := call([]string{"fit", "spectra"}, append(names, "--joint", "--json", "--out", fit)...)
	var doc spectra.SpectraDoc
	if err := json.Unmarshal([]byte(out), &doc); code != exit.OK || err != nil || len(doc.Stars) != 1 || len(doc.Stars[0].Spectra) != 3 || !doc.Stars[0].Converged {
		t.Fatalf("exit %d, %v, %+v: %s", code, err, doc, stderr)
	}
	if !foreign.Exists(filepath.Join(fit, "report.html")) || !foreign.Exists(filepath.Join(fit, "plots", "star1.svg")) {
		t.Error("there is no report")
	}
	star := doc.Stars[0]
	// Alone, each is a star; errors that one lacks are estimated, and ranges are left out.
	bare := withoutErrors(t, names[0])
	code, out, stderr = apptest.Do(t, append([]string{"fit", "spectra", bare, names[1], names[2], "--json", "--mask-range", "5150:5200,5250:5300"}, config[:4]...)...)
	var apart spectra.SpectraDoc
	if err := json.Unmarshal([]byte(out), &apart); err != nil || code != exit.OK || len(apart.Stars) != 3 || !strings.Contains(stderr, "there are no errors: they are estimated") || !strings.Contains(fmt.Sprint(apart.Stars[0].Check.Notes), "errors were estimated") {
		t.Errorf("exit %d, %v: %s%s", code, err, out, stderr)
	} else if alone, joint := apart.Stars[0], star.Spectra[0].Pixels; !(math.Abs(float64(alone.X["vel"]-star.X["vel"])) < 5*float64(alone.SD["vel"])) || !(float64(alone.SD["vel"]) < 6*float64(star.SD["vel"])) || joint-alone.Spectra[0].Pixels < 90 {
		t.Errorf("without errors %+v: with all spectra %+v", alone, star)
	}
	// One that cannot be read does not stop the others, and the table is where --out says.
	bad := apptest.Write(t, "bad.csv", "wavelength,flux\n1,2\n")
	if code, out, stderr := call([]string{"fit", "spectra"}, append(names, "--out", filepath.Join(dir, "no", "stars.csv"))...); code != exit.CannotWrite || out != "" || !strings.Contains(stderr, "there is no folder") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	for _, c := range []struct{ out, table string }{{filepath.Join(dir, "stars.csv"), filepath.Join(dir, "stars.csv")}, {filepath.Join(dir, "stars"), filepath.Join(dir, "stars", "fits.csv")}} {
		code, _, stderr = call([]string{"fit", "spectra"}, names[0], names[1], bad, "--out", c.out)
		b, err := os.ReadFile(c.table)
		if lines := strings.Split(strings.TrimSpace(string(b)), "\n"); code != exit.Data || !strings.Contains(stderr, "1 of 3 files failed, and the others were fitted") || !strings.Contains(stderr, "bad.csv") || err != nil || len(lines) != 3 ||
			!strings.HasPrefix(lines[0], "star,vel (km/s),vel_sd (km/s),vel_bound,vsini (km/s)") {
			t.Errorf("exit %d, %v, table %s: %s", code, err, b, stderr)
		}
		if strings.HasSuffix(c.out, "stars") {
			again := filepath.Join(dir, "again.csv")
			code, _, stderr := apptest.Do(t, "convert", c.out, again)
			if old, err := os.ReadFile(again); code != exit.OK || err != nil || string(old) != string(b) {
				t.Errorf("exit %d, %v: %s%s", code, err, old, stderr)
			}
		}
		// What cannot be read replaces nothing.
		if code, _, stderr := apptest.Do(t, "fit", "spectra", bad, "--config", config[1], "--overwrite", "--out", c.out); code != exit.Data || !foreign.Exists(c.table) {
			t.Errorf("exit %d: %s", code, stderr)
		}
		// What is there is told before anything is fitted.
		if code, out, stderr := call([]string{"fit", "spectra"}, append(names, "--out", c.out)...); code != exit.CannotWrite || out != "" {
			t.Errorf("exit %d: %s%s", code, out, stderr)
		}
	}
	// The posterior agrees with the fit, and goes on with the same draws.
	whole, part := filepath.Join(dir, "whole"), filepath.Join(dir, "part")
	chains := append(names, "--chains", "2", "--warmup", "60", "--draws", "60", "--retries", "0", "--no-report")
	if code, _, stderr := call([]string{"sample", "spectrum"}, append(chains, "--out", whole)...); code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	b, err := os.ReadFile(filepath.Join(whole, "summary.json"))
	var summary spectra.StarPosteriorDoc
	if err == nil {
		err = json.Unmarshal(b, &summary)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"vel", "teff", "logg"} {
		row, sd := summary.Summary[name], float64(star.SD[name])
		if d := math.Abs(float64(row.Mean) - float64(star.X[name])); !(d < sd) || !(float64(row.SD) < 2*sd) {
			t.Errorf("%s: %v +- %v in the posterior, %v +- %v by the fit", name, row.Mean, row.SD, star.X[name], sd)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var o, e strings.Builder
	args := append(append([]string{"sample", "spectrum"}, config...), append(chains, "--out", part)...)
	if code := app.Run(ctx, args, &o, &e); code != exit.Interrupted {
		t.Fatalf("exit %d: %s", code, e.String())
	}
	if foreign.Exists(part) {
		if code, _, stderr := apptest.Do(t, "sample", "spectrum", "--resume", part, "--quiet"); code != exit.OK {
			t.Fatalf("exit %d: %s", code, stderr)
		}
	}
	picture := filepath.Join(dir, "star.svg")
	if code, _, stderr := apptest.Do(t, "plot", "spectrum", whole, picture, "--quiet"); code != exit.OK {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if b, err := os.ReadFile(picture); err != nil || strings.Count(string(b), "models of 120 draws") != 3 {
		t.Errorf("%v: the picture of the posterior lacks a band of models for each spectrum", err)
	}
	for says, args := range map[string][]string{
		"one for all":         {"fit", "spectra", names[0], names[1], names[2], "--arm", "desi_b,desi_r"},
		"has no arm":          {"fit", "spectra", names[0], "--arm", "other"},
		"name=value":          {"fit", "spectra", names[0], "--fixed", "teff"},
		`did you mean "teff"`: {"fit", "spectra", names[0], "--arm", "desi_b", "--fixed", "tef=5000"},
		"--prior teff=gauss: want name=distribution(numbers)": {"fit", "spectra", names[0], "--arm", "desi_b", "--prior", "teff=gauss"},
		"--range":             {"fit", "spectra", names[0], "--arm", "desi_b", "--range", "5:3"},
		"want 10 or more":     {"fit", "spectra", names[0], "--arm", "desi_z"},
		"choose one with":     {"sample", "spectrum", filepath.Join(dir, "coadd-demo.fits")},
		"has no target 7":     {"sample", "spectrum", filepath.Join(dir, "coadd-demo.fits"), "--targetid", "7"},
		"no template library": {"fit", "spectra", names[0], "--config", filepath.Join(t.TempDir(), "none.yaml")},
	} {
		if says != "no template library" {
			args = append(args, "--config", filepath.Join(dir, "config.yaml"))
		} else {
			says = "none.yaml"
		}
		if code, _, stderr := apptest.Do(t, append(args, "--quiet")...); code == exit.OK || code == exit.Bug || !strings.Contains(stderr, says) {
			t.Errorf("%v: exit %d: %s: want %q", args, code, stderr, says)
		}
	}
}

// Exposures with velocities of their own can be fitted with a given velocity, and sampled.
func TestVelocitiesOfExposures(t *testing.T) {
	tier.SlowOnly(t)
	dir := starFolder(t)
	names := plainStar(t, dir)[:2]
	common := append(names, "--config", filepath.Join(dir, "config.yaml"), "--arm", "desi_b,desi_r", "--per-exposure", "--quiet")
	call := func(verb []string, args ...string) (int, string, string) {
		return apptest.Do(t, append(append(verb, common...), args...)...)
	}
	for fixed, velocities := range tier.Of(map[string]int{"vel=-240": 0}, map[string]int{"logg=3": 2, "vel=-240": 0}) {
		code, out, stderr := call([]string{"fit", "spectra"}, "--joint", "--json", "--fixed", fixed)
		var doc spectra.SpectraDoc
		if err := json.Unmarshal([]byte(out), &doc); code != exit.OK || err != nil || len(doc.Stars) != 1 {
			t.Fatalf("%s: exit %d, %v: %s", fixed, code, err, stderr)
		}
		star := doc.Stars[0]
		if len(star.Exposures) != velocities || (star.Velocity == nil) != (velocities == 0) {
			t.Errorf("%s: exposures %v, velocity %v", fixed, star.Exposures, star.Velocity)
		}
		if _, ok := star.X["vel[1]"]; !ok {
			t.Errorf("%s: %v", fixed, star.X)
		}
	}
	out := filepath.Join(dir, "exposures")
	if code, _, stderr := call([]string{"sample", "spectrum"}, "--chains", "1", "--warmup", "30", "--draws", "10", "--retries", "0", "--no-report", "--out", out); code != exit.OK || !foreign.Exists(filepath.Join(out, "summary.json")) {
		t.Errorf("exit %d: %s", code, stderr)
	}
}
