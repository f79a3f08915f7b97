// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"cmp"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/euryale-dev/euryale/internal/spelling"
)

const (
	nearest  = 4    // number of keys listed in a MissingError
	searched = 5000 // number of objects searched for them
)

// near lists existing paths similar to a missing one: names in the group in which name was looked
// up, and objects anywhere whose last name resembles that of the whole key, the most similar first.
func (o object) near(name, last string, group []Link) []string {
	cost := map[string]int{}
	for _, l := range group[:min(len(group), searched)] {
		cost[path.Join(o.path, l.Name)] = spelling.Distance(l.Name, name)
	}
	count := 0
	o.Walk(func(p string, _ bool) error {
		if count++; count > searched {
			return fs.SkipAll
		}
		if d := spelling.Distance(path.Base(p), last); d <= len(last)/4 {
			if old, ok := cost[p]; !ok || d < old {
				cost[p] = d
			}
		}
		return nil
	})
	names := slices.SortedFunc(maps.Keys(cost), func(a, b string) int {
		return cmp.Or(cmp.Compare(cost[a], cost[b]), cmp.Compare(a, b))
	})
	return names[:min(len(names), nearest)]
}
