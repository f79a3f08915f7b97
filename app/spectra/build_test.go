// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/spectra"
	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// modelGrid writes the spectra of a small model grid as PHOENIX has them: fluxes, and wavelengths in a file of
// their own.
func modelGrid(t *testing.T, dir string) {
	t.Helper()
	var lam []float64
	for x := 5050.0; x < 5330; x += 0.2 {
		lam = append(lam, x)
	}
	save := func(name string, h *fits.Header, v []float64) {
		w, err := fits.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer w.Discard()
		if err := errors.Join(w.Primary(h), w.Image("DATA", nil, []int{len(v)}, v), w.Close()); err != nil {
			t.Fatal(err)
		}
	}
	save("WAVE.fits", nil, lam)
	lines := demo.StarLines()
	for _, teff := range []float64{5000, 5500, 6000} {
		for _, logg := range []float64{2, 3, 4} {
			for _, feh := range []float64{-1, -0.5, 0} {
				flux, err := lines.Flux([]float64{teff, logg, feh, 0}, lam)
				if err != nil {
					t.Fatal(err)
				}
				h := &fits.Header{}
				h.Set("PHXTEFF", teff, "")
				h.Set("PHXLOGG", logg, "")
				h.Set("PHXM_H", feh, "")
				h.Set("PHXALPHA", 0.0, "")
				save(fmt.Sprintf("lte%g-%g%+g.fits", teff, logg, feh), h, flux)
			}
		}
	}
}

