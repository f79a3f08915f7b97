package hdf5

import (
	"io/fs"
	"path"
	"sort"
)

const (
	nearest  = 4    // keys listed in a MissingError
	searched = 5000 // objects looked at to find them
)

// near lists existing paths like a missing one: of the same last name anywhere
// in the file, then those of the group it should be in, most alike first.
func (o object) near(missing string, group []Link) []string {
	type scored struct {
		path string
		cost int
	}
	base := path.Base(missing)
	var all []scored
	for i, l := range group {
		if i < searched {
			all = append(all, scored{path.Join(path.Dir(missing), l.Name), distance(l.Name, base)})
		}
	}
	count := 0
	o.Walk(func(p string, _ bool) error {
		if count++; count > searched {
			return fs.SkipAll
		}
		if path.Dir(p) != path.Dir(missing) && distance(path.Base(p), base) <= len(base)/4 {
			all = append(all, scored{p, distance(path.Base(p), base)})
		}
		return nil
	})
	sort.SliceStable(all, func(i, j int) bool { return all[i].cost < all[j].cost })
	var names []string
	for _, s := range all[:min(len(all), nearest)] {
		names = append(names, s.path)
	}
	return names
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
