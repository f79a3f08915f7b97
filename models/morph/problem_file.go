// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/tensor"
)

// OpenProblem reads a problem file, and the files with starting values that it names.
// Relative paths in the document start from the folder of the file.
func OpenProblem(file string) (*Problem, error) {
	b, err := foreign.ReadFile(file)
	if err != nil {
		return nil, err
	}
	p, err := ParseProblemIn(b, filepath.Dir(file))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return p, p.ReadStarts(filepath.Dir(file))
}

// ReadStarts reads starting values from files. Relative paths start from the folder base.
func (p *Problem) ReadStarts(base string) error {
	for name, q := range p.Parameters {
		if q.File == "" {
			continue
		}
		t, err := readNPYFile(below(base, q.File))
		if err != nil {
			return err
		}
		q.Start, q.File = t.Float64s(), ""
		p.Parameters[name] = q
	}
	if err := p.readPlaces(base); err != nil {
		return err
	}
	return p.Check()
}

// Files lists the files and folders that Measure reads. Relative paths start from the folder base.
func (p *Problem) Files(base string) (names []string) {
	constants := make([]string, len(p.Constants))
	for i, c := range p.Constants {
		if json.Unmarshal(c, &constants[i]) != nil || strings.EqualFold(constants[i], "vacuum") {
			constants[i] = "" // rows of numbers, or nothing to read
		}
	}
	for i := range p.Data {
		for _, m := range p.Of(i).Masks {
			if !slices.Contains(constants, m.File) {
				constants = append(constants, m.File)
			}
		}
	}
	for _, name := range append(append(constants, p.Data.Names()...), p.Config, p.Mask.File, p.Options.PlacesFile) {
		if name != "" {
			names = append(names, below(base, name))
		}
	}
	return names
}

// below returns path name relative to base, unless it is absolute.
func below(base, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(base, name)
}

// readNPYFile reads an array as float64.
func readNPYFile(name string) (*tensor.Tensor, error) {
	f, err := foreign.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := tensor.ReadNPY(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	out, err := tensor.From(t.Float64s(), t.Shape()...)
	return out, err
}
