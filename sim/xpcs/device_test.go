// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/gpu"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// Maps of all channels on a GPU are the processor's, in every geometry; after the first map nothing but parameters is sent.
func TestMapsOnDevice(t *testing.T) {
	emulated(t)
	for _, change := range []func(g *Geometry){
		func(g *Geometry) {}, func(g *Geometry) { g.Convention = SinTwo }, func(g *Geometry) { g.SwingHorizontal, g.SwingVertical = 0.3, -0.1 },
		func(g *Geometry) { g.Reflection = true }, func(g *Geometry) { g.Reflection, g.Orientation = true, West }, func(g *Geometry) { g.Reflection, g.Orientation = true, East },
	} {
		g := plain
		change(&g)
		m, err := NewMapper(g, ad.Settings{Backend: ad.CUDA{Strict: true}})
		if err != nil {
			t.Fatal(err)
		}
		d, err := ad.DeviceFor(ad.CUDA{}, ad.Need{})
		if err != nil {
			t.Fatal(err)
		}
		for k, row := range []float64{12, 11.25} {
			g.CenterRow = row
			want, err := g.QMap()
			if err != nil {
				t.Fatal(err)
			}
			d.ResetPeak()
			got, err := m.Map(g)
			if err != nil {
				t.Fatal(err)
			}
			if st := d.Stats(); k > 0 && (st.Sent > 1<<10 || st.Fetched > uint64(8*len(want.Values)*30*40)) {
				t.Errorf("%d B were sent and %d fetched", st.Sent, st.Fetched)
			}
			for c, channel := range want.Channels {
				for i, w := range want.Values[c] {
					if v := got.Values[c][i]; !(math.Abs(v-w) <= 1e-12*max(1, math.Abs(w))) {
						t.Fatalf("%+v: %s of pixel %d is %v, want %v", g, channel.Name, i, v, w)
					}
				}
			}
		}
	}
}

// realGPU says that the tests of devices run on a GPU.
var realGPU bool

// emulated lets a test run on the pretend device, unless it is to run on a GPU.
func emulated(t *testing.T) {
	t.Helper()
	if !realGPU {
		pretend.Shared(t)
	}
}

// On a machine with a GPU the test of the pretend device runs on it; scripts/gpu.sh starts this.
func TestGPUMaps(t *testing.T) {
	gpu.Need(t)
	realGPU = true
	defer func() { realGPU = false }()
	TestMapsOnDevice(t)
}
