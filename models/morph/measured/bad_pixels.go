// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// root is the transformation of counts whose standard deviation is about 1 (Anscombe).
func root(x float64) float64 { return 2 * math.Sqrt(max(0, x)+0.375) }

// around calls f with the places of the neighbours of a pixel that are compared, within one row and column.
func (q *plane) around(i int, f func(k int)) {
	y, x := i/q.columns, i%q.columns
	for v := max(0, y-1); v <= min(q.rows-1, y+1); v++ {
		for u := max(0, x-1); u <= min(q.columns-1, x+1); u++ {
			if k := v*q.columns + u; k != i && !math.IsNaN(q.counts[k]) {
				f(k)
			}
		}
	}
}

// typical says how far residuals usually lie from the median of those around them, in standard deviations of counts and at least 1, by the
// expectation of the counts: what scatters more than counts may do so in proportion to the intensity.
type typical struct {
	upTo, size []float64 // largest expectation of each group, in ascending order
}

// alike is how many pixels of about the same expectation are a group.
const alike = 50

// typicalOf compares all pixels with those around them.
func typicalOf(frames []*plane) (out typical) {
	type one struct{ mean, off float64 }
	var all []one
	var near []float64
	for _, q := range frames {
		for i, c := range q.counts {
			if math.IsNaN(c) {
				continue
			}
			near = near[:0]
			q.around(i, func(k int) { near = append(near, root(q.counts[k])-root(q.mean[k])) })
			if len(near) > 2 {
				slices.Sort(near)
				all = append(all, one{q.mean[i], math.Abs(root(c) - root(q.mean[i]) - near[len(near)/2])})
			}
		}
	}
	slices.SortFunc(all, func(a, b one) int { return compare(a.mean, b.mean) })
	for first := 0; first < len(all); {
		last := first + alike
		if len(all)-last < alike {
			last = len(all)
		}
		last = min(last, len(all))
		near = near[:0]
		for _, x := range all[first:last] {
			near = append(near, x.off)
		}
		slices.Sort(near)
		out.upTo, out.size = append(out.upTo, all[last-1].mean), append(out.size, max(1, near[len(near)/2]/0.6745))
		first = last
	}
	return out
}

// at is how far residuals of counts of an expectation usually lie.
func (y *typical) at(mean float64) float64 {
	if len(y.size) == 0 {
		return 1
	}
	k, _ := slices.BinarySearch(y.upTo, mean)
	return y.size[min(k, len(y.size)-1)]
}

// farFromAll is by how many usual distances a pixel must differ from its expectation and from all of its neighbours but one, and
// farLine how far all pixels of a row must be on one side; mostBad is the largest share of the pixels that can be bad.
const (
	farFromAll, farLine = 7.0, 3.0
	mostBad             = 0.02
	// unlike is by how many times the counts of a bad pixel are more or fewer than those of its neighbours: sharp peaks that a model
	// misses are less steep.
	unlike = 3.0
)

// isolated reports by how many usual distances a pixel differs from its expectation and from its neighbours; those on its side but
// one may not explain it.
func (q *plane) isolated(i int, usual *typical) float64 {
	typical := usual.at(q.mean[i])
	v := root(q.counts[i])
	var up, down []float64
	counts, means := 0.0, 0.0
	q.around(i, func(k int) {
		x := root(q.counts[k])
		up, down, counts, means = append(up, v-x), append(down, x-v), counts+q.counts[k], means+q.mean[k]
	})
	if len(up) < 3 {
		return 0
	}
	slices.Sort(up)
	slices.Sort(down)
	off := v - root(q.mean[i]*counts/max(means, leastCounts)) // a fit that a hot pixel has drawn away is wrong about all of them
	most, least := root(unlike*q.counts[i])-v, v-root(q.counts[i]/unlike)
	if far := min(up[1], off) / typical; far > farFromAll && up[1] > least {
		return far
	}
	if far := min(down[1], -off) / typical; far > farFromAll && down[1] > most {
		return -far
	}
	return 0
}

