// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"os"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
)

// A morphology is drawn as it is seen from any direction, in both of its forms, and people learn which settings cannot be.
func TestPlotVolume(t *testing.T) {
	euler, vector := apptest.VolumeFile(t, apptest.SampleVolume(), cyrsoxs.WriteSettings{}), apptest.VolumeFile(t, apptest.SampleVolume().ToVector(), cyrsoxs.WriteSettings{})
	t.Chdir(t.TempDir())
	for args, says := range map[string]string{
		euler + " a.svg": "directors, seen from azimuth 30° and elevation 25°",
		vector + " b.svg --color tilt --azimuth -90 --elevation 90": "tilt from z (rad)",
		euler + " c.svg --lines 5 --materials 1":                    "material 1",
	} {
		f := strings.Fields(args)
		if code, _, stderr := apptest.Do(t, append([]string{"plot", "volume"}, f...)...); code != 0 {
			t.Errorf("%s: exit %d: %s", args, code, stderr)
			continue
		}
		if b, err := os.ReadFile(f[1]); err != nil || !strings.Contains(string(b), says) {
			t.Errorf("%s: %v: no %q", args, err, says)
		}
	}
	for args, want := range map[string]struct {
		code int
		says string
	}{
		euler + " --lines 0": {64, "--lines 0: want a number from 1 to 20000"}, euler + " --elevation 91": {64, "--elevation 91: want a number from -90 to 90"}, euler + " --azimuth nan": {64, "--azimuth NaN: want a number"}, euler + " --color size": {64, "material, azimuth or tilt"},
		euler + " --materials 9": {64, "counted from 1"}, euler + " --least 1": {65, "lower --least"}, "none.h5": {66, "none.h5"}, euler + " " + vector: {64, "one file is drawn"},
	} {
		if code, _, stderr := apptest.Do(t, append([]string{"plot", "volume"}, strings.Fields(args)...)...); code != want.code || !strings.Contains(stderr, want.says) {
			t.Errorf("%s\nexit %d, want %d: %s", args, code, want.code, stderr)
		}
	}
}
