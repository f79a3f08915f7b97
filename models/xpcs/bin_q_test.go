// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/sim/xpcs"
)

// The q of a bin is the mean over its pixels, whatever part of the bin a mask leaves; files keep it, and maps of others get it where
// their geometry leads to it.
func TestQOfMaskedBins(t *testing.T) {
	g := xpcs.Geometry{Height: 60, Width: 60, CenterRow: 2, CenterCol: 3, PixelSize: 75e-6, Distance: 5, Energy: 10}
	maps, err := g.QMap("q", "phi")
	if err != nil {
		t.Fatal(err)
	}
	q, err := maps.Channel("q")
	if err != nil {
		t.Fatal(err)
	}
	for name, keep := range map[string]func(row, col int) bool{
		"all":       func(_, _ int) bool { return true },
		"beam stop": func(r, c int) bool { return math.Hypot(float64(r)-2, float64(c)-3) > 17 },
		"a wedge":   func(r, c int) bool { return r < c/3 },
	} {
		mask := make([]bool, 60*60)
		for i := range mask {
			mask[i] = keep(i/60, i%60)
		}
		m, err := Setup{Geometry: g, Dynamic: [2]int{4, 2}, Static: [2]int{8, 2}}.Map(mask)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "q.hdf")
		if err := nexus.WriteQMap(file, m); err != nil {
			t.Fatal(err)
		}
		back, err := nexus.OpenQMap(file)
		if err != nil {
			t.Fatal(err)
		}
		foreign := *m
		foreign.BinQ, foreign.BinQ2 = nil, nil
		off := 0.0
		for b := 1; b <= m.Dynamic.Bins(); b++ {
			sum, square, n := 0.0, 0.0, 0.0
			for i, of := range m.Maps.Dynamic {
				if int(of) == b {
					sum, square, n = sum+q[i], square+q[i]*q[i], n+1
				}
			}
			for from, other := range map[string]*nexus.QMap{"map": m, "file": back, "of others": measured(&foreign)} {
				if math.Abs(other.Q(b)-sum/n) > 1e-12 || math.Abs(other.Q2(b)-square/n) > 1e-14 {
					t.Errorf("%s, %s: bin %d has q %g and q^2 %g, want %g and %g", name, from, b, other.Q(b), other.Q2(b), sum/n, square/n)
				}
			}
			centre, _ := m.Dynamic.Values(b)
			off = max(off, math.Abs(centre-sum/n)/centre)
		}
		if name != "all" && off < 0.02 {
			t.Errorf("%s: the mask moves no bin by more than %g", name, off)
		}
	}
}

// A q map that was made for another place of the detector than that of the frames is told.
func TestMisplacedMaps(t *testing.T) {
	m := &nexus.QMap{BeamX: 10, BeamY: 20, Distance: 5, PixelSize: 75e-6, Energy: 10}
	meta := frames.Metadata{BeamX: 10, BeamY: 20, Distance: 5, PixelSize: 75e-6, Energy: 10}
	if text := misplaced(m, &meta); text != "" {
		t.Error(text)
	}
	unknown := frames.Metadata{BeamX: math.NaN(), BeamY: math.NaN(), Distance: math.NaN(), PixelSize: math.NaN(), Energy: math.NaN()}
	if text := misplaced(m, &unknown); text != "" {
		t.Error(text)
	}
	for want, change := range map[string]func(q *nexus.QMap){
		"distance": func(q *nexus.QMap) { q.Distance = 5000 }, "energy": func(q *nexus.QMap) { q.Energy = 12 }, "pixel size": func(q *nexus.QMap) { q.PixelSize = 55e-6 },
		"beam column": func(q *nexus.QMap) { q.BeamX = 90 }, "beam row": func(q *nexus.QMap) { q.BeamY = 90 },
	} {
		other := *m
		change(&other)
		if text := misplaced(&other, &meta); !strings.Contains(text, want) {
			t.Errorf("%s: %q", want, text)
		}
	}
}
