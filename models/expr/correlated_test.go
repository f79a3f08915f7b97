// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/optim"
)

// decayOf fits all parameters of the decay of nine points, with further fields of the document.
func decayOf(t *testing.T, fields string) (*Problem, *optim.Result) {
	t.Helper()
	p, err := Parse(fmt.Appendf(nil, `{"expr": "a*exp(-x/tau) + c", "start": {"a": 5, "tau": 2, "c": 1}, %s
		"data": {"x": [0, 1, 2, 3, 4, 5, 6, 7, 8], "y": [5.93, 4.05, 2.87, 2.09, 1.71, 1.40, 1.26, 1.13, 1.11], "s": [0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05],
		"run": ["A", "B", "A", "B", "A", "B", "A", "B", "A"]}}`, fields))
	if err != nil {
		t.Fatal(err)
	}
	least, s, err := p.LeastSquares()
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := p.Fit(context.Background(), least, s)
	if err != nil {
		t.Fatal(err)
	}
	return p, r
}

// covariance writes a matrix from its elements.
func covariance(of func(i, k int) float64) string {
	var m Matrix
	for i := range 9 {
		m = append(m, nil)
		for k := range 9 {
			m[i] = append(m[i], of(i, k))
		}
	}
	b, _ := json.Marshal(m)
	return string(b)
}

func sigmaOf(i int) float64 { return map[bool]float64{true: 0.1, false: 0.05}[i < 3] }

func alike(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	for i, w := range want {
		if !(math.Abs(got[i]-w) <= tolerance*math.Abs(w)) {
			t.Errorf("%s[%d] is %.10g, want %.10g", what, i, got[i], w)
		}
	}
}

