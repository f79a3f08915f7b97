// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runs_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/runs"
)

// A run gets a folder of its own with its settings and draws. Open reads them back, as it reads draws that
// other programs wrote.
func Example() {
	dir, err := os.MkdirTemp("", "runs")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	m := infer.NewModel("mean")
	mu := m.Param("mu", dist.Normal(0, 10))
	m.Observe("y", dist.Normal(mu, 0.3), []float64{4.9, 5.1, 5.0})
	post, err := m.Compile()
	if err != nil {
		log.Fatal(err)
	}

	w := &runs.Writer{Command: "my study", Program: "study 1.0"}
	defer w.Release()
	folder, err := w.Create(filepath.Join(dir, "run"), false)
	if err != nil {
		log.Fatal(err)
	}
	cfg := infer.Settings{Chains: 2, Warmup: 300, Draws: 250, Seed: 1}
	if err := folder.Begin(map[string]any{"command": "my study", "seed": cfg.Seed}); err != nil {
		log.Fatal(err)
	}
	fit, err := infer.Sample(context.Background(), post, cfg)
	if err != nil {
		log.Fatal(err)
	}
	if err := folder.SaveDraws(fit, nil); err != nil {
		log.Fatal(err)
	}

	source, err := runs.Open(string(folder))
	if err != nil {
		log.Fatal(err)
	}
	table, err := source.Table()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Names, len(table.X[0]), "chains of", len(table.X[0][0]), "draws")
	fmt.Printf("mean %.1f\n", table.Summary().Row("mu").Mean)
	// Output:
	// [mu] 2 chains of 250 draws
	// mean 5.0
}
