// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import "fmt"

// Maps say to which bins the pixels belong. Every static bin lies within one dynamic bin: g2 of a
// dynamic bin is the mean over its static bins, each normalised by its own intensity, so static
// bins should be so narrow that the intensity hardly changes across one.
type Maps struct {
	Height, Width int
	Dynamic       []int32 // dynamic bin of each pixel, row-major, from 1; 0 is masked
	Static        []int32 // static bin of each pixel; nil for the same as Dynamic
}

// mostBins is a number of bins that is good for detectors with fewer pixels too.
const mostBins = 1 << 20

// part is a set of pixels of which one pass over the movie keeps sums, in the order of a frame.
type part struct {
	pixels  []int32 // place of each pixel in a frame
	dynamic []int   // its dynamic bin from 0, or -1
	static  []int   // its static bin from 0
	bins    []int   // dynamic bins that this part completes, from 0, ascending
}

// valid lists the pixels in static bins.
func (m *Maps) valid() (list []int32) {
	for i, s := range m.Static {
		if s > 0 {
			list = append(list, int32(i))
		}
	}
	return list
}

func (m *Maps) check(movie Movie) error {
	n := m.Height * m.Width
	if m.Height != m.Width && m.Height == movie.Width && m.Width == movie.Height {
		return fmt.Errorf("correlate: the maps have %d x %d pixels, but the frames %d x %d, with rows and columns exchanged: make the q map for the frames as they are in the file", m.Height, m.Width, movie.Height, movie.Width)
	}
	if m.Height != movie.Height || m.Width != movie.Width {
		return fmt.Errorf("correlate: the maps have %d x %d pixels, but the frames %d x %d: use the map of this detector", m.Height, m.Width, movie.Height, movie.Width)
	}
	if m.Static == nil {
		m.Static = m.Dynamic
	}
	if len(m.Dynamic) != n || len(m.Static) != n {
		return fmt.Errorf("correlate: the maps have %d and %d pixels: want %d x %d", len(m.Dynamic), len(m.Static), m.Height, m.Width)
	}
	owner := map[int32]int32{}
	some := false
	for i, s := range m.Static {
		d := m.Dynamic[i]
		if s < 0 || d < 0 {
			return fmt.Errorf("correlate: pixel (%d, %d) has bins %d and %d: want 0 for masked pixels and numbers from 1", i/m.Width, i%m.Width, d, s)
		}
		if most := max(n, mostBins); int(s) > most || int(d) > most {
			return fmt.Errorf("correlate: pixel (%d, %d) has bins %d and %d: want numbers from 1 to %d", i/m.Width, i%m.Width, d, s, most)
		}
		if d > 0 && s == 0 {
			return fmt.Errorf("correlate: pixel (%d, %d) is in dynamic bin %d but in no static bin: make both maps with one mask", i/m.Width, i%m.Width, d)
		}
		if s == 0 {
			continue
		}
		some = some || d > 0
		if o, ok := owner[s]; ok && o != d {
			return fmt.Errorf("correlate: static bin %d has pixels of dynamic bins %d and %d (pixel (%d, %d)): make the static bins subdivide the dynamic ones", s, o, d, i/m.Width, i%m.Width)
		}
		owner[s] = d
	}
	if !some {
		return fmt.Errorf("correlate: no pixel is in a dynamic bin: check mask and map")
	}
	return nil
}

// counts returns the numbers of dynamic and static bins.
func (m *Maps) counts() (dynamic, static int) {
	for i, s := range m.Static {
		dynamic, static = max(dynamic, int(m.Dynamic[i])), max(static, int(s))
	}
	return dynamic, static
}

// parts divides the pixels into groups of whole dynamic bins with at most most pixels each, unless a
// single bin has more. Pixels of no dynamic bin join the first group.
func (m *Maps) parts(most int) []part {
	bins, _ := m.counts()
	size := make([]int, bins+1)
	for i, s := range m.Static {
		if s > 0 {
			size[m.Dynamic[i]]++
		}
	}
	group, all := make([]int, bins+1), []part{{}}
	load := size[0]
	for b := 1; b <= bins; b++ {
		if size[b] == 0 {
			group[b] = -1
			continue
		}
		last := len(all) - 1
		if load+size[b] > most && len(all[last].bins) > 0 {
			all, load, last = append(all, part{}), 0, last+1
		}
		load += size[b]
		group[b] = last
		all[last].bins = append(all[last].bins, b-1)
	}
	for i, s := range m.Static {
		if s == 0 {
			continue
		}
		p := &all[group[m.Dynamic[i]]]
		p.pixels = append(p.pixels, int32(i))
		p.dynamic = append(p.dynamic, int(m.Dynamic[i])-1)
		p.static = append(p.static, int(s)-1)
	}
	return all
}
