// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"context"
	"math"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/internal/roofline"
	"github.com/euryale-dev/euryale/internal/tier"
)

// The work that is declared of a block of frames is what its kernels do on the emulated device: two movies differ by
// one block in their middle.
func TestWorkOfCorrelationsIsDone(t *testing.T) {
	tier.SlowOnly(t)
	const h, w = 16, 40
	lib := pretend.Shared(t)
	lib.Set("capability", 89) // for which no other test compiles, so that kernels are compiled now, to be traced
	lib.Set("trace", 1)
	defer lib.Set("trace", 0)
	b, _, _ := fresh(t, 6, 1<<30)
	lib.Set("capability", 90)
	s := Settings{Backend: b, PerLevel: 2}
	data, maps := random(3, 324, h, w, 0.4)
	counts := func(run func(n int) error) (touched, sectors float64) {
		var at [2][2]float64
		for i, n := range []int{260, 324} {
			lib.Set("trace", 1) // from here on
			if err := run(n); err != nil {
				t.Fatal(err)
			}
			at[i] = [2]float64{float64(lib.Get("touched")), float64(lib.Get("sectors"))}
			t.Logf("%d frames: %v", n, at[i])

		}
		return at[1][0] - at[0][0], at[1][1] - at[0][1]
	}
	compare := func(name string, list []roofline.Launch, touched, sectors float64) {
		bytes, asked := 0.0, 0.0
		for _, l := range list {
			bytes, asked = bytes+l.Work.Bytes(), asked+l.Work.Sectors
		}
		t.Logf("%s: %.0f bytes touched, %.0f declared; %.0f sectors, %.0f declared", name, touched, bytes, sectors, asked)
		if math.Abs(bytes/touched-1) > 0.15 || math.Abs(asked/sectors-1) > 0.3 {
			t.Errorf("%s: launches touch %.0f bytes in %.0f sectors, %.0f and %.0f are declared", name, touched, sectors, bytes, asked)
		}
	}
	all := s.defaults()
	levels := Delays(324, all.PerLevel)
	pixels := 0
	for _, p := range maps.parts(1 << 30) {
		pixels += tiled(len(p.pixels))
	}
	touched, sectors := counts(func(n int) error {
		_, err := Multitau(context.Background(), inType("uint16", data[:n*h*w], n, h, w), maps, s)
		return err
	})
	compare("multi-tau", multitauWork(blockFrames, h*w, pixels, levels[len(levels)-1].Level+1, 2, all), touched, sectors)

	const n = 2 * blockFrames
	lib.Set("trace", 1)
	if err := Twotime(context.Background(), inType("uint16", data[:n*h*w], n, h, w), maps, s, func(*Map) error { return nil }); err != nil {
		t.Fatal(err)
	}
	bins := newBins(t, &maps)
	in, groups := 0, 0
	var list []roofline.Launch
	for _, b := range bins {
		in, groups = in+b[0], groups+b[1]
		list = append(list, mapWork(n, b[0])...)
	}
	for range 2 {
		list = append(list, keptWork(blockFrames, h*w, in, groups, len(bins), 2)...)
	}
	compare("two-time", list, float64(lib.Get("touched")), float64(lib.Get("sectors")))
}

// newBins counts the pixels and the static bins of each dynamic bin.
func newBins(t *testing.T, maps *Maps) map[int32][2]int {
	t.Helper()
	seen, of := map[int32]bool{}, map[int32][2]int{}
	for i, d := range maps.Dynamic {
		if d < 1 || maps.Static[i] < 1 {
			continue
		}
		n := of[d]
		n[0]++
		if !seen[maps.Static[i]] {
			seen[maps.Static[i]] = true
			n[1]++
		}
		of[d] = n
	}
	return of
}
