// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/tier"
)

// writer is a process that adds rows to a journal.
type writer struct {
	j    *Journal
	rows []Row
	done []bool
}

// However processes open the journal of one table, add rows, are killed in the middle of one or go on beside each other, every row that
// was added is found by the next one, and a fit is never replaced by a row without one.
func TestJournalsLoseNoRow(t *testing.T) {
	const n = 8
	root := t.TempDir()
	for seed := range tier.Of(uint64(20), 1000) {
		rng := rand.New(rand.NewPCG(seed, 9))
		table := filepath.Join(root, fmt.Sprint("[t]", seed, ".fits"))
		beside := filepath.Join(root, fmt.Sprint("[t]", seed, ".fit")) // whose name begins alike
		if err := os.WriteFile(beside, nil, 0o644); err != nil {
			t.Fatal(err)
		}
		row := func(i int, fitted bool) Row {
			r := Row{Fitted: fitted, VRad: float64(i)}
			for k := range i * rng.IntN(3) { // rows have any length
				r.Others = append(r.Others, Parameter{Name: strings.Repeat("x", k)})
			}
			return r
		}
		added := map[int]bool{} // whether with a fit
		var all []*writer
		open := func(key string) *writer {
			w := &writer{rows: make([]Row, n), done: make([]bool, n)}
			var err error
			if w.j, err = OpenJournal(table, key, w.rows, w.done); err != nil {
				t.Fatal(err)
			}
			return w
		}
		check := func(w *writer) {
			for i := range n {
				fitted, ok := added[i]
				if w.done[i] != ok || ok && (w.rows[i].Fitted != fitted || w.rows[i].VRad != float64(i)) {
					t.Fatalf("seed %d: row %d is %+v, %v: want a row %v, with a fit %v", seed, i, w.rows[i], w.done[i], ok, fitted)
				}
			}
		}
		for range 3 + rng.IntN(20) {
			switch k := rng.IntN(10); {
			case len(all) == 0 || k < 2:
				w := open("key")
				check(w)
				all = append(all, w)
			case k == 2: // killed, in the middle of a row
				i := rng.IntN(len(all))
				if _, err := all[i].j.file.Write([]byte("EURYALE-SPECTRA-JOURNAL 2\nxxxx")[:rng.IntN(30)]); err != nil {
					t.Fatal(err)
				}
				all[i].j.Close()
				all = append(all[:i], all[i+1:]...)
			default:
				w, i := all[rng.IntN(len(all))], rng.IntN(n)
				if w.done[i] && w.rows[i].Fitted {
					continue
				}
				w.rows[i], w.done[i] = row(i, rng.IntN(3) > 0), true
				if err := w.j.Add(w.rows, []int{i}); err != nil {
					t.Fatal(err)
				}
				added[i] = added[i] || w.rows[i].Fitted
			}
		}
		last := open("key")
		check(last)
		other := open("other key")
		if other.j.Other != (len(added) > 0) || reflect.DeepEqual(other.done, last.done) && len(added) > 0 {
			t.Errorf("seed %d: rows of another key are taken: %v", seed, other.done)
		}
		check(open("key")) // which the other one has left
		if err := RemoveJournal(table); err != nil {
			t.Fatal(err)
		}
		for _, w := range append(all, last, other) {
			w.j.Close()
		}
		if left, err := filepath.Glob(filepath.Join(root, "*")); err != nil || len(left) != int(seed)+1 {
			t.Fatalf("left: %v", left)
		}
	}
}
