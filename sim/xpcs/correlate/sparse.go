// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

// sparse holds the sums of the first levels for frames in which few pixels have counts. It works on
// the events of each pixel and keeps those of the last few frames.
type sparse struct {
	levels   int // number of levels
	per      int
	frames   int           // frames so far
	products [][][]float64 // of each level, lag and pixel
	head     [][][]float64
	recent   []history // events of the last reach() frames, of each tile
}

// history is the events of the pixels of a tile in the order of time.
type history struct {
	start []int32 // where each pixel of the tile begins, and the end
	time  []int32 // frame
	count []float64
}

func newSparse(tiles, levels, per int) *sparse {
	s := &sparse{levels: levels, per: per, recent: make([]history, tiles)}
	for l := range levels {
		var products, head [][]float64
		for range lagsAt(l, per) {
			products, head = append(products, make([]float64, tiles*tile)), append(head, make([]float64, tiles*tile))
		}
		s.products, s.head = append(s.products, products), append(s.head, head)
	}
	for i := range s.recent {
		s.recent[i].start = make([]int32, tile+1)
	}
	return s
}

// reach is the number of past frames that products with later ones, or a summed frame that has begun, may need.
func (s *sparse) reach() int { return max((2*s.per+1)<<(s.levels-1), 1<<s.levels) }

// bytes returns the memory that a pixel takes, without events.
func (s *sparse) bytes() int { return 2 * 8 * (2*s.per + s.per*(s.levels-1)) }

// list is the events of one pixel at one level.
type list struct {
	time  []int32
	count []float64
}

// pixel adds the events of a pixel: all has those of the last reach() frames before from and those of frames from to
// to. What it leaves is the list at level s.levels. Of a summed frame only whole ones count.
func (s *sparse) pixel(p int, all *list, from, to int) {
	for l := range s.levels {
		first, end := int32(from>>l), int32(to>>l)
		past := int32(2 * s.per)
		low := int32(0)
		if l > 0 {
			low = int32(s.per)
		}
		products, head := s.products[l], s.head[l]
		for k := len(all.time) - 1; k >= 0 && all.time[k] >= first; k-- {
			t, v := all.time[k], all.count[k]
			if t >= end {
				continue
			}
			for m := k - 1; m >= 0; m-- {
				lag := t - all.time[m]
				if lag > past {
					break
				}
				if lag > low {
					products[lag-low-1][p] += v * all.count[m]
				}
			}
			if t < past {
				for lag := max(t, low) + 1; lag <= past; lag++ {
					head[lag-low-1][p] += v
				}
			}
		}
		all.coarsen()
	}
}

// coarsen sums frames by two.
func (a *list) coarsen() {
	n := 0
	for i, t := range a.time {
		t >>= 1
		if n > 0 && a.time[n-1] == t {
			a.count[n-1] += a.count[i]
			continue
		}
		a.time[n], a.count[n] = t, a.count[i]
		n++
	}
	a.time, a.count = a.time[:n], a.count[:n]
}

// join fills a with the kept events of a pixel and its new ones.
func (a *list) join(h *history, j int, time []int32, count []float64) {
	from, to := h.start[j], h.start[j+1]
	a.time = append(append(a.time[:0], h.time[from:to]...), time...)
	a.count = append(append(a.count[:0], h.count[from:to]...), count...)
}

// moments returns the sums of pixel p for delay k of level l, of lag summed frames, as level.moments does; total is the sum of the
// pixel over all frames.
func (s *sparse) moments(p, l, k, lag int, total float64) (products, earlier, later float64) {
	frames := int32(s.frames >> l)
	h := &s.recent[p/tile]
	tail := 0.0
	for i := h.start[p%tile]; i < h.start[p%tile+1]; i++ {
		switch t := h.time[i] >> l; {
		case t >= frames:
			total -= h.count[i]
		case t >= frames-int32(lag):
			tail += h.count[i]
		}
	}
	return s.products[l][k][p], total - tail, total - s.head[l][k][p]
}

// rest returns the sum of the events of pixel p in the frames that do not fill a summed frame of level
// s.levels.
func (s *sparse) rest(p int) (sum float64) {
	h := &s.recent[p/tile]
	for i := h.start[p%tile]; i < h.start[p%tile+1]; i++ {
		if h.time[i]>>s.levels >= int32(s.frames>>s.levels) {
			sum += h.count[i]
		}
	}
	return sum
}
