// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package desi lists the reference's runs of rvspecfit on files of DESI for tests.
package desi

import (
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/templates"
)

const folder = "spectra/desi/"

// Run is one run of the reference: a file, the flags, and the tables that were written.
type Run struct {
	Run     string      // name of the run
	Library string      // interpolator: nn or grid
	Args    []string    // flags of the command line
	Columns [][3]string // name, type and unit of the columns of RVTAB
	NTab    int         // rows of RVTAB

	file   string // base name of the coadd file
	config map[string]any
}

// Runs reads runs.json and finds the file of each run by its table RUN_rvtab_FILE.
func Runs(t testing.TB) []Run {
	t.Helper()
	var all struct {
		Config map[string]any
		Runs   []Run
	}
	golden.JSON(t, &all, folder+"runs.json")
	if len(all.Runs) == 0 {
		t.Fatalf("desi: %sruns.json lists no run", folder)
	}
	for i := range all.Runs {
		r := &all.Runs[i]
		r.config = all.Config
		r.file = golden.Members(t, folder+r.Run+"_rvtab_*")[0]
	}
	return all.Runs
}

// Coadd returns the path of the file that a run was of; the redshift file lies beside it.
func (r *Run) Coadd(t testing.TB) string { return golden.Path(t, folder+r.file) }

// Table returns the path of the table that a run wrote.
func (r *Run) Table(t testing.TB) string { return golden.Path(t, folder+r.Run+"_rvtab_"+r.file) }

// Models returns the path of the models that a run wrote.
func (r *Run) Models(t testing.TB) string { return golden.Path(t, folder+r.Run+"_rvmod_"+r.file) }

// Velocities returns the least and the largest velocity of a run's configuration in km/s.
func (r *Run) Velocities() (lo, hi float64) {
	lo, _ = r.config["min_vel"].(float64)
	hi, _ = r.config["max_vel"].(float64)
	return lo, hi
}

// Config writes the configuration of a run with the reference's library of an interpolator, nn or grid, to a file in a temporary folder.
func (r *Run) Config(t testing.TB, library string) string {
	t.Helper()
	c := map[string]any{"template_lib": templates.Folder(t, library)}
	for key, v := range r.config {
		c[key] = v
	}
	b, err := json.Marshal(c) // JSON is YAML
	name := filepath.Join(t.TempDir(), "config.yaml")
	if err == nil {
		err = os.WriteFile(name, b, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// Copy copies the coadd files and their redshift files into a folder and returns the base names of the coadd files.
func Copy(t testing.TB, to string) (coadds []string) {
	t.Helper()
	for _, kind := range []string{"coadd-", "redrock-"} {
		for _, name := range golden.Glob(t, folder+kind+"*") {
			b, err := os.ReadFile(golden.Path(t, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(to, path.Base(name)), b, 0o666)
			}
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(path.Base(name), "coadd-") {
				coadds = append(coadds, path.Base(name))
			}
		}
	}
	return coadds
}
