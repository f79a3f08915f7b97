package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/expr"
)

// readInput reads a file, "-" for standard input.
func readInput(path string) ([]byte, error) {
	if path == "-" {
		b, err := io.ReadAll(os.Stdin)
		return b, input(err)
	}
	b, err := foreign.ReadFile(path)
	return b, input(err)
}

// problemFolder is the folder of a run of a problem file where none is named.
func problemFolder(file, otherwise string) string {
	if file == "-" {
		return otherwise
	}
	return "run-" + strings.TrimSuffix(filepath.Base(file), ".json")
}

// openProblem reads a problem file, "-" for standard input.
func openProblem(path string) (*expr.Problem, error) {
	b, err := readInput(path)
	if err != nil {
		return nil, err
	}
	p, err := expr.Parse(b)
	if err != nil {
		return nil, as(exitData, fmt.Errorf("%s: %w", path, err))
	}
	return p, nil
}
