// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/viz"
)

// A page of one's own has a fact and a figure. Save writes it as report.html, with the figure beside it as
// SVG and PNG.
func Example() {
	dir, err := os.MkdirTemp("", "report")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	decay := viz.Line{Name: "g2 - 1", X: []float64{0, 1, 2, 3}, Y: []float64{0.2, 0.1, 0.05, 0.025}}
	figure, err := viz.Plots("Decay", viz.Lines{Curves: []viz.Line{decay}, XLabel: "delay (s)", YLabel: "g2 - 1"})
	if err != nil {
		log.Fatal(err)
	}
	page := &report.Page{}
	page.Title = "A decay"
	page.Facts = append(page.Facts, viz.Fact{Name: "sample", Value: "silica in water"})
	page.Add("decay", figure, nil)
	if err := page.Save(dir); err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"report.html", "plots/decay.svg", "plots/decay.png"} {
		_, err := os.Stat(filepath.Join(dir, name))
		fmt.Println(name, err == nil)
	}
	// Output:
	// report.html true
	// plots/decay.svg true
	// plots/decay.png true
}
