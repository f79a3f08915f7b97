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
)

// both is a backend of two GPUs.
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

// Multi-tau correlations on GPUs have the bits of the processor's for whole counts, dense, in every type of file and as events, with parts,
// covariances and errors, with sums of one GPU and of two, and when the movie is read several times.
func TestMultitauOnDevice(t *testing.T) {
	pretend.Shared(t)
	const n, h, w = 301, 30, 50
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
		equal(t, name+": g2", r.G2, want.G2)
		equal(t, name+": errors", r.Err, want.Err)
		equal(t, name+": covariances", r.Cov, want.Cov)
		equal(t, name+": SAXS", append(r.SAXSParts, r.SAXS, r.Trace, r.Image), append(want.SAXSParts, want.SAXS, want.Trace, want.Image))
		for i := range want.Parts {
			equal(t, name+": part", r.Parts[i].G2, want.Parts[i].G2)
		}
		if name == "pixels" {
			equal(t, name, got, images)
		}
	}
}

// Normalised frames, and other numbers of delays, agree with the processor within rounding.
func TestNormalizedOnDevice(t *testing.T) {
	pretend.Shared(t)
	const n, h, w = 150, 12, 20
	data, maps := random(5, n, h, w, 1.5)
	for precision, tolerance := range map[int]float64{64: 1e-12, 32: 2e-6} {
		for _, per := range []int{1, 3, 4} {
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
	pretend.Shared(t)
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
	lib := pretend.Shared(t)
	lib.Libraries(t)
	lib.Set("devices", 3)
	third := ad.CUDA{Device: 2} // which no test opened before
	if d, err := ad.DeviceFor(third, ad.Need{}); err != nil || !d.Libraries().HasBLAS() {
		t.Fatalf("no cuBLAS: %v", err)
	}
	const n, h, w = 150, 12, 20
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
		for range 2 {
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
