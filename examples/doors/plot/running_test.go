// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package running

import (
	"bytes"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/cli/clitest"
	"github.com/euryale-dev/euryale/viz"
)

func TestRunning(t *testing.T) {
	d := viz.Draws{Names: []string{"a", "b"}, X: [][][]float64{{{1, 2, 3}, {2, 2, 2}}, {{0, 1, 0}, {1, 0, 1}}}}
	f, err := Draw(d, "a")
	if err != nil {
		t.Fatal(err)
	}
	if svg := string(f.SVG()); !strings.Contains(svg, "Running means") || !strings.Contains(svg, "path") {
		t.Error(svg)
	}
	if !bytes.HasPrefix(f.PNG(), []byte("\x89PNG")) {
		t.Error("no PNG")
	}
	if _, err := Draw(d, "c"); err == nil {
		t.Error("a quantity that is not there is drawn")
	}
}

// The command line lists the picture and draws it from a run.
func TestCommand(t *testing.T) {
	s := clitest.New(t)
	s.Write("line.json", `{"expr": "a*x", "data": {"x": [1, 2, 3], "y": [2.1, 3.9, 6.0]}, "sigma": "0.1", "priors": {"a": "normal(0, 10)"}}`)
	var run struct{ Summary map[string]any }
	s.JSON(&run, "sample", "expr", "--problem", "line.json", "--out", "run", "--quiet")
	if run.Summary["a"] == nil {
		t.Errorf("%+v", run)
	}
	if table := s.Run("summary", "run"); !strings.Contains(table, "a ") {
		t.Error(table)
	}
	for _, name := range []string{"running.svg", "running.png"} {
		s.Run("plot", "running", "run", name)
		s.Picture(name)
	}
	if help := s.Run("plot", "--help"); !strings.Contains(help, "running") {
		t.Error("the help does not list the picture")
	}
	if code, _, errs := s.Exit("plot", "running", "run", "x.svg", "--var", "b"); code == 0 || !strings.Contains(errs, "b") {
		t.Errorf("a quantity that is not there: exit code %d, %s", code, errs)
	}
}
