// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/models/stan"
)

// posterior is a posterior of posteriordb with Stan's numbers.
type posterior struct {
	Name, Model, Data string
	Dim               int
	Columns           []struct {
		Name      string
		Dims      []int
		Parameter bool
	}
	Random []string
	Points []struct {
		U           []float64
		LP          float64
		Grad        []number
		Constrained map[string]json.RawMessage
	}
	Tolerance struct {
		Kind     string
		LP, Grad float64
	}
	Exact struct {
		LP   []float64
		Grad [][]number
	}
}

// database returns the folder of posteriordb, or skips the test.
func database(t *testing.T) string {
	dir := os.Getenv("EURYALE_POSTERIORDB")
	if dir == "" {
		t.Skip("EURYALE_POSTERIORDB does not name a copy of posteriordb: scripts/posteriordb.sh says where it is to be had")
	}
	if _, err := os.Stat(filepath.Join(dir, "posterior_database")); err == nil {
		dir = filepath.Join(dir, "posterior_database")
	}
	return dir
}

func unzipped(t testing.TB, path string) []byte {
	b, err := unzip(path)
	if err != nil {
		t.Skip(err)
	}
	return b
}

// unzip returns the only file of a .zip, or the file beside it that has been taken out already.
func unzip(path string) ([]byte, error) {
	if b, err := os.ReadFile(strings.TrimSuffix(path, ".zip")); err == nil {
		return b, nil
	}
	z, err := zip.OpenReader(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer z.Close()
	f, err := z.File[0].Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return io.ReadAll(f)
}

func gunzipped(t *testing.T, path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if b, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func TestPosteriorDB(t *testing.T) {
	dir := database(t)
	for _, f := range golden.Glob(t, "stan/*.json*") {
		if strings.HasPrefix(filepath.Base(f), "language") {
			continue
		}
		var p posterior
		if err := json.Unmarshal(gunzipped(t, golden.Path(t, f)), &p); err != nil {
			t.Fatal(f, err)
		}
		t.Run(p.Name, func(t *testing.T) { p.run(t, dir) })
	}
}

func (p *posterior) run(t *testing.T, dir string) {
	source, err := os.ReadFile(filepath.Join(dir, "models", "stan", p.Model+".stan"))
	if err != nil {
		t.Skip(err)
	}
	start := time.Now()
	prog, err := stan.Parse(p.Model+".stan", string(source), stan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	data, err := stan.ReadData(bytes.NewReader(unzipped(t, filepath.Join(dir, "data", "data", p.Data+".json.zip"))))
	if err != nil {
		t.Fatal(err)
	}
	post, err := prog.Compile(data, stan.CompileSettings{})
	if err != nil {
		t.Fatal(err)
	}
	compiled := time.Since(start)
	if post.Dim() != p.Dim {
		t.Fatalf("%d unconstrained parameters, want %d", post.Dim(), p.Dim)
	}
	p.compare(t, post)
	if testing.Verbose() {
		g := make([]float64, post.Dim())
		n, from := 0, time.Now()
		for time.Since(from) < 100*time.Millisecond {
			post.LogProbGrad(p.Points[0].U, g)
			n++
		}
		t.Logf("compiled in %v, gradient %.4g us", compiled.Round(time.Millisecond), float64(time.Since(from).Microseconds())/float64(n))
	}
}

func (p *posterior) compare(t *testing.T, post *stan.Posterior) {
	g := make([]float64, post.Dim())
	for i, pt := range p.Points {
		lp, err := post.LogProbGrad(pt.U, g)
		if err != nil {
			t.Errorf("point %d: %v", i, err)
			continue
		}
		want, grad := pt.LP, pt.Grad
		tol := p.Tolerance.Grad
		if len(p.Exact.LP) > i { // other constants: the gradient is compared
			grad, tol = p.Exact.Grad[i], max(1e-5, tol/1000)
		}
		if !near(lp, want, p.Tolerance.LP) {
			t.Errorf("point %d: the log density is %.15g, want %.15g", i, lp, want)
		}
		largest := 0.0
		for _, x := range grad {
			largest = max(largest, math.Abs(float64(x)))
		}
		bad := 0
		for k := range g {
			if w := float64(grad[k]); !(math.Abs(g[k]-w) <= tol*(math.Abs(w)+1e-3*largest)) {
				if bad++; bad <= 3 {
					t.Errorf("point %d: gradient %d is %.15g, want %.15g", i, k, g[k], w)
				}
			}
		}
		if i == 0 {
			p.row(t, post, pt.U, pt.Constrained)
		}
	}
}

// row compares the columns of the output.
func (p *posterior) row(t *testing.T, post *stan.Posterior, u []float64, want map[string]json.RawMessage) {
	out := make([]float64, post.Len())
	if err := post.Write(u, out); err != nil {
		t.Error(err)
		return
	}
	at := 0
	for _, v := range post.Variables() {
		n := 1
		for _, s := range v.Shape {
			n *= s
		}
		got := out[at : at+n]
		at += n
		raw, ok := want[v.Name]
		if !ok || len(p.Exact.LP) > 0 && v.Kind != stan.Parameter { // those of a loose solution of a differential equation
			continue
		}
		var list []number
		if json.Unmarshal(raw, &list) != nil {
			var one number
			if json.Unmarshal(raw, &one) == nil {
				list = []number{one}
			} else {
				var long struct{ Head []number }
				if err := json.Unmarshal(raw, &long); err != nil {
					t.Errorf("%s: %v", v.Name, err)
				}
				list = long.Head
			}
		}
		for k, x := range list {
			if k >= len(got) || !near(got[k], float64(x), max(1e-9, 3*p.Tolerance.Grad)) {
				t.Errorf("%s, element %d of %d is %v, want %v", v.Name, k, len(got), got[min(k, len(got)-1)], x)
				break
			}
		}
	}
}
