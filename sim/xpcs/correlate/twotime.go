// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	"fmt"
	"math"
	"slices"
	"unsafe"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Map is the two-time correlation of one dynamic bin.
type Map struct {
	Bin    int       // number of the bin, from 1
	Pixels int       // number of pixels of the bin
	Frames int       // number N of frames
	C2     []float64 // symmetric matrix of correlations, row-major (N, N); the diagonal contains the noise of counts
	Ages   *Ages     // data from which errors of g2 at ages follow, if Settings.Ages asks for them; nil if no pixel scatters
}

// mostTwotime is the number of frames above which a map does not fit in memory anywhere.
const mostTwotime = 40000

// Twotime correlates every frame with every other, for each dynamic bin of s.Bins:
//
//	C2(i, j) = n sum_p x_ip x_jp / (sum_p x_ip sum_p x_jp) over its n pixels p
//
// with x the counts divided by the mean of the frame over the static bin of the pixel (or the
// dynamic one: Settings.Smooth), and by 1 where that is not above 0. A frame without counts in a
// bin has C2 = 0. The function each is called for one bin after another; the Map is valid during
// the call, and an error ends the correlation. MaxBytes bounds the memory for frames and maps:
// whatever does not fit is read from the movie again.
//
// Reference: M. Sutton et al., doi:10.1364/OE.11.002268.
func Twotime(ctx context.Context, m Movie, maps Maps, s Settings, each func(*Map) error) error {
	t, err := prepared(m, &maps, s.defaults())
	if err != nil {
		return err
	}
	if s.Intensities != nil {
		if s.Parts < 0 || s.Parts > t.movie.Frames/2 {
			return tooManyParts(s.Parts, t.movie.Frames)
		}
		t.light = newIntensities(t.movie, &maps, s)
	}
	var seen *photons
	if s.Intensities != nil && s.Photons {
		t.movie, seen = t.movie.watch(&maps, s)
	}
	if err := t.run(ctx, each); err != nil {
		return err
	}
	if s.Intensities != nil {
		r := t.light.done()
		if seen != nil {
			r.Flat = seen.strays.flat(r.Trace)
			r.Photons = seen.done(r.Flat)
			r.Strays = seen.strays.find(&maps, r.Image, r.Trace, maps.everywhere())
		}
		s.Intensities(r)
	}
	return nil
}

// CheckTwotime returns the error that Twotime would return before it reads a frame, for callers who
// have more to do before that.
func CheckTwotime(m Movie, maps Maps, s Settings) error {
	t, err := prepared(m, &maps, s.defaults())
	if err != nil {
		return err
	}
	if ad.NeedsGPU(t.s.Backend) {
		_, err = gpus(t.s.Backend, t.plan().need)
	}
	return err
}

func prepared(m Movie, maps *Maps, s Settings) (*twotime, error) {
	if err := m.check(); err != nil {
		return nil, err
	}
	m, err := m.Select(s.Selection)
	if err != nil {
		return nil, err
	}
	if err := maps.check(m); err != nil {
		return nil, err
	}
	if m.Frames > mostTwotime {
		return nil, fmt.Errorf("correlate: a two-time map of %d frames would take %.0f GB: average or leave out frames so that at most %d are left", m.Frames, 8e-9*float64(m.Frames)*float64(m.Frames), mostTwotime)
	}
	return newTwotime(m, maps, s)
}

// twotime keeps the frames of some pixels, those of one bin beside each other.
type twotime struct {
	s      Settings
	movie  Movie
	bins   []bin             // pixels hold places in a frame
	runs   [][]run           // of each bin
	number []int             // of each bin
	levels map[int][]float64 // mean of the divided counts of each frame, by bin, if there are Ages
	sums   map[int][]float64 // sum of the divided counts of each frame, by bin
	// factors are by what counts are multiplied in place of being divided, (static bin, frame), by bin.
	factors map[int][]float64
	light   *intensities // of the frames; nil: not wanted
	part    partial      // of the bin that GPUs work on
}

// span is a range of the pixels of a bin that are held at a time.
type span struct{ bin, from, to int }

// depth is the number of pixels whose products are summed before they are added to a map.
const depth = 2048

func newTwotime(m Movie, maps *Maps, s Settings) (*twotime, error) {
	bins, _ := maps.counts()
	t := &twotime{s: s, movie: m}
	want := s.Bins
	if want == nil {
		for b := 1; b <= bins; b++ {
			want = append(want, b)
		}
	}
	place := map[int]int{}
	for _, b := range want {
		if b < 1 || b > bins {
			return nil, fmt.Errorf("correlate: there is no dynamic bin %d in the map: %s", b, errtext.Choose(bins, "dynamic bin", 1, bins))
		}
		if _, ok := place[b]; ok {
			return nil, fmt.Errorf("correlate: bin %d is named twice: name each once", b)
		}
		place[b] = len(t.number)
		t.number = append(t.number, b)
	}
	t.bins = make([]bin, len(t.number))
	numbers := make([]map[int32]int, len(t.number))
	for i, d := range maps.Dynamic {
		k, ok := place[int(d)]
		if d == 0 || !ok {
			continue
		}
		of := maps.Static[i]
		switch s.Smooth {
		case "", "static":
		case "dynamic":
			of = 0
		default:
			return nil, fmt.Errorf("correlate: the smoothing %q is not known: want static or dynamic", s.Smooth)
		}
		b := &t.bins[k]
		if numbers[k] == nil {
			numbers[k] = map[int32]int{}
		}
		n, ok := numbers[k][of]
		if !ok {
			n = len(b.count)
			numbers[k][of] = n
			b.count = append(b.count, 0)
		}
		b.count[n]++
		b.pixels, b.static = append(b.pixels, i), append(b.static, n)
	}
	for k, b := range t.bins {
		if len(b.pixels) == 0 && s.Bins != nil {
			return nil, fmt.Errorf("correlate: dynamic bin %d has no pixels: leave it out", t.number[k])
		}
		t.runs = append(t.runs, b.runs())
	}
	return t, nil
}

