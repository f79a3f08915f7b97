// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// A checkpoint holds settings, machine, the warm-up that chains share, and per chain number and state, in the format of package checkpoint. A chain that has
// not started has no state, and chains that adapt independently share no warm-up. Version 4 is without the latter.
const checkpointKind, checkpointVersion, checkpointBefore = "CHAINS", 5, 4

// snapshot is the content of a checkpoint.
type snapshot struct {
	// settings is Settings.fingerprint of the run.
	settings string
	// machine is where the run was made. Resumed on another machine it may differ in the
	// last bits.
	machine string
	// pool is the warm-up as pool.save writes it.
	pool []byte
	ids  []int
	// states are the chains as chain.save writes them.
	states [][]byte
	// old is true for the version before.
	old bool
}

func thisMachine() string { return runtime.Version() + " " + runtime.GOARCH }

func (s *snapshot) write(w io.Writer) error {
	return checkpoint.Write(w, checkpointKind, checkpointVersion, func(e *checkpoint.Encoder) {
		e.String(s.settings)
		e.String(s.machine)
		e.Bytes(s.pool)
		e.Int(len(s.ids))
		for i, id := range s.ids {
			e.Int(id)
			e.Bytes(s.states[i])
		}
	})
}

func parseSnapshot(r io.ReadSeeker) (*snapshot, error) {
	read := func(version int) (*snapshot, error) {
		if _, err := r.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		s, b := &snapshot{old: version == checkpointBefore}, bufio.NewReader(r)
		if err := checkpoint.Read(b, checkpointKind, version, s.decode); err != nil {
			return nil, err
		}
		return s, checkpoint.AtEnd(b)
	}
	s, err := read(checkpointVersion)
	if err != nil {
		if old, e := read(checkpointBefore); e == nil {
			return old, nil
		}
	}
	return s, err
}

func (s *snapshot) decode(d *checkpoint.Decoder) {
	s.settings, s.machine = d.String(), d.String()
	if !s.old {
		s.pool = d.Bytes()
	}
	d.Items(16, func(int) {
		s.ids = append(s.ids, d.Int())
		s.states = append(s.states, d.Bytes())
	})
}

// readAny reads the checkpoint at path.
func readAny(path string) (*snapshot, error) {
	f, err := foreign.Open(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	defer f.Close()
	s, err := parseSnapshot(f)
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrCheckpoint, path, err)
	}
	return s, nil
}

// fits compares the settings of the checkpoint at path with those of a run.
func (s *snapshot) fits(path, settings string) error {
	was, is := rulesOf(s.settings), rulesOf(settings)
	switch {
	case was != "" && is != "" && was != is:
		return fmt.Errorf("%w %s was made by another version of the program, which adapts chains by other rules (number %s, and %s here), so that the same draws cannot be continued: resume with that version, or begin a new run in another folder", ErrCheckpoint, path, was, is)
	case s.settings != settings:
		return fmt.Errorf("%w %s belongs to another run: %s: resume with the settings of that run, or choose another path", ErrCheckpoint, path, differences(s.settings, settings))
	}
	return nil
}

// keepTo makes the settings those of an older run, whose chains adapted independently.
func (c *Settings) keepTo(s *snapshot) {
	if s.old && c.Coordinates == ChosenCoordinates {
		c.Independent = true
	}
}

// rulesOf returns the number of the rules of the warm-up, or of SMC, in the fingerprint of a run, "" where chains adapt independently.
func rulesOf(settings string) string {
	_, after, _ := strings.Cut("\n"+settings, "\nRounds=")
	number, _, _ := strings.Cut(after, "\n")
	if number == "" && strings.Contains(settings, fmt.Sprintf("Method=%d\n", SMC)) {
		return "1"
	}
	return number
}

// differences names the settings that differ.
func differences(saved, wanted string) string {
	old := map[string]string{}
	for _, line := range strings.Split(saved, "\n") {
		name, value, _ := strings.Cut(line, "=")
		old[name] = value
	}
	var out []string
	for _, line := range strings.Split(wanted, "\n") {
		name, value, _ := strings.Cut(line, "=")
		if v, ok := old[name]; !ok || v != value {
			out = append(out, fmt.Sprintf("%s was %q and is %q", name, v, value))
		}
		delete(old, name)
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		out = append(out, fmt.Sprintf("%s was %q and is not known", name, old[name]))
	}
	return strings.Join(out, ", ")
}

