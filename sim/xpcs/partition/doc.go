// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package partition divides the pixels of a detector into bins of q, azimuth or any other map.
//
// [Divide] makes [Bins] along one map, [Combine] crosses two of them, and [New] makes the
// [Partition] that correlators use: dynamic bins, and static bins that subdivide them.
//
//	q, _ := m.Channel("q") // of an xpcs.QMap
//	phi, _ := m.Channel("phi")
//	p, err := partition.New(partition.Axis{Name: "q", Unit: "Å⁻¹", Values: q}, partition.Axis{Name: "phi", Unit: "deg", Values: phi},
//		mask, partition.Settings{Dynamic: [2]int{36, 1}, Static: [2]int{360, 1}})
//	if err != nil { ... }
//	fmt.Println(p.Dynamic.Count(), p.Check())
//
// Bins count from 1; 0 is a masked pixel.
package partition
