// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"path/filepath"
	"strings"

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

// openProblem reads a problem file, or standard input for "-".
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

// withLimit adds the problem-file key that limits evaluations to a piece of advice.
func withLimit(s optim.Status, advice string) string {
	if s == optim.MaxEvaluations {
		advice += " (max_nfev)"
	}
	return advice
}

// withLimitIn does the same for the advice in a verdict.
func withLimitIn(v *check.Verdict, s optim.Status) {
	for i, f := range v.Flags {
		if f.Kind == check.KindUnconverged {
			v.Flags[i].Remedy = withLimit(s, f.Remedy)
		}
	}
}
