// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"context"
	"math"
	"math/rand/v2"
	"runtime"
	"testing"
	"unsafe"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/ndimage"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/kernels"
	"github.com/euryale-dev/euryale/models/g2"
	"github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
	"github.com/euryale-dev/euryale/sim/xpcs/partition"
)

// raceFrame writes counts below levels that look random, as frame of scripts/peers/xpcs.py.
func raceFrame(dst []float32, f int, levels uint32) {
	for p := range dst {
		h := uint32(uint64(p)*2654435761 + uint64(f)*40503)
		h ^= h >> 15
		h *= 2246822519
		h ^= h >> 13
		dst[p] = float32(h % levels)
	}
}

func raceGeometry(side int) xpcs.Geometry {
	return xpcs.Geometry{Height: side, Width: side, CenterRow: 0.47 * float64(side), CenterCol: 0.52 * float64(side), PixelSize: 75e-6, Distance: 5, Energy: 10}
}

func mean(v []float64) float64 {
	return kernels.Reduce64(kernels.Best(), "sum")(unsafe.SliceData(v), len(v)) / float64(len(v)) // in vectors, as NumPy
}

func backend() ad.Backend { return ad.CPU{Threads: runtime.GOMAXPROCS(0)} }

func BenchmarkPeerQMap(b *testing.B) {
	const side = 2048
	g := raceGeometry(side)
	m, err := xpcs.NewMapper(g, ad.Settings{Backend: backend()}, "q", "phi")
	if err != nil {
		b.Fatal(err)
	}
	peer.Race{
		Name: "q and azimuth of 2048 x 2048 pixels", Tol: 1e-9,
		Ours: func() (peer.Done, error) {
			q, err := m.Map(g)
			if err != nil {
				return peer.Done{}, err
			}
			return peer.Done{Check: mean(q.Values[0]) + mean(q.Values[1])}, nil
		},
		Peers: []peer.Rival{{Name: "NumPy", Script: "xpcs.py", Args: []string{"qmap"}, Input: map[string]any{"side": side}}},
		Bytes: 2 * 8 * side * side,
	}.Run(b)
}

func BenchmarkPeerPartition(b *testing.B) {
	const side = 1024
	m, err := raceGeometry(side).QMap("q", "phi")
	if err != nil {
		b.Fatal(err)
	}
	mask := make([]bool, side*side)
	for i := range mask {
		mask[i] = true
	}
	q, phi := partition.Axis{Name: "q", Values: m.Values[0]}, partition.Axis{Name: "phi", Values: m.Values[1]}
	peer.Race{
		Name: "partition of 1024 x 1024 pixels, 36 x 36 and 360 x 360 bins", Tol: 1e-9,
		Ours: func() (peer.Done, error) {
			p, err := partition.New(q, phi, mask, partition.Settings{Dynamic: [2]int{36, 36}, Static: [2]int{360, 360}})
			if err != nil {
				return peer.Done{}, err
			}
			sum := 0.0
			for i := range p.Mask {
				sum += float64(p.Dynamic.Of[i]) + float64(p.Static.Of[i])
			}
			return peer.Done{Check: sum / side / side}, nil
		},
		Peers: []peer.Rival{{Name: "NumPy", Script: "xpcs.py", Args: []string{"partition"}, Input: map[string]any{"side": side}}},
		Bytes: side * side * (16 + 8),
	}.Run(b)
}

func BenchmarkPeerGaussian(b *testing.B) {
	const side, sigma = 2048, 2.0
	x := ad.Input("x", side, side)
	p, err := ad.Compile([]*ad.Node{ndimage.Gaussian(x, ndimage.GaussianSettings{Sigma: []float64{sigma}})}, ad.Settings{Backend: backend()})
	if err != nil {
		b.Fatal(err)
	}
	st := p.NewState()
	image := make([]float32, side*side)
	raceFrame(image, 0, 1013)
	for i, v := range image {
		st.Input(0)[i] = float64(v)
	}
	peer.Race{
		Name: "Gaussian filter of 2048 x 2048 pixels, sigma 2", Tol: 1e-9,
		Ours: func() (peer.Done, error) {
			if err := st.Run(); err != nil {
				return peer.Done{}, err
			}
			sum := 0.0
			for _, v := range st.OutputFloat64(0) {
				sum += v * v
			}
			return peer.Done{Check: sum / side / side}, nil
		},
		Peers: []peer.Rival{{Name: "SciPy", Script: "xpcs.py", Args: []string{"gaussian"}, Input: map[string]any{"side": side, "sigma": sigma}}},
		Bytes: 2 * 8 * side * side,
	}.Run(b)
}

// raceMaps divide a detector into 36 dynamic and 360 static bins, one after another in memory.
func raceMaps(side int) correlate.Maps {
	maps := correlate.Maps{Height: side, Width: side, Dynamic: make([]int32, side*side), Static: make([]int32, side*side)}
	for i := range maps.Dynamic {
		maps.Dynamic[i], maps.Static[i] = int32(1+i*36/len(maps.Dynamic)), int32(1+i*360/len(maps.Dynamic))
	}
	return maps
}

