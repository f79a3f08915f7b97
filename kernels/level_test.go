// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "testing"

func TestLevels(t *testing.T) {
	ls := Levels()
	if ls[0] != PureGo || ls[len(ls)-1] != available() {
		t.Errorf("levels %v, available %v", ls, available())
	}
	for _, c := range []struct {
		top  Level
		name string
		want Level
	}{{AVX512, "avx2", AVX2}, {AVX512, "go", PureGo}, {AVX2, "avx512", AVX2}, {PureGo, "avx2", PureGo}, {AVX2, "", AVX2}, {AVX2, "sse", AVX2}, {NEON, "go", PureGo}, {NEON, "avx2", NEON}, {AVX512, "neon", AVX512}} {
		if got := lowered(c.top, c.name); got != c.want {
			t.Errorf("EURYALE_SIMD=%s on %v gives %v, want %v", c.name, c.top, got, c.want)
		}
	}
	if Level(7).String() != "Level(7)" {
		t.Error(Level(7).String())
	}
}
