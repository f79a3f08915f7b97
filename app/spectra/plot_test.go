// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/formula"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/app/spectra"
	"github.com/euryale-dev/euryale/internal/tier"
)

var tags = regexp.MustCompile(`<[^>]*>\s*`)

// drawn returns the words in the picture of a command line.
func drawn(t *testing.T, args ...string) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "picture.svg")
	if code, _, stderr := apptest.Do(t, append(args, out, "--quiet")...); code != exit.OK {
		t.Fatalf("%v: exit %d: %s", args, code, stderr)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(html.UnescapeString(tags.ReplaceAllString(string(b), " "))), " ")
}

// has checks that a text has some parts, and lacks those that begin with "no ".
func has(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		without, not := strings.CutPrefix(p, "no ")
		if strings.Contains(text, without) == not {
			t.Errorf("%q: want %q", text, p)
		}
	}
}

// Spectra are drawn as they were measured, with the fit that tables keep, and people learn what they lack.
func TestPlotMeasuredSpectra(t *testing.T) {
	tier.SlowOnly(t)
	dir := starFolder(t)
	t.Chdir(t.TempDir())
	at := func(name string) string { return filepath.Join(dir, name) }
	coadd := at("coadd-demo.fits")
	has(t, drawn(t, "plot", "spectrum", coadd, "--row", "2"), "row 2 of coadd-demo.fits", "masked", " z ", "no residual", "no model")
	for _, to := range []string{dir, at("tables")} {
		if code, _, stderr := apptest.Do(t, "fit", "spectra", coadd, "--config", at("config.yaml"), "--targetid", "39627000000000002", "--output-dir", to, "--no-subdirs", "--quiet"); code != exit.OK {
			t.Fatalf("exit %d: %s", code, stderr)
		}
	}
	for _, extra := range [][]string{nil, {"--fit", at("tables")}, {"--fit", at("tables/rvtab_coadd-demo.fits")}, {"--fit", at("tables/rvmod_coadd-demo.fits")}} {
		has(t, drawn(t, append([]string{"plot", "spectrum", coadd, "--row", "2"}, extra...)...), "residual (sd)", "model", "Fit in rvtab_coadd-demo.fits: velocity -", "The model")
	}
	has(t, drawn(t, "plot", "spectrum", coadd, "--row", "1"), "does not have this target", "no residual")
	// Those of single files.
	names := plainStar(t, dir)
	if code, _, stderr := apptest.Do(t, "fit", "spectra", names[0], "--config", at("config.yaml"), "--arm", "desi_b", "--out", at("fit"), "--quiet"); code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	has(t, drawn(t, "plot", "spectrum", names[0], names[1], "--fit", at("fit"), "--range", "4900:6300", "--mask-range", "5000:5010"), "desi_b.csv + desi_r.csv", "masked", "Fit in fit.json: vel ", "model", "residual (sd)", "no It keeps no model", "5000", "no 4600")
	if err := os.Remove(at("fit/models.npz")); err != nil {
		t.Fatal(err)
	}
	has(t, drawn(t, "plot", "spectrum", names[0], "--fit", at("fit")), "Fit in fit.json: vel ", "It keeps no model", "no residual")
	has(t, drawn(t, "plot", "spectrum", coadd, "--row", "2", "--config", at("config.yaml"), "--correlation"), "velocity (km/s)", "desi_b", "The best template has teff ", "where fits begin")
	for says, args := range map[string][]string{
		"choose one with --targetid":     {coadd},
		"has no row 99":                  {coadd, "--row", "99"},
		"has no row of target":           {coadd, "--row", "1", "--fit", at("tables")},
		"there is no file called rvtab_": {coadd, "--row", "1", "--fit", at("fit")},
		"nowhere":                        {coadd, "--row", "1", "--fit", at("nowhere")},
		"has no fit of":                  {names[1], "--fit", at("fit")},
		"no pixels in --range":           {names[1], "--range", "1:2"},
		"are for files of spectra":       {dir, "--measured"},
		"needs a library":                {coadd, "--row", "2", "--correlation"},
		"what --air would":               {coadd, "--row", "1", "--air"},
		"--targetid is only for":         {names[0], "--targetid", "5"},
	} {
		if code, _, stderr := apptest.Do(t, append([]string{"plot", "spectrum"}, args...)...); code == exit.OK || code == exit.Bug || !strings.Contains(stderr, says) {
			t.Errorf("%v: exit %d: %s: want %q", args, code, stderr, says)
		}
	}
	masked := apptest.Write(t, "masked.csv", "wave,flux,err,bad\n5000,1,1,1\n5001,2,1,1\n5002,3,1,1\n")
	if code, _, stderr := apptest.Do(t, "plot", "spectrum", masked); code != exit.Data || !strings.Contains(stderr, "no pixel") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// What people look at are spectra and tables, each as what it is.
func TestLookAtSpectra(t *testing.T) {
	dir := starFolder(t)
	t.Chdir(dir)
	if err := os.Remove("config.yaml"); err != nil {
		t.Fatal(err)
	}
	plainStar(t, ".")
	for name, text := range map[string]string{"plain.csv": "a,b\n1,2\n", "notes.txt": "my notes on the flux\n", "list.txt": "a b\n1 2\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]string{"coadd-demo.fits": "Spectra", "desi_b.csv": "Spectra", "redrock-demo.fits": "Tables", "library.h5": "Template libraries", "plain.csv": "Tables", "notes.txt": "", "list.txt": ""} {
		l := frame.LookOf([]frame.Field{spectra.Field(), formula.Field()}, name, false)
		switch {
		case l == nil && want == "":
		case l == nil || l.Kind != want:
			t.Errorf("%s: %+v, want %q", name, l, want)
		default:
			for _, p := range l.Pictures {
				if name == "desi_b.csv" && strings.Contains(strings.Join(p.Args, " "), "--library") {
					p.Args = append(p.Args, "--arm=desi_b") // which the page asks for
				}
				drawn(t, p.Args...)
			}
		}
	}
}

// A library shows the spectrum of a star, the parameters of which people choose, and the parameters of its templates.
func TestPlotLibrary(t *testing.T) {
	t.Chdir(starFolder(t))
	has(t, drawn(t, "plot", "library", "library.h5"), "desi_b", "desi_z", "Spectrum at rest of a star with teff 5750 K, logg 3 dex", "no outside")
	has(t, drawn(t, "plot", "library", "library.h5", "--teff", "4600", "--at", "feh=-2", "--arm", "desi_r"), "teff 4600 K", "feh -2 dex", "no desi_b", "no outside")
	has(t, drawn(t, "plot", "library", "library.h5", "--teff", "30000"), "outside the library")
	has(t, drawn(t, "plot", "library", "library.h5", "--coverage"), "Parameters of 350 templates", "teff (K)", "alpha")
	for says, args := range map[string][]string{"want name=value": {"--at", "feh"}, "no parameter": {"--at", "mass=2"}, "want desi_b": {"--arm", "desi_x"}} {
		if code, _, stderr := apptest.Do(t, append([]string{"plot", "library", "library.h5"}, args...)...); code != exit.WrongUsage || !strings.Contains(stderr, says) {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
	}
	for name, want := range map[string]int{"none.h5": exit.NoInput, "coadd-demo.fits": exit.Data, ".": exit.Data} {
		if code, _, stderr := apptest.Do(t, "plot", "library", name); code != want {
			t.Errorf("%s: exit %d: %s", name, code, stderr)
		}
	}
}
