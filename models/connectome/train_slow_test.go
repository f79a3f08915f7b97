// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package connectome

import (
	"context"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/golden"
)

// The demonstration with every operator and the seeds of the reference: mean test
// accuracy of hard assemblies at least its mean less 0.02.
func TestDemonstration(t *testing.T) {
	var ref struct {
		Runs []struct {
			Op       string
			Seed     uint64
			Accuracy float64 `json:"acc_test"`
			CPU      float64
		}
	}
	golden.JSON(t, &ref, "assemblies", "learnable_connectome_demo.json")
	caps := map[string]KCap{"sigmoid": {}, "capped": {Kind: CappedSimplex}, "dftopk": {Kind: Threshold}, "ste": {Straight: true}}
	for op, cap := range caps {
		for _, precision := range []string{"64", "32", "bf16"} {
			want, got, n, cpu := 0.0, 0.0, 0.0, 0.0
			start := time.Now()
			for _, r := range ref.Runs {
				if r.Op != op {
					continue
				}
				d := demo(r.Seed, 500, 1000)
				s := d.settings(cap)
				s.Precision = precision
				out, err := Train(context.Background(), d.circuit, d.train, s)
				if err != nil {
					t.Fatal(err)
				}
				want, got, n, cpu = want+r.Accuracy, got+out.Metrics.Accuracy, n+1, cpu+r.CPU
			}
			t.Logf("%s, %s: accuracy %.4f, reference %.4f; %.2f s a run, reference %.1f s", op, precision, got/n, want/n, time.Since(start).Seconds()/n, cpu/n)
			if got/n < want/n-0.02 {
				t.Errorf("%s, %s: mean accuracy %.4f, want %.4f", op, precision, got/n, want/n-0.02)
			}
		}
	}
}

// Untrained circuits guess; Hebb's rule alone, strengthening synapses from active
// stimulus neurons onto the label's assembly with each example, does less than training.
func TestBaselines(t *testing.T) {
	for seed := uint64(1); seed <= 3; seed++ {
		d := demo(seed, 500, 1000)
		before, err := d.circuit.Evaluate(context.Background(), d.circuit.Start(), d.test, d.readout)
		if err != nil {
			t.Fatal(err)
		}
		hebb, err := Hebbian(context.Background(), d.circuit, d.train, d.readout, 0.02)
		if err != nil {
			t.Fatal(err)
		}
		after, err := hebb.Evaluate(context.Background(), hebb.Start(), d.test, d.readout)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("seed %d: accuracy untrained %.3f, Hebb %.3f", seed, before.Accuracy, after.Accuracy)
		if before.Accuracy > 0.35 || after.Accuracy > 0.93 {
			t.Errorf("seed %d: accuracy untrained %.3f, Hebb %.3f: want less than what training gives", seed, before.Accuracy, after.Accuracy)
		}
	}
}