// save writes everything that later draws depend on, and the draws.
func (c *chain) save() []byte {
	if !c.started {
		return nil
	}
	var w checkpoint.Encoder
	w.Int(c.done)
	w.Floats(c.p.Q)
	w.Floats(c.p.G)
	w.Float(c.p.Lp)
	w.Uint64(c.momentum.Position())
	w.Uint64(c.choice.Position())
	w.Int(c.tr.Count)
	w.Int(c.warmupGrads)
	w.Int(c.divergent)
	w.Int(int(c.times[0]))
	w.Int(int(c.times[1]))
	c.ad.Save(&w)
	c.warm.save(&w)
	c.kept.save(&w)
	w.Int(len(c.divergences))
	for i := range c.divergences {
		c.divergences[i].save(&w)
	}
	if c.cfg.Laplace {
		w.Floats(c.weights)
	}
	return w.Encoded()
}

// load restores what save wrote into a fresh chain.
func (c *chain) load(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	r := checkpoint.Decode(b)
	c.done = r.Int()
	r.FloatsInto(c.p.Q)
	r.FloatsInto(c.p.G)
	c.p.Lp = r.Float()
	c.momentum.Seek(r.Uint64())
	c.choice.Seek(r.Uint64())
	c.tr.Count = r.Int()
	c.warmupGrads = r.Int()
	c.divergent = r.Int()
	c.times = [2]time.Duration{time.Duration(r.Int()), time.Duration(r.Int())}
	c.ad.Load(r, len(c.p.Q))
	width := 0
	if c.outputs != nil {
		width = c.outputs.Len()
	}
	c.warm.load(r, c.width(), width, c.outputs != nil)
	c.kept.load(r, c.width(), width, c.outputs != nil)
	for range r.Count(8 * 5) {
		c.divergences = append(c.divergences, loadDivergence(r))
	}
	if c.cfg.Laplace {
		c.weights = r.Floats()
	}
	c.check(r)
	r.End()
	c.started = true
	return r.Err()
}

// check compares counters with what they count.
func (c *chain) check(r *checkpoint.Decoder) {
	warm := c.cfg.warmup()
	switch {
	case r.Err() != nil:
	case c.cfg.Sink.Only && len(c.kept.rows)+len(c.warm.rows) == 0:
	case c.done < 0 || max(c.done-warm, 0) != len(c.kept.rows) || c.cfg.KeepWarmup && min(c.done, warm) != len(c.warm.rows):
		r.Fail("counts %d draws but holds %d", c.done, len(c.kept.rows))
	case !(c.ad.StepSize > 0):
		r.Fail("has step size %g", c.ad.StepSize)
	}
}

func (r *record) save(w *checkpoint.Encoder) {
	w.Int(len(r.rows))
	for i, s := range r.stats {
		w.Floats(r.rows[i])
		if r.outputs != nil {
			w.Floats(r.outputs[i])
		}
		for _, v := range []float64{s.LogProb, s.AcceptanceRate, s.SymmetricRate, s.StepSize, s.Energy, s.EnergyError, s.MaxEnergyError} {
			w.Float(v)
		}
		for _, v := range []int{s.TreeDepth, s.Steps, s.Index} {
			w.Int(v)
		}
		w.Bool(s.Diverging)
		w.Bool(s.ReachedMax)
	}
}

func (r *record) load(d *checkpoint.Decoder, dim, width int, outputs bool) {
	for range d.Count(8*(dim+width+10) + 10) {
		row := make([]float64, dim)
		d.FloatsInto(row)
		r.rows = append(r.rows, row)
		if outputs {
			out := make([]float64, width)
			d.FloatsInto(out)
			r.outputs = append(r.outputs, out)
		}
		var s DrawStat
		for _, v := range []*float64{&s.LogProb, &s.AcceptanceRate, &s.SymmetricRate, &s.StepSize, &s.Energy, &s.EnergyError, &s.MaxEnergyError} {
			*v = d.Float()
		}
		for _, v := range []*int{&s.TreeDepth, &s.Steps, &s.Index} {
			*v = d.Int()
		}
		s.Diverging, s.ReachedMax = d.Bool(), d.Bool()
		r.stats = append(r.stats, s)
	}
}

func (v *Divergence) save(w *checkpoint.Encoder) {
	w.Int(v.Chain)
	w.Int(v.Draw)
	w.Bool(v.Warmup)
	w.Floats(v.Start)
	w.Floats(v.Momentum)
	w.Floats(v.End)
	w.Float(v.EnergyError)
	w.String(v.Message)
}

func loadDivergence(r *checkpoint.Decoder) (v Divergence) {
	v.Chain, v.Draw, v.Warmup = r.Int(), r.Int(), r.Bool()
	v.Start, v.Momentum, v.End = r.Floats(), r.Floats(), r.Floats()
	v.EnergyError, v.Message = r.Float(), r.String()
	return v
}
