// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/models/expr"
	"github.com/euryale-dev/euryale/optim"
)

// problemFolder returns the run folder for a problem file if the user names none.
func problemFolder(file, otherwise string) string {
	if file == "-" {
		return otherwise
	}
	return "run-" + strings.TrimSuffix(filepath.Base(file), ".json")
}

// OpenProblem reads a problem file, or standard input for "-".
func OpenProblem(path string) (*expr.Problem, error) {
	b, err := frame.ReadInput(path, ".json")
	if err != nil {
		return nil, err
	}
	p, err := ParseProblem(b, path)
	if err != nil {
		return nil, exit.With(exit.Data, fmt.Errorf("%s: %w", path, err))
	}
	return p, nil
}

// ParseProblem reads the problem of a file, which may name a table beside it.
func ParseProblem(b []byte, path string) (*expr.Problem, error) {
	return expr.ParseIn(b, func(name string) ([]byte, error) {
		if !filepath.IsAbs(name) && path != "-" {
			name = filepath.Join(filepath.Dir(path), name)
		}
		return frame.ReadInput(name)
	})
}

// WithLimit adds the problem-file key that limits evaluations to a piece of advice.
func WithLimit(s optim.Status, advice string) string {
	if s == optim.MaxEvaluations {
		advice += " (max_nfev)"
	}
	return advice
}

// WithLimitIn does the same for the advice in a verdict.
func WithLimitIn(v *check.Verdict, s optim.Status) {
	for i, f := range v.Flags {
		if f.Kind == check.KindUnconverged {
			v.Flags[i].Remedy = WithLimit(s, f.Remedy)
		}
	}
}
