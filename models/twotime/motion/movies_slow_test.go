// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package motion_test

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/twotime/motion"
)

// movies returns how many movies each cell has.
func movies(usual int) int {
	if v, err := strconv.Atoi(os.Getenv("EURYALE_MOVIES")); err == nil {
		return v
	}
	return usual
}

// Intervals of fits hold what they say with few speckles and with many, and verdicts of the right model are good. Each movie is fitted with the
// defaults.
func TestFitsOfMovies(t *testing.T) {
	count, alarms, all := movies(200), 0, 0
	for _, flows := range []bool{false, true} {
		for _, pixels := range []int{300, 1000, 3000} {
			t.Run(fmt.Sprintf("flow_%v_%d_pixels", flows, pixels), func(t *testing.T) {
				alarms, all = alarms+fitsOf(t, flows, pixels, count), all+count
			})
		}
	}
	if float64(alarms) > 0.01*float64(all)+2*math.Sqrt(0.01*float64(all)) {
		t.Errorf("%d of %d verdicts disagree with the right model", alarms, all)
	}
	t.Logf("%d of %d verdicts disagree with the right model", alarms, all)
}

// fitsOf fits movies of one kind, compares intervals with the truth, and returns how many verdicts disagree.
func fitsOf(t *testing.T, flows bool, pixels, count int) (alarms int) {
	pulls, rough, names := map[string][]float64{}, map[string]int{}, []string(nil)
	for seed := range count {
		m := few(uint64(seed))
		m.pixels = pixels
		if flows {
			m.config, m.theta, m.starts = flow, truth, 4
		}
		f := m.fit(t)
		if f.Verdict.Disagrees() || !f.Status.Converged() {
			alarms++
			t.Logf("movie %d, the %d. that is flagged: %v", seed, alarms, f.Verdict)
		}
		if (seed+1)%100 == 0 {
			t.Logf("%d of %d movies flagged", alarms, seed+1)
		}
		names = nil
		add := func(row motion.Row, name string, want float64) {
			names = append(names, name)
			if slices.ContainsFunc(f.Shared.Rough(), func(i int) bool { return f.Names[i] == name }) {
				rough[name]++
			}
			pulls[name] = append(pulls[name], (row.Value-want)/row.SD)
		}
		for k, row := range f.Rows() {
			if !row.Fixed {
				add(row, row.Name, m.theta[k])
			}
		}
		scales := f.Scales()
		add(scales[0], "contrast_c0", m.contrast)
		add(scales[len(m.angles)], "offset_c0", 1)
	}
	text := fmt.Sprintf("%d of %d flagged", alarms, count)
	for _, name := range names {
		n := float64(len(pulls[name]))
		mean, square, one, two := 0., 0., 0., 0.
		for _, v := range pulls[name] {
			mean, square = mean+v/n, square+v*v/n
			if math.Abs(v) < 1 {
				one += 1 / n
			}
			if math.Abs(v) < 1.96 {
				two += 1 / n
			}
		}
		sd, noise := math.Sqrt(square-mean*mean), math.Sqrt(1/n)
		text += fmt.Sprintf("\n%-20s pulls %+.2f +- %.2f, 68 %% intervals hold %.2f, 95 %% intervals %.2f; %d said to be rough", name, mean, sd, one, two, rough[name])
		if !(sd < 1.1+2*noise) || !(sd > 0.6-2*noise) || one < 0.62-1.5*noise || two < 0.92-0.7*noise {
			t.Errorf("intervals of %s are not what they say", name)
		}
	}
	t.Log(text)
	return alarms
}

