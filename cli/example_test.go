// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/cli"
	"github.com/euryale-dev/euryale/viz"
)

// A program runs a command on its own data and reads the document that the command writes with --json.
// What goes wrong is written to standard error, and the exit code says of what kind it is.
func Example() {
	dir, err := os.MkdirTemp("", "cli")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	problem := filepath.Join(dir, "line.json")
	text := `{"expr": "a + b*x", "data": {"x": [0, 1, 2, 3], "y": [1.1, 2.9, 5.1, 6.9]}, "start": {"a": 0, "b": 1}}`
	if err := os.WriteFile(problem, []byte(text), 0o644); err != nil {
		log.Fatal(err)
	}

	var stdout, stderr bytes.Buffer
	if code := cli.Run(context.Background(), []string{"fit", "nlsq", "--problem", problem, "--json"}, &stdout, &stderr); code != 0 {
		log.Fatalf("exit code %d: %s", code, &stderr)
	}
	var fit struct {
		X      map[string]float64 `json:"x"`
		Status string             `json:"status"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &fit); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s: a = %.2f, b = %.2f\n", fit.Status, fit.X["a"], fit.X["b"])
	// Output:
	// converged: a = 1.06, b = 1.96
}

// A command of one's own has all commands of Euryale and what is registered before Main: here a kind of
// plot, which draws the first chain of a run.
func ExampleMain() {
	viz.Register(viz.Kind{Name: "first", About: "the first chain", Draw: func(d viz.Draws, names ...string) (*viz.Figure, error) {
		lines := viz.Lines{XLabel: "draw", YLabel: d.Names[0]}
		curve := viz.Line{Y: d.X[0][0]}
		for i := range curve.Y {
			curve.X = append(curve.X, float64(i+1))
		}
		lines.Curves = []viz.Line{curve}
		return viz.Plots("First chain", lines)
	}})
	os.Exit(cli.Main())
}