// passes groups the pixels of all bins so that the frames of a group take at most most numbers.
func (t *twotime) passes(most int) [][]span {
	room := max(most/t.padded(), depth)
	var all [][]span
	left := 0
	for k, b := range t.bins {
		for from := 0; from < len(b.pixels); {
			if left == 0 {
				all, left = append(all, nil), room
			}
			n := min(left, len(b.pixels)-from)
			all[len(all)-1] = append(all[len(all)-1], span{k, from, from + n})
			from, left = from+n, left-n
		}
	}
	return all
}

// run correlates all bins.
func (t *twotime) run(ctx context.Context, each func(*Map) error) error {
	if !ad.OnProcessor(t.s.Backend) {
		if done, err := t.runOnGPUs(ctx, each); done || err != nil {
			return err
		}
	}
	if t.s.Precision == 64 {
		return runTwotime[float64](ctx, t, each)
	}
	return runTwotime[float32](ctx, t, each)
}

// runTwotime reads the movie once for each group.
func runTwotime[T real](ctx context.Context, t *twotime, each func(*Map) error) error {
	n := t.movie.Frames
	most := (t.s.MaxBytes - 16*int64(n)*int64(n)) / int64(unsafe.Sizeof(T(0)))
	passes := t.passes(int(min(max(most, 0), math.MaxInt32*4)))
	t.sums, t.levels, t.factors = map[int][]float64{}, map[int][]float64{}, map[int][]float64{}
	var c2 []float64
	var ages *ageSums
	m := newMultiplier[T](t)
	for i, pass := range passes {
		all, err := hold[T](ctx, t, pass, i == 0, func(done int) { t.s.Progress(i*n+done, len(passes)*n) })
		if err != nil {
			return err
		}
		for k := range all {
			h := &all[k]
			b := &t.bins[h.bin]
			if h.from == 0 {
				if c2 == nil { // the same memory for all bins
					c2 = make([]float64, n*n)
				}
				if ages = nil; t.s.Ages {
					ages = newAgeSums(n, b, t.levels[h.bin], t.s.threads())
				}
			}
			if err := m.add(ctx, c2, h, ages); err != nil {
				return err
			}
			if h.to == len(b.pixels) {
				if err := each(&Map{Bin: t.number[h.bin], Pixels: len(b.pixels), Frames: n, C2: c2, Ages: ages.done(c2)}); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Diagonals returns the mean along each diagonal of the map, starting from the main one: g2 at
// delays 0, 1, 2 ...
func (m *Map) Diagonals() []float64 { return diagonals(m.C2, m.Frames, 0, m.Frames) }

// Blocks returns the means along diagonals for n blocks along the main diagonal, each of Frames/n
// frames, which show how g2 changes with age.
func (m *Map) Blocks(n int) [][]float64 {
	size := m.Frames / n
	all := make([][]float64, n)
	for i := range all {
		all[i] = diagonals(m.C2, m.Frames, i*size, (i+1)*size)
	}
	return all
}

func diagonals(c2 []float64, n, from, to int) []float64 {
	g2 := make([]float64, to-from)
	for k := range g2 {
		for i := from; i+k < to; i++ {
			g2[k] += c2[i*n+i+k]
		}
		g2[k] /= float64(to - from - k)
	}
	return g2
}

// Age returns g2 at an age: for each delay in frames, the mean of C2(i, i+delay) over those whose
// middle (i + i+delay)/2, rounded down, is at most half frames from age. A delay without any such
// pair is NaN.
func (m *Map) Age(age, half int, delays []int) []float64 {
	g2 := make([]float64, len(delays))
	for k, d := range delays {
		sum, count := 0.0, 0
		for i := 0; i+d < m.Frames; i++ {
			if middle := (2*i + d) / 2; middle >= age-half && middle <= age+half {
				sum, count = sum+m.C2[i*m.Frames+i+d], count+1
			}
		}
		g2[k] = sum / float64(count)
	}
	return g2
}

// Half returns the upper triangle in float32 with zeros below, as result files hold it.
func (m *Map) Half() []float32 { return m.HalfTo(nil) }

// HalfTo does what Half does in the memory of dst if that is large enough, because maps of many
// frames are large.
func (m *Map) HalfTo(dst []float32) []float32 {
	half := slices.Grow(dst[:0], len(m.C2))[:len(m.C2)]
	for i := range m.Frames {
		clear(half[i*m.Frames:][:i])
		for j := i; j < m.Frames; j++ {
			half[i*m.Frames+j] = float32(m.C2[i*m.Frames+j])
		}
	}
	return half
}
