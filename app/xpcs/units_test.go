// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
)

// A wavelength in nm, where PONI files have m, is told before a q map is made with it.
func TestWavelengthInNanometres(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "nm.poni")
	text := "Detector: Detector\nDetector_config: {\"pixel1\": 7.5e-05, \"pixel2\": 7.5e-05, \"max_shape\": [20, 20]}\nDistance: 4.0\nPoni1: 0.0007\nPoni2: 0.0007\nRot1: 0\nRot2: 0\nRot3: 0\nWavelength: 0.1127\n"
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(dir, "q.hdf")
	code, _, stderr := apptest.Do(t, "qmap", out, "--from", name, "--dynamic", "3")
	if code == 0 || !strings.Contains(stderr, "photon energy") || !strings.Contains(stderr, "is 1.1e-08 keV: want 0.001 to 1000") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, "qmap", out, "--from", name, "--energy", "11keV", "--dynamic", "3"); code != 0 {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// A number without a unit that makes sense in another one is told with that unit.
func TestUnitsThatWereMeant(t *testing.T) {
	out := filepath.Join(t.TempDir(), "q.hdf")
	for flags, want := range map[string]string{
		"--pixel-size 0.075 --distance 5 --energy 8":      "--pixel-size is 0.075 m: want a length such as 75um, from 0.1um to 1cm; if it is in mm, write 0.075mm",
		"--pixel-size 75 --distance 5 --energy 8":         "if it is in um, write 75um",
		"--pixel-size 75um --distance 5000 --energy 8":    "if it is in mm, write 5000mm",
		"--pixel-size 75um --distance 5 --energy 8000":    "--energy is 8000 keV: want a photon energy such as 10keV, from 1eV to 1000keV; if it is in eV, write 8000eV",
		"--pixel-size 75um --distance 5 --energy 8000keV": "from 1eV to 1000keV\n",
	} {
		args := append([]string{"qmap", out, "--shape", "20x20", "--beam-x", "9", "--beam-y", "9"}, strings.Fields(flags)...)
		if code, _, stderr := apptest.Do(t, args...); code != 64 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d: %s", flags, code, stderr)
		}
	}
}
