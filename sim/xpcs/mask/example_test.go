// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package mask_test

import (
	"encoding/json"
	"fmt"

	"github.com/euryale-dev/euryale/sim/xpcs/mask"
)

// A beam stop and a dim edge are masked, and the recipe makes the same mask again.
func Example() {
	s := mask.Source{Height: 40, Width: 60, Image: make([]float64, 40*60)}
	for i := range s.Image {
		s.Image[i] = float64(i%60) / 10
	}
	h, err := mask.NewHistory(s, "")
	if err != nil {
		panic(err)
	}
	for _, step := range []mask.Step{
		{Threshold: &mask.Threshold{Low: 0.45}},
		{Draw: []mask.Shape{{Kind: mask.Circle, Center: mask.Point{20, 30}, Radius: 6}}},
		{Pixels: [][2]int{{3, 50}}},
	} {
		if _, err := h.Apply(step); err != nil {
			panic(err)
		}
	}
	h.Undo()
	fmt.Println(h)
	text, err := json.Marshal(h.Recipe())
	if err != nil {
		panic(err)
	}
	fmt.Println(string(text))
	r, err := mask.ReadRecipe(text)
	if err != nil {
		panic(err)
	}
	again, err := mask.Restore(r, s)
	if err != nil {
		panic(err)
	}
	fmt.Println(again.Mask().Equal(h.Mask()))
	// Output:
	// record 3 of 4: 40 x 60 pixels, 313 masked (13.042 %)
	// {"version":1,"height":40,"width":60,"steps":[{"threshold":{"low":0.45}},{"draw":[{"kind":"circle","center":[20,30],"radius":6}]},{"pixels":[[3,50]]}],"undone":1}
	// true
}

// The centre of a pattern whose middle is behind a beam stop.
func ExampleFindCenter() {
	const height, width = 80, 100
	image, m := make([]float64, height*width), mask.New(height, width)
	for i := range image {
		v, h := float64(i/width)-33.25, float64(i%width)-58.5
		image[i] = 5000 / (1 + (v*v+h*h)/50)
		m.Keep[i] = v*v+h*h > 64
	}
	c, err := mask.FindCenter(image, m, mask.CenterSettings{})
	if err != nil {
		panic(err)
	}
	fmt.Printf("(%.2f, %.2f)\n", c.Row, c.Col)
	// Output: (33.25, 58.50)
}
