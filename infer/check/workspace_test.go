// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// A Workspace finds what Judge finds, whatever it judged before, and leaves earlier verdicts alone.
func TestWorkspacesChangeNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	var data []Data
	for _, n := range []int{60, 60, 9, 200, 60, 2000, 60} {
		for kind := range 4 {
			d := noise(r, n, kind == 1)
			switch kind {
			case 2:
				addTo(&d, d.Directions[0].Columns[0], 30)
			case 3:
				d.Z[n/2] += 12
			}
			data = append(data, d)
		}
	}
	var m Workspace
	var got []Verdict
	for _, d := range data {
		v, err := m.Judge(d, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, v)
	}
	for i, d := range data {
		want, err := Judge(d, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if got[i].String() != want.String() || !reflect.DeepEqual(got[i].Tests, want.Tests) || !reflect.DeepEqual(got[i].Residuals, want.Residuals) {
			t.Errorf("data %d of %d points: %v, want %v", i, len(d.Z), got[i], want)
		}
	}
}

// Axes are told apart by their values, not by where these lie in memory.
func TestOrdersFollowTheValues(t *testing.T) {
	var m Workspace
	x := []float64{3, 1, 2}
	if o := m.order(x); !reflect.DeepEqual(o.places, []int{1, 2, 0}) {
		t.Errorf("places %v", o.places)
	}
	x[0] = 0
	if o := m.order(x); !reflect.DeepEqual(o.places, []int{0, 1, 2}) || !reflect.DeepEqual(o.neighbours(), [][2]int32{{0, 1}, {1, 2}}) {
		t.Errorf("places %v, neighbours %v", o.places, o.neighbours())
	}
	for i := range 3 * mostOrders {
		m.order([]float64{float64(i), 0.5})
	}
	if len(m.orders) != mostOrders {
		t.Errorf("%d orders are kept, want %d", len(m.orders), mostOrders)
	}
}
