package infer

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// A checkpoint is
//
//	"EURYALE\x03", SHA-256 of the rest, then: settings, machine, and per chain
//	number and state
//
// in the encoding of encoder. A chain that has not started has no state.
const checkpointMagic = "EURYALE\x03"

// snapshot is the content of a checkpoint.
type snapshot struct {
	settings string // Config.fingerprint
	machine  string // a resumed run on another one may differ in the last bits
	ids      []int
	states   [][]byte // chain.save
}

func thisMachine() string { return runtime.Version() + " " + runtime.GOARCH }

func (s *snapshot) encode() []byte {
	var w encoder
	w.string(s.settings)
	w.string(s.machine)
	w.int(len(s.ids))
	for i, id := range s.ids {
		w.int(id)
		w.bytes(s.states[i])
	}
	sum := sha256.Sum256(w.b)
	return append(append([]byte(checkpointMagic), sum[:]...), w.b...)
}

func decodeSnapshot(b []byte) (*snapshot, error) {
	head := len(checkpointMagic) + sha256.Size
	if len(b) < head || string(b[:len(checkpointMagic)-1]) != checkpointMagic[:len(checkpointMagic)-1] {
		return nil, fmt.Errorf("not a checkpoint of this program")
	}
	if v := b[len(checkpointMagic)-1]; v != checkpointMagic[len(checkpointMagic)-1] {
		return nil, fmt.Errorf("format version %d: this program reads version 3", v)
	}
	if sum := sha256.Sum256(b[head:]); !bytes.Equal(sum[:], b[len(checkpointMagic):head]) {
		return nil, fmt.Errorf("damaged or cut off: the checksum of its %d bytes does not match", len(b))
	}
	return decodePayload(b[head:])
}

func decodePayload(b []byte) (*snapshot, error) {
	r := decoder{b: b}
	s := &snapshot{settings: r.string(), machine: r.string()}
	for range r.count(16) {
		s.ids = append(s.ids, r.int())
		s.states = append(s.states, r.bytes())
	}
	if r.err == nil && len(r.b) > 0 {
		r.fail("has %d bytes too many", len(r.b))
	}
	return s, r.err
}

// readSnapshot reads the checkpoint at path and compares its settings.
func readSnapshot(path, settings string) (*snapshot, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	s, err := decodeSnapshot(b)
	if err != nil {
		return nil, fmt.Errorf("%w %s: %w", ErrCheckpoint, path, err)
	}
	if s.settings != settings {
		return nil, fmt.Errorf("%w %s belongs to another run: %s", ErrCheckpoint, path, differences(s.settings, settings))
	}
	return s, nil
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
	for name, v := range old {
		out = append(out, fmt.Sprintf("%s was %q and is not known", name, v))
	}
	return strings.Join(out, ", ")
}

// writeFile replaces the file at path as a whole.
func writeFile(path string, b []byte) error {
	err := atomicfile.Write(path, true, func(w io.Writer) error {
		_, err := w.Write(b)
		return err
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotSaved, err)
	}
	return nil
}

// save writes everything that later draws depend on, and the draws.
func (c *chain) save() []byte {
	if !c.started {
		return nil
	}
	var w encoder
	w.int(c.done)
	w.floats(c.p.q)
	w.floats(c.p.g)
	w.float(c.p.lp)
	w.u64(c.momentum.Position())
	w.u64(c.choice.Position())
	w.int(c.tr.count)
	w.int(c.warmupGrads)
	w.int(c.divergent)
	w.int(int(c.times[0]))
	w.int(int(c.times[1]))
	c.ad.save(&w)
	c.warm.save(&w)
	c.kept.save(&w)
	w.int(len(c.divergences))
	for i := range c.divergences {
		c.divergences[i].save(&w)
	}
	return w.b
}

// load restores what save wrote into a fresh chain.
func (c *chain) load(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	r := decoder{b: b}
	c.done = r.int()
	r.floatsInto(c.p.q)
	r.floatsInto(c.p.g)
	c.p.lp = r.float()
	c.momentum.Seek(r.u64())
	c.choice.Seek(r.u64())
	c.tr.count = r.int()
	c.warmupGrads = r.int()
	c.divergent = r.int()
	c.times = [2]time.Duration{time.Duration(r.int()), time.Duration(r.int())}
	c.ad.load(&r, len(c.p.q))
	width := 0
	if c.outputs != nil {
		width = c.outputs.Len()
	}
	c.warm.load(&r, len(c.p.q), width, c.outputs != nil)
	c.kept.load(&r, len(c.p.q), width, c.outputs != nil)
	for range r.count(8 * 5) {
		c.divergences = append(c.divergences, loadDivergence(&r))
	}
	c.check(&r)
	c.started = true
	return r.err
}

// check compares counters with what they count.
func (c *chain) check(r *decoder) {
	warm := c.cfg.warmup()
	switch {
	case r.err != nil:
	case len(r.b) > 0:
		r.fail("has %d bytes too many", len(r.b))
	case c.cfg.Sink.Only && len(c.kept.rows)+len(c.warm.rows) == 0:
	case c.done < 0 || max(c.done-warm, 0) != len(c.kept.rows) || c.cfg.KeepWarmup && min(c.done, warm) != len(c.warm.rows):
		r.fail("counts %d draws but holds %d", c.done, len(c.kept.rows))
	case !(c.ad.eps > 0):
		r.fail("has step size %g", c.ad.eps)
	}
}

func (r *record) save(w *encoder) {
	w.int(len(r.rows))
	for i, s := range r.stats {
		w.floats(r.rows[i])
		if r.outputs != nil {
			w.floats(r.outputs[i])
		}
		for _, v := range []float64{s.LogProb, s.AcceptanceRate, s.SymmetricRate, s.StepSize, s.Energy, s.EnergyError, s.MaxEnergyError} {
			w.float(v)
		}
		for _, v := range []int{s.TreeDepth, s.Steps, s.Index} {
			w.int(v)
		}
		w.bool(s.Diverging)
		w.bool(s.ReachedMax)
	}
}

func (r *record) load(d *decoder, dim, width int, outputs bool) {
	for range d.count(8*(dim+width+10) + 10) {
		row := make([]float64, dim)
		d.floatsInto(row)
		r.rows = append(r.rows, row)
		if outputs {
			out := make([]float64, width)
			d.floatsInto(out)
			r.outputs = append(r.outputs, out)
		}
		var s DrawStat
		for _, v := range []*float64{&s.LogProb, &s.AcceptanceRate, &s.SymmetricRate, &s.StepSize, &s.Energy, &s.EnergyError, &s.MaxEnergyError} {
			*v = d.float()
		}
		for _, v := range []*int{&s.TreeDepth, &s.Steps, &s.Index} {
			*v = d.int()
		}
		s.Diverging, s.ReachedMax = d.bool(), d.bool()
		r.stats = append(r.stats, s)
	}
}

func (v *Divergence) save(w *encoder) {
	w.int(v.Chain)
	w.int(v.Draw)
	w.bool(v.Warmup)
	w.floats(v.Start)
	w.floats(v.Momentum)
	w.floats(v.End)
	w.float(v.EnergyError)
	w.string(v.Message)
}

func loadDivergence(r *decoder) (v Divergence) {
	v.Chain, v.Draw, v.Warmup = r.int(), r.int(), r.bool()
	v.Start, v.Momentum, v.End = r.floats(), r.floats(), r.floats()
	v.EnergyError, v.Message = r.float(), r.string()
	return v
}
