// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A spectrum is the same whatever separates the columns of its table, and wherever their names are; the notes say how it was read.
func TestTablesAsText(t *testing.T) {
	read := func(text string) (*Raw, error) {
		file := filepath.Join(t.TempDir(), "s.txt")
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return ReadSpectrum(file, Units{})
	}
	want, err := read("wave,flux,err\n5000,1,0.5\n5001,2,0.5\n5002,3,nan\n")
	if err != nil {
		t.Fatal(err)
	}
	for text, note := range map[string]string{
		"wave flux err\n5000 1 0.5\n5001  2 0.5\n5002 3 NaN\n":                       "separated by blanks",
		"waveobs\tflux\terr\n5000\t1\t0.5\n5001\t2\t0.5\n5002\t3\t\n":                "separated by tabs",
		"wave (Angstrom);flux;err\n5000;1;0.5\n5001;2;0.5\n5002;3;na\n":              "separated by semicolons",
		"# a star\n# wave flux err\n5000.0 1 5e-1\n5001 2 0.5\n5002 3 nan\n":         "separated by blanks, with the names in a comment",
		"\ufeff#wave, flux, err\r\n5000, 1, 0.5\r\n5001, 2, 0.5\r\n5002, 3, nan\r\n": "separated by commas, with the names in a comment",
		"wave flux err\r5000 1 0.5\r5001 2 0.5\r5002 3 nan\r":                        "separated by blanks",
	} {
		r, err := read(text)
		if err != nil || !slices.Equal(r.Wave, want.Wave) || !slices.Equal(r.Flux, want.Flux) || !slices.Equal(r.IVar, want.IVar) || !strings.Contains(r.Told(), note) {
			t.Errorf("%q: %+v, %v", text, r, err)
		}
	}
	for text, says := range map[string]string{
		"5000 1 0.5\n5001 2 0.5\n":              "there is no header before these numbers",
		"wave flux err\n5000 1\n":               "2: the line has 2 fields",
		"\x89HDF\r\n\x1a\n":                     "if this is a library of templates",
		"\xff\xfew\x00a\x00v\x00e\x00\n\x00":    "columns are missing",
		"wave,flux,err\n5000,1,0.5\n5001,2,x\n": "\"x\" is not a number",
	} {
		if _, err := read(text); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v, want %s", text, err, says)
		}
	}
}
