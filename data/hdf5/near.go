package hdf5

import (
	"cmp"
	"io/fs"
	"maps"
	"path"
	"slices"
)

const (
	nearest  = 4    // keys listed in a MissingError
	searched = 5000 // objects looked at to find them
)

// near lists existing paths like a missing one: those of the group in which
// name was looked for, and objects anywhere whose last name is like that of the
// whole key, most alike first.
func (o object) near(name, last string, group []Link) []string {
	cost := map[string]int{}
	for _, l := range group[:min(len(group), searched)] {
		cost[path.Join(o.path, l.Name)] = distance(l.Name, name)
	}
	count := 0
	o.Walk(func(p string, _ bool) error {
		if count++; count > searched {
			return fs.SkipAll
		}
		if d := distance(path.Base(p), last); d <= len(last)/4 {
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

// distance is Levenshtein's, over bytes, of names cut to 64.
func distance(a, b string) int {
	a, b = a[:min(len(a), 64)], b[:min(len(b), 64)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
