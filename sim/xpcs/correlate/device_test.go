// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// both is a backend of two GPUs; on a machine with one it stands for it twice.
var both = ad.Several{{}, {Device: 1}}

// inType is a movie whose frames are read in a type of files.
func inType(name string, data []float32, frames, height, width int) Movie {
	raw := &Raw{Type: name, Marks: true}
	size := height * width
	raw.Read = func(first int, dst []byte) error {
		for i := range len(dst) / raw.size() {
			switch v := data[first*size+i]; name {
			case "uint8":
				dst[i] = byte(v)
			case "uint16":
				binary.LittleEndian.PutUint16(dst[2*i:], uint16(v))
			case "uint32":
				binary.LittleEndian.PutUint32(dst[4*i:], uint32(v))
			default:
				binary.LittleEndian.PutUint32(dst[4*i:], math.Float32bits(v))
			}
		}
		return nil
	}
	return Movie{Frames: frames, Height: height, Width: width, Raw: raw}
}

// Multi-tau correlations on GPUs have the processor's sums for whole counts, to the last bit, and its g2 within rounding: dense, in every type of file and as events, with parts,
// covariances and errors, with sums of one GPU and of two, and when the movie is read several times.
func TestMultitauOnDevice(t *testing.T) {
	emulated(t)
	const n, h, w = 201, 20, 30
	data, maps := random(3, n, h, w, 0.4)
	m := FromArray(data, n, h, w)
	var images [][]float64
	keep := func(to *[][]float64) func(int, []float64, []float64, []float64) error {
		return func(_ int, a, b, c []float64) error {
			*to = append(*to, slices.Clone(a), slices.Clone(b), slices.Clone(c))
			return nil
		}
	}
	s := Settings{levels: -1, Covariance: true, Parts: 3, PerPixel: keep(&images)}
	want, err := Multitau(context.Background(), m, maps, s)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		m Movie
		b ad.Backend
		s Settings
	}{
		"float32": {m: m}, "uint8": {m: inType("uint8", data, n, h, w)}, "uint16": {m: inType("uint16", data, n, h, w)}, "uint32": {m: inType("uint32", data, n, h, w)},
		"raw float32": {m: inType("float32", data, n, h, w)}, "events": {m: eventsOf(m)}, "64 bits": {m: m, s: Settings{Precision: 64}},
		"two": {m: m, b: both}, "readings": {m: m, s: Settings{MaxBytes: 1}}, "pixels": {m: m, s: Settings{Threads: 2}},
	} {
		c.s.Covariance, c.s.Parts, c.s.Backend = true, 3, ad.CUDA{}
		if c.b != nil {
			c.s.Backend, c.s.MaxBytes = c.b, 1
		}
		var got [][]float64
		if name == "pixels" {
			c.s.PerPixel = keep(&got)
		}
		r, err := Multitau(context.Background(), c.m, maps, c.s)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r.Sparse != 0 || r.Passes != 1 {
			t.Errorf("%s: %d levels of events, %d readings", name, r.Sparse, r.Passes)
		}
		near(t, name+": g2", r.G2, want.G2, 1e-12)
		near(t, name+": errors", r.Err, want.Err, 1e-12)
		equal(t, name+": covariances", r.Cov, want.Cov)
		equal(t, name+": SAXS", append(r.SAXSParts, r.SAXS, r.Trace, r.Image), append(want.SAXSParts, want.SAXS, want.Trace, want.Image))
		for i := range want.Parts {
			near(t, name+": part", r.Parts[i].G2, want.Parts[i].G2, 1e-12)
			near(t, name+": errors of a part", r.Parts[i].Err, want.Parts[i].Err, 1e-12)
		}
		if name == "pixels" {
			equal(t, name, got, images)
		}
	}
}

