// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gpubench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/basic"
)

// version is that of the form of an Experiment.
const version = 1

// Experiment is what one run of scripts/gpu.sh experiment found out on a card.
type Experiment struct {
	Version   int             `json:"version"`
	Card      string          `json:"card"`      // as the driver calls it
	Driver    int             `json:"driver"`    // 1000*major + 10*minor
	ClockMHz  float64         `json:"clock_mhz"` // that the driver tells
	Date      string          `json:"date"`
	Trials    []Trial         `json:"trials"`
	Missing   []string        `json:"missing"`             // what was left out, and why
	Table     *Report         `json:"table,omitempty"`     // of bench gpu
	Peers     json.RawMessage `json:"peers,omitempty"`     // of other libraries
	Passed    int             `json:"passed"`              // comparing tests
	Failed    []string        `json:"failed,omitempty"`    // lines of those that failed
	Sanitizer []string        `json:"sanitizer,omitempty"` // everything that it reported
}

// perRow is the time in which the values of a choice are timed on one row, and patience that after which a process that times them is ended, since
// compiling takes part of it.
const (
	perRow   = 4 * time.Second
	patience = 45 * time.Second
)

// Experimenter runs the trials of all choices, each row of a choice in a process of its own, since a kernel that fails takes its process along.
type Experimenter struct {
	Command  []string      // that runs Child; the name of the choice, the row and the values follow
	Seconds  float64       // after which nothing new begins
	File     string        // where the Experiment is written after each row
	Told     func(string)  // hears of each row; may be nil
	Patience time.Duration // default 45 s
	choices  []cuda.Choice // default all
}

// Run runs the trials in the order of the choices and keeps what it has in the file. What a value does wrong costs only this value.
func (x *Experimenter) Run(ctx context.Context) (*Experiment, error) {
	e, err := newExperiment()
	if err != nil {
		return nil, err
	}
	if x.Patience == 0 {
		x.Patience = patience
	}
	if x.choices == nil {
		x.choices = cuda.Choices()
	}
	end := time.Now().Add(time.Duration(x.Seconds * float64(time.Second)))
	for _, c := range x.choices {
		for _, row := range c.Rows {
			if ctx.Err() != nil || time.Now().After(end) {
				e.Missing = append(e.Missing, fmt.Sprintf("%s on %s: there was no time left", c.Name, row))
				continue
			}
			if x.Told != nil {
				x.Told(c.Name + " on " + row)
			}
			x.row(ctx, e, c, row)
			if err := e.write(x.File); err != nil {
				return e, err
			}
		}
	}
	return e, e.write(x.File)
}

// row times the values of a choice on a row. A process that fails is followed by another without the value that it was working with.
func (x *Experimenter) row(ctx context.Context, e *Experiment, c cuda.Choice, row string) {
	values := slices.Clone(c.Values)
	for len(values) > 1 {
		trials, working, err := x.child(ctx, c.Name, row, values)
		if err == nil {
			e.Trials = append(e.Trials, trials...)
			return
		}
		if ctx.Err() != nil || working == nil || *working == c.Default {
			e.Missing = append(e.Missing, fmt.Sprintf("%s on %s: %v", c.Name, row, err))
			return
		}
		e.Trials = append(e.Trials, Trial{Choice: c.Name, Value: *working, Row: row, Error: err.Error()})
		values = slices.DeleteFunc(values, func(v int) bool { return v == *working })
	}
}

// child runs a process that times values, and returns the value that it was working with if it failed.
func (x *Experimenter) child(ctx context.Context, choice, row string, values []int) (trials []Trial, working *int, err error) {
	ctx, stop := context.WithTimeout(ctx, x.Patience)
	defer stop()
	args := append(slices.Clone(x.Command[1:]), choice, row)
	for _, v := range values {
		args = append(args, strconv.Itoa(v))
	}
	cmd := exec.CommandContext(ctx, x.Command[0], args...)
	var said strings.Builder
	cmd.Stderr = &limited{&said, 4000}
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, nil, err
	}
	complete := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if v, found := strings.CutPrefix(lines.Text(), "begins "); found {
			if n, err := strconv.Atoi(v); err == nil {
				working = &n
			}
			continue
		}
		complete = json.Unmarshal(lines.Bytes(), &trials) == nil
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() == context.DeadlineExceeded:
		err = fmt.Errorf("no answer within %v", x.Patience)
	case err != nil:
		err = fmt.Errorf("%w: %s", err, strings.TrimSpace(said.String()))
	case !complete || len(trials) != len(values):
		err = errors.New("the process ended without results")
	}
	return trials, working, err
}

// limited keeps the beginning of what is written.
type limited struct {
	to   *strings.Builder
	left int
}

