// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

func schools(t *testing.T) *tensor.Dataset {
	t.Helper()
	d := tensor.NewDataset("posterior")
	for _, err := range []error{
		d.AddCoord("chain", []int{0, 1}),
		d.AddCoord("draw", []int{0, 1, 2}),
		d.AddCoord("school", []string{"Choate", "St. Paul's"}),
		d.Add("mu", []float64{1, 2, 3, 4, 5, math.NaN()}, tensor.Shape{2, 3}, "chain", "draw"),
		d.Add("theta", []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, tensor.Shape{2, 3, 2}, "chain", "draw", "school"),
		d.Add("sign", []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, tensor.Shape{2, 3, 2}, "chain", "draw", "dim_0"),
		d.Add("flag", []bool{true, false}, tensor.Shape{2}, "chain"),
		d.Add("note", []string{"two <lines>\nof text"}, tensor.Shape{}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	d.Attrs["inference_library"] = "euryale"
	return d
}

func TestDatasetHoldsWhatFits(t *testing.T) {
	d := schools(t)
	if d.Len("school") != 2 || d.Len("lat") != -1 || !slices.Equal(d.Dims(), []string{"chain", "draw", "school", "dim_0"}) || d.Elements() != 33 {
		t.Errorf("dimensions %v, %d elements", d.Dims(), d.Elements())
	}
	for what, c := range map[string]struct {
		v     tensor.Variable
		coord bool
		want  string
	}{
		"length":          {tensor.Variable{Name: "x", Dims: []string{"school"}, Shape: tensor.Shape{3}, Data: make([]float64, 3)}, false, "length 3 here and 2 in school"},
		"elements":        {tensor.Variable{Name: "x", Dims: []string{"a"}, Shape: tensor.Shape{3}, Data: make([]float64, 4)}, false, "the data have 4 elements, but the shape is [3]"},
		"overflow":        {tensor.Variable{Name: "x", Dims: []string{"a", "b"}, Shape: tensor.Shape{math.MaxInt, 8}, Data: []float64{}}, false, "fits memory"},
		"negative":        {tensor.Variable{Name: "x", Dims: []string{"a"}, Shape: tensor.Shape{-1}, Data: []float64{}}, false, "at least 0"},
		"names":           {tensor.Variable{Name: "x", Dims: []string{"a", "b"}, Shape: tensor.Shape{3}, Data: make([]float64, 3)}, false, "one name for each axis"},
		"twice":           {tensor.Variable{Name: "x", Dims: []string{"a", "a"}, Shape: tensor.Shape{1, 1}, Data: []float64{1}}, false, "appears twice"},
		"taken":           {tensor.Variable{Name: "mu", Shape: tensor.Shape{}, Data: []float64{1}}, false, "already has a variable"},
		"type":            {tensor.Variable{Name: "x", Shape: tensor.Shape{}, Data: []uint8{1}}, false, "the data are []uint8"},
		"nothing":         {tensor.Variable{Name: "x"}, false, "the data are <nil>"},
		"no name":         {tensor.Variable{Shape: tensor.Shape{}, Data: []float64{1}}, false, "without /"},
		"slash":           {tensor.Variable{Name: "a/b", Shape: tensor.Shape{}, Data: []float64{1}}, false, "without /"},
		"dots":            {tensor.Variable{Name: "..", Shape: tensor.Shape{}, Data: []float64{1}}, false, "without /"},
		"slash in dim":    {tensor.Variable{Name: "x", Dims: []string{"a/b"}, Shape: tensor.Shape{1}, Data: []float64{1}}, false, `dimension named "a/b"`},
		"like a dim":      {tensor.Variable{Name: "dim_0", Shape: tensor.Shape{}, Data: []float64{1}}, false, "dimension already has this name"},
		"like its dim":    {tensor.Variable{Name: "x", Dims: []string{"x"}, Shape: tensor.Shape{1}, Data: []float64{1}}, false, "dimension already has this name"},
		"dim like a var":  {tensor.Variable{Name: "x", Dims: []string{"mu"}, Shape: tensor.Shape{1}, Data: []float64{1}}, false, "has the name of a variable"},
		"coord of 2 axes": {tensor.Variable{Name: "dim_0", Dims: []string{"dim_0", "school"}, Shape: tensor.Shape{2, 2}, Data: make([]float64, 4)}, true, "want this dimension only"},
		"coord length":    {tensor.Variable{Name: "dim_0", Dims: []string{"dim_0"}, Shape: tensor.Shape{4}, Data: make([]float64, 4)}, true, "length 4 here and 2 in sign"},
	} {
		add := d.AddVariable
		if c.coord {
			add = d.AddCoordVariable
		}
		if err := add(c.v); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "posterior") {
			t.Errorf("%s: %v, want %q", what, err, c.want)
		}
	}
	if err := d.AddCoord("dim_0", []string{"u", "v"}); err != nil {
		t.Error(err)
	}
	if len(d.Vars()) != 5 || len(d.Coords()) != 4 || d.Var("school") != nil || d.Coord("school") == nil || d.Var("theta").Shape[2] != 2 {
		t.Errorf("a refused variable was kept: %v", d)
	}
	var zero tensor.Dataset
	if err := zero.Add("x", []int{1}, tensor.Shape{1}, "a"); err != nil || zero.Var("x").DType() != "int64" {
		t.Errorf("the zero dataset: %v", err)
	}
}

func TestDrawsOfADataset(t *testing.T) {
	d := schools(t)
	names, x := d.Draws()
	want := []string{"mu", "theta[Choate]", "theta[St. Paul's]", "sign[0]", "sign[1]"}
	if !slices.Equal(names, want) {
		t.Fatalf("names %q, want %q", names, want)
	}
	if x[0][1][0] != 4 || x[2][1][2] != 11 || x[3][0][1] != 2 {
		t.Errorf("%v", x)
	}
	if d.Stat("mu")[0][2] != 3 || d.Stat("theta") != nil || d.Stat("flag") != nil || d.Stat("none") != nil {
		t.Errorf("statistic %v", d.Stat("mu"))
	}
	if v := d.Var("flag").Floats(); v[0] != 1 || v[1] != 0 || d.Var("note").Floats() != nil {
		t.Errorf("truth values as numbers: %v", v)
	}
}

func TestDataTree(t *testing.T) {
	tree := tensor.NewDataTree()
	if err := tree.Add(schools(t)); err != nil {
		t.Fatal(err)
	}
	for _, d := range []*tensor.Dataset{nil, {}, {Name: "a/b"}, {Name: "posterior"}} {
		if tree.Add(d) == nil {
			t.Errorf("%v was added", d)
		}
	}
	if _, err := tree.Group("posterier"); err == nil || !strings.Contains(err.Error(), "did you mean posterior?") {
		t.Error(err)
	}
	if g, err := tree.Group("posterior"); err != nil || g.Name != "posterior" || !tree.Has("posterior") || tree.Has("prior") {
		t.Error(err)
	}
	text := tree.String()
	for _, part := range []string{"posterior (chain: 2, draw: 3, school: 2, dim_0: 2)", "    school (school) string Choate St. Paul's", "theta (chain, draw, school) float64 0 1 2 3 4 5 ...", "two <lines> of text"} {
		if !strings.Contains(text, part) {
			t.Errorf("no %q in\n%s", part, text)
		}
	}
	if page := tree.SimpleRender()["text/html"].(string); !strings.Contains(page, "two &lt;lines&gt; of text") || strings.Contains(page, "<lines>") {
		t.Errorf("page %s", page)
	}
}

func ExampleDataset() {
	d := tensor.NewDataset("posterior")
	_ = d.AddCoord("chain", []int{0, 1})
	_ = d.Add("tau", []float64{0.5, 0.25, 1, 2}, tensor.Shape{2, 2}, "chain", "draw")
	fmt.Println(d)
	fmt.Println(d.Add("mu", []float64{1, 2, 3}, tensor.Shape{3}, "draw"))
	// Output:
	// posterior (chain: 2, draw: 2)
	//   coordinates
	//     chain (chain) int64 0 1
	//   variables
	//     tau (chain, draw) float64 0.5 0.25 1 2
	// tensor: dataset "posterior", variable "mu": dimension draw has length 3 here and 2 in tau: make the lengths equal, or give it another name
}
