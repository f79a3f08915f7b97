// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// The values are those the viewer lists; it writes units into the names.
func TestSettings(t *testing.T) {
	each(t, func(t *testing.T, r *Result, want expected) {
		all, err := r.Settings()
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, s := range all {
			key := s.Path
			if s.Unit != "" {
				key += " (" + s.Unit + ")"
			}
			got[key] = s.Text
		}
		checkSettings(t, got, "", want["metadata"].(map[string]any))
	})
}

func checkSettings(t *testing.T, got map[string]string, at string, want map[string]any) {
	for k, v := range want {
		key := at + "/" + k
		if at == "" {
			key = k
		}
		switch v := v.(type) {
		case map[string]any:
			checkSettings(t, got, key, v)
		default:
			if got[key] != fmt.Sprint(v) {
				t.Errorf("%s is %q, want %v", key, got[key], v)
			}
		}
	}
}

func Example() {
	dir, err := os.MkdirTemp("", "nexus")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "gel_t0020_results.hdf")
	r := &Result{
		FrameTime: 0.001,                                                     // s
		QMap:      &QMap{Dynamic: Partition{Axis0: []float64{0.002, 0.004}}}, // 1/angstrom
		Multitau: &Multitau{
			Delay: []float64{1, 2, 4}, // frames
			G2:    &Matrix{3, 2, []float64{1.3, 1.2, 1.2, 1.1, 1.1, 1.0}},
		},
		Attrs: map[string]string{"note": "made up"},
	}
	if err := Write(name, r); err != nil {
		fmt.Println(err)
		return
	}
	back, err := Open(name)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer back.Close()
	for _, bin := range back.QMap.Select(0.003, 0.005) {
		g2, _ := back.Multitau.Bin(bin)
		fmt.Println(back.Label(), back.QMap.BinLabel(bin), back.Delays()[2], g2[0] > 1.19)
	}
	// Output:
	// gel_t20 qbin=2, q=0.00400 Å⁻¹ 0.004 true
}
