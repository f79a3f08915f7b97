// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func small(t testing.TB) Source {
	s := Source{Height: 6, Width: 9, Maps: map[string][]float64{"q": nil, "phi": nil}}
	for i := range 54 {
		s.Image = append(s.Image, float64(i*i%37))
		s.Maps["q"] = append(s.Maps["q"], 0.01+float64(i/9)*0.001)
		s.Maps["phi"] = append(s.Maps["phi"], -180+float64(i)*360/53)
	}
	s.Open = func(name string) (*Mask, error) {
		if name != "blemish.tif" {
			return nil, fmt.Errorf("no file %q", name)
		}
		m := New(9, 6) // transposed
		m.Keep[3] = false
		return m, nil
	}
	return s
}

// The reference compares with the last record, so that a step which was undone cannot be applied again.
func TestStepAppliedAgainAfterUndo(t *testing.T) {
	h, err := NewHistory(small(t), "")
	if err != nil {
		t.Fatal(err)
	}
	step := Step{Threshold: &Threshold{Low: 5}}
	for k := range 2 {
		if changed, err := h.Apply(step); err != nil || !changed || h.Len() != 3 || h.At() != 2 {
			t.Fatalf("time %d: changed %v, %v, record %d of %d", k, changed, err, h.At(), h.Len())
		}
		if !h.Undo() {
			t.Fatal("nothing to undo")
		}
	}
}

