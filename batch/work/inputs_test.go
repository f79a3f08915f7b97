// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/batch"
)

// The files of a library are inputs of a list of spectra, be it a folder or one file: one that was replaced is named.
func TestLibrariesAreInputs(t *testing.T) {
	for name, c := range map[string]struct {
		library string
		files   []string
	}{
		"folder": {"../lib", []string{"../lib/ccf_b.h5", "../lib/interp_b.h5"}},
		"file":   {"../lib/interp_b.h5", []string{"../lib/interp_b.h5"}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			at := func(name string) string { return filepath.Join(root, filepath.FromSlash(name)) }
			then := time.Now().Add(-time.Hour).Truncate(time.Second)
			put := func(name, text string, when time.Time) {
				t.Helper()
				if err := errors.Join(os.MkdirAll(filepath.Dir(at(name)), 0o755), os.WriteFile(at(name), []byte(text), 0o644), os.Chtimes(at(name), when, when)); err != nil {
					t.Fatal(err)
				}
			}
			for _, name := range []string{"lib/ccf_b.h5", "lib/interp_b.h5", "lib/.hidden", "coadd.fits", "list/l.yaml"} {
				put(name, "a", then)
			}
			settings, err := json.Marshal(map[string]string{"library": c.library})
			if err != nil {
				t.Fatal(err)
			}
			m, err := batch.Create(at("list/manifest.txt"), batch.Header{Command: "fit spectra", Settings: settings}, func(add func(string, int64, int64) error) error { return add("../coadd.fits", 0, 2) })
			if err != nil {
				t.Fatal(err)
			}
			if names, err := inputsOf(m, batch.Whole); err != nil || !slices.Equal(names, append([]string{"../coadd.fits"}, c.files...)) {
				t.Fatalf("%q, %v", names, err)
			}
			if err := recordInputs(m); err != nil {
				t.Fatal(err)
			}
			var notes []string
			check := func() string {
				t.Helper()
				notes = nil
				if err := CheckInputs(m, batch.Store(at("list/results")), batch.Whole, func(text string) { notes = append(notes, text) }); err != nil {
					t.Fatal(err) // of a list without results
				}
				return strings.Join(notes, "\n")
			}
			if said := check(); said != "" {
				t.Error(said)
			}
			put("lib/interp_b.h5", "a", then.Add(time.Minute)) // copied back
			if said := check(); said != "" {
				t.Error(said)
			}
			put("lib/interp_b.h5", "b", then.Add(2*time.Minute))
			if said := check(); !strings.HasPrefix(said, "../lib/interp_b.h5 had 1 byte") || len(notes) != 1 {
				t.Error(said)
			}
		})
	}
}

// Settings that a work would not heed are refused when it is planned.
func TestSettingsThatWouldDoNothing(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "p.json"), `{"expr":"a*x","data":{"x":[1,2,3],"y":[1,2,3],"s":[0.1,0.1,0.1]},"sigma":"s","priors":{"a":"normal(0,10)"}}`)
	write(t, filepath.Join(dir, "d.csv"), "bin,tau,g2,g2_err\n1,0.1,1.2,0.01\n1,1,1.1,0.01\n1,10,1.0,0.01\n1,20,1.0,0.01\n1,30,1.0,0.01\n")
	for text, want := range map[string]string{
		"work: chains\nproblem: p.json\nfixed: {a: 1}\n":                   "a problem defines its own start",
		"work: chains\nproblem: p.json\nloss: huber\n":                     "a problem defines its own start",
		"work: chains\nproblem: p.json\nsampler: smc\n":                    "sampler is smc",
		"work: sample g2\nfiles: d.csv\nsampler: smc\nwarmup: 100\n":       "leave out warmup",
		"work: sample g2\nfiles: d.csv\nsampler: smc\nmax_tree_depth: 3\n": "max_tree_depth",
		"work: fit spectra\nfiles: d.csv\nresolving_power: -5\n":           "resolving_power is -5",
		"work: fit spectra\nfiles: d.csv\nmask_bits: -1\n":                 "mask_bits is -1",
	} {
		config := filepath.Join(dir, "c.yaml")
		write(t, config, text)
		if _, err := Read(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v: want %q", text, err, want)
		}
	}
}
