// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package arrow_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/arrow"
)

// Draws are written as they come, by any goroutine, and the file appears under its name when it is closed.
// Arrow files begin and end with the same six letters.
func Example() {
	dir, err := os.MkdirTemp("", "arrow")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "run.arrow")
	w, err := arrow.Create(name, []arrow.Column{{Name: "lp"}, {Name: "diverging", Type: arrow.Bool}, {Name: "mu"}}, arrow.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	defer w.Discard()
	for draw := range 1000 {
		mu := float64(draw) / 1000
		if err := w.Append(0, draw, []float64{-mu * mu / 2, 0, mu}); err != nil {
			log.Fatal(err)
		}
	}
	_, err = os.Stat(name)
	fmt.Println("complete before Close:", err == nil)
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	b, err := os.ReadFile(name)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s ... %s\n", b[:6], b[len(b)-6:])
	// Output:
	// complete before Close: false
	// ARROW1 ... ARROW1
}
