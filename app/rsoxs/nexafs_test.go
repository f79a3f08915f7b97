// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/data/scatter"
)

// Spectra at angles become a table of constants that invert rsoxs reads and that agrees with itself.
func TestReduceNEXAFS(t *testing.T) {
	dir := t.TempDir()
	in, out := filepath.Join(dir, "angles.csv"), filepath.Join(dir, "table.csv")
	text := "Energy,20,55,90\n"
	for e := 260.0; e < 320; e += 0.2 {
		text += fmt.Sprintf("%.1f", e)
		for _, angle := range []float64{20, 55, 90} {
			c := math.Pow(math.Cos(angle*math.Pi/180), 2)
			text += fmt.Sprintf(",%.8g", 1+(0.5+c)*4/(1+math.Pow(e-285, 2)))
		}
		text += "\n"
	}
	if err := os.WriteFile(in, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, "reduce", "nexafs", in, out, "--scale", "1e-3"); code != 0 {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	table, err := scatter.Constants(out)
	if err != nil {
		t.Fatal(err)
	}
	c, err := table.At(285)
	if err != nil {
		t.Fatal(err)
	}
	below, _ := table.At(284)
	above, _ := table.At(286)
	if rise := above.DeltaPara - below.DeltaPara; math.Abs(c.BetaPara-7e-3) > 1e-9 || math.Abs(c.BetaPerp-3e-3) > 1e-9 || math.Abs(rise-6e-3) > 4e-4 {
		t.Errorf("constants at 285 eV: %+v, and delta rises by %g, want beta 0.007 and 0.003, and 0.006", c, rise)
	}
	if code, _, stderr := apptest.Do(t, "reduce", "nexafs", out); code != 0 || !strings.Contains(stderr, "delta along the director differs from that of beta by") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}
