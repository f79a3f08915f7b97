// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
)

// Messages about a row count from 1 and give the file and the line, also after rows were left out and where a problem file names its tables.
func TestRowsInMessages(t *testing.T) {
	tables := map[string]string{"a.csv": "# made by hand\nx,y,s\n1,2,1\n\n2,3,0\n3,5,1\n", "b.csv": "x;y;s\n3;4;0\n4;5;1\n"}
	read := func(name string) ([]byte, error) { return []byte(tables[name]), nil }
	for data, want := range map[string]string{
		`"a.csv"`:            "s is 0 in row 2 of a.csv (line 5): want errors above 0",
		`["b.csv", "a.csv"]`: "s is 0 in row 1 of b.csv (line 2): want errors above 0",
		`{"x": [1, 2], "y": [1, 2], "s": [1, 0]}`: "s is 0 in row 2: want errors above 0",
	} {
		p, err := ParseIn(fmt.Appendf(nil, `{"expr": "a*x", "sigma": "s", "start": {"a": 1}, "data": %s}`, data), read)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := p.LeastSquares(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", data, err)
		}
	}
	p, err := ParseIn([]byte(`{"expr": "a*log(x - 2.5) + b", "data": "a.csv"}`), read)
	if err != nil {
		t.Fatal(err)
	}
	p.Keep(func(i int) bool { return i > 0 }) // without the first row
	if _, err := p.Guess(context.Background()); err == nil || !strings.Contains(err.Error(), "has no finite value in row 2 of a.csv (line 5), where x = 2, at any of") {
		t.Error(err)
	}
}

// A formula in which parameters cannot be told apart starts at the smallest of their values, and one of many linear parameters is fitted once.
func TestStartsOfLinearFormulas(t *testing.T) {
	p := &Problem{Expr: "a + b + c*x", Y: "y", Data: map[string]Column{"x": {Values: []float64{1, 2, 3, 4, 5}}, "y": {Values: []float64{2, 4, 6, 8.1, 9.9}}}}
	g, err := p.Guess(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !p.linear || g.Fits != 1 || math.Abs(p.Start["a"][0]) > 10 || math.Abs(p.Start["a"][0]+p.Start["b"][0]-0.03) > 1e-9 {
		t.Errorf("linear %t, %d fits from %v", p.linear, g.Fits, p.Start)
	}
}

// What is tied follows at every place that the search for starts tries: a width that is 0 there would have no finite value anywhere.
func TestStartsFollowTies(t *testing.T) {
	tier.SlowOnly(t)
	for _, peak := range []string{"gaussian", "lorentzian", "voigt", "pseudo_voigt"} {
		p := &Problem{Expr: fmt.Sprintf("%s(x, a_) + %s(x, b_) + c", peak, peak), Y: "y", Data: map[string]Column{"x": {}, "y": {}},
			Tied: map[string]string{"b_sigma": "a_sigma", "b_center": "a_center + 1.2", "b_amplitude": "a_amplitude/2"}}
		var x, y []float64
		for i := range 120 {
			u := 0.08*float64(i) - 3.5
			x = append(x, u)
			y = append(y, 5+100*math.Exp(-u*u/0.32)+50*math.Exp(-(u-1.2)*(u-1.2)/0.32)+0.1*math.Sin(float64(37*i)))
		}
		p.Data["x"], p.Data["y"] = Column{Values: x}, Column{Values: y}
		p.Complete()
		if _, err := p.Guess(context.Background()); err != nil {
			t.Fatalf("%s: %v", peak, err)
		}
		if at := p.Start["a_center"][0]; math.Abs(at) > 0.05 || p.Start["b_sigma"] != nil {
			t.Errorf("%s: starts %v", peak, p.Start)
		}
	}
	held := &Problem{Expr: "a + b*x + c*x^2", Y: "y", Fixed: map[string]float64{"c": 0}, // without bounds
		Data: map[string]Column{"x": {Values: []float64{1, 2, 3, 4, 5}}, "y": {Values: []float64{2, 4, 6, 8.1, 9.9}}}}
	if _, err := held.Guess(context.Background()); err != nil || !held.linear {
		t.Errorf("linear %t: %v", held.linear, err)
	}
	tied := &Problem{Expr: "a + b*x", Y: "y", Tied: map[string]string{"a": "2*b"}, Data: held.Data} // without bounds
	if _, err := tied.Guess(context.Background()); err != nil || !tied.linear {
		t.Errorf("linear %t: %v", tied.linear, err)
	}
}
