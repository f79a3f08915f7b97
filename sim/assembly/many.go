// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"errors"
	"fmt"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// ProjectAll runs steps of plans of different brains, each as Project does, and returns the rounds
// plan by plan. Brains on one GPU share every launch, so that hundreds of them take little longer
// than one, and the CPU's part of their steps is done side by side; those whose backend is
// autodiff.Several are shared among its GPUs. Brains on the CPU run side by side.
//
// The errors of all plans are joined; the rounds that a brain has finished are returned with them.
func ProjectAll(plans []*Plan, steps int) ([][][]Round, error) {
	traces, errs := make([][][]Round, len(plans)), make([]error, len(plans))
	seen := map[*Brain]bool{}
	for i, p := range plans {
		if p == nil || p.brain == nil {
			return nil, fmt.Errorf("assembly: plan %d of %d is nil: make plans with Plan", i, len(plans))
		}
		if seen[p.brain] {
			return nil, fmt.Errorf("assembly: plan %d of %d is of the same brain as another: give plans of different brains, because all run at once", i, len(plans))
		}
		seen[p.brain] = true
		if errs[i] = p.brain.owns(p, steps); errs[i] == nil && steps > 0 {
			errs[i] = p.check()
		}
	}
	if err := errors.Join(errs...); err != nil || steps == 0 {
		return traces, err
	}
	type group struct {
		d    *cuda.Device
		half bool
	}
	groups := map[group][]int{}
	var order []group
	var alone []int
	for i, p := range plans {
		list := ad.Spread(p.brain.set.Backend)
		if errs[i] = p.brain.attach(p, list[i%len(list)]); errs[i] != nil {
			continue
		}
		g := p.brain.gpu
		if g == nil {
			alone = append(alone, i)
			continue
		}
		k := group{g.d, g.half}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], i)
	}
	var wait sync.WaitGroup
	for _, k := range order {
		wait.Go(func() { projectTogether(plans, groups[k], steps, traces, errs) })
	}
	if len(alone) > 0 {
		parallel.Do(plans[alone[0]].brain.workers(), len(alone), func(_, k int) {
			i := alone[k]
			b := plans[i].brain
			for range steps {
				traces[i] = append(traces[i], b.run(plans[i], b.equations()))
			}
		})
	}
	wait.Wait()
	return traces, errors.Join(errs...)
}

// mostTogether is the largest number of brains that share a launch: an axis of a grid has 65535 blocks, and a
// brain may have several targets.
const mostTogether = 4096

// projectTogether runs plans of brains on one device.
func projectTogether(plans []*Plan, which []int, steps int, traces [][][]Round, errs []error) {
	for from := 0; from < len(which); from += mostTogether {
		part := which[from:min(from+mostTogether, len(which))]
		together := make([]*Plan, len(part))
		for k, i := range part {
			together[k] = plans[i]
		}
		l := newLockstep(together...)
		var err error
		for t := 0; t < steps && err == nil; t++ {
			err = l.step()
		}
		for k, i := range part {
			traces[i], errs[i] = l.runs[k].trace, err
		}
		if err != nil {
			for _, i := range which[min(from+mostTogether, len(which)):] {
				errs[i] = err
			}
			return
		}
	}
}