// badPixels finds pixels that are unlike all around them.
func (t *Task) badPixels(frames []*plane) *defect {
	usual := typicalOf(frames)
	type bad struct {
		q *plane
		i int
		z float64
	}
	var list []bad
	all := 0
	for _, q := range frames {
		if q.rows < 3 {
			continue // along a curve nothing tells a point from a peak
		}
		for i, c := range q.counts {
			if math.IsNaN(c) {
				continue
			}
			if all++; q.mean[i] > 0 {
				if z := q.isolated(i, &usual); z != 0 {
					list = append(list, bad{q, i, z})
				}
			}
		}
	}
	if len(list) == 0 || float64(len(list)) > mostBad*float64(all) {
		return nil
	}
	slices.SortStableFunc(list, func(a, b bad) int { return compare(math.Abs(b.z), math.Abs(a.z)) })
	k, places := t.masked(func(mask func(model, frame, i int)) {
		for _, b := range list {
			mask(b.q.model, b.q.frame, b.i)
		}
	}), []string{}
	for _, b := range list {
		if len(places) == 3 {
			places = append(places, fmt.Sprintf("and %d more", len(list)-3))
			break
		}
		places = append(places, fmt.Sprintf("%s (%.0f counts where %.3g are expected)", t.placeIn(b.q, b.i), b.q.counts[b.i], b.q.mean[b.i]))
	}
	what, they := "1 pixel is", "this pixel"
	if len(list) > 1 {
		what, they = fmt.Sprintf("%d pixels are", len(list)), "these pixels"
	}
	return &defect{mended: k, then: "without " + they + ", ", flag: check.Flag{Kind: kindPixels, Where: places[0],
		Text:   fmt.Sprintf("%s unlike all around: %s", what, strings.Join(places, ", ")),
		Remedy: "mask " + they + " (masks), as hot, dead or hit by a cosmic ray"}}
}

// badLines finds rows and columns that differ from both neighbours in all of their pixels, in every frame that shows enough counts.
func (t *Task) badLines(frames []*plane) *defect {
	usual := typicalOf(frames)
	for _, across := range []bool{false, true} {
		seen := map[[2]int][]lineRatio{}
		for _, q := range frames {
			if q.rows < 5 || q.columns < 5 || t.models()[q.model].Data.Frames[q.frame].Bins != nil {
				continue
			}
			for l, x := range q.lines(across, &usual) {
				id := [2]int{q.model, l}
				seen[id] = append(seen[id], x)
			}
		}
		off := map[[2]int]float64{} // by how many times the counts of a line differ, by model and line
		for id, list := range seen {
			off[id] = ofLine(list)
		}
		var list [][2]int
		for id, r := range off {
			if r != 0 {
				list = append(list, id)
			}
		}
		lines := len(seen)
		if len(list) == 0 || len(list) > max(1, lines/10) {
			continue
		}
		slices.SortFunc(list, func(a, b [2]int) int { return slices.Compare(a[:], b[:]) })
		return t.lineDefect(list, off, across)
	}
	return nil
}

// lineRatio is that of a row or column of a frame: its counts over their expectations, relative to its neighbours, and whether nearly all of its
// pixels lie far off on one side.
type lineRatio struct {
	ratio float64
	clear bool
}

// ofLine returns by how many times the counts of a line differ if a frame shows it clearly and no frame speaks against it, and 0 otherwise.
// A frame of few counts shows nothing clearly, and speaks against it only if its own ratio is nearer to 1.
func ofLine(frames []lineRatio) float64 {
	sum, n := 0.0, 0.0
	for _, x := range frames {
		if x.clear {
			sum, n = sum+x.ratio, n+1
		}
	}
	if n == 0 {
		return 0
	}
	off := sum / n
	for _, x := range frames {
		if (x.ratio-1)/(off-1) < 0.5 {
			return 0
		}
	}
	return off
}