// A fit with a covariance of y is that of SciPy 1.17.1, curve_fit with a matrix as sigma, with its errors under both conventions.
func TestFitWithCovariance(t *testing.T) {
	cov := covariance(func(i, k int) float64 {
		v := 0.03*0.03 + 0.002*math.Exp(-math.Abs(float64(i-k))/2)
		if i == k {
			v += sigmaOf(i) * sigmaOf(i)
		}
		return v
	})
	_, r := decayOf(t, `"cov": `+cov+",")
	alike(t, "x", r.X, []float64{4.9482220066178355, 0.9951047615230629, 2.029582138074245}, 1e-7)
	alike(t, "sd", r.SD(), []float64{0.1128032082635702, 0.07129393698375287, 0.10354478851418758}, 1e-6)
	_, r = decayOf(t, `"absolute_sigma": false, "cov": `+cov+",")
	alike(t, "sd", r.SD(), []float64{0.0489681040955244, 0.030948844286795237, 0.04494900509092418}, 1e-6)
	// From a file, with rows left out.
	dir := t.TempDir()
	text := strings.NewReplacer("[[", "", "]]", "", "],[", "\n").Replace(cov)
	if err := os.WriteFile(dir+"/c.csv", []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := ParseIn([]byte(`{"expr": "a + 0*x", "start": {"a": 1}, "data": {"x": [0, 1, 2, 3, 4, 5, 6, 7, 8], "y": [1, 2, 3, 4, 5, 6, 7, 8, 9]}, "cov": "c.csv"}`), func(name string) ([]byte, error) { return os.ReadFile(dir + "/" + name) })
	if err != nil || len(p.Cov) != 9 {
		t.Fatal(err, p)
	}
	p.Keep(func(i int) bool { return i != 1 })
	if len(p.Cov) != 8 || len(p.Cov[0]) != 8 || math.Abs(p.Cov[0][1]-0.03*0.03-0.002*math.Exp(-1)) > 1e-12 {
		t.Errorf("%v", p.Cov)
	}
}

// Declared structures are the covariances that they stand for: a shared offset adds a constant to that of its rows, and an autoregression is phi^|i-k|.
func TestDeclaredCovariances(t *testing.T) {
	both := func(structure string, of func(i, k int) float64) {
		t.Helper()
		_, r := decayOf(t, structure)
		_, want := decayOf(t, `"cov": `+covariance(of)+",")
		alike(t, structure+" x", r.X[:3], want.X, 1e-6)
		alike(t, structure+" sd", r.SD()[:3], want.SD(), 1e-6)
	}
	diagonal := func(i, k int) float64 {
		if i == k {
			return sigmaOf(i) * sigmaOf(i)
		}
		return 0
	}
	both(`"sigma": "s", "offset_error": "0.07 over run",`, func(i, k int) float64 {
		v := diagonal(i, k)
		if (i-k)%2 == 0 {
			v += 0.07 * 0.07
		}
		return v
	})
	both(`"sigma": "s", "ar1": "0.6",`, func(i, k int) float64 { return sigmaOf(i) * sigmaOf(k) * math.Pow(0.6, math.Abs(float64(i-k))) })
	both(`"sigma": "s", "ar1": "0.6 over run",`, func(i, k int) float64 {
		if (i-k)%2 != 0 {
			return 0
		}
		return sigmaOf(i) * sigmaOf(k) * math.Pow(0.6, math.Abs(float64(i-k))/2)
	})
	// A factor that all share is that of the amplitudes: their relative error is at least its.
	_, r := decayOf(t, `"sigma": "s", "scale_error": "5%", "fixed": {"c": 0},`)
	if sd := r.SD()[0] / r.X[0]; sd < 0.05 || sd > 0.06 || r.Names[3] != "scale_error" || math.Abs(r.SD()[3]-0.05) > 1e-6 {
		t.Errorf("%v", r)
	}
}

// What is known of a parameter is a penalty: that of a normal distribution combines with the data by the inverse squares of the errors.
func TestPriorsOfFits(t *testing.T) {
	_, plain := decayOf(t, `"sigma": "s", "fixed": {"a": 5, "tau": 2},`)
	_, r := decayOf(t, `"sigma": "s", "fixed": {"a": 5, "tau": 2}, "priors": {"c": "normal(1.2, 0.02)"},`)
	w, v := 1/(plain.SD()[1]*plain.SD()[1]), 1/(0.02*0.02)
	alike(t, "c", []float64{r.X[1], r.SD()[1]}, []float64{(w*plain.X[1] + v*1.2) / (w + v), 1 / math.Sqrt(w+v)}, 1e-9)
	for prior, want := range map[string]string{"halfnormal(1)": "sample for others", "normal(0, a)": "with numbers", "normal(0, 0)": "above 0"} {
		p, err := Parse(fmt.Appendf(nil, `{"expr": "a*x", "start": {"a": 1}, "priors": {"a": %q}, "data": {"x": [1, 2], "y": [1, 2]}}`, prior))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.LeastSquares(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", prior, err)
		}
	}
}

// The correlation of neighbouring rows is found from residuals.
func TestEstimateAR1(t *testing.T) {
	var x, y []float64
	e, state := 0.0, uint64(9)
	for i := range 2000 {
		var u float64
		for range 12 { // nearly normal
			state = state*6364136223846793005 + 1442695040888963407
			u += float64(state>>11) / (1 << 53)
		}
		e = 0.7*e + math.Sqrt(1-0.49)*(u-6)
		x, y = append(x, float64(i)), append(y, 3+0.01*float64(i)+e)
	}
	p := &Problem{Expr: "a + b*x", Y: "y", AR1: "auto", Data: map[string]Column{"x": {Values: x}, "y": {Values: y}}, Start: map[string]Values{"a": {1}, "b": {0}}}
	phi, err := p.EstimateAR1(context.Background())
	if err != nil || math.Abs(phi-0.7) > 0.05 || !strings.HasPrefix(p.AR1, "0.") {
		t.Errorf("%g %s %v", phi, p.AR1, err)
	}
}

// Errors of a column move the fit to the line of York (1969), and an implicit formula to the same.
func TestErrorsInColumns(t *testing.T) {
	data := `"data": {"x": [0, 0.9, 1.8, 2.6, 3.3, 4.4, 5.2, 6.1, 6.5, 7.4], "y": [5.9, 5.4, 4.4, 4.6, 3.5, 3.7, 2.8, 2.8, 2.4, 1.5],
		"dx": [0.0316227766016838, 0.0316227766016838, 0.0447213595499958, 0.0353553390593274, 0.0707106781186548, 0.111803398874989, 0.129099444873581, 0.223606797749979, 0.745355992499930, 1],
		"dy": [1, 0.745355992499930, 0.5, 0.353553390593274, 0.223606797749979, 0.223606797749979, 0.119522860933439, 0.119522860933439, 0.1, 0.0447213595499958]}`
	for _, doc := range []string{`{"expr": "a + b*x", "sigma": "dy", "sigma_x": {"x": "dx"}, ` + data + `}`,
		`{"expr": "a + b*x - y", "implicit": true, "start": {"a": 5, "b": -0.5}, "sigma_x": {"x": "dx", "y": "dy"}, ` + data + `}`} {
		p, err := Parse([]byte(doc))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Guess(context.Background()); err != nil {
			t.Fatal(err)
		}
		least, s, err := p.LeastSquares()
		if err != nil {
			t.Fatal(err)
		}
		r, v, err := p.Fit(context.Background(), least, s)
		if err != nil || !v.OK {
			t.Fatal(err, v)
		}
		alike(t, doc[:40], r.X, []float64{5.47991022, -0.480533407}, 1e-7)
	}
	for fields, want := range map[string]string{`"expr": "a + b*x", "sigma_x": {"x": "dx"}`: "give sigma", `"expr": "a + b*x", "sigma": "dy", "sigma_x": {"x": "ds"}`: "did you mean", `"expr": "a + b*x", "sigma": "dy", "sigma_x": {"dx": "dx"}`: "does not use",
		`"expr": "a + b*x - y", "implicit": true`: "give sigma_x", `"expr": "a*convolve_gaussian(x, x, 1) + b", "sigma": "dy", "sigma_x": {"x": "dx"}`: "needs columns without errors", `"expr": "a + b*x", "sigma": "dy", "sigma_x": {"x": "-1"}`: "above 0"} {
		p, err := Parse([]byte(`{"start": {"a": 5, "b": -0.5}, ` + fields + `, ` + data + `}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.LeastSquares(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", fields, err)
		}
	}
	p, err := Parse([]byte(`{"expr": "a + b*x - y", "implicit": true, "sigma_x": {"x": "dx", "y": "dy"}, ` + data + `}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Guess(context.Background()); err == nil || !strings.Contains(err.Error(), "needs a start of a, b") {
		t.Error(err)
	}
}

func TestCovariancesThatAreNone(t *testing.T) {
	for fields, want := range map[string]string{`"cov": [[1, 0], [0, 1]]`: "has 2 rows", `"cov": [[1, 2, 0], [2, 1, 0], [0, 0, 1]]`: "not positive definite at row 2", `"cov": [[1, 0.1, 0], [0.2, 1, 0], [0, 0, 1]]`: "symmetric",
		`"cov": [[1, 0], [0, 1, 2], [0, 0, 1]]`: "square", `"ar1": "1.5"`: "between -1 and 1", `"ar1": "0.5 over rum"`: "did you mean", `"offset_error": "5%"`: "want a number above 0", `"scale_error": "2% over rum"`: "did you mean",
		`"cov": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "sigma": "s"`: "leave sigma out", `"cov": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "ar1": "0.5"`: "one of them"} {
		p, err := Parse([]byte(`{"expr": "a*x", "start": {"a": 1}, ` + fields + `, "data": {"x": [1, 2, 3], "y": [1, 2, 3], "s": [1, 1, 1], "run": ["A", "B", "A"]}}`))
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.LeastSquares(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: want %q: %v", fields, want, err)
		}
	}
}
