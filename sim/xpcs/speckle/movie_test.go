// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package speckle

import (
	"math"
	"strings"
	"testing"
)

func uniform(side int, tau, mean float64) Sample {
	s := Sample{Height: side, Width: side, Tau: make([]float64, side*side), Mean: make([]float64, side*side), FrameTime: 1e-3}
	for i := range s.Tau {
		s.Tau[i], s.Mean[i] = tau, mean
	}
	return s
}

// TestBits checks that a movie does not depend on how it is asked for.
func TestBits(t *testing.T) {
	s := uniform(7, 0.01, 0.8)
	s.Flicker, s.Modes, s.Seed = 0.1, 2, 5
	whole, parts := make([]float32, 12*49), make([]float32, 12*49)
	a, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := New(s)
	a.Frames(whole)
	b.Frames(parts[:5*49])
	b.Frames(parts[5*49:])
	for i := range whole {
		if whole[i] != parts[i] {
			t.Fatalf("number %d is %v, in parts %v", i, whole[i], parts[i])
		}
	}
}

// A detector with a dead time counts mean/(1 + mean dead) with a variance of mean/(1 + mean dead)^3, to within the counts that an exposure begins with.
//
// Reference: J. W. Mueller 1973, Nuclear Instruments and Methods 112, 47.
func TestDeadTime(t *testing.T) {
	s := uniform(100, math.Inf(1), 50)
	s.Static, s.DeadTime = 1, 0.01
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	const n = 100 * 100
	frame := make([]float32, n)
	m.Frames(frame)
	mean, second := 0., 0.
	for _, v := range frame {
		mean, second = mean+float64(v)/n, second+float64(v)*float64(v)/n
	}
	if want := 50 / 1.5; math.Abs(mean-want) > 0.3 {
		t.Errorf("the mean is %g, want about %g", mean, want)
	}
	if got, want := second-mean*mean, 50/math.Pow(1.5, 3); math.Abs(got/want-1) > 0.07 {
		t.Errorf("the variance is %g, want about %g", got, want)
	}
}

// TestMoments compares mean, variance of the intensity and its correlation in time with theory, within five standard errors.
func TestMoments(t *testing.T) {
	s := uniform(64, 0.004, 3)
	s.Modes, s.Static, s.Smooth = 2, 0.25, true
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	const n = 64 * 64
	frames := make([]float32, 9*n)
	m.Frames(frames)
	var mean, second, eight float64
	for i := range n {
		a, b := float64(frames[i]), float64(frames[8*n+i])
		mean, second, eight = mean+a/n, second+a*a/n, eight+a*b/n
	}
	within := func(what string, got, want, sd float64) {
		if math.Abs(got-want) > 5*sd {
			t.Errorf("%s is %.4f, want %.4f +- %.4f", what, got, want, sd)
		}
	}
	b := s.Contrast()
	within("mean", mean/3, 1, math.Sqrt(b/n))
	within("contrast", second/9-1, b, 4/math.Sqrt(n))
	within("correlation after 8 frames", eight/9-1, b*math.Exp(-2*8e-3/0.004), 3/math.Sqrt(n))
}

// TestCounts checks that counts have the mean and the variance of Poisson's distribution on top of a frozen intensity, and that ageing slows
// down.
func TestCounts(t *testing.T) {
	s := uniform(1, math.Inf(1), 2)
	s.Static = 1
	m, err := New(s)
	if err != nil {
		t.Fatal(err)
	}
	frames := make([]float32, 20000)
	m.Frames(frames)
	mean, second := 0.0, 0.0
	for _, v := range frames {
		mean, second = mean+float64(v)/20000, second+float64(v)*float64(v)/20000
	}
	if math.Abs(mean-2) > 0.05 || math.Abs(second-mean*mean-2) > 0.15 {
		t.Errorf("mean %v, variance %v, want 2 and 2", mean, second-mean*mean)
	}
	change := func(aging float64) (early, late float64) {
		s := uniform(40, 0.02, 1)
		s.Smooth, s.Aging = true, aging
		m, _ := New(s)
		frames := make([]float32, 200*1600)
		m.Frames(frames)
		for i := range 1600 {
			early += math.Abs(float64(frames[1600+i] - frames[i]))
			late += math.Abs(float64(frames[199*1600+i] - frames[198*1600+i]))
		}
		return early, late
	}
	if early, late := change(0.01); late > 0.5*early {
		t.Errorf("an ageing sample changes by %v early and %v late", early, late)
	}
	if early, late := change(0); late < 0.8*early {
		t.Errorf("a sample that does not age changes by %v early and %v late", early, late)
	}
}

// TestMistakes checks what is refused.
func TestMistakes(t *testing.T) {
	for want, change := range map[string]func(*Sample){
		"one of each per pixel": func(s *Sample) { s.Width = 3 },
		"time between frames":   func(s *Sample) { s.FrameTime = 0 },
		"static fraction is 2":  func(s *Sample) { s.Static = 2 },
		"pixel (1, 0)":          func(s *Sample) { s.Tau[2] = -1 },
	} {
		s := uniform(2, 1, 1)
		change(&s)
		if _, err := New(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q, got %v", want, err)
		}
	}
}
