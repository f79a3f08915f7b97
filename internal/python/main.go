// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command python makes the Python package from the commands of the program.
//
//	go run ./internal/python commands                       # python/euryale/commands.py
//	go run ./internal/python wheels FOLDER [SYSTEM/ARCH...]  # packages that pip installs, with the program in them
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "Error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] == "commands":
		text, err := commands()
		if err != nil {
			return err
		}
		return atomicfile.WriteBytes(filepath.Join("python", "euryale", "commands.py"), []byte(text))
	case len(args) >= 2 && args[0] == "wheels":
		return wheels(args[1], args[2:])
	}
	return fmt.Errorf("usage: go run ./internal/python commands | wheels FOLDER [SYSTEM/ARCH...]")
}