func (l *limited) Write(b []byte) (int, error) {
	n := min(l.left, len(b))
	l.to.Write(b[:n])
	l.left -= n
	return len(b), nil
}

// Child times values of a choice on a row on the first GPU, and writes on which value it works, and then the trials, each in a line.
func Child(ctx context.Context, w io.Writer, args []string) error {
	return child(ctx, w, args, rows(), perRow)
}

func child(ctx context.Context, w io.Writer, args []string, all []row, long time.Duration) error {
	if len(args) < 3 {
		return fmt.Errorf("gpubench: a trial was given %q: give the name of a choice, a row and values", args)
	}
	choices := cuda.Choices()
	c := slices.IndexFunc(choices, func(c cuda.Choice) bool { return c.Name == args[0] })
	r := slices.IndexFunc(all, func(r row) bool { return r.name == args[1] })
	if c < 0 || r < 0 {
		return fmt.Errorf("gpubench: there is no choice %q or no row %q: see cuda.Choices", args[0], args[1])
	}
	var values []int
	for _, a := range args[2:] {
		v, err := strconv.Atoi(a)
		if err != nil {
			return fmt.Errorf("gpubench: the value %q is not a whole number: give one", a)
		}
		values = append(values, v)
	}
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		return err
	}
	defer d.Close()
	b := &bench{d: d, k: basic.Open(d), r: rand.New(rand.NewPCG(1, 2))}
	trials, err := b.trials(ctx, choices[c], all[r], values, time.Now().Add(long), func(v int) { fmt.Fprintln(w, "begins", v) })
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(trials)
}

// newExperiment says which card there is.
func newExperiment() (*Experiment, error) {
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		return nil, err
	}
	defer d.Close()
	i := d.Info()
	return &Experiment{Version: version, Card: i.Name, Driver: i.DriverVersion, ClockMHz: i.ClockMHz, Date: time.Now().UTC().Format(time.DateOnly)}, nil
}

func (e *Experiment) write(file string) error {
	b, err := json.MarshalIndent(e, "", " ")
	if err != nil {
		return err
	}
	return atomicfile.WriteBytes(file, append(b, '\n'))
}

// Gather puts what other parts of scripts/gpu.sh left in a folder into the experiment in a file there: the table (bench.json), the times of other libraries (peers.json),
// and what tests and the sanitizer said (gpu.log). What is not there is said to be missing.
func Gather(folder, file string) (*Experiment, error) {
	e, err := ReadExperiment(file)
	if errors.Is(err, os.ErrNotExist) {
		if e, err = newExperiment(); err == nil {
			e.Missing = append(e.Missing, "trials of choices: they were not run")
		}
	}
	if err != nil {
		return nil, err
	}
	read := func(name string, use func(b []byte) error) {
		b, err := os.ReadFile(filepath.Join(folder, name))
		if err == nil {
			err = use(b)
		}
		if err != nil {
			e.Missing = append(e.Missing, fmt.Sprintf("%s: %v", name, err))
		}
	}
	read("bench.json", func(b []byte) error { return json.Unmarshal(b, &e.Table) })
	read("peers.json", func(b []byte) error {
		if !json.Valid(b) {
			return errors.New("it is not JSON")
		}
		e.Peers = b
		return nil
	})
	read("gpu.log", func(b []byte) error {
		for line := range strings.Lines(string(b)) {
			switch line = strings.TrimSpace(line); {
			case strings.HasPrefix(line, "========="):
				e.Sanitizer = append(e.Sanitizer, line)
			case strings.HasPrefix(line, "--- PASS"):
				e.Passed++
			case strings.HasPrefix(line, "--- FAIL"), strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "EXIT"), strings.HasPrefix(line, "lacks "):
				e.Failed = append(e.Failed, line)
			}
		}
		return nil
	})
	return e, e.write(file)
}

// ReadExperiment reads an experiment.
func ReadExperiment(file string) (*Experiment, error) {
	b, err := os.ReadFile(file)
	switch {
	case errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: give the file that scripts/gpu.sh experiment wrote", err)
	}
	var e Experiment
	if err := json.Unmarshal(b, &e); err != nil {
		return nil, fmt.Errorf("%s is not what scripts/gpu.sh experiment writes: %w: give the file that it wrote, whole", file, err)
	}
	if e.Version != version {
		return nil, fmt.Errorf("%s has version %d of the form of experiments: run scripts/gpu.sh experiment of this version, which writes %d", file, e.Version, version)
	}
	if e.Card == "" || e.Date == "" {
		return nil, fmt.Errorf("%s does not name a card and a date: give the file that scripts/gpu.sh experiment wrote", file)
	}
	return &e, nil
}
