// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

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
	switch {
	case x == nil || labels == nil:
		return e, fmt.Errorf("%s has the arrays %s: want x [examples, stimulus neurons] and labels [examples]", name, strings.Join(slices.Sorted(maps.Keys(arrays)), ", "))
	case len(x.Shape()) != 2 || len(labels.Shape()) != 1:
		return e, fmt.Errorf("%s: x has the shape %v and labels %v: want two axes, examples and stimulus neurons, and one, examples", name, x.Shape(), labels.Shape())
	case x.Shape()[0] != labels.Shape()[0]:
		return e, fmt.Errorf("%s: x has %d examples and labels %d: write one label for each example", name, x.Shape()[0], labels.Shape()[0])
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
