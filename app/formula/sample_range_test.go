// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula_test

import (
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
)

// A frequency whose aliases fit as well starts within its prior.
func TestStartsStayWithinPriors(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,y,sigma\n")
	for x := range 12 {
		fmt.Fprintf(&b, "%d,%.4f,0.3\n", x, math.Sin(2*math.Pi*0.23*float64(x)+0.4))
	}
	data := apptest.Write(t, "f.csv", b.String())
	code, out, stderr := apptest.Do(t, "sample", "curve", data, "sin(2*pi*f*x + p)", "--prior", "f=uniform(0, 0.5)", "--prior", "p=normal(0, 1)",
		"--out", filepath.Join(t.TempDir(), "r"), "--warmup", "200", "--draws", "200", "--no-report", "--json")
	var doc struct {
		Summary map[string]struct{ Mean float64 }
	}
	if err := json.Unmarshal([]byte(out), &doc); code != 0 || err != nil || math.Abs(doc.Summary["f"].Mean-0.23) > 0.02 {
		t.Errorf("exit code %d, %v: %s: %s", code, err, out, stderr)
	}
}
