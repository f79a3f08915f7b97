// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package infer_test

import (
	"context"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// 256 chains of ChEES on a device agree with the processor's, on eight schools and a regression of 100 coefficients.
func TestManyChainsOnDevice(t *testing.T) {
	pretend.Shared(t)
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	schools := infer.NewModel("schools")
	hierarchy(schools, infer.NonCentred())
	for name, c := range map[string]struct {
		m   *infer.Model
		cfg infer.ChEESSettings
	}{
		"eight schools": {schools, infer.ChEESSettings{Seed: 1, Chains: 256, Warmup: 200, Draws: 30}},
		"regression":    {regression(t, 100, 120), infer.ChEESSettings{Seed: 1, Chains: 256, Warmup: 60, Draws: 6}},
	} {
		want, err := infer.ChEES(context.Background(), onDevice(t, c.m, ad.CPU{Threads: 1}), c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		d.ResetPeak()
		got, err := infer.ChEES(context.Background(), onDevice(t, c.m, ad.CUDA{Strict: true}), c.cfg)
		if err != nil {
			t.Fatal(err)
		}
		sameMoments(t, name, got, want)
		st := d.Stats()
		warm, kept := got.Gradients()
		t.Logf("%s: %d leapfrogs of a chain, %.1f bytes each; a peak of %.1f MB", name, warm+kept, float64(st.Sent+st.Fetched)/float64(warm+kept), float64(st.PeakReserved)/1e6)
	}
}

// Posteriors of many data sets, whose chains are lanes of a program on a device, are those of the processor.
func TestManyDataSetsOnDevice(t *testing.T) {
	pretend.Shared(t)
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	m := infer.NewModel("line")
	y := m.Data("y", make([]float64, 20))
	mu := m.Param("mu", dist.Normal(0, 5))
	sigma := m.Param("sigma", dist.HalfNormal(2))
	m.AddLogProb("likelihood", dist.Normal(mu, sigma).LogProb(y))
	var sets []infer.DataSet
	for k := range 24 {
		data := make([]float64, 20)
		for i := range data {
			data[i] = float64(k)/5 + float64((7*i*i+3*k)%11)/8
		}
		sets = append(sets, infer.DataSet{Data: map[string][]float64{"y": data}})
	}
	var want []*infer.Fit
	for _, b := range []ad.Backend{ad.CPU{Threads: 1}, ad.CUDA{Strict: true}, ad.Several{{Device: 0}, {Device: 1}}} {
		got := make([]*infer.Fit, len(sets))
		d.ResetPeak()
		err := onDevice(t, m, b).SampleEach(context.Background(), sets, infer.Settings{Seed: 1, Chains: 2, Warmup: 150, Draws: 150}, func(i int, fit *infer.Fit, err error) {
			if err != nil {
				t.Error(err)
			}
			got[i] = fit
		})
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
			continue
		}
		leapfrogs := 0
		for i := range got {
			sameMoments(t, "a data set", got[i], want[i])
			warm, kept := got[i].Gradients()
			leapfrogs += warm + kept
		}
		st := d.Stats()
		t.Logf("%.0f bytes a leapfrog", float64(st.Sent+st.Fetched)/float64(leapfrogs))
	}
}
