// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"os"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
)

// Where a command wants a file and gets a folder, it names the files in the folder that would do, three of them and how many more there are.
func TestFoldersInPlaceOfFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll("d/sub.h5", 0o777); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.h5", "b.hdf", "c.csv", "e.json", "f.yaml", "h.npz", "k.h5", "l.h5", "n.md", ".h.h5"} {
		if err := os.WriteFile("d/"+name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir("none", 0o777); err != nil {
		t.Fatal(err)
	}
	const results = "d is a folder: name a file in it, such as d/a.h5, d/b.hdf, d/k.h5 (and 1 more)"
	const problems = "d is a folder: name a file in it, such as d/e.json, d/f.yaml"
	const formulas = "d is a folder: name a file in it, such as d/e.json\n"
	for line, want := range map[string]string{
		"fit g2 d": "such as d/a.h5, d/b.hdf, d/c.csv (and 2 more)", "sample g2 d": "such as d/a.h5, d/b.hdf, d/c.csv (and 2 more)",
		"fit twotime d": "such as d/a.h5, d/b.hdf, d/h.npz (and 2 more)", "sample twotime d": "such as d/a.h5, d/b.hdf, d/h.npz (and 2 more)",
		"fit twotime --config d": problems, "fit nlsq --problem d": formulas, "sample expr --problem d": formulas, "sample assembly --problem d": formulas,
		"sbc --problem d": formulas, "sim assembly d": problems, "invert rsoxs d": problems, "train connectome d": problems,
		"correlate a.h5 --qmap d": results, "correlate a.h5 --qmap none": "none is a folder without any file that ends in .h5",
		"correlate none --qmap d/a.h5": "", "qmap o.hdf --from d": results, "reduce ages d": results, "reduce intensity d": results, "reduce saxs d": results,
		"plot g2 d": results, "plot image d": results, "plot morphology d": results, "mask o.h5 --image d": "d is a folder", "plot mask d": "d is a folder: name a file in it, such as d/a.h5",
	} {
		code, _, stderr := apptest.Do(t, strings.Fields(line)...)
		if code == 0 || !strings.Contains(stderr, want) || strings.Contains(stderr, "open d") || want != "" && code != exit.NoInput {
			t.Errorf("%s: exit %d: %s: want %q", line, code, stderr, want)
		}
	}
}
