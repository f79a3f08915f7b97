// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/runs"
)

// fitConfig is the config.json of a fit with a bootstrap, which can be resumed: the command line.
type fitConfig struct {
	Command   string              `json:"command"`
	Version   string              `json:"version"`
	Arguments []string            `json:"arguments"`
	Flags     map[string][]string `json:"flags"`
	Seed      uint64              `json:"seed"`
}

// ownFlags are flags that a resumed fit does not take from its folder.
var ownFlags = []string{"out", "resume", "overwrite", "json", "quiet", "strict", "log-level", "threads"}

// resumption is a fit whose bootstrap goes on where it was interrupted.
type resumption struct {
	config fitConfig
	inputs []string
	folder runs.Folder // with the fits of resampled data; "" where nothing is kept
	again  bool        // whether the folder was there before
	nth    int         // number of the next bootstrap
}

// upTo are the numbers below n.
func upTo(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// files makes absolute names of those arguments and flags that name files, as a fit may be resumed from elsewhere.
func (r *resumption) files(arguments ...int) {
	keep := func(name string) string {
		if name == "-" {
			return name
		}
		name = frame.Absolute(name)
		r.inputs = append(r.inputs, tablesOf([]string{name})...)
		return name
	}
	for _, i := range arguments {
		r.config.Arguments[i] = keep(r.config.Arguments[i])
	}
	for _, name := range []string{"cov", "problem"} {
		for i, file := range r.config.Flags[name] {
			r.config.Flags[name][i] = keep(file)
		}
	}
}

// open reads the command line of the fit that --resume names, sets its flags, and returns its arguments; or it remembers the given command line.
func (r *resumption) open(a *frame.App, c *cobra.Command, command string, args []string) ([]string, error) {
	r.config = fitConfig{Command: command, Version: frame.Version(), Arguments: slices.Clone(args), Flags: map[string][]string{}, Seed: a.Seed}
	if a.Resume == "" {
		c.Flags().Visit(func(f *pflag.Flag) {
			switch list, isList := f.Value.(pflag.SliceValue); {
			case slices.Contains(ownFlags, f.Name):
			case isList:
				r.config.Flags[f.Name] = list.GetSlice()
			default:
				r.config.Flags[f.Name] = []string{f.Value.String()}
			}
		})
		return args, nil
	}
	dir, err := a.Reopen(c, command, args, &r.config, "threads")
	if err != nil {
		return nil, err
	}
	if err := a.Lock(string(dir)); err != nil {
		return nil, err
	}
	if err := frame.Unchanged(dir); err != nil {
		return nil, err
	}
	for name, values := range r.config.Flags {
		f := c.Flags().Lookup(name)
		for _, v := range values {
			if f == nil || f.Value.Set(v) != nil {
				return nil, exit.With(exit.Config, fmt.Errorf("%s has --%s %s, which %s does not take: begin a new fit", dir.Path(runs.ConfigFile), name, v, command))
			}
		}
	}
	a.Seed, r.folder, r.again = r.config.Seed, dir, true
	return r.config.Arguments, nil
}

// outputs opens the folder or the table of a fit, and keeps its command line if it has a bootstrap.
func (u *uncertainty) outputs(a *frame.App, inputs ...string) (frame.Outputs, error) {
	r := &u.run
	if r.again {
		return frame.Outputs{Folder: r.folder}, nil
	}
	to, err := a.OpenOutputs(inputs...)
	if err != nil || to.Folder == "" || u.bootstrap == 0 {
		return to, err
	}
	r.folder = to.Folder
	return to, a.Begin(to.Folder, r.config.Command, r.config, r.inputs...)
}

// bootstrapParts are what is kept of fits of resampled data.
type bootstrapParts struct {
	Names  []string  `json:"names"`
	X      []float64 `json:"x"`
	Failed int       `json:"failed"`
}

// keep lets a bootstrap begin with the fits that its folder has, and keep those that it makes.
func (r *resumption) keep(a *frame.App, s *optim.BootstrapSettings) error {
	if r.folder == "" {
		return nil
	}
	name := r.folder.Path(fmt.Sprintf("bootstrap-%d.json", r.nth))
	r.nth++
	var before bootstrapParts
	switch err := runs.ReadJSON(name, &before); {
	case !r.again: // a new fit, whatever lies there
	case err == nil:
		s.Before = &optim.Bootstrapped{Names: before.Names, X: before.X, Failed: before.Failed}
		a.Note("%d fits of resampled data are there already", s.Before.Done())
	case !errors.Is(err, fs.ErrNotExist):
		return exit.With(exit.Data, fmt.Errorf("%w: remove the file, then resume again", err))
	}
	s.Keep = func(b *optim.Bootstrapped) error {
		return frame.WriteJSON(name, bootstrapParts{b.Names, b.X, b.Failed})
	}
	return nil
}