// Normalised frames, and other numbers of delays, agree with the processor within rounding.
func TestNormalizedOnDevice(t *testing.T) {
	emulated(t)
	const n, h, w = 101, 12, 20
	data, maps := random(5, n, h, w, 1.5)
	for precision, tolerance := range map[int]float64{64: 1e-12, 32: 2e-6} {
		for _, per := range []int{1, 4} {
			s := Settings{Normalize: true, Precision: precision, PerLevel: per, levels: -1}
			want, err := Multitau(context.Background(), FromArray(data, n, h, w), maps, s)
			if err != nil {
				t.Fatal(err)
			}
			s.Backend = ad.CUDA{}
			for range 2 {
				got, err := Multitau(context.Background(), inType("uint16", data, n, h, w), maps, s)
				if err != nil {
					t.Fatal(err)
				}
				near(t, fmt.Sprintf("float%d, %d delays a level", precision, per), got.G2, want.G2, tolerance)
				near(t, "SAXS", [][]float64{got.SAXS, got.Trace, got.Image}, [][]float64{want.SAXS, want.Trace, want.Image}, tolerance)
			}
		}
	}
}

func near(t *testing.T, what string, got, want [][]float64, tolerance float64) {
	t.Helper()
	for i := range want {
		for j, w := range want[i] {
			if g := got[i][j]; !(math.Abs(g-w) <= tolerance*max(1, math.Abs(w))) && !(math.IsNaN(g) && math.IsNaN(w)) {
				t.Errorf("%s (%d, %d): %v, want %v", what, i, j, g, w)
				return
			}
		}
	}
}

// Frames with pixels that are not numbers, or marked as such, are told with their place.
func TestBadFramesOnDevice(t *testing.T) {
	emulated(t)
	data, maps := random(7, 90, 6, 8, 0.5)
	maps.Static[47], maps.Dynamic[47] = 1, 1
	marked := slices.Clone(data)
	data[70*48+47], marked[70*48+47] = float32(math.Inf(1)), 255
	for _, m := range []Movie{FromArray(data, 90, 6, 8), inType("uint8", marked, 90, 6, 8), eventsOf(FromArray(data, 90, 6, 8))} {
		_, err := Multitau(context.Background(), m, maps, Settings{Backend: ad.CUDA{}})
		var bad *FrameError
		if !errors.As(err, &bad) || bad.Frame != 70 || bad.Row != 5 || bad.Col != 7 || bad.Pixels != 1 {
			t.Errorf("got %v", err)
		}
	}
}

