// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskpage_test

import (
	"fmt"
	"log"
	"net/http/httptest"
	"strings"

	"github.com/euryale-dev/euryale/app/xpcs/maskpage"
	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/models/xpcs"
	sim "github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/mask"
)

// The page of a detector image gets the request that a browser sends when a person masks a circle. The
// recipe from which the mask can be made again is handed to Autosave.
func Example() {
	const height, width = 40, 60
	var saved mask.Recipe
	page, err := maskpage.New(maskpage.Settings{
		Name:     "flat image",
		Image:    &maskfile.Image{Height: height, Width: width, Values: make([]float64, height*width)},
		Geometry: sim.Geometry{Height: height, Width: width, CenterRow: 20, CenterCol: 30, PixelSize: 75e-6, Distance: 5, Energy: 10},
		Bins:     xpcs.Setup{Dynamic: [2]int{4, 1}, Static: [2]int{40, 1}},
		Recipe:   mask.Recipe{Version: mask.Version, Height: height, Width: width},
		Autosave: func(r mask.Recipe, _ xpcs.Setup) error { saved = r; return nil },
	})
	if err != nil {
		log.Fatal(err)
	}
	circle := strings.NewReader(`{"draw": [{"kind": "circle", "center": [20, 30], "radius": 3}]}`)
	answer := httptest.NewRecorder()
	page.ServeHTTP(answer, httptest.NewRequest("POST", "/step", circle))
	fmt.Println(answer.Code, page.Mask())
	fmt.Println(len(saved.Steps), "step saved")
	// Output:
	// 200 40 x 60 pixels, 29 masked (1.208 %)
	// 1 step saved
}
