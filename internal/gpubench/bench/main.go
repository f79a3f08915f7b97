// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command bench is euryale bench gpu, and what scripts/gpu.sh experiment asks of a GPU, as a small program for machines without Go:
//
//	bench FILE.json                     prints the table and writes it
//	bench experiment FILE.json SECONDS  times the values of all choices and writes them, a process for each row
//	bench trial CHOICE ROW VALUE...     is such a process
//	bench gather FOLDER FILE.json       adds what other parts left in a folder, and prints all
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"strconv"

	"github.com/euryale-dev/euryale/internal/gpubench"
)

func main() {
	log.SetFlags(0)
	if err := run(context.Background(), os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	verb := ""
	if len(args) > 1 {
		verb = args[0]
	}
	switch {
	case verb == "trial":
		return gpubench.Child(ctx, os.Stdout, args[1:])
	case verb == "experiment" && len(args) == 3:
		seconds, err := strconv.ParseFloat(args[2], 64)
		if err != nil {
			return fmt.Errorf("the seconds %q are no number: give one", args[2])
		}
		self, err := os.Executable()
		if err != nil {
			return err
		}
		x := gpubench.Experimenter{Command: []string{self, "trial"}, Seconds: seconds, File: args[1], Told: func(row string) { log.Print(row) }}
		_, err = x.Run(ctx)
		return err
	case verb == "gather" && len(args) == 3:
		e, err := gpubench.Gather(args[1], args[2])
		if err == nil {
			fmt.Print(e)
		}
		return err
	}
	r, err := gpubench.Run(ctx, gpubench.Settings{Told: func(name string) { log.Print(name) }})
	if err != nil {
		return err
	}
	fmt.Print(r)
	if len(args) == 0 {
		return nil
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = os.WriteFile(args[0], b, 0o644)
	}
	return err
}
