// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command bench is euryale bench gpu alone, as a small program for machines without Go: it prints the
// table and writes it as JSON to the file that is its argument.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"

	"github.com/euryale-dev/euryale/internal/gpubench"
)

func main() {
	log.SetFlags(0)
	r, err := gpubench.Run(context.Background(), gpubench.Settings{Told: func(name string) { log.Print(name) }})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(r)
	if len(os.Args) > 1 {
		b, err := json.MarshalIndent(r, "", "  ")
		if err == nil {
			err = os.WriteFile(os.Args[1], b, 0o644)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
}
