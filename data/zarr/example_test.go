// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/tensor"
)

// A run whose draws go to disk as they come and do not stay in memory.
func Example() {
	dir, err := os.MkdirTemp("", "zarr")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	target := infer.Func(2, func(q, grad []float64) float64 {
		grad[0], grad[1] = -q[0], -q[1]
		return -(q[0]*q[0] + q[1]*q[1]) / 2
	})

	var s *zarr.Stream
	sink := infer.Sink{Only: true,
		Open: func(names []string, chains int) error {
			post := tensor.NewDataset("posterior")
			if err := post.Add("x", []float64{}, tensor.Shape{chains, 0, len(names)}, "chain", "draw", "place"); err != nil {
				return err
			}
			tree := tensor.NewDataTree()
			if err := tree.Add(post); err != nil {
				return err
			}
			var err error
			s, err = zarr.Create(filepath.Join(dir, "run.zarr"), tree, zarr.Settings{Zlib: 3})
			return err
		},
		Write: func(d infer.SinkDraw) error {
			return s.Append("posterior", d.Chain, 1, map[string]any{"x": d.Values})
		},
		Close: func() error { return s.Close() },
	}
	if _, err := infer.Sample(context.Background(), target, infer.Settings{Warmup: 200, Draws: 250, Seed: 1, Sink: sink}); err != nil {
		fmt.Println(err)
		return
	}
	tree, err := zarr.Open(filepath.Join(dir, "run.zarr"))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(tree.Groups()[0].Var("x").Shape)
	// Output: [4 250 2]
}
