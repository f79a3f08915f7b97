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
