// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/scatter"
)

// Columns of q and I that are swapped, and decimal commas, are told with numbers; q in falling order and intensities in even steps are not.
func TestMistakesInTables(t *testing.T) {
	var right, swapped, falling, commas strings.Builder
	for k := range 12 {
		q := 0.1 + 0.05*float64(k)
		i := 3 / (q * q)
		fmt.Fprintf(&right, "%g %g\n", q, i)
		fmt.Fprintf(&swapped, "%g %g\n", i, q)
		fmt.Fprintf(&falling, "%g %g\n", 0.1+0.05*float64(12-k), 3+float64(k))
		fmt.Fprintf(&commas, "%s\n", strings.ReplaceAll(fmt.Sprintf("%.3f;%.3f", q, i), ".", ","))
	}
	for text, want := range map[string]string{
		right.String():   "",
		falling.String(): "", // q goes down in even steps
		swapped.String(): "q goes from 300 over 133.333 to 7.10059 without even steps, and I in even ones from 0.1 over 0.15 to 0.65: are the columns of q and I swapped?",
		commas.String():  "write points as decimal signs",
		",RSoXS Shutter Opening Time (ms),en_energy_setpoint\n0,250,283.6\n1,15000,283.6\n": "this is the table of an SST-1 scan, which lists its images and has no intensities: name the folder beside it",
	} {
		name := save(t, "iq_285.0eV.dat", func(f *os.File) error { _, err := f.WriteString(text); return err })
		_, err := scatter.Open(name, scatter.Settings{})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
	}
}
