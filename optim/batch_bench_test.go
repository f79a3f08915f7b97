package optim_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/optim"
)

// One hundred thousand fits of 32 points and 3 parameters on one core, and how
// many times longer SciPy's curve_fit takes for one of them on this machine.
func BenchmarkBatch(b *testing.B) {
	x := logspace(-3, 1, 32)
	const n = 100_000
	batch, rows := decays(b, x), decayRows(x, n, 2e-3)
	for _, c := range []struct {
		name string
		s    optim.BatchSettings
	}{{"plain", optim.BatchSettings{}}, {"covariance", optim.BatchSettings{Covariance: true, RelativeSigma: true}}, {"soft_l1", optim.BatchSettings{Loss: optim.SoftL1, LossScale: 2e-3}}, {"bounds", optim.BatchSettings{}}} {
		b.Run(c.name, func(b *testing.B) {
			c.s.Threads = 1
			r := rows
			if c.name == "bounds" {
				r.Lower, r.Upper = []float64{0, 0, 1e-6}, []float64{2, 1, 1e6}
			}
			var res *optim.BatchResult
			for b.Loop() {
				var err error
				if res, err = batch.Fit(context.Background(), r, c.s); err != nil || res.Converged() < n {
					b.Fatal(err, res)
				}
			}
			us := b.Elapsed().Seconds() / float64(b.N) / n * 1e6
			b.ReportMetric(us, "us/fit")
			evaluations := 0
			for _, k := range res.NFev {
				evaluations += k
			}
			b.ReportMetric(float64(evaluations)/n, "evaluations/fit")
			if c.name == "plain" {
				if peer := curveFit(b, x, rows, 300); peer > 0 {
					b.ReportMetric(peer/us, "x-scipy")
				}
			}
		})
	}
}

const curveFitScript = `
import json, sys, time, numpy as np
from scipy.optimize import curve_fit
d = json.load(sys.stdin)
x, y = np.array(d["x"]), np.array(d["y"])
f = lambda x, b, c, t: b + c*np.exp(-2*x/t)
def j(x, b, c, t):
    e = np.exp(-2*x/t)
    return np.stack([np.ones_like(x), e, c*e*2*x/t**2], 1)
def run():
    t = time.perf_counter()
    for row in y:
        curve_fit(f, x, row, d["p0"], jac=j)
    return (time.perf_counter() - t)/len(y)*1e6
run()
print(min(run() for _ in range(3)))
`

// curveFit returns microseconds that SciPy needs for a row; 0, said aloud, where
// there is no Python with SciPy.
func curveFit(b *testing.B, x []float64, rows optim.Rows, n int) float64 {
	python := "python3"
	if _, err := os.Stat("../.peers/bin/python"); err == nil {
		python = "../.peers/bin/python"
	}
	y := make([][]float64, n)
	for i := range y {
		y[i] = rows.Columns[0][i*len(x) : (i+1)*len(x)]
	}
	in, err := json.Marshal(map[string]any{"x": x, "y": y, "p0": rows.Start})
	if err != nil {
		b.Fatal(err)
	}
	c := exec.Command(python, "-c", curveFitScript)
	c.Stdin = bytes.NewReader(in)
	var complaint bytes.Buffer
	c.Stderr = &complaint
	out, err := c.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(complaint.String()), "\n")
		b.Logf("no comparison: %s with SciPy: %v: %s (make peers installs it)", python, err, lines[len(lines)-1])
		return 0
	}
	us, err := strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
	if err != nil {
		b.Fatal(err)
	}
	b.Logf("scipy.optimize.curve_fit with an exact Jacobian: %.0f us a fit", us)
	return us
}
