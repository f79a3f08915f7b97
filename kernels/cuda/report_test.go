// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// The report has every key of the reference's, with values of the same kind.
func TestReportHasTheReferencesKeys(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{Profile: true, Compiler: rtc.Settings{NoCache: true}})
	m, err := d.Compile(sample())
	if err != nil {
		t.Fatal(err)
	}
	x := alloc(t, d, make([]float32, 1024), 4096)
	defer x.Free()
	for range 3 {
		launch(t, kernel(t, m, "scaled"), d.Default(), Blocks(1024, 256), Dim{X: 256}, 0, x, float32(2), int32(1024))
	}
	floats(t, d.Default(), x, 1024)
	if err := d.Synchronize(background); err != nil {
		t.Fatal(err)
	}
	r, err := d.Report()
	if err != nil {
		t.Fatal(err)
	}
	k := r.Kernels["scaled"]
	if k.Executions != 3 || k.Min <= 0 || k.Average < k.Min || k.Max < k.Average || r.Transfers["H2D_4096"].Transfers != 1 || r.Transfers["D2H_4096"].Transfers != 1 {
		t.Errorf("kernels are %+v, transfers %+v", r.Kernels, r.Transfers)
	}
	if e := r.Extended.Kernels["scaled"]; e.Median < k.Min || e.Median > k.Max || e.Total < 3*k.Min || r.Compiles["sample.cu"] <= 0 || r.Extended.Compiled != 1 {
		t.Errorf("details are %+v", r.Extended)
	}
	var out bytes.Buffer
	if n, err := r.WriteTo(&out); err != nil || n != int64(out.Len()) {
		t.Fatal(err)
	}
	var got, want map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	golden.JSON(t, &want, "cuda", "seed_report_example.json")
	for key, name := range map[string]string{"kernel_execution_times": "scaled", "compilation_times": "sample.cu"} {
		for _, theirs := range want[key].(map[string]any) { // any of their kernels: all have the same keys
			want[key] = map[string]any{name: theirs}
		}
	}
	sameKeys(t, "", want, got)
}

// sameKeys checks that got has what want has, of the same kinds.
func sameKeys(t *testing.T, path string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			t.Errorf("%s is %T", path, got)
			return
		}
		for k, v := range want {
			if _, ok := g[k]; !ok {
				t.Errorf("the report lacks %s.%s", path, k)
				continue
			}
			sameKeys(t, path+"."+k, v, g[k])
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) == 0 {
			t.Errorf("%s is %v", path, got)
			return
		}
		sameKeys(t, path+"[0]", want[0], g[0])
	case float64:
		if _, ok := got.(float64); !ok {
			t.Errorf("%s is %T", path, got)
		}
	case string:
		if _, ok := got.(string); !ok {
			t.Errorf("%s is %T", path, got)
		}
	}
}

func TestTraceIsReadable(t *testing.T) {
	lib := pretend.LookPath(t)
	d := device(t, lib, Settings{Profile: true})
	x := alloc(t, d, make([]float32, 100_000), 400_000)
	defer x.Free()
	floats(t, d.Default(), x, 100_000)
	g, err := d.Capture(func(s *Stream) error { return s.Fill(x, 0, 16, 0) })
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := g.Launch(d.Default()); err != nil {
		t.Fatal(err)
	}
	if err := d.Synchronize(background); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := d.WriteTrace(&out); err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []struct {
			Name, Ph, Tid string
			Ts, Dur       float64
		}
	}
	if err := json.Unmarshal(out.Bytes(), &trace); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, e := range trace.TraceEvents {
		if names[e.Name] = true; e.Ph != "X" || e.Ts < 0 || e.Dur <= 0 || e.Tid == "" {
			t.Errorf("an event is %+v", e)
		}
	}
	if !names["H2D"] || !names["D2H"] || !names["graph"] {
		t.Errorf("the trace holds %v", names)
	}
}

func TestTransferSizesAreBounded(t *testing.T) {
	known := map[string]*timing{}
	for n := range 1000 {
		timingOf(known, transferKey("H2D", 1000+n*n, known)).add(1, 1000+n*n, 0)
	}
	if len(known) > 64+20 || known["H2D_1000"] == nil || known["H2D_1048576"] == nil {
		t.Errorf("%d keys", len(known))
	}
	a := &timing{}
	for i := range 5000 {
		a.add(float64(i), 0, 0)
	}
	if a.n != 5000 || a.least != 0 || a.most != 4999 || len(a.sample) != 1024 || a.quantile(0.5) < 3976 {
		t.Errorf("timing is %d, %g to %g", a.n, a.least, a.most)
	}
}
