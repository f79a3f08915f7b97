// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"math"
	"sync/atomic"
	"time"
)

// Progress is what a run has done so far.
type Progress struct {
	Chains  []ChainProgress
	Elapsed time.Duration
	// Done is true when the run is over.
	Done bool
}

// ChainProgress is what one chain has done so far.
type ChainProgress struct {
	Chain int
	// Draw and Total are the numbers of finished and of wanted draws, warm-up included.
	Draw, Total int
	// Warmup is true while the chain adapts.
	Warmup bool
	// Divergences is the number of kept draws that diverged.
	Divergences int
	StepSize    float64
	// Gradients is the number of evaluations of the target.
	Gradients int
	Running   bool
}

// Remaining estimates the time to the end, from the draws of the slowest chain or, while chains wait for others to end, from those of all;
// 0 when nothing is known.
func (p Progress) Remaining() time.Duration {
	var worst float64
	done, total, waiting := 0, 0, false
	for _, c := range p.Chains {
		done, total = done+c.Draw, total+c.Total
		switch {
		case !c.Running && c.Draw < c.Total:
			waiting = true
		case c.Draw == 0:
			return 0
		default:
			worst = math.Max(worst, float64(c.Total-c.Draw)/float64(c.Draw))
		}
	}
	if waiting {
		if worst = 0; done > 0 {
			worst = float64(total-done) / float64(done)
		}
	}
	return time.Duration(worst * float64(p.Elapsed))
}

// liveView is the part of a chain that other goroutines may read while it runs.
type liveView struct {
	draw, divergences, gradients atomic.Int64
	step                         atomic.Uint64
	running                      atomic.Bool
	// rows are the finished rows, which are never written again.
	rows atomic.Pointer[[][]float64]
}

// publish shows the state after a draw.
func (c *chain) publish() {
	c.view.draw.Store(int64(c.done))
	c.view.divergences.Store(int64(c.divergent))
	c.view.gradients.Store(int64(c.tr.Count))
	c.view.step.Store(math.Float64bits(c.ad.StepSize))
	if c.cfg.StopWhen.active() {
		rows := c.kept.columns()
		c.view.rows.Store(&rows)
	}
}

func (c *chain) progress() ChainProgress {
	draw := int(c.view.draw.Load())
	return ChainProgress{
		Chain: c.id, Draw: draw + c.cfg.rounds, Total: c.total() + c.cfg.rounds, Warmup: draw < c.cfg.warmup(),
		Divergences: int(c.view.divergences.Load()), StepSize: math.Float64frombits(c.view.step.Load()),
		Gradients: int(c.view.gradients.Load()), Running: c.view.running.Load(),
	}
}

// columns returns the rows that summaries are made of.
func (r *record) columns() [][]float64 {
	if r.outputs != nil {
		return r.outputs
	}
	return r.rows
}