// Two-time correlations on GPUs are the processor's, with what errors at ages need and intensities, for dense frames and events, on one
// GPU and on two, with cuBLAS and without, and have the same bits in every run.
func TestTwotimeOnDevice(t *testing.T) {
	emulated(t)
	third := ad.CUDA{}
	if !realGPU {
		lib := pretend.Shared(t)
		lib.Libraries(t)
		lib.Set("devices", 3)
		third.Device = 2 // which no test opened before
		if d, err := ad.DeviceFor(third, ad.Need{}); err != nil || !d.Libraries().HasBLAS() {
			t.Fatalf("no cuBLAS: %v", err)
		}
	}
	const n, h, w = 90, 12, 20
	data, maps := random(13, n, h, w, 0.7)
	clear(data[5*h*w : 6*h*w])
	m := FromArray(data, n, h, w)
	for name, c := range map[string]struct {
		m         Movie
		s         Settings
		tolerance float64
	}{
		"float64": {m, Settings{Precision: 64}, 1e-12}, "float32": {m, Settings{}, 2e-6}, "dynamic": {m, Settings{Precision: 64, Smooth: "dynamic", Bins: []int{3, 1}}, 1e-12},
		"events": {eventsOf(m), Settings{Precision: 64}, 1e-12}, "uint16": {inType("uint16", data, n, h, w), Settings{Precision: 64}, 1e-12},
		"two": {m, Settings{Precision: 64, Backend: both}, 1e-12}, "cuBLAS": {m, Settings{Precision: 64, Backend: third}, 1e-12}, "cuBLAS float32": {m, Settings{Backend: third}, 2e-6},
	} {
		host := c.s
		host.Backend, host.Ages, host.Parts = nil, true, 4
		var light, lit *Result
		host.Intensities = func(r *Result) { light = r }
		want := twotimes(t, m, maps, host)
		host.Intensities = func(r *Result) { lit = r }
		if host.Backend = c.s.Backend; host.Backend == nil {
			host.Backend = ad.CUDA{}
		}
		var order []int
		var before map[int]*Map
		for range 1 + len(name)%2 { // some of them twice
			got := map[int]*Map{}
			err := Twotime(context.Background(), c.m, maps, host, func(c *Map) error {
				order = append(order, c.Bin)
				got[c.Bin] = &Map{c.Bin, c.Pixels, c.Frames, slices.Clone(c.C2), c.Ages}
				return nil
			})
			if err != nil || len(got) != len(want) {
				t.Fatalf("%s: %d maps of %d: %v", name, len(got), len(want), err)
			}
			for bin, w := range want {
				near(t, fmt.Sprintf("%s, bin %d", name, bin), [][]float64{got[bin].C2}, [][]float64{w.C2}, c.tolerance)
				nearAges(t, fmt.Sprintf("%s, bin %d", name, bin), got[bin].Ages, w.Ages)
				if before != nil && !slices.Equal(before[bin].C2, got[bin].C2) {
					t.Errorf("%s: bin %d has other bits in the second run", name, bin)
				}
			}
			before = got
		}
		if c.s.Bins != nil && !slices.Equal(order[:2], c.s.Bins) {
			t.Errorf("%s: bins in the order %v", name, order)
		}
		equal(t, name+": intensities", append(lit.SAXSParts, lit.SAXS, lit.Trace, lit.Image), append(light.SAXSParts, light.SAXS, light.Trace, light.Image))
		if lit.Empty != light.Empty {
			t.Errorf("%s: %d frames are empty, want %d", name, lit.Empty, light.Empty)
		}
	}
	data[70*h*w+17] = float32(math.NaN())
	maps.Static[17], maps.Dynamic[17] = 1, 1
	var bad *FrameError
	if err := Twotime(context.Background(), m, maps, Settings{Backend: ad.CUDA{}}, nil); !errors.As(err, &bad) || bad.Frame != 70 || bad.Col != 17 {
		t.Errorf("got %v", err)
	}
}

func nearAges(t *testing.T, what string, got, want *Ages) {
	t.Helper()
	if got == nil && want == nil {
		return
	}
	most := 0.0
	for _, v := range want.Values {
		most = max(most, math.Abs(float64(v)))
	}
	for i, v := range want.Values {
		if d := math.Abs(float64(got.Values[i] - v)); !(d <= 1e-4*most) {
			t.Errorf("%s: value %d of ages is %g, want %g", what, i, got.Values[i], v)
			return
		}
	}
	if math.Abs(got.Wider/want.Wider-1) > 1e-4 {
		t.Errorf("%s: wider by %g, want %g", what, got.Wider, want.Wider)
	}
}

// fresh is a GPU with some memory that no other test has opened.
func fresh(t *testing.T, ordinal, memory int) (ad.CUDA, *cuda.Device, *pretend.Library) {
	t.Helper()
	lib := pretend.Shared(t)
	lib.Set("devices", ordinal+1)
	lib.Set("memory", memory)
	defer lib.Set("memory", 1<<30)
	d, err := ad.DeviceFor(ad.CUDA{Device: ordinal}, ad.Need{})
	if err != nil {
		t.Fatal(err)
	}
	return ad.CUDA{Device: ordinal}, d, lib
}

