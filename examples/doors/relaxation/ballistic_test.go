// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ballistic

import (
	"fmt"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/cli/clitest"
)

func TestGradient(t *testing.T) {
	tau, baseline, contrast := ad.Input("tau"), ad.Input("baseline"), ad.Input("contrast")
	mean := Model.Mean([]*ad.Node{tau, baseline, contrast}, ad.Const([]float64{0.1, 0.7, 1.3}))
	gradtest.Check(t, "ballistic", ad.Sum(ad.Square(mean)), []*ad.Node{tau, baseline, contrast}, [][]float64{{0.8}, {1.1}, {0.3}}, true)
}

// The command fits and samples with the model, prints its summary and JSON, and draws its posterior.
func TestCommand(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("tau,g2,g2_err\n")
	for i := range 40 {
		x := 1e-4 * math.Pow(1e4, float64(i)/39)
		noise := 0.002 * math.Sin(float64(37*i*i)) * math.Sqrt2
		fmt.Fprintf(&csv, "%g,%g,0.002\n", x, 1.01+0.25*math.Exp(-2*math.Pow(x/0.02, 2))+noise)
	}
	s := clitest.New(t)
	s.Write("decay.csv", csv.String())
	var fit struct {
		Model string
		Bins  []struct{ X map[string]float64 }
	}
	s.JSON(&fit, "fit", "g2", "decay.csv", "--model", "ballistic")
	if fit.Model != "ballistic" || len(fit.Bins) != 1 || math.Abs(fit.Bins[0].X["tau"]/0.02-1) > 0.03 {
		t.Errorf("%+v", fit)
	}
	s.Run("sample", "g2", "decay.csv", "--bin", "1", "--model", "ballistic", "--out", "run", "--quiet")
	if table := s.Run("summary", "run"); !strings.Contains(table, "tau") || !strings.Contains(table, "contrast") {
		t.Error(table)
	}
	s.Run("plot", "pair", "run", "pair.svg")
	s.Picture("pair.svg")
}
