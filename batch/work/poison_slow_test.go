// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package work

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// spoil spoils one bin of a table of curves: all its values are lost, its errors are negative, or it has
// one point.
func spoil(t testing.TB, name string, bin, how int) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	kept := 0
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, fmt.Sprintf("%d,", bin)) {
			b.WriteString(line)
			continue
		}
		f := strings.Split(strings.TrimSpace(line), ",")
		switch how % 3 {
		case 0:
			f[2] = "nan"
		case 1:
			f[3] = "-0.003"
		case 2:
			if kept++; kept > 1 {
				continue
			}
		}
		b.WriteString(strings.Join(f, ",") + "\n")
	}
	write(t, name, b.String())
}

// A hundred thousand fits, and five hundred posteriors, of which one in a hundred has data that cannot be
// used: those fail, each with its reason, and all others have the bits that they have without them.
func TestPoisonedItems(t *testing.T) {
	for _, c := range []struct {
		name, config string
		files, bins  int
	}{
		{"fits", "work: fit g2\nfiles: data/*.csv\n", 1000, 100},
		{"posteriors", "work: sample g2\nfiles: data/*.csv\nchains: 2\nwarmup: 200\ndraws: 100\nseed: 4\n", 10, 50},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			poisoned := map[int64]bool{}
			results := map[bool]string{false: filepath.Join(dir, "clean"), true: filepath.Join(dir, "poisoned")}
			for poison, folder := range results {
				for i := range c.files {
					name := filepath.Join(folder, "data", fmt.Sprintf("f%04d.csv", i))
					curves(t, name, uint64(i), c.bins)
					for k := 0; poison && k < c.bins/100+(c.bins%100*(i%2+1))/100; k++ {
						bin := 1 + (i*37+k*11)%c.bins
						spoil(t, name, bin, i+k)
						poisoned[int64(i*c.bins+bin-1)] = true
					}
				}
				write(t, filepath.Join(folder, "list.yaml"), c.config)
			}
			items := c.files * c.bins
			if n := len(poisoned); n < items/120 || n > items/80 {
				t.Fatalf("%d of %d are poisoned", n, items)
			}
			clean := done(t, made(t, filepath.Join(results[false], "list.yaml")), 1)
			spoiled := done(t, made(t, filepath.Join(results[true], "list.yaml")), 3)
			if len(clean) != items || len(spoiled) != items {
				t.Fatalf("%d and %d results, want %d", len(clean), len(spoiled), items)
			}
			for i := range clean {
				item := clean[i].Item
				if clean[i].Err != "" {
					t.Fatalf("item %d fails without poison: %s", item, clean[i].Err)
				}
				if poisoned[item] {
					if spoiled[i].Err == "" || spoiled[i].Attempts != 2 {
						t.Errorf("poisoned item %d: error %q after %d attempts", item, spoiled[i].Err, spoiled[i].Attempts)
					}
					continue
				}
				same(t, clean[i:i+1], spoiled[i:i+1])
			}
		})
	}
}
