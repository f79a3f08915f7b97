// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package netcdf_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/netcdf"
	"github.com/euryale-dev/euryale/tensor"
)

// A posterior with a labelled axis is written in the layout of ArviZ, and read back with its labels.
func Example() {
	dir, err := os.MkdirTemp("", "netcdf")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	posterior := tensor.NewDataset("posterior")
	if err := posterior.AddCoord("school", []string{"Choate", "Deerfield"}); err != nil {
		log.Fatal(err)
	}
	draws := []float64{1, 2, 3, 4, 5, 6} // 1 chain, 3 draws, 2 schools
	if err := posterior.Add("theta", draws, tensor.Shape{1, 3, 2}, "chain", "draw", "school"); err != nil {
		log.Fatal(err)
	}
	tree := tensor.NewDataTree()
	if err := tree.Add(posterior); err != nil {
		log.Fatal(err)
	}
	name := filepath.Join(dir, "run.nc")
	if err := netcdf.Write(name, tree, netcdf.Settings{Gzip: 4}); err != nil {
		log.Fatal(err)
	}

	tree, err = netcdf.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	group, err := tree.Group("posterior")
	if err != nil {
		log.Fatal(err)
	}
	theta, school := group.Var("theta"), group.Coord("school")
	fmt.Println(theta.Dims, theta.Shape)
	fmt.Println(school.Text(1), theta.Floats()[1])
	// Output:
	// [chain draw school] [1 3 2]
	// Deerfield 2
}
