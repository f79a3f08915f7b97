// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

// action is one part of a run: kernels, a step on the processor, or a copy of one array.
type action struct {
	kind   actionKind
	job    int // index of the job
	buffer int // array that is copied
}

type actionKind uint8

const (
	launch   actionKind = iota // the kernels of a job
	onHost                     // a step on the processor
	upload                     // an array from the processor's memory
	download                   // an array to the processor's memory
)

// place says where the current content of an array is.
type place uint8

const (
	nowhere     place = 0
	onProcessor place = 1
	onDevice    place = 2
	both        place = onProcessor | onDevice
)

// plan is what a run does, in order. Which jobs run on the processor is known beforehand, and so is
// every copy.
type plan struct {
	actions []action
	final   []place // where the arrays are at the end
	hosted  []int   // jobs that run on the processor
	inputs  []int   // arrays that these read and that are in both memories before a run
}

// planOf plans the runs of a program; jobs without a list of launches run on the processor.
func planOf(p *compiler.Program, source *Source) plan {
	out := plan{final: make([]place, len(p.Buffers))}
	at := out.final
	for i, b := range p.Buffers {
		switch {
		case b.Value == nil || b.Value.Op != nil:
		case b.Value.Data != nil || b.Value.Ints != nil:
			at[i] = both // a constant, copied once
		default:
			at[i] = both // an input: sent before the jobs
		}
	}
	for i, j := range p.Jobs {
		want, kind := onDevice, launch
		if source.Jobs[i] == nil {
			if j.Step == nil || j.Step.Size() == 0 {
				continue // nothing to do
			}
			want, kind = onProcessor, onHost
			out.hosted = append(out.hosted, i)
		}
		reads := j.Reads()
		for k := i + 1; k <= source.Last[i]; k++ { // the kernel of the first does the others
			reads = append(reads, p.Jobs[k].Reads()...)
		}
		for _, b := range reads {
			if want == onProcessor && at[b] == both {
				out.inputs = append(out.inputs, b)
			}
			if at[b]&want != 0 || at[b] == nowhere {
				continue
			}
			if want == onDevice {
				out.actions = append(out.actions, action{kind: upload, buffer: b})
			} else {
				out.actions = append(out.actions, action{kind: download, buffer: b})
			}
			at[b] = both
		}
		out.actions = append(out.actions, action{kind: kind, job: i})
		for _, b := range j.Writes() {
			at[b] = want
		}
	}
	return out
}