// A movie crosses the bus once, in the type of its file; sums come back at the end.
func TestTrafficOfCorrelations(t *testing.T) {
	emulated(t)
	const n, h, w = 250, 20, 40
	data, maps := random(3, n, h, w, 0.4)
	d, err := ad.DeviceFor(ad.CUDA{}, ad.Need{})
	if err != nil {
		t.Fatal(err)
	}
	const movie = 2 * n * h * w
	for _, s := range []Settings{{Backend: ad.CUDA{}}, {Backend: ad.CUDA{}, Parts: 2, MaxBytes: 1}} {
		d.ResetPeak()
		if _, err := Multitau(context.Background(), inType("uint16", data, n, h, w), maps, s); err != nil {
			t.Fatal(err)
		}
		st := d.Stats()
		bins := 1
		if s.MaxBytes == 1 { // each of them by itself, in whole tiles
			bins = 3
		}
		sums := perPixel(Delays(n, 4), 0, s.defaults())*tile*bins*(s.Parts+1) + 16*h*w
		t.Logf("multi-tau, %d parts: %d B of frames, %d B sent, %d B fetched, %d copies", s.Parts, movie, st.Sent, st.Fetched, st.Copies)
		if st.Sent > movie+64<<10 || int(st.Fetched) > sums {
			t.Errorf("multi-tau: %d B sent and %d fetched, want about %d and at most %d", st.Sent, st.Fetched, movie, sums)
		}
	}
	d.ResetPeak()
	if err := Twotime(context.Background(), inType("uint16", data, n, h, w), maps, Settings{Backend: ad.CUDA{}}, func(*Map) error { return nil }); err != nil {
		t.Fatal(err)
	}
	st := d.Stats()
	t.Logf("two-time: %d B sent, %d B fetched for maps of %d B", st.Sent, st.Fetched, 3*8*n*n)
	if st.Sent > movie+64<<10 || st.Fetched > 3*8*n*n+64<<10 {
		t.Errorf("two-time: %d B sent and %d fetched, want about %d and %d", st.Sent, st.Fetched, movie, 3*8*n*n)
	}
}

// errStop ends a movie that is only counted.
var errStop = errors.New("the last frame")

// long is a movie of many frames in 16 bits that are all 0, and maps of 36 bins.
func long(frames, side int, stop bool) (Movie, Maps) {
	maps := Maps{Height: side, Width: side, Dynamic: make([]int32, side*side), Static: make([]int32, side*side)}
	for i := range maps.Dynamic {
		maps.Static[i] = int32(1 + i*360/len(maps.Static))
		maps.Dynamic[i] = (maps.Static[i]-1)/10 + 1
	}
	raw := &Raw{Type: "uint16", Read: func(first int, dst []byte) error {
		if stop && first+len(dst)/(2*side*side) == frames {
			return errStop
		}
		return nil
	}}
	return Movie{Frames: frames, Height: side, Width: side, Raw: raw}, maps
}

// Peak memory on a GPU of 141 GB, by the allocator's count: it does not grow with the number of frames of a multi-tau correlation, and stays below four
// fifths of a small GPU, on which the movie is read several times or in smaller blocks.
func TestMemoryOfCorrelations(t *testing.T) {
	tier.SlowOnly(t)
	large, d, lib := fresh(t, 3, 141e9)
	lib.Set("count", 1)
	defer lib.Set("count", 0)
	run := func(b ad.CUDA, d *cuda.Device, frames, side int) uint64 {
		m, maps := long(frames, side, true)
		d.ResetPeak()
		if _, err := Multitau(context.Background(), m, maps, Settings{Backend: b}); !errors.Is(err, errStop) {
			t.Fatal(err)
		}
		return d.Stats().PeakActive
	}
	peak := run(large, d, 100000, 1000)
	t.Logf("multi-tau, 1e5 frames of 1 Mpx: %.3g GB", float64(peak)/1e9)
	if peak > 4e9 {
		t.Errorf("%d B", peak)
	}
	small, sd, _ := fresh(t, 4, 1e9)
	lib.Set("count", 1)
	if peak := run(small, sd, 3000, 1000); peak > 0.8e9 {
		t.Errorf("%d B of a GPU of 1 GB", peak)
	} else {
		t.Logf("multi-tau, 3000 frames of 1 Mpx on 1 GB: %.3g GB", float64(peak)/1e9)
	}
	m, maps := long(3000, 1000, true)
	d.ResetPeak()
	if err := Twotime(context.Background(), m, maps, Settings{Backend: large}, nil); !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	t.Logf("two-time, 3000 frames of 1 Mpx: %.3g GB", float64(d.Stats().PeakActive)/1e9)
	if d.Stats().PeakActive > 16e9 {
		t.Errorf("%d B", d.Stats().PeakActive)
	}
	tiny, _, _ := fresh(t, 5, 40e6)
	var room *cuda.RoomError
	_, err := Multitau(context.Background(), m, maps, Settings{Backend: tiny})
	if !errors.As(err, &room) || !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Errorf("on 40 MB: %v", err)
	}
	t.Log(err)
	if err = Twotime(context.Background(), m, maps, Settings{Backend: tiny}, nil); !errors.As(err, &room) {
		t.Errorf("on 40 MB: %v", err)
	}
	t.Log(err)
}

