// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph_test

import (
	"fmt"

	"github.com/euryale-dev/euryale/models/morph"
)

// A problem file says what is searched; a mistyped key is told.
func ExampleParseProblem() {
	text := `{"model": "core_shell", "grid": {"shape": [8, 24, 24], "voxel": 2.5},
		"parameters": {"radius": {"start": 8, "bounds": [2, 15]}, "shell": {"start": 6}},
		"fixed": {"aligned": 0.5}, "data": "HDF5", "constants": ["Material1.txt", "Material2.txt"], "%s": 0.1}`
	_, err := morph.ParseProblem(fmt.Appendf(nil, text, "sgima"))
	fmt.Println(err)
	p, err := morph.ParseProblem(fmt.Appendf(nil, text, "sigma"))
	if err != nil {
		fmt.Println(err)
		return
	}
	scene, err := p.Scene([]float64{8, 6}) // radius, shell
	if err != nil {
		fmt.Println(err)
		return
	}
	m, err := scene.Morphology(p.Grid.Voxel)
	fmt.Println(len(m.Materials), "materials", m.Shape(), err)
	// Output:
	// morph: problem: unknown key "sgima": did you mean "sigma"?
	// 2 materials [8 24 24] <nil>
}
