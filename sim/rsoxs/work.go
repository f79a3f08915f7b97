// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/roofline"
)

// sumsWork declares the launches that find the sums over slices of a morphology on a device, whose arrays have so many bytes and trigonometric
// functions a voxel, without a window, in slabs of some slices.
func sumsWork(s *Simulator, fields, slices, bytes, functions int) (list []roofline.Launch, err error) {
	const in, corner, slab, tables, sums = 1 << 20, 1<<20 + 1, 1<<20 + 2, 1<<20 + 3, 1<<20 + 4 // arrays that are not the program's
	depth, pixels, pairs, real := s.shape[0], s.shape[1]*s.shape[2], (fields+1)/2, s.cfg.Precision/8
	size := float64(s.layout.size)
	x := ad.Input("slices", slices*pairs, s.shape[1], s.shape[2], 2)
	transform, err := ad.Launches([]*ad.Node{ad.FFT(x, ad.NormBackward, 1, 2)}, ad.Settings{Precision: s.cfg.Precision, Backend: ad.CUDA{OwnKernels: true}})
	if err != nil {
		return nil, err
	}
	float := func(w *roofline.Work, n float64) {
		if real == 8 {
			w.Float64 += n
		} else {
			w.Float32 += n
		}
	}
	for z := 0; z < depth; z += slices {
		n := min(slices, depth-z)
		voxels := float64(n * pixels)
		corners := roofline.Stream("corners", (n+127)/128, 128, roofline.Array{ID: in, Bytes: 32 * float64(n)}, roofline.Array{ID: corner, Bytes: float64(real * fields * n), Write: true})
		corners.Work.Trips, corners.Work.Serial = 3, 400
		pairBytes := 2 * float64(real*pairs) * voxels
		fill := roofline.Stream("fill", (pixels+127)/128*n, 128, roofline.Array{ID: in, Bytes: float64(bytes) * voxels}, roofline.Array{ID: slab, Bytes: pairBytes, Write: true})
		fill.Work.Integers, fill.Work.Accesses, fill.Work.Trips = 40*voxels, voxels*float64(bytes/real+pairs+fields), 2
		float(&fill.Work, voxels*float64(fields*2+10+functions*25)) // sine and cosine with a reduction of the angle
		gather := roofline.Stream("gather_sums", (int(size)+127)/128*pairs, 128, roofline.Array{ID: slab + 10, Bytes: pairBytes}, roofline.Array{ID: tables, Bytes: 8 * size},
			roofline.Array{ID: sums, Bytes: 4 * float64(fields*real) * size}, roofline.Array{ID: sums, Bytes: 4 * float64(fields*real) * size, Write: true})
		w := &gather.Work
		each := size * float64(pairs*n)
		w.Sectors = 2*each*float64(2*real)/32 + size*float64(pairs)*8/32 + 8*float64(fields*real)*size/32
		w.Integers, w.Accesses = each*25, each*6+size*float64(pairs*18)
		float(w, each*14)
		w.Float64 += 2 * each // conversions of the tables of cosines and sines
		w.Trips = float64(n) + 2
		list = append(append(append(list, corners, fill), transform...), gather)
	}
	return list, nil
}

// sumsFigure is the figure of the sums of the film that TestGPUSpeedScattering has.
func sumsFigure(name string, measured float64, cfg Config, note string) roofline.Figure {
	return roofline.Figure{Name: name, Measured: measured, Note: note, Do: func() ([]roofline.Launch, error) {
		cfg.Precision, cfg.RotMask, cfg.Energies = 32, true, []float64{270}
		s, err := New([3]int{32, 512, 512}, 2.5, cfg)
		if err != nil {
			return nil, err
		}
		const fields = 9
		slices := max(slabBytes, slabSums*4*fields*s.layout.size*4) / (5 * 8 * 512 * 512)
		count := (32 + slices - 1) / slices
		return sumsWork(s, fields, (32+count-1)/count, 24, 2)
	}}
}

func init() {
	const film = "scattering, 32 x 512 x 512, 1 energy: "
	const voxels = 32 * 512 * 512
	uncounted := "The kernels of detectors and their derivatives have no declared work yet; this is the bus alone."
	roofline.Register(
		sumsFigure(film+"sums over slices", 1.34e-3, Config{}, "cuFFT, which the model does not know, probably made the transforms that were measured, and the model has our own; the agreement proves little."),
		roofline.Figure{Name: film + "images from the sums, fetched", Measured: 0.60e-3, Pages: 8 * 512 * 512, Waits: 1, Note: uncounted},
		roofline.Figure{Name: film + "derivatives by all arrays, fetched", Measured: 15.5e-3, Pages: 24 * voxels, Waits: 1, Note: uncounted},
		roofline.Figure{Name: "scattering: the morphology from the host, with the sums", Measured: 13.5e-3, Sent: 24 * voxels, Waits: 1,
			Note: "The arrays come from ordinary memory, array by array, and the host prepares what it sends; only the bus and the sums' 1.3 ms are known."})
}
