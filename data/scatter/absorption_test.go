// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Tables of one spectrum, of two directions and of several angles are told from each other, and others are refused.
func TestAbsorption(t *testing.T) {
	for text, want := range map[string]string{
		"270 1\n271 2\n":                                     "beta [1 2]",
		"Energy,Beta\n270,1\n271,2\n":                        "beta [1 2]",
		"Energy,BetaPara,BetaPerp\n270,1,3\n271,2,4\n":       "para [1 2] perp [3 4]",
		"# Energy 20 theta_55 90deg\n270 1 3 5\n271 2 4 6\n": "angles [20 55 90] [[1 2] [3 4] [5 6]]",
		"Energy,Beta,20\n270,1,3\n":                          `keep an energy and one spectrum`,
		"Energy,this,that\n270,1,3\n":                        `column 2 is called "this"`,
		"Energy,20\n270,nan\n":                               "two angles or more",
		"Energy,Beta\n270,nan\n":                             "not finite",
	} {
		name := filepath.Join(t.TempDir(), "a.csv")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := OpenAbsorption(name)
		got := fmt.Sprint(err)
		if err == nil {
			switch {
			case a.Angles != nil:
				got = fmt.Sprintf("angles %v %v", a.Angles, a.Spectra)
			case a.Para != nil:
				got = fmt.Sprintf("para %v perp %v", a.Para, a.Perp)
			default:
				got = fmt.Sprintf("beta %v", a.Beta)
			}
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
