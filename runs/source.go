// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runs

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/stancsv"
	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/internal/xarray"
	"github.com/euryale-dev/euryale/tensor"
)

// Source holds draws in the form in which they were found: CmdStan chains or a tree.
type Source struct {
	Name   string
	Chains []*stancsv.Chain
	Tree   *tensor.DataTree // labelled arrays; nil for CmdStan chains
}

// NoDrawsError says that a folder is neither a folder of chains nor a Zarr folder.
type NoDrawsError struct{ Folder Folder }

// Error names the folder and says what it lacks.
func (e *NoDrawsError) Error() string {
	return fmt.Sprintf("%s has neither chain-*.csv nor .zgroup: give a run folder or a Zarr folder", e.Folder)
}

// ArrowError says that a file is an Arrow file, which cannot be read back.
type ArrowError struct{ File string }

// Error explains why an Arrow file cannot be read back.
func (e *ArrowError) Error() string {
	return e.File + " is an Arrow file, which cannot be read back because its rows have lost the shapes of the variables: give draws.zarr or the chains of the run"
}

// AloneError says that a file or folder that already holds all chains was named together
// with others.
type AloneError struct {
	Name, Kind string // the file or folder, and its kind in words
}

// Error names the file or folder.
func (e *AloneError) Error() string {
	return fmt.Sprintf("%s is %s, which holds all chains by itself: name it alone", e.Name, e.Kind)
}

// Open reads draws written by this or another program: a run folder (from its draws.zarr,
// the most complete file), CSV files of CmdStan with one chain each, a Zarr folder, a
// netCDF file or JSON. It recognises the format by the content, not by the name.
func Open(names ...string) (*Source, error) {
	if len(names) == 0 {
		return nil, errors.New("runs: there are no files to read draws from: name at least one")
	}
	s := &Source{Name: names[0]}
	var tables []string
	for _, arg := range names {
		kind, err := kindOf(arg)
		if err != nil {
			return nil, err
		}
		switch {
		case kind == "csv":
			tables = append(tables, arg)
			continue
		case kind == "run" && len(names) == 1 && zarr.Is(filepath.Join(arg, DrawsFolder)):
			s.Tree, err = openTree("zarr", filepath.Join(arg, DrawsFolder))
			return s, err
		case kind == "run":
			files, err := stancsv.Files(arg)
			if err != nil {
				return nil, err
			}
			tables = append(tables, files...)
			continue
		case len(names) > 1:
			return nil, &AloneError{arg, kindNames[kind]}
		}
		s.Tree, err = openTree(kind, arg)
		return s, err
	}
	return s, s.readTables(tables)
}

func (s *Source) readTables(files []string) error {
	for _, f := range files {
		c, err := stancsv.Open(f)
		if err != nil {
			return err
		}
		s.Chains = append(s.Chains, c)
	}
	return stancsv.Arrange(s.Chains, files)
}

// Notes says what a reader of the draws should know: chains of unequal length, of which only a part is used, and draws that are
// not those of a Markov chain.
func (s *Source) Notes() (notes []string) {
	if s.Tree != nil {
		for _, d := range s.Tree.Groups() {
			if left := d.Attrs[xarray.LeftOut]; left != "" {
				notes = append(notes, fmt.Sprintf("variables of the group %s were left out, since their types cannot be read: %s", d.Name, left))
			}
		}
	}
	if len(s.Chains) == 0 {
		return notes
	}
	shortest, longest := math.MaxInt, 0
	for _, c := range s.Chains {
		shortest, longest = min(shortest, len(c.Draws)), max(longest, len(c.Draws))
	}
	if shortest < longest {
		lengths := make([]string, len(s.Chains))
		for i, c := range s.Chains {
			lengths[i] = strconv.Itoa(len(c.Draws))
		}
		notes = append(notes, fmt.Sprintf("the chains have %s draws: only the first %d of each are used", strings.Join(lengths, ", "), shortest))
	}
	if c := s.Chains[0]; c.Approximate() {
		note := fmt.Sprintf("the draws come from an approximation (method = %s), whose error no check of the draws can see", c.Method())
		if c.Mean != nil {
			note += "; the first row of the file is its mean and counts as no draw"
		}
		notes = append(notes, note)
	}
	return notes
}

// PlainTable reports whether the draws come from CSV files without any column of a sampler, such as lp__. Any
// table of numbers can be read as draws, so such a file may have been named by mistake.
func (s *Source) PlainTable() bool {
	return len(s.Chains) > 0 && len(s.Chains[0].Parameters()) == len(s.Chains[0].Columns)
}

// AsTree returns the draws as labelled arrays.
func (s *Source) AsTree() (*tensor.DataTree, error) {
	if s.Tree != nil {
		return s.Tree, nil
	}
	return stancsv.Tree(s.Chains)
}
