// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/rsoxs"
	"github.com/euryale-dev/euryale/models/morph"
)

// graftedParticles is the problem of the example.
const graftedParticles = "../../examples/grafted-particles/problem.json"

// The problem of the example is one that can be read.
func TestGraftedParticlesProblem(t *testing.T) {
	b, err := os.ReadFile(graftedParticles)
	if err != nil {
		t.Fatal(err)
	}
	p, err := morph.ParseProblem(b)
	if err != nil || !p.Measured() || !p.IsClosed() {
		t.Errorf("%+v: %v", p, err)
	}
}

// The public measurement that scripts/grafted-particles.sh fetches has cores of the radius that is counted in micrographs.
func TestGraftedParticles(t *testing.T) {
	dir := os.Getenv("EURYALE_GRAFTED_PARTICLES")
	if _, err := os.Stat(filepath.Join(dir, "CS_reference.nc")); dir == "" || err != nil {
		t.Skip("the measurement is not here: fetch it with scripts/grafted-particles.sh DIR, and set EURYALE_GRAFTED_PARTICLES=DIR")
	}
	b, err := os.ReadFile(graftedParticles)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "problem.json"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := apptest.Do(t, "invert", "rsoxs", filepath.Join(dir, "problem.json"), "--out", filepath.Join(t.TempDir(), "out"), "--json", "--quiet", "--no-report")
	if code != 0 {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var doc rsoxs.MeasuredDoc
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatal(err)
	}
	const counted = 10.74 // nm, the mean of 864 cores
	if x, sd := float64(doc.X["radius"]), float64(doc.SD["radius"]); math.Abs(x-counted) > 0.1 || !(sd > 0.02 && sd < 0.1) {
		t.Errorf("the radius is %g +- %g nm, want %g", x, sd, counted)
	}
	if noise := float64(doc.X["noise"]); !(noise < 0.04) || doc.Check.OK {
		t.Errorf("A is off by %g, and the verdict is %v", noise, doc.Check)
	}
}
