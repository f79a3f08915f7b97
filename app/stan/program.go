// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/bridgestan"
	"github.com/euryale-dev/euryale/models/stan"
)

// dataHelp explains the files of data, for the help of all commands that take a program.
const dataHelp = `The data are a JSON object, as cmdstanr::write_stan_json and
cmdstanpy.write_stan_json write it, an R dump as rstan::stan_rdump writes it, or
a table (.csv, .tsv) whose columns are variables and whose number of rows is
the size that the program declares for them. Give --data again for variables in
other files. A program without a data block needs none.
`

// files are the flags that name files.
type files struct {
	data    []string
	init    string
	library string
}

// density is what is sampled: a program of ours, or a library that somebody compiled.
type density interface {
	draws.Density
	infer.Outputs
	ParameterNames() []string
	Observations() *infer.Posterior
	Failures() (int, error)
}

func (f *files) add(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.data, "data", nil, "file with the variables of the data block: JSON, R dump or a table, or - for standard input; may be repeated")
	flags.StringVar(&f.library, "library", "", "shared library that BridgeStan compiled from a program, in place of MODEL.stan; it runs with your rights")
	flags.StringVar(&f.init, "init", "", "file with initial values of parameters, or one for each chain with commas between them; or a number, within which unconstrained starts are drawn")
}

// model is the file of the program or of the library, of the arguments of a command.
func (f *files) model(command string, args []string) (string, error) {
	switch {
	case len(args) == 0 && f.library == "":
		return "", exit.Usage("%s needs a program MODEL.stan, or --library MODEL.so", command)
	case len(args) > 0 && f.library != "":
		return "", exit.Usage("%s and --library %s: give one of them", args[0], f.library)
	case f.library != "":
		return f.library, nil
	}
	return args[0], nil
}

// named says in messages where the data came from.
func (f *files) named() string { return strings.Join(f.data, ", ") }

// program is a program with its data, as config.json keeps them.
type program struct {
	Program string                     `json:"program,omitempty"`
	Library string                     `json:"library,omitempty"` // in place of the program
	Data    map[string]json.RawMessage `json:"data"`
}

// load reads a program and its data.
func (p *program) load(a *frame.App, file string, f files) error {
	if f.library != "" {
		p.Library, p.Data = frame.Absolute(f.library), stan.Data{}
		_, err := p.loadData(f)
		return err
	}
	text, err := source(file)
	if err != nil {
		return err
	}
	if len(f.data) > 0 && strings.HasSuffix(f.data[0], ".stan") || strings.HasPrefix(strings.TrimSpace(text), "{") {
		other := "the data"
		if len(f.data) > 0 {
			other = f.data[0]
		}
		return exit.Usage("%s and %s are the other way round: want MODEL.stan --data FILE.json", file, other)
	}
	p.Program, p.Data = text, stan.Data{}
	table, err := p.loadData(f)
	if err != nil || !table {
		return err
	}
	parsed, err := p.parse(file)
	if err != nil {
		return err
	}
	for _, n := range parsed.CountRows(p.Data) {
		a.Note("%s is %s, the number of rows of the table", n, p.Data[n])
	}
	return nil
}

// loadData reads all files of data, and says whether one is a table.
func (p *program) loadData(f files) (table bool, err error) {
	p.Data, table, err = readData(f.data...)
	return table, err
}

// readData reads files of variables, and says whether one is a table.
func readData(names ...string) (d stan.Data, table bool, err error) {
	d, table, err = stan.ReadFiles(names, func(name string) ([]byte, error) {
		return frame.ReadInput(name, ".json", ".r", ".csv", ".tsv", ".xlsx", ".npy")
	})
	if stan.OfData(err) {
		err = exit.With(exit.Data, err)
	}
	return d, table, err
}

// source reads a program with the files that it includes, which are looked for beside it.
func source(file string) (string, error) {
	b, err := frame.ReadInput(file, ".stan")
	if err != nil {
		return "", err
	}
	text, err := stan.Expand(string(b), func(name string) (string, error) {
		b, err := frame.ReadInput(filepath.Join(filepath.Dir(file), name))
		return string(b), err
	})
	return text, exit.With(exit.Data, err)
}

func (p *program) parse(file string) (*stan.Program, error) {
	parsed, err := stan.Parse(filepath.Base(file), p.Program, stan.Settings{Deprecated: true})
	return parsed, exit.With(exit.Data, err)
}

// compile makes the posterior. data names the files of data in messages.
func (p *program) compile(a *frame.App, file, data string, s stan.CompileSettings) (density, error) {
	if p.Library != "" {
		return p.open(s)
	}
	parsed, err := p.parse(file)
	if err != nil {
		return nil, err
	}
	for _, n := range parsed.Notes {
		a.Note("%s", n)
	}
	s.Backend, s.Print = a.Backend(1), a.Stderr
	post, err := parsed.Compile(p.Data, s)
	if err != nil {
		if data == "" && len(parsed.Data()) > 0 {
			return nil, &exit.Error{Code: exit.Data, Err: err, Hint: "name the file of the data with --data FILE.json"}
		}
		if data != "" && stan.OfData(err) {
			err = fmt.Errorf("%s: %w", data, err)
		}
		return nil, exit.With(exit.Data, err)
	}
	if post.Dim() == 0 {
		return nil, exit.With(exit.Data, fmt.Errorf("%s has no parameters, so that there is nothing to sample: declare them in its parameters block", file))
	}
	return post, nil
}

// open opens the library.
func (p *program) open(s stan.CompileSettings) (density, error) {
	data, err := json.Marshal(p.Data)
	if err != nil {
		return nil, exit.With(exit.Data, err)
	}
	m, err := bridgestan.Open(p.Library, data, bridgestan.Settings{Seed: uint32(s.Seed), NoJacobian: s.NoJacobian})
	if err != nil {
		return nil, exit.With(exit.Data, err)
	}
	if m.Dim() == 0 {
		return nil, exit.With(exit.Data, fmt.Errorf("%s has no parameters, so that there is nothing to sample: use it where it was made", p.Library))
	}
	return m, nil
}

// starts are those of the flag --init, for each chain; nil without it.
func (f *files) starts(d density, chains int, seed uint64) ([][]float64, error) {
	if f.init == "" {
		return nil, nil
	}
	post, ok := d.(*stan.Posterior)
	if !ok {
		return nil, exit.Usage("--init is for programs: leave it out with --library")
	}
	s := stan.StartSettings{Chains: chains, Seed: seed}
	if r, err := strconv.ParseFloat(f.init, 64); err == nil {
		if !(r >= 0) || r > 100 {
			return nil, exit.Usage("--init %s: want a radius from 0 to 100, or files", f.init)
		}
		if s.Radius = r; r == 0 {
			s.Radius = -1
		}
	} else {
		for name := range strings.SplitSeq(f.init, ",") {
			d, _, err := readData(name)
			if err != nil {
				return nil, err
			}
			s.Values = append(s.Values, d)
		}
	}
	starts, err := post.Starts(s)
	if err != nil {
		return nil, exit.With(exit.Data, fmt.Errorf("--init %s: %w", f.init, err))
	}
	return starts, nil
}