// From a folder of spectra to a fit: catalogue, library, network.
func TestFromModelGridToFit(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	modelGrid(t, dir)
	code, out, stderr := apptest.Do(t, "build", "catalogue", dir, at("files.csv"), "--pattern", "lte*.fits", "--param", "teff:PHXTEFF", "--param", "logg:PHXLOGG", "--param", "feh:PHXM_H", "--json")
	var c spectra.CatalogueDoc
	if err := json.Unmarshal([]byte(out), &c); code != exit.OK || err != nil || c.Spectra != 27 || len(c.Params) != 3 || c.Params[0].Values != 3 {
		t.Fatalf("exit %d, %v, %+v: %s", code, err, c, stderr)
	}
	if code, _, stderr := apptest.Do(t, "build", "catalogue", at("files.csv"), dir); code != exit.WrongUsage || !strings.Contains(stderr, "the folder comes first") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, "build", "catalogue", dir, at("files.csv"), "--pattern", "lte*.fits"); code != exit.CannotWrite || !strings.Contains(stderr, "--update") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	library := []string{"build", "library", at("files.csv"), at("lib"), "--dir", dir, "--wave-file", "WAVE.fits", "--setup", "green", "--lambda0", "5100", "--lambda1", "5280", "--step", "0.4", "--resolution", "x/1.55", "--ccf_every", "2", "--ccf_vsinis", "0,50", "--quiet"}
	if code, _, stderr := apptest.Do(t, library...); code != exit.OK || !foreign.Exists(at("lib/interp_green.h5")) || !foreign.Exists(at("lib/ccf_green.h5")) {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, library...); code != exit.CannotWrite || !strings.Contains(stderr, "--skipexisting") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, out, stderr := apptest.Do(t, append(library, "--skipexisting", "--json")...); code != exit.OK || !strings.Contains(out, `"existing"`) {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	// The file of wavelengths may also be named from the working directory.
	t.Run("named from here", func(t *testing.T) {
		t.Chdir(filepath.Dir(dir))
		from := slices.Clone(library)
		from[3], from[7] = at("here"), filepath.Join(filepath.Base(dir), "WAVE.fits")
		if code, _, stderr := apptest.Do(t, from...); code != exit.OK || !foreign.Exists(at("here/interp_green.h5")) {
			t.Errorf("exit %d: %s", code, stderr)
		}
	})
	// As one file, and as a folder again.
	for _, step := range [][]string{{at("lib"), at("open.h5")}, {at("open.h5"), at("back")}} {
		if code, _, stderr := apptest.Do(t, "build", "convert", step[0], step[1], "--quiet"); code != exit.OK {
			t.Fatalf("exit %d: %s", code, stderr)
		}
	}
	for _, name := range []string{"interpdat_green.npy", "ccfmod_green.npy"} {
		x, err1 := os.ReadFile(filepath.Join(at("lib"), name))
		y, err2 := os.ReadFile(filepath.Join(at("back"), name))
		if err := errors.Join(err1, err2); err != nil || !bytes.Equal(x, y) {
			t.Errorf("%s has changed: %v", name, err)
		}
	}

	// A star of the model.
	var b strings.Builder
	b.WriteString("wavelength,flux,error\n")
	lam := []float64{}
	for x := 5120.0; x < 5260; x += 0.5 {
		lam = append(lam, x)
	}
	flux, err := demo.StarLines().Flux([]float64{5500, 3, -0.5, 0}, lam)
	if err != nil {
		t.Fatal(err)
	}
	for k, x := range lam {
		fmt.Fprintf(&b, "%g,%g,%g\n", x, flux[k], 0.01)
	}
	star := apptest.Write(t, "star.csv", b.String())
	for _, lib := range []string{at("lib"), at("nn.h5")} {
		if strings.HasSuffix(lib, ".h5") {
			train := []string{"train", "spectrum", at("lib"), lib, "--width", "12", "--npc", "10", "--num-epochs", "250", "--batch", "27", "--json", "--quiet"}
			state := filepath.Join(dir, "nn.training", "green")
			// It is interrupted, and goes on.
			ctx, cancel := context.WithCancel(context.Background())
			restore := atomicfile.Inject(func(op, name string) error {
				if filepath.Dir(name) == filepath.Dir(state) {
					cancel()
				}
				return nil
			})
			var o, e strings.Builder
			code := app.Run(ctx, train, &o, &e)
			restore()
			cancel()
			if code != exit.Interrupted || !foreign.Exists(state) {
				t.Fatalf("exit %d: %s", code, e.String())
			}
			code, out, stderr := apptest.Do(t, train...)
			var doc struct {
				Networks []spectra.NetworkDoc `json:"networks"`
			}
			if err := json.Unmarshal([]byte(out), &doc); code != exit.OK || err != nil || len(doc.Networks) != 1 || doc.Networks[0].Epochs != 250 || !(float64(doc.Networks[0].Most) < 20) || foreign.Exists(filepath.Dir(state)) {
				t.Fatalf("exit %d, %v, %+v: %s", code, err, doc, stderr)
			}
			// It fails, or is killed, while it writes its results, and goes on.
			folder := at("networks")
			train[3] = folder
			restore = atomicfile.Inject(func(op, name string) error {
				if filepath.Base(name) == "interp_green.h5" {
					return errors.New("no room")
				}
				return nil
			})
			code, _, stderr = apptest.Do(t, train...)
			restore()
			if code != exit.CannotWrite || foreign.Exists(filepath.Join(folder, "interp_green.h5")) {
				t.Errorf("exit %d: %s", code, stderr)
			}
			if err := os.CopyFS(at("kept"), os.DirFS(folder+".training")); err != nil {
				t.Fatal(err)
			}
			for _, when := range []string{"before", "after"} {
				if code, _, stderr := apptest.Do(t, train...); code != exit.OK || !foreign.Exists(filepath.Join(folder, "interp_green.h5")) || foreign.Exists(folder+".training") {
					t.Errorf("killed %s its results were there: exit %d: %s", when, code, stderr)
				}
				if err := os.CopyFS(folder+".training", os.DirFS(at("kept"))); err != nil {
					t.Fatal(err)
				}
			}
			other := append(slices.Clone(train), "--seed", "9") // other work, whose results these are not
			if code, _, stderr := apptest.Do(t, other...); code != exit.CannotWrite || !strings.Contains(stderr, "exists") {
				t.Errorf("exit %d: %s", code, stderr)
			}
			again := at("again.h5")
			train[3] = again
			if code, _, stderr := apptest.Do(t, train...); code != exit.OK {
				t.Fatal(stderr)
			}
			x, err1 := os.ReadFile(lib)
			y, err2 := os.ReadFile(again)
			if err := errors.Join(err1, err2); err != nil || len(x) != len(y) {
				t.Errorf("%v: %d and %d bytes", err, len(x), len(y))
			}
		}
		code, out, stderr := apptest.Do(t, "fit", "spectra", star, "--library", lib, "--npoly", "4", "--json", "--quiet")
		var doc spectra.SpectraDoc
		if err := json.Unmarshal([]byte(out), &doc); code != exit.OK || err != nil || len(doc.Stars) != 1 {
			t.Fatalf("%s: exit %d, %v: %s", lib, code, err, stderr)
		}
		if x := doc.Stars[0].X; x["teff"] < 4900 || x["teff"] > 6100 || x["vel"] < -30 || x["vel"] > 30 {
			t.Errorf("%s: %v", lib, x)
		}
	}
	for says, args := range map[string][]string{
		"the known arms are":  {"build", "library", at("files.csv"), at("x"), "--setup", "blue"},
		"give all of":         {"build", "library", at("files.csv"), at("x"), "--setup", "blue", "--step", "1"},
		"grid, triangulation": {"build", "library", at("files.csv"), at("x"), "--interpolation", "cubic"},
		"name:KEY":            {"build", "catalogue", dir, at("y.csv"), "--param", "teff"},
		"no interp_SETUP.h5":  {"train", "spectrum", t.TempDir(), at("x.h5")},
		"has no templates":    {"train", "spectrum", at("nn.h5"), at("x.h5")},
		"no file or folder":   {"build", "library", at("none.csv"), at("x")},
	} {
		if code, _, stderr := apptest.Do(t, args...); code == exit.OK || code == exit.Bug || !strings.Contains(stderr, says) {
			t.Errorf("%v: exit %d: %s: want %q", args, code, stderr, says)
		}
	}
}
