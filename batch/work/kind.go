// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/batch"
)

// kind is one kind of work. To add one, write a file with its job and add it to kinds.
type kind struct {
	name  string // as the key work of a configuration has it, and the header of a manifest
	short string // what an item is
	job   func() job
}

// kinds lists all kinds, in the order in which they are explained.
var kinds = []kind{
	{"fit g2", "one bin of one result file", func() job { return &fitG2{} }},
	{"fit spectra", "one star of one file of spectra", func() job { return &fitSpectra{} }},
	{"sample g2", "the posterior of one bin of one result file", func() job { return &sampleG2{} }},
	{"sample stan", "the posterior of one program with the data of one file", func() job { return &sampleStan{} }},
	{"sim rsoxs", "one energy of one morphology", func() job { return &simRSoXS{} }},
	{"correlate", "the frames of one file", func() job { return &correlateFrames{} }},
	{"sbc", "one data set of a calibration", func() job { return &sbc{} }},
	{"sweep", "one call of a command", func() job { return &sweep{} }},
	{"chains", "one round of one chain of a posterior", func() job { return &chains{} }},
}

// job is the settings of one kind, read from a configuration (YAML) and kept in a manifest (JSON).
type job interface {
	// check looks for mistakes in the settings, and completes them.
	check() error
	// list gives the items to add, in their order. Names of files are relative to the folder of the
	// configuration.
	list(p place, add adder) error
	// open returns the task that works on the items.
	open(m *batch.Manifest, env Env) (batch.Task, error)
}

// adder takes the items of a source: count of them, from row on.
type adder = func(source string, row, count int64) error

// Env is what a process provides for the work.
type Env struct {
	// Threads is the number of threads that one item may use. Default 1, since several items are
	// processed at a time.
	Threads int
	// Backend computes graphs. Default: the CPU with the given number of threads, or the GPU if the
	// list says device: cuda.
	Backend ad.Backend
	// Folder is the folder for the files that some kinds of work produce. Default: the folder of the
	// manifest.
	Folder string
	// Program is the command that is called by work that runs other commands. Default: this program.
	Program string
	// Permit is asked before work starts a program for its items, with the path of the program or the name by which it is found,
	// and returns an error if it may not. Default: every program may be started.
	Permit func(program string) error
	// Note is called with messages that a user may want to see, unless it is nil.
	Note func(text string)
}

// Names returns the names of all kinds.
func Names() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// byName returns a kind.
func byName(name string) (kind, error) {
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return kind{}, fmt.Errorf("there is no kind of work %q: want one of %s", name, strings.Join(Names(), ", "))
	}
	return kinds[i], nil
}

// Open returns the task that processes the items of a manifest.
func Open(m *batch.Manifest, env Env) (batch.Task, error) {
	j, err := settingsOf(m)
	if err != nil {
		return nil, err
	}
	return j.open(m, env.completed(m))
}

// Program returns the program that the work of a manifest starts for every item, or "" if the work is built into this program.
// The name is "euryale" where the manifest names none.
func Program(m *batch.Manifest) (string, error) {
	j, err := settingsOf(m)
	if r, ok := j.(interface{ runs(*batch.Manifest) string }); ok && err == nil {
		return r.runs(m), nil
	}
	return "", err
}

// completed sets what was not given.
func (e Env) completed(m *batch.Manifest) Env {
	if e.Threads <= 0 {
		e.Threads = 1
	}
	if e.Backend == nil && m.Device == "cuda" {
		e.Backend = ad.CUDA{}
	}
	if e.Backend == nil {
		e.Backend = ad.CPU{Threads: e.Threads}
	}
	if e.Folder == "" {
		e.Folder = m.Folder()
	}
	return e
}

// settingsOf returns the settings in the header of a manifest.
func settingsOf(m *batch.Manifest) (job, error) {
	k, err := byName(m.Command)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: if a newer version of the program made it, use that version", m.Path(), err)
	}
	j := k.job()
	if err := json.Unmarshal(m.Settings, j); err != nil {
		return nil, fmt.Errorf("%s: its settings: %w", m.Path(), err)
	}
	return j, nil
}

// Wide reports whether an item of a manifest uses all threads by itself, so that items should be
// processed one at a time.
func Wide(m *batch.Manifest) bool {
	j, err := settingsOf(m)
	w, ok := j.(interface{ wide() bool })
	return err == nil && ok && w.wide()
}
