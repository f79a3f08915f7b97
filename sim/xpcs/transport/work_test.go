// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/internal/roofline"
)

// The work of a gradient that is declared is what its kernels do on the emulated device.
func TestGradientWorkIsDone(t *testing.T) {
	lib := pretend.Shared(t)
	lib.Set("capability", 89) // for which no other test compiles, so that kernels are compiled now, to be traced
	lib.Set("trace", 1)
	defer lib.Set("trace", 0)
	b, _, _ := fresh(t, 5, 1<<30)
	lib.Set("capability", 90)
	s := shearSetup(2, 330)
	store, err := s.NewStore(context.Background(), b, Measured{Bits: 64, Pairs: func(int, []float64, []float64) {}})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Free()
	sums, err := store.NewSums()
	if err != nil {
		t.Fatal(err)
	}
	defer sums.Free()
	lib.Set("trace", 1) // from here on
	if err := sums.Run(context.Background(), somewhere, false, gram(2, 7)); err != nil {
		t.Fatal(err)
	}
	list, err := s.gradientWork(store.m, 0)
	if err != nil {
		t.Fatal(err)
	}
	sectors, touched := 0.0, 0.0
	for _, l := range list {
		sectors += l.Work.Sectors
		touched += l.Work.Bytes()
		if l.Work.Unknown != "" {
			t.Errorf("%s: %s is not counted", l.Kernel, l.Work.Unknown)
		}
	}
	if done := float64(lib.Get("touched")); math.Abs(touched/done-1) > 0.05 {
		t.Errorf("launches touch %.0f bytes, %.0f are counted", done, touched)
	}
	// Blocks read frames and their tables again and again, and have them near.
	if done := float64(lib.Get("sectors")); done < sectors || done > 2.5*sectors {
		t.Errorf("warps ask for %.0f sectors, %.0f are counted", done, sectors)
	}
}

// The page tells what the model expects of gradients, of the kernel that was measured and of the one that fetches rows ahead.
func TestPageHasExpectedGradients(t *testing.T) {
	card, err := roofline.Find("H100")
	if err != nil {
		t.Fatal(err)
	}
	s := shearSetup(23, 1000)
	var times []float64
	for _, trips := range []float64{float64(s.pairText().columns), 0} {
		list, err := s.gradientWork(Measured{Bits: 64}, trips)
		if err != nil {
			t.Fatal(err)
		}
		_, each := card.Program(list, 0)
		for i, l := range list {
			t.Logf("%s %d x %d: %.1f us, %s", l.Kernel, l.Grid, l.Block, 1e6*each[i].Seconds, each[i].Bound)
		}
		times = append(times, math.Round(1e6*each[len(each)-2].Seconds))
	}
	text, err := os.ReadFile("../../../docs/GPU.md")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("expects %.0f us of it, and %.0f us", times[0], times[1]); !strings.Contains(string(text), want) {
		t.Errorf("docs/GPU.md lacks %q", want)
	}
}
