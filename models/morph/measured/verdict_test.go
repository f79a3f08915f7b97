// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/optim"
)

// judged fits a task and returns the first finding, empty if there is none, and the words of all.
func judged(t *testing.T, k *measured.Task) (first, words string) {
	t.Helper()
	s, err := k.Fit(t.Context(), optim.Settings{MaxEvaluations: 40})
	if err != nil {
		t.Fatal(err)
	}
	v, err := k.Check(s)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range v.Flags {
		if i == 0 {
			first = f.Kind
		}
		words += f.String() + "\n"
	}
	return first, words
}

// What a problem has wrong about its files is named with what to do.
func TestWhatIsWrongIsNamed(t *testing.T) {
	for name, c := range map[string]struct {
		spoil      func(k *measured.Task)
		want, says string
	}{
		"pedestal": {func(k *measured.Task) {
			f := k.Model.Data.Frames
			long := f[0]
			long.Exposure, long.Counts = 40, slices.Clone(long.Counts)
			for i := range long.Counts {
				long.Counts[i] = long.Counts[i]*4 + 20
				f[0].Counts[i] += 20
				f[1].Counts[i] += 20
			}
			k.Model.Data.Frames = append(f, long)
		}, "pedestal", `add "pedestal": {} to the parameters`},
		"field": {func(k *measured.Task) {
			for i := range k.Model.Data.Frames {
				k.Model.Data.Frames[i].Angle = 90
			}
		}, "direction of the field", "the data want 0"},
	} {
		t.Run(name, func(t *testing.T) {
			k := smallOf(t, 3, true)
			c.spoil(k)
			if first, words := judged(t, k); first != c.want || !strings.Contains(words, c.says) {
				t.Errorf("want %q with %q: %s", c.want, c.says, words)
			}
		})
	}
}

// Expectations in place of counts are told as data without noise.
func TestDataWithoutNoise(t *testing.T) {
	k := smallOf(t, 1, true)
	mu, err := k.Means()
	if err != nil {
		t.Fatal(err)
	}
	pixels := len(k.Model.Data.Frames[0].Counts)
	for i, v := range mu {
		k.Model.Data.Frames[i/pixels].Counts[i%pixels] = v
	}
	if first, words := judged(t, &measured.Task{Model: k.Model, Params: k.Params}); first != "no noise" || !strings.Contains(words, "draw counts from the Poisson distribution") {
		t.Error(words)
	}
}