// lines returns the rows or columns in which enough pixels expect enough counts.
func (q *plane) lines(across bool, usual *typical) map[int]lineRatio {
	n, length := q.rows, q.columns
	at := func(l, i int) int { return l*q.columns + i }
	if across {
		n, length = length, n
		at = func(l, i int) int { return i*q.columns + l }
	}
	const least = 8.0 // counts that a pixel must expect to be judged
	out := map[int]lineRatio{}
	for l := range n {
		judged, low, high := 0, 0, 0
		own, other := [2]float64{}, [2]float64{}
		for i := range length {
			k := at(l, i)
			if math.IsNaN(q.counts[k]) {
				continue
			}
			var near []float64
			for _, side := range []int{l - 1, l + 1} {
				if side >= 0 && side < n && !math.IsNaN(q.counts[at(side, i)]) {
					m := at(side, i)
					near = append(near, root(q.counts[m])-root(q.mean[m]))
					other[0], other[1] = other[0]+q.counts[m], other[1]+q.mean[m]
				}
			}
			if len(near) == 0 || q.mean[k] < least {
				continue
			}
			judged++
			own[0], own[1] = own[0]+q.counts[k], own[1]+q.mean[k]
			typical := usual.at(q.mean[k])
			z := (root(q.counts[k]) - root(q.mean[k])) / typical
			if z < -farLine && z < slices.Min(near)/typical-farLine {
				low++
			}
			if z > farLine && z > slices.Max(near)/typical+farLine {
				high++
			}
		}
		if judged < 5 {
			continue
		}
		enough := 9 * judged / 10
		ratio := own[0] / own[1] / max(1e-9, other[0]/max(1e-9, other[1]))
		out[l] = lineRatio{max(ratio, 1e-9), low >= enough || high >= enough}
	}
	return out
}

// lineDefect masks lines and says which they are.
func (t *Task) lineDefect(list [][2]int, off map[[2]int]float64, across bool) *defect {
	name := "row"
	if across {
		name = "column"
	}
	var places []string
	for _, id := range list {
		how := fmt.Sprintf("holds %.2g times as many counts as those beside it", off[id])
		if off[id] < 1e-3 {
			how = "holds no counts"
		}
		places = append(places, fmt.Sprintf("%s %d %s", name, id[1], how))
		if len(places) == 3 && len(list) > 3 {
			places = append(places, fmt.Sprintf("and %d more", len(list)-3))
			break
		}
	}
	k := t.masked(func(mask func(model, frame, i int)) {
		for m, model := range t.models() {
			d := model.Data
			for f := range d.Frames {
				if d.Frames[f].Bins != nil {
					continue
				}
				for i := range d.pixels() {
					l := i / d.Detector.Columns
					if across {
						l = i % d.Detector.Columns
					}
					if slices.Contains(list, [2]int{m, l}) {
						mask(m, f, i)
					}
				}
			}
		}
	})
	what := errtext.Count(len(list), name)
	return &defect{mended: k, then: "without it, ", flag: check.Flag{Kind: kindLine, Where: fmt.Sprintf("%s %d", name, list[0][1]),
		Text:   fmt.Sprintf("%s unlike those beside, in all pixels and patterns: %s", map[bool]string{true: what + " is", false: what + " are"}[len(list) == 1], strings.Join(places, ", ")),
		Remedy: "mask it (masks), as the pixels there do not count what arrives"}}
}

// masked returns the task without some pixels.
func (t *Task) masked(which func(mask func(model, frame, i int))) *Task {
	k, _ := t.altered(func(f *Frame) bool { f.Counts = slices.Clone(f.Counts); return true })
	which(func(model, frame, i int) { k.models()[model].Data.Frames[frame].Counts[i] = math.NaN() })
	return k
}

// placeIn says where a number of a frame is.
func (t *Task) placeIn(q *plane, i int) string {
	f := t.models()[q.model].Data.Frames[q.frame]
	if f.Bins != nil {
		return fmt.Sprintf("q = %.3g 1/nm, chi = %.0f degrees at %.6g eV", f.Bins.Q[i], f.Bins.Chi[i], f.Energy)
	}
	return fmt.Sprintf("row %d, column %d at %.6g eV", i/q.columns, i%q.columns, f.Energy)
}