func raceMultitau(b *testing.B, name, what string, m correlate.Movie, bytes float64, peers ...string) {
	var rivals []peer.Rival
	frames := min(m.Frames, 256)
	if m.Sparse != nil {
		frames = 64 // peers take as long for each as for a dense one
	}
	for _, p := range peers {
		rivals = append(rivals, peer.Rival{Name: map[string]string{"numpy": "NumPy", "torch": "PyTorch"}[p], Script: "xpcs.py", Args: []string{what, p}, Input: map[string]any{"side": m.Height, "frames": frames}})
	}
	peer.Race{
		Name: name, Unit: "frame", Tol: 2e-3, // movies of different lengths, and the peer's sums of float32
		Ours: func() (peer.Done, error) {
			r, err := correlate.Multitau(context.Background(), m, raceMaps(m.Height), correlate.Settings{Threads: runtime.GOMAXPROCS(0)})
			if err != nil {
				return peer.Done{}, err
			}
			sum := 0.0
			for _, row := range r.G2 {
				sum += mean(row)
			}
			check := sum / float64(len(r.G2))
			if m.Frames > frames {
				check = math.NaN()
			}
			return peer.Done{Units: float64(m.Frames), Check: check}, nil
		},
		Peers: rivals, Bytes: bytes,
	}.Run(b)
}

func BenchmarkPeerMultitauDense(b *testing.B) {
	const side = 1024
	pool := make([]float32, 16*side*side)
	for f := range 16 {
		raceFrame(pool[f*side*side:][:side*side], f, 5)
	}
	m := correlate.Movie{Frames: 256, Height: side, Width: side, Dense: func(first int, dst []float32) error {
		for len(dst) > 0 {
			n := copy(dst, pool[first%16*side*side:])
			dst, first = dst[n:], first+n/side/side
		}
		return nil
	}}
	raceMultitau(b, "multi-tau, dense frames of 1 Mpx", "multitau", m, 4*side*side, "numpy", "torch")
}

func BenchmarkPeerMultitauSparse(b *testing.B) {
	const side = 1024
	var pool [16]correlate.Events
	frame := make([]float32, side*side)
	for f := range pool {
		raceFrame(frame, f, 1000)
		pool[f].Reset()
		for p, v := range frame {
			if v == 0 {
				pool[f].Pixel, pool[f].Count = append(pool[f].Pixel, uint32(p)), append(pool[f].Count, 1)
			}
		}
		pool[f].End()
	}
	m := correlate.Movie{Frames: 8192, Height: side, Width: side, Sparse: func(first, n int, dst *correlate.Events) error {
		dst.Reset()
		for f := first; f < first+n; f++ {
			dst.Pixel, dst.Count = append(dst.Pixel, pool[f%16].Pixel...), append(dst.Count, pool[f%16].Count...)
			dst.End()
		}
		return nil
	}}
	raceMultitau(b, "multi-tau, events of 0.1 % of 1 Mpx", "sparse", m, 8e-3*side*side, "numpy", "torch")
}

func BenchmarkPeerTwotime(b *testing.B) {
	const frames, pixels = 1000, 2000
	data := make([]float32, frames*pixels)
	for f := range frames {
		raceFrame(data[f*pixels:][:pixels], f, 5)
	}
	maps := correlate.Maps{Height: 40, Width: 50, Dynamic: make([]int32, pixels)}
	for i := range maps.Dynamic {
		maps.Dynamic[i] = 1
	}
	movie := correlate.FromArray(data, frames, 40, 50)
	peer.Race{
		Name: "two-time correlation, 1000 frames of 2000 pixels", Tol: 1e-5,
		Ours: func() (peer.Done, error) {
			check := 0.0
			err := correlate.Twotime(context.Background(), movie, maps, correlate.Settings{Threads: runtime.GOMAXPROCS(0)}, func(m *correlate.Map) error {
				check = mean(m.C2)
				return nil
			})
			return peer.Done{Check: check}, err
		},
		Peers: []peer.Rival{{Name: "NumPy", Script: "xpcs.py", Args: []string{"twotime"}, Input: map[string]any{"frames": frames, "pixels": pixels}}},
		Bytes: 4*frames*pixels + 8*frames*frames, Flops: frames * frames * pixels, Single: true,
	}.Run(b)
}

func BenchmarkPeerG2Fits(b *testing.B) {
	const bins = 2000
	model, err := g2.ByName("aps_single")
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(2, 3))
	var curves []g2.Curve
	var t, sd []float64
	for _, d := range correlate.Delays(20000, 4) {
		t, sd = append(t, float64(d.Frames)*1e-3), append(sd, 2e-3)
	}
	var rows [][]float64
	for i := range bins {
		y := make([]float64, len(t))
		for k, x := range t {
			y[k] = 1 + 0.2*math.Exp(-2*x/(0.02+0.2*float64(i)/bins)) + sd[k]*rng.NormFloat64()
		}
		curves = append(curves, g2.Curve{Bin: i + 1, Q: math.NaN(), Phi: math.NaN(), X: t, Y: y, Err: sd})
		if i%20 == 0 {
			rows = append(rows, y)
		}
	}
	peer.Race{
		Name: "fit of g2 with four parameters and bounds", Unit: "fit", Tol: 1e-3,
		Ours: func() (peer.Done, error) {
			fits, err := g2.FitAll(context.Background(), model, curves, g2.Settings{Threads: runtime.GOMAXPROCS(0)})
			if err != nil {
				return peer.Done{}, err
			}
			sum := 0.0
			for i := 0; i < bins; i += 20 {
				sum += fits[i].X[1]
			}
			return peer.Done{Units: bins, Check: sum / bins * 20}, nil
		},
		Peers: []peer.Rival{{Name: "SciPy", Script: "xpcs.py", Args: []string{"fits"}, Input: map[string]any{"t": t, "rows": rows, "sd": sd}}},
	}.Run(b)
}
