package main

import (
	"fmt"
	"io"
	"os"

	"github.com/euryale-dev/euryale/models/expr"
)

// openProblem reads a problem file, "-" for standard input.
func openProblem(path string) (*expr.Problem, error) {
	var b []byte
	var err error
	if path == "-" {
		b, err = io.ReadAll(os.Stdin)
	} else {
		b, err = os.ReadFile(path)
	}
	if err != nil {
		return nil, input(err)
	}
	p, err := expr.Parse(b)
	if err != nil {
		return nil, as(exitData, fmt.Errorf("%s: %w", path, err))
	}
	return p, nil
}
