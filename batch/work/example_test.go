// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work_test

import (
	"context"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/batch/work"
)

// A configuration asks for fits of all correlation functions in a folder. Every bin of every file is an
// item, and Merge describes the results of all items together.
func Example() {
	dir, err := os.MkdirTemp("", "work")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			log.Fatal(err)
		}
	}
	write("fits.yaml", "work: fit g2\nfiles: run*.csv\nmodel: single\n")
	for run, tau := range []float64{1, 2, 4} { // relaxation times in s
		var b strings.Builder
		b.WriteString("tau,g2,g2_err\n")
		for k := range 30 {
			t := 0.01 * math.Pow(1.3, float64(k))
			fmt.Fprintf(&b, "%g,%g,0.001\n", t, 1+0.2*math.Exp(-2*t/tau))
		}
		write(fmt.Sprintf("run%d.csv", run), b.String())
	}

	list, err := work.Read(filepath.Join(dir, "fits.yaml"))
	if err != nil {
		log.Fatal(err)
	}
	m, err := list.Create(filepath.Join(dir, "manifest.txt"))
	if err != nil {
		log.Fatal(err)
	}
	task, err := work.Open(m, work.Env{})
	if err != nil {
		log.Fatal(err)
	}
	store := batch.Store(filepath.Join(dir, "results"))
	if _, err := batch.Run(context.Background(), m, task, batch.Settings{Store: store, Shard: batch.Whole}); err != nil {
		log.Fatal(err)
	}
	merged, err := work.Merge(m, store, dir, work.Env{})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range merged.Summaries {
		if s.Column.Name == "tau" {
			fmt.Printf("%d values of tau from %.2f to %.2f %s\n", s.Count, s.Min, s.Max, s.Column.Unit)
		}
	}
	fmt.Println("written:", strings.Join(merged.Files, ", "))
	// Output:
	// 3 values of tau from 1.00 to 4.00 s
	// written: results.csv, results.arrow, results.h5, failures.csv
}