// How large drift and dead time have to be to be named: by how many standard deviations they move the parameter that they move most, and how many
// movies are flagged and named.
func TestSizesOfWhatVerdictsName(t *testing.T) {
	count := movies(20)
	for _, c := range []struct {
		kind, want string
		pixels     int
		sizes      []float64
		plant      func(m *movie, size float64)
	}{
		{"drift", "a beam or a sample that drifts", 3000, []float64{0.5, 1, 2, 4, 8}, func(m *movie, size float64) { m.drift, m.theta[0] = size, 1.5e4 }},
		{"dead time", "(dead time)", 3000, []float64{0.1, 0.3, 0.5, 1, 2}, func(m *movie, size float64) { m.dead, m.count = size, 20 }},
		{"dead time of few counts", "(dead time)", 3000, []float64{0.5, 1}, func(m *movie, size float64) { m.dead, m.count = size, 1 }},
		{"dead time and slow motion", "(dead time)", 3000, []float64{1, 2}, func(m *movie, size float64) { m.dead, m.count, m.theta[0] = size, 20, 4e3 }},
	} {
		for _, size := range c.sizes {
			t.Run(fmt.Sprintf("%s_%g", strings.ReplaceAll(c.kind, " ", "_"), size), func(t *testing.T) {
				flagged, named := 0, 0
				shifts := map[string]float64{}
				for seed := range count {
					m := few(uint64(seed))
					m.pixels = c.pixels
					c.plant(&m, size)
					f := m.fit(t)
					if f.Verdict.Disagrees() {
						flagged++
					}
					if strings.Contains(f.Verdict.String(), c.want) {
						named++
					}
					for k, row := range f.Rows() {
						if !row.Fixed {
							shifts[row.Name] += (row.Value - m.theta[k]) / row.SD / float64(count)
						}
					}
				}
				worst := 0.
				for _, v := range shifts {
					worst = max(worst, math.Abs(v))
				}
				if c.want == "(dead time)" && worst > 1 && named < count {
					t.Errorf("%s of %g moves a parameter by %.1f standard deviations and is named in %d of %d movies", c.kind, size, worst, named, count)
				}
				t.Logf("%s of %g, %d pixels: moves %v standard deviations on average, at most %.1f; %d of %d flagged, %d named", c.kind, size, c.pixels, shifts, worst, flagged, count, named)
				if worst > 8 && 10*named < 9*count {
					t.Errorf("%s of %g moves a parameter by %.1f standard deviations and is named in %d of %d movies", c.kind, size, worst, named, count)
				}
			})
		}
	}
}

// What moves a parameter by more than its error or two is flagged and named.
func TestVerdictsNameWhatIsPlanted(t *testing.T) {
	count := movies(10)
	for _, c := range []struct {
		kind, want string
		pixels     int
		least      float64 // share that has to be named
		plant      func(*movie)
	}{
		{"jump 0.6", "a jump of the sample or the beam", 350, 0.9, func(m *movie) { m.jump = 0.6 }},
		{"jump 0.3", "a jump of the sample or the beam", 3000, 0.9, func(m *movie) { m.jump = 0.3 }},
		{"loss of half the intensity", "as of frames with fewer counts", 350, 0.9, func(m *movie) { m.loss = 0.5 }},
		{"no light but a background", "as of frames with fewer counts", 350, 0.9, func(m *movie) { m.loss, m.background = 1, 0.1 }},
		{"weak light with a background", "as where the beam was weak", 3000, 0.9, func(m *movie) { m.loss, m.background, m.count = 0.7, 0.3, 20 }},
		{"drift", "a beam or a sample that drifts", 3000, 0, func(m *movie) { m.drift, m.theta[0] = 3, 1.5e4 }},
		{"strong drift", "a beam or a sample that drifts", 3000, 0, func(m *movie) { m.drift, m.theta[0] = 10, 1.5e4 }},
		{"dead time", "(dead time)", 3000, 0, func(m *movie) { m.dead, m.count = 0.3, 20 }},
		{"long dead time", "(dead time)", 10000, 0.9, func(m *movie) { m.dead, m.count = 1, 20 }},
	} {
		flagged, named, shift := 0, 0, 0.
		for seed := range count {
			m := few(uint64(seed))
			m.pixels = c.pixels
			c.plant(&m)
			f := m.fit(t)
			if f.Verdict.Disagrees() {
				flagged++
			}
			if strings.Contains(f.Verdict.String(), c.want) {
				named++
			} else {
				t.Logf("%s, movie %d: %v", c.kind, seed, f.Verdict)
			}
			worst := 0.
			for k, row := range f.Rows() {
				if !row.Fixed {
					worst = max(worst, math.Abs(row.Value-m.theta[k])/row.SD)
				}
			}
			shift += worst / float64(count)
		}
		t.Logf("%s, %d pixels: %d of %d flagged, %d named; the parameter that moves most is %.1f standard deviations off", c.kind, c.pixels, flagged, count, named, shift)
		if float64(named) < c.least*float64(count) {
			t.Errorf("%s is named in %d of %d movies", c.kind, named, count)
		}
	}
}

// The limit of what is flagged lies between one and two standard deviations.
func TestVerdictsOfManyPointsOffTheMinimum(t *testing.T) { offMinimum(t, 25) }
