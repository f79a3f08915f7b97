// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/columns"
	"github.com/euryale-dev/euryale/optim"
)

// sets are tables of decays that share a time of 2.3.
func sets(t *testing.T) (names []string, tables []columns.Table) {
	t.Helper()
	for k, a := range []float64{5, 3, 8} {
		text := "t,y,only" + fmt.Sprint(k) + "\n"
		for i := range 30 {
			x := float64(i) / 4
			text += fmt.Sprintf("%g,%g,1\n", x, a*math.Exp(-x/2.3)+1+0.05*math.Sin(float64(7*i+k)))
		}
		table, _, err := columns.Read([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		names, tables = append(names, fmt.Sprintf("dir/s%d.csv", k)), append(tables, table)
	}
	return names, tables
}

// fitOf guesses a start and fits.
func fitOf(t *testing.T, p *Problem) *optim.Result {
	t.Helper()
	if _, err := p.Guess(context.Background()); err != nil {
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
	return r
}

// Several tables are fitted together: parameters with an index have a value for each, and the others are shared. The result is that of the same model with as many parameters
// written out, and derived quantities and bands follow the labels.
func TestGlobalFit(t *testing.T) {
	names, tables := sets(t)
	data, missing, err := Together(names, tables)
	if err != nil || strings.Join(missing, " ") != "only0 only1 only2" || strings.Join(data["file"].Labels[29:31], " ") != "s0 s1" {
		t.Fatal(missing, data["file"], err)
	}
	p := &Problem{Expr: "a[file]*exp(-t/tau) + c", Y: "y", Data: data, Derived: map[string]string{"at0": "a + c"}, Bounds: map[string]Bounds{"a": {0, 100}}}
	r := fitOf(t, p)
	if strings.Join(r.Names, " ") != "a[s0] a[s1] a[s2] c tau" {
		t.Fatal(r.Names)
	}
	written := &Problem{Expr: "(a0*u0 + a1*u1 + a2*u2)*exp(-t/tau) + c", Y: "y", Data: map[string]Column{}}
	for name, c := range data {
		if name != "file" {
			written.Data[name] = c
		}
	}
	for k := range 3 {
		u := make([]float64, 90)
		for i := range 30 {
			u[30*k+i] = 1
		}
		written.Data[fmt.Sprintf("u%d", k)] = Column{Values: u}
	}
	same := fitOf(t, written)
	alike(t, "x", r.X, same.X, 1e-6)
	alike(t, "sd", r.SD(), same.SD(), 1e-5)
	q, err := p.Derive(r)
	if err != nil || strings.Join(q.Names, " ") != "at0[s0] at0[s1] at0[s2]" || math.Abs(q.X[2]-r.X[2]-r.X[3]) > 1e-12 {
		t.Errorf("%v %v", q, err)
	}
	b, err := p.Band(r, map[string]Column{"t": {Values: []float64{0, 0}}, "file": {Labels: []string{"s2", "s0"}}}, optim.BandSettings{})
	if err != nil || math.Abs(b.Mean[0]-q.X[2]) > 1e-12 || math.Abs(b.Mean[1]-q.X[0]) > 1e-12 || math.Abs(b.SD[0]-q.SD()[2]) > 1e-9 {
		t.Errorf("%v %v", b, err)
	}
	if _, err := p.Band(r, map[string]Column{"t": {Values: []float64{0}}, "file": {Labels: []string{"s9"}}}, optim.BandSettings{}); err == nil {
		t.Error("a label that the fit has not seen")
	}
	boot, err := p.Bootstrap(context.Background(), r, optim.BootstrapSettings{Draws: 60})
	if err != nil || len(boot.Names) != 5 {
		t.Error(boot, err)
	}
	p.Fixed = map[string]float64{"tau": 2.3}
	delete(p.Start, "tau")
	if r = fitOf(t, p); r.Value("tau") != 2.3 || r.NFree != 4 {
		t.Error(r)
	}
	if p.Index() != "file" {
		t.Error(p.Index())
	}
	for formula, want := range map[string]string{"a[fil]*t": "did you mean", "a[t]*t": "both as an index and as numbers"} {
		bad := &Problem{Expr: formula, Y: "y", Data: data, Start: map[string]Values{"a": {1}}}
		if _, _, err := bad.LeastSquares(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", formula, err)
		}
	}
	tied := &Problem{Expr: "a[file]*t + c", Y: "y", Data: data, Start: map[string]Values{"a": {1}}, Tied: map[string]string{"c": "a/3"}}
	if _, _, err := tied.LeastSquares(); err == nil || !strings.Contains(err.Error(), "a value for each label") {
		t.Error(err)
	}
	p, err = ParseIn([]byte(`{"expr": "a[file]*t", "data": ["x.csv", "y.csv"]}`), func(name string) ([]byte, error) { return []byte("t,y\n1,2\n2,3\n"), nil })
	if err != nil || strings.Join(p.Data["file"].Labels, "") != "xxyy" {
		t.Error(p, err)
	}
}

// Fits from many starts tell all minima, and what is left out is predicted as well as the noise allows.
func TestMinimaAndCrossValidation(t *testing.T) {
	var x, y []float64
	for i := range 60 {
		x = append(x, float64(i)/10)
		y = append(y, math.Sin(2*x[i])+0.1*math.Sin(float64(37*i*i%101)))
	}
	p := &Problem{Expr: "a*sin(w*x)", Y: "y", Data: map[string]Column{"x": {Values: x}, "y": {Values: y}}}
	r := fitOf(t, p)
	least, s, err := p.LeastSquares()
	if err != nil {
		t.Fatal(err)
	}
	found, err := p.Minima(context.Background(), least, s, 30, 1)
	if err != nil || len(found) < 3 || math.Abs(found[0].Cost-r.Cost) > 1e-9 || found[0].Hits < 2 {
		t.Fatal(found, err)
	}
	cv, err := p.CrossValidate(context.Background(), r, 10, 1)
	if want := math.Sqrt(2 * r.Cost / 60); err != nil || cv < want || cv > 1.2*want {
		t.Errorf("what is left out is off by %g, the fit by %g: %v", cv, want, err)
	}
	wrong := p.With("b*x + c", "", 0)
	wrong.Relevant()
	bad := fitOf(t, wrong)
	if worse, err := wrong.CrossValidate(context.Background(), bad, 10, 1); err != nil || worse < 3*cv || len(p.Start) != 2 {
		t.Errorf("%g %v", worse, err)
	}
	held := p.With("", "w", 3)
	if h := fitOf(t, held); h.Value("w") != 3 || p.Fixed != nil {
		t.Error(h)
	}
}
