// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/models/expr"
)

// fitFlags describe errors of a fit beyond independent ones of y.
type fitFlags struct {
	sigmaX, together   []string
	implicit           bool
	cov                string
	scale, offset, ar1 string
}

const fitFlagsHelp = `--sigma-x gives errors of columns that the formula uses (orthogonal distance
regression); with --implicit the formula is 0 at their true values. --cov reads
the covariance of y, --scale-error and --offset-error are errors that rows
share, such as 2% or "0.1 over run", and --ar1 is the correlation of neighbours.
--correlation-xy x=r says how the errors of x and y of a row go together.
--prior "tau=normal(2, 0.1)" adds what is known of a parameter.
`

func (f *fitFlags) add(flags *pflag.FlagSet) {
	f.addOfX(flags)
	flags.BoolVar(&f.implicit, "implicit", false, "the formula is 0 at the true values of its columns, which have --sigma-x")
	flags.StringVar(&f.cov, "cov", "", "file with the covariance matrix of y: text or NumPy")
	flags.StringVar(&f.scale, "scale-error", "", "standard deviation of a factor that all rows share, such as 2%, or \"2% over run\"")
	flags.StringVar(&f.offset, "offset-error", "", "standard deviation of an offset that all rows share, such as 0.1, or \"0.1 over run\"")
	flags.StringVar(&f.ar1, "ar1", "", "correlation of the errors of neighbouring rows, such as 0.6, auto, or \"0.6 over run\"")
}

// addOfX adds the flags that posteriors take as well.
func (f *fitFlags) addOfX(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.sigmaX, "sigma-x", nil, "errors of a column of the formula, such as t=dt, t=0.1 or t=5%; may be repeated")
	flags.StringArrayVar(&f.together, "correlation-xy", nil, "correlation of the errors of a column of --sigma-x with those of y in the same row: a column or a number, such as x=0.3; may be repeated")
}

// describe puts the errors into a problem.
func (f *fitFlags) describe(p *expr.Problem, parsed *formula.Formula) error {
	for _, text := range f.sigmaX {
		name, value, named := strings.Cut(text, "=")
		if !named {
			var x []string
			for _, n := range parsed.Names() {
				if c, column := p.Data[n]; column && c.Labels == nil {
					x = append(x, n)
				}
			}
			if len(x) != 1 {
				return exit.Usage("--sigma-x %s: the formula uses %s: say of which, as %s=%s", text, strings.Join(x, " and "), x[0], text)
			}
			name, value = x[0], text
		}
		if p.SigmaX == nil {
			p.SigmaX = map[string]string{}
		}
		p.SigmaX[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	for _, text := range f.together {
		name, value, err := assigned("correlation-xy", text)
		if err != nil {
			return err
		}
		if p.CorrelationXY == nil {
			p.CorrelationXY = map[string]string{}
		}
		p.CorrelationXY[name] = value
	}
	p.ScaleError, p.OffsetError, p.AR1 = f.scale, f.offset, f.ar1
	if f.cov == "" {
		return nil
	}
	b, err := frame.ReadInput(f.cov, ".csv", ".txt", ".npy")
	if err != nil {
		return err
	}
	if p.Cov, err = expr.ReadMatrix(b); err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: %w", f.cov, err))
	}
	return nil
}

// takes reports whether a column holds errors of another one, or their correlations.
func (f *fitFlags) takes(name string) bool {
	return slices.ContainsFunc(slices.Concat(f.sigmaX, f.together), func(s string) bool {
		_, value, named := strings.Cut(s, "=")
		return s == name || named && strings.TrimSpace(value) == name
	})
}