// Pixels without a number in the image are blemishes, with and without a file of others.
func TestPixelsWithoutNumber(t *testing.T) {
	s := small(t)
	s.Image[7] = math.NaN()
	for name, kept := range map[string]int{"": 53, "blemish.tif": 52} {
		h, err := NewHistory(s, name)
		if err != nil {
			t.Fatal(err)
		}
		if m := h.Mask(); m.Keep[7] || m.Count() != kept {
			t.Errorf("%q: %d pixels are kept", name, m.Count())
		}
		if again, err := Restore(h.Recipe(), s); err != nil || again.Mask().Count() != kept {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// anyStep draws a step of any kind.
func anyStep(t *rapid.T) Step {
	number := rapid.Float64Range(-3, 40)
	switch rapid.IntRange(0, 5).Draw(t, "kind") {
	case 0:
		return Step{File: "blemish.tif"}
	case 1:
		return Step{Threshold: &Threshold{Low: number.Draw(t, "low"), NoHigh: rapid.Bool().Draw(t, "no high")}}
	case 2:
		return Step{Constraints: []Constraint{{Map: "phi", Unit: "deg", Begin: -200, End: number.Draw(t, "end")}, {Map: "q", Logic: Or, Begin: 0, End: 0.012}}}
	case 3:
		return Step{Pixels: [][2]int{{rapid.IntRange(0, 5).Draw(t, "row"), rapid.IntRange(0, 8).Draw(t, "column")}}}
	case 4:
		return Step{Draw: []Shape{{Kind: Circle, Center: Point{number.Draw(t, "row"), 3}, Radius: 2, Inclusive: rapid.Bool().Draw(t, "inclusive")}}}
	}
	return Step{Outliers: &Outliers{Method: MAD, Cutoff: 2, Tile: 3}}
}

// A history and the one restored from its JSON stay equal whatever is done; so does a plain list of masks.
func TestHistoryAgainstItsRecipe(t *testing.T) {
	s := small(t)
	rapid.Check(t, func(t *rapid.T) {
		blemish := rapid.SampledFrom([]string{"", "blemish.tif"}).Draw(t, "blemish")
		h, err := NewHistory(s, blemish)
		if err != nil {
			t.Fatal(err)
		}
		masks, at := []*Mask{New(6, 9), h.Mask()}, 1
		for range rapid.IntRange(0, 12).Draw(t, "operations") {
			switch rapid.IntRange(0, 8).Draw(t, "operation") {
			case 0, 1:
				if h.Undo() != (at > 0) {
					t.Fatal("undo")
				}
				at = max(at-1, 0)
			case 2:
				if h.Redo() != (at < len(masks)-1) {
					t.Fatal("redo")
				}
				at = min(at+1, len(masks)-1)
			case 3:
				h.Reset()
				masks, at = masks[:1], 0
			default:
				step := anyStep(t)
				changed, err := h.Apply(step)
				if err != nil {
					t.Fatal(err)
				}
				own, _, _ := step.Mask(s, masks[at])
				if err := own.And(masks[at]); err != nil {
					t.Fatal(err)
				}
				if changed == own.Equal(masks[at]) {
					t.Fatalf("changed is %v", changed)
				}
				if changed {
					masks, at = append(masks[:at+1:at+1], own), at+1
				}
			}
			if h.At() != at || h.Len() != len(masks) || !h.Mask().Equal(masks[at]) {
				t.Fatalf("record %d of %d, want %d of %d", h.At(), h.Len(), at, len(masks))
			}
		}
		b, err := json.Marshal(h.Recipe())
		if err != nil {
			t.Fatal(err)
		}
		r, err := ReadRecipe(b)
		if err != nil {
			t.Fatalf("%v: %s", err, b)
		}
		again, err := Restore(r, s)
		if err != nil {
			t.Fatal(err)
		}
		if again.At() != at || again.Len() != len(masks) {
			t.Fatalf("restored: record %d of %d, want %d of %d", again.At(), again.Len(), at, len(masks))
		}
		for again.Undo() {
		}
		for k := range masks {
			if !again.Mask().Equal(masks[k]) {
				t.Fatalf("record %d of the restored history differs", k)
			}
			again.Redo()
		}
	})
}

// Steps are copied, so that an editor may go on with its own.
func TestStepsAreCopied(t *testing.T) {
	h, _ := NewHistory(small(t), "")
	step := Step{Pixels: [][2]int{{1, 2}}}
	if _, err := h.Apply(step); err != nil {
		t.Fatal(err)
	}
	step.Pixels[0][0] = 4
	if got := h.Recipe().Steps[0].Pixels[0]; got != [2]int{1, 2} {
		t.Errorf("the recipe has pixel %v", got)
	}
}

func TestMistakesOfSteps(t *testing.T) {
	s := small(t)
	bare := s
	bare.Image, bare.Maps, bare.Open = nil, map[string][]float64{}, nil
	for want, c := range map[string]struct {
		source Source
		step   Step
	}{
		"exactly one of":                    {s, Step{}},
		`kinds ["file" "threshold"]`:        {s, Step{File: "x", Threshold: &Threshold{}}},
		`no file "x"`:                       {s, Step{File: "x"}},
		"set Source.Open":                   {bare, Step{File: "x"}},
		"a threshold is for an image":       {bare, Step{Threshold: &Threshold{}}},
		"outliers are sought in an image":   {bare, Step{Outliers: &Outliers{Tile: 2}}},
		"did you mean phi?":                 {s, Step{Constraints: []Constraint{{Map: "phj", End: 1}}}},
		`joined by "XOR"`:                   {s, Step{Constraints: []Constraint{{Map: "phi", Logic: "XOR"}}}},
		"1 of 2 listed pixels":              {s, Step{Pixels: [][2]int{{0, 0}, {6, 2}}}},
		"the polygon has 2 vertices":        {s, Step{Draw: []Shape{{Kind: Polygon, Vertices: []Point{{1, 1}, {2, 2}}}}}},
		"did you mean circle?":              {s, Step{Draw: []Shape{{Kind: "cirkle"}}}},
		"the circle has the radius 0":       {s, Step{Draw: []Shape{{Kind: Circle}}}},
		"the ellipse has half-axes":         {s, Step{Draw: []Shape{{Kind: EllipseShape, Axes: Point{1, 0}}}}},
		"the rectangle has 0 x 2":           {s, Step{Draw: []Shape{{Kind: Rectangle, Size: Point{0, 2}}}}},
		"the line has length 0":             {s, Step{Draw: []Shape{{Kind: Line, Width: 3}}}},
		"2 sides":                           {s, Step{Draw: []Shape{{Kind: Circle, Radius: 1, Sides: 2}}}},
		"coordinate NaN":                    {s, Step{Draw: []Shape{{Kind: Circle, Radius: math.NaN()}}}},
		"(shape 2)":                         {s, Step{Draw: []Shape{{Kind: Circle, Radius: 1}, {Kind: Circle}}}},
		`method of outliers is "sigma"`:     {s, Step{Outliers: &Outliers{Method: "sigma", Tile: 2}}},
		"0 rings and in tiles of 0":         {s, Step{Outliers: &Outliers{}}},
		"the cutoff is -1":                  {s, Step{Outliers: &Outliers{Tile: 2, Cutoff: -1}}},
		"percentiles are 95 and 5":          {s, Step{Outliers: &Outliers{Tile: 2, Percentiles: [2]float64{95, 5}}}},
		"the threshold goes from NaN":       {s, Step{Threshold: &Threshold{Low: math.NaN()}}},
		"constraint 1 on q goes from":       {s, Step{Constraints: []Constraint{{Map: "q", Begin: math.NaN()}}}},
		"the image has 2 pixels":            {Source{Height: 6, Width: 9, Image: []float64{1, 2}}, Step{File: "x"}},
		"the detector has 0 x 9":            {Source{Width: 9}, Step{File: "x"}},
		"the map q has 1 pixel,":            {Source{Height: 6, Width: 9, Maps: map[string][]float64{"q": {1}}}, Step{File: "x"}},
		"outliers in rings need a map of q": {Source{Height: 1, Width: 1, Image: []float64{1}}, Step{Outliers: &Outliers{Rings: 2}}},
	} {
		if _, _, err := c.step.Mask(c.source, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	h, _ := NewHistory(s, "")
	if _, err := h.Apply(Step{Threshold: &Threshold{Low: math.Inf(1)}}); err == nil || !strings.Contains(err.Error(), "finite") || h.Len() != 2 {
		t.Errorf("a step that no JSON can hold: %v", err)
	}
	if _, err := NewHistory(s, "y"); err == nil {
		t.Error("a blemish file that does not exist is no error")
	}
}

func TestMistakesOfRecipes(t *testing.T) {
	s := small(t)
	for text, want := range map[string]string{
		`{"version":1,"height":6,"width":9,"steps":[],"undone":0} 7`:                              "more text after the end",
		`{"version":1,"height":6,"width":9,"steps":[{"lasso":1}]}`:                                "lasso",
		`{"version":2,"height":6,"width":9,"steps":[]}`:                                           "version 2",
		`{"version":1,"height":6,"width":9,"steps":[],"undone":2}`:                                "undone is 2 in a recipe of 1 record",
		`{"version":1,"height":6,"width":9,"steps":[{}]}`:                                         "step 1 of the recipe",
		`{"version":1,"height":0,"width":9,"steps":[]}`:                                           "0 x 9",
		`{"version":1,"height":9,"width":6,"steps":[]}`:                                           "the recipe is for 9 x 6",
		`{"version":1,"height":6,"width":9,"steps":[{"draw":[{"kind":"circle","radius":1e99}]}]}`: "(step 1 of the recipe)",
		`nonsense`: "want the JSON",
	} {
		r, err := ReadRecipe([]byte(text))
		if err == nil {
			_, err = Restore(r, s)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

// Recipes come from web pages: no text may panic, or read differently when written again.
func FuzzReadRecipe(f *testing.F) {
	f.Add([]byte(`{"version":1,"height":6,"width":9,"blemish":"blemish.tif","steps":[{"draw":[{"kind":"line","from":[0,0],"to":[3,3],"width":2}]},{"outliers":{"method":"mad","cutoff":3,"rings":3}}],"undone":1}`))
	f.Add([]byte(`{"version":1,"height":6,"width":9,"steps":[{"pixels":[[1,2]]},{"constraints":[{"map":"q","begin":0,"end":1e300}]}],"undone":0}`))
	s := small(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ReadRecipe(b)
		if err != nil {
			return
		}
		h, err := Restore(r, s)
		if err != nil {
			return
		}
		text, err := json.Marshal(h.Recipe())
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadRecipe(text)
		if err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		if g, err := Restore(again, s); err != nil || !g.Mask().Equal(h.Mask()) {
			t.Fatalf("%s restores differently: %v", text, err)
		}
	})
}
