// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ballistic

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The command fits and samples with the model, prints its summary and JSON, and draws its posterior.
func TestCommand(t *testing.T) {
	dir := t.TempDir()
	bin := filepath.Join(dir, "ballistic")
	if out, err := exec.Command("go", "build", "-o", bin, "./cmd/ballistic").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var csv strings.Builder
	csv.WriteString("tau,g2,g2_err\n")
	for i := range 40 {
		x := 1e-4 * math.Pow(1e4, float64(i)/39)
		noise := 0.002 * math.Sin(float64(37*i*i)) * math.Sqrt2
		fmt.Fprintf(&csv, "%g,%g,0.002\n", x, 1.01+0.25*math.Exp(-2*math.Pow(x/0.02, 2))+noise)
	}
	file := filepath.Join(dir, "decay.csv")
	if err := os.WriteFile(file, []byte(csv.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		cmd := exec.Command(bin, args...)
		cmd.Dir = dir
		var errs strings.Builder
		cmd.Stderr = &errs
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v: %s", args, err, errs.String())
		}
		return string(out)
	}
	var fit struct {
		Model string
		Bins  []struct{ X map[string]float64 }
	}
	if err := json.Unmarshal([]byte(run("fit", "g2", file, "--model", "ballistic", "--json")), &fit); err != nil {
		t.Fatal(err)
	}
	if fit.Model != "ballistic" || len(fit.Bins) != 1 || math.Abs(fit.Bins[0].X["tau"]/0.02-1) > 0.03 {
		t.Errorf("%+v", fit)
	}
	run("sample", "g2", file, "--bin", "1", "--model", "ballistic", "--out", "run", "--quiet")
	if s := run("summary", "run"); !strings.Contains(s, "tau") || !strings.Contains(s, "contrast") {
		t.Error(s)
	}
	run("plot", "pair", "run", "pair.svg")
	if _, err := os.Stat(filepath.Join(dir, "pair.svg")); err != nil {
		t.Error(err)
	}
}
