// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"bytes"
	"fmt"
	"math"
	"path/filepath"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/tensor"
)

// OpenExamples reads the NPZ files that the problem names, with x [examples, stimulus
// neurons] and labels [examples]; their paths start from the folder base. Without files
// there are no examples: those of the task are made by Build.
func (p *Problem) OpenExamples(base string) (train, test Examples, err error) {
	var sets [2]Examples
	for i, name := range []string{p.Data, p.Test} {
		if name == "" {
			continue
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(base, name)
		}
		if sets[i], err = openExamples(name); err != nil {
			return train, test, err
		}
	}
	return sets[0], sets[1], nil
}

// openExamples reads x and labels of an NPZ file.
func openExamples(name string) (e Examples, err error) {
	b, err := foreign.ReadFile(name, ".npz")
	if err != nil {
		return e, err
	}
	arrays, err := tensor.ReadNPZ(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		return e, fmt.Errorf("%s: %w", name, err)
	}
	x, labels := arrays["x"], arrays["labels"]
	if x == nil || labels == nil || len(x.Shape()) != 2 || len(labels.Shape()) != 1 || x.Shape()[0] != labels.Shape()[0] {
		return e, fmt.Errorf("%s lacks the arrays x [examples, stimulus neurons] and labels [examples], or their sizes differ: write both with the same number of examples", name)
	}
	rows, columns := x.Shape()[0], x.Shape()[1]
	values := x.Float64s()
	for i := range rows {
		e.Stimuli = append(e.Stimuli, values[i*columns:(i+1)*columns])
	}
	for i, l := range labels.Float64s() {
		if l != math.Trunc(l) || l < 0 || l > 1e6 {
			return e, fmt.Errorf("%s: label %g of example %d is not a class: want 0, 1, 2, ...", name, l, i)
		}
		e.Labels = append(e.Labels, int(l))
	}
	return e, nil
}