// A GPU with little memory reads the movie several times, with the same bits, and where memory runs out in the middle the error has
// the numbers and the GPU goes on.
func TestShortMemoryOfCorrelations(t *testing.T) {
	tier.SlowOnly(t)
	small, d, lib := fresh(t, 6, 8e6)
	const n, h, w = 130, 60, 100
	data, maps := random(3, n, h, w, 0.4)
	m := FromArray(data, n, h, w)
	want, err := Multitau(context.Background(), m, maps, Settings{levels: -1})
	if err != nil {
		t.Fatal(err)
	}
	for _, after := range []int{3, 20, -1} {
		if after >= 0 {
			lib.Fail("cuMemAlloc_v2", after, 1000, int32(drv.OutOfMemory))
		}
		got, err := Multitau(context.Background(), m, maps, Settings{Backend: small})
		lib.Fail("cuMemAlloc_v2", 0, 0, 0)
		var short *cuda.OutOfMemoryError
		switch {
		case after >= 0 && err != nil:
			if !errors.As(err, &short) || short.Requested == 0 {
				t.Errorf("after %d allocations: %v", after, err)
			}
		case err != nil:
			t.Fatal(err)
		default:
			near(t, "g2", got.G2, want.G2, 1e-12)
			if after < 0 && got.Passes < 2 {
				t.Errorf("%d readings", got.Passes)
			}
		}
	}
	if used := d.Stats().Active; used > 1<<20 {
		t.Errorf("%d B stay in use", used)
	}
	maps2 := twotimes(t, m, maps, Settings{Precision: 64, Ages: true})
	tiny, _, _ := fresh(t, 7, 66e5)
	read := 0
	got := twotimes(t, m, maps, Settings{Precision: 64, Ages: true, Backend: tiny, Progress: func(_, all int) { read = all }})
	if read <= len(want.Bins)*n {
		t.Errorf("%d frames were read, want bins in several parts", read)
	}
	for bin, w := range maps2 {
		near(t, "maps in parts", [][]float64{got[bin].C2}, [][]float64{w.C2}, 1e-12)
		nearAges(t, "ages in parts", got[bin].Ages, w.Ages)
	}
}

// Auto takes a GPU for movies that are worth it and says so; a GPU that is not there is an error that names it.
func TestChoicesOfCorrelations(t *testing.T) {
	pretend.Shared(t)
	data, maps := random(3, 60, 8, 12, 0.4)
	m := FromArray(data, 60, 8, 12)
	for least, want := range map[int]string{0: "cpu", -1: "cuda:0"} {
		var told []string
		b := ad.Auto{Least: least, Chosen: func(c ad.Choice) { told = append(told, c.Device) }}
		if _, err := Multitau(context.Background(), m, maps, Settings{Backend: b}); err != nil {
			t.Fatal(err)
		}
		if err := Twotime(context.Background(), m, maps, Settings{Backend: b}, func(*Map) error { return nil }); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(told, []string{want, want}) {
			t.Errorf("with %d bytes: %v", least, told)
		}
	}
	var none *cuda.Error
	if _, err := Multitau(context.Background(), m, maps, Settings{Backend: ad.CUDA{Device: 99}}); err == nil || !ad.IsDeviceFault(err) || errors.As(err, &none) {
		t.Errorf("GPU 99: %v", err)
	}
}
