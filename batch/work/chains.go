// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/g2"
	"github.com/euryale-dev/euryale/runs"
)

// chains samples one posterior with chains that run anywhere, in rounds of as many draws each. After every
// round R-hat and the effective sample size of all chains together say whether another one is needed.
//
// Item r C + c is round r of chain c, of C. A chain is a file, which any process can go on with: who needs
// a chain that is behind and that nobody works on brings it up. So all chains have the same draws
// whoever makes them, and a machine that dies delays the others by no more than it takes to see that it is
// dead.
type chains struct {
	Problem  string        `yaml:"problem" json:"problem,omitempty"` // file of a formula, see sample expr
	File     string        `yaml:"file" json:"file,omitempty"`       // or a result file, of which
	Bin      int           `yaml:"bin" json:"bin,omitempty"`         // this bin is sampled
	Curve    g2Config      `yaml:",inline" json:"g2"`
	Old      setting.Texts `yaml:"-" json:"priors,omitempty"` // priors as older manifests name them
	sampler  `yaml:",inline"`
	Stopping `yaml:",inline"`

	Source string `yaml:"-" json:"source"` // the file, as seen from the manifest
	SHA256 string `yaml:"-" json:"sha256,omitempty"`
}

// Stopping says when chains have drawn enough.
type Stopping struct {
	Every int     `yaml:"every" json:"every" low:"4" zero:"250" about:"draws of a round"`
	ESS   float64 `yaml:"ess" json:"ess" name:"ess" default:"400" above:"0" about:"least effective sample size to stop at"`
	RHat  float64 `yaml:"rhat" json:"rhat" name:"rhat" default:"1.01" above:"1" about:"largest R-hat to stop at"`
}

// usualRound is the number of draws of a round.
const usualRound = 250

// mostDraws is the number of draws after which chains stop that have not met the rule.
const mostDraws = 10000

func (c *chains) check() error {
	if c.Method == "smc" {
		return errors.New("sampler is smc, whose points move together, but this work is shared by chains: leave it out, or use sample g2 or sample stan")
	}
	own := setting.Sampler{}
	if c.File != "" {
		own = g2.Sampling()
	}
	own.Draws = mostDraws
	if err := complete(&c.sampler, own); err != nil {
		return err
	}
	if c.Every == 0 {
		c.Every = min(usualRound, c.Draws)
	}
	if err := setting.Complete(&c.Stopping); err != nil {
		return err
	}
	if c.Every > c.Draws {
		return &setting.Error{Name: "every", Text: fmt.Sprintf("%d: want 4 to %d, the largest number of draws of a chain", c.Every, c.Draws)}
	}
	c.Draws = c.rounds() * c.Every
	switch {
	case (c.Problem == "") == (c.File == ""):
		return errors.New("there is nothing to sample: give either a problem, as for sample expr, or a file and a bin, as for sample g2")
	case c.Chains < 2:
		return &setting.Error{Name: "chains", Text: fmt.Sprintf("%d: want at least 2, since R-hat compares them", c.Chains)}
	case c.Problem != "" && (c.Curve.Model != "" || c.Bin != 0 || len(c.Curve.Priors) > 0):
		return errors.New("a problem defines its own model and priors: remove model, bin and prior")
	case c.Problem != "" && !reflect.ValueOf(c.Curve).IsZero():
		return errors.New("a problem defines its own start, bounds, fixed parameters and errors: remove start, bounds, fixed, loss, drop_invalid and the other settings of g2")
	case c.Problem != "":
		return nil
	}
	_, _, err := g2Settings(&c.Curve, Env{})
	return err
}

func (c *chains) block() int64 { return 1 }

// rounds is the number of rounds of the longest run.
func (c *chains) rounds() int { return (c.Draws + c.Every - 1) / c.Every }

// resolve finds the file, and builds the posterior once, so that mistakes in it are told now.
func (c *chains) resolve(p place, h *batch.Header) error {
	name := c.File + c.Problem
	files, err := p.files(Texts{name})
	if err != nil {
		return err
	}
	if len(files) > 1 {
		return fmt.Errorf("%s matches %d files: name one", name, len(files))
	}
	c.Source = files[0]
	if c.Problem != "" {
		if _, c.SHA256, err = readProblem(located(p.manifest, c.Source)); err != nil {
			return err
		}
	} else if c.Bin == 0 {
		curves, err := g2.OpenCurves(located(p.manifest, c.Source))
		if err != nil {
			return err
		}
		if len(curves) != 1 {
			return fmt.Errorf("bin is missing, and %s has the bins %d to %d: choose one", name, curves[0].Bin, curves[len(curves)-1].Bin)
		}
		c.Bin = curves[0].Bin
	}
	_, err = c.posterior(context.Background(), p.manifest, h.Seed, Env{Threads: 1, Backend: ad.CPU{Threads: 1}})
	return err
}

func (c *chains) posterior(ctx context.Context, folder string, seed uint64, env Env) (*posterior, error) {
	name := located(folder, c.Source)
	if c.Problem != "" {
		return ofProblem(name, c.SHA256, env)
	}
	if c.Curve.Priors == nil {
		c.Curve.Priors = c.Old
	}
	model, s, err := g2Settings(&c.Curve, env)
	if err != nil {
		return nil, err
	}
	curves, err := g2.OpenCurves(name)
	if err != nil {
		return nil, err
	}
	curve, err := pick(curves, c.Bin)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return ofCurve(ctx, model, s, curve, c.Chains, seed)
}

func (c *chains) list(_ place, add adder) error {
	return add(c.Source, 0, int64(c.rounds())*int64(c.Chains))
}

func (c *chains) open(m *batch.Manifest, env Env) (batch.Task, error) {
	post, err := c.posterior(context.Background(), m.Folder(), m.Seed, env)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(env.Folder, "chains")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	return &chainsTask{chains: c, seed: m.Seed, post: post, dir: dir, known: map[int]progress{}, met: -1}, nil
}

// chainsTask brings chains forward.
type chainsTask struct {
	*chains
	seed   uint64
	post   *posterior
	dir    string
	claims batch.Claims

	mu     sync.Mutex
	known  map[int]progress // of the chains
	judged int              // rounds after which the rule was asked
	met    int              // rounds after which it was met; -1 while it was not
}

// progress is what is known of the file of a chain.
type progress struct {
	draws   int
	size    int64
	changed time.Time
}

// Columns returns quantities that say how far a round brought a chain. Rounds after the one in which
// the stopping rule was met make no draws.
func (t *chainsTask) Columns() []batch.Column {
	return []batch.Column{{Name: "chain", Kind: batch.Integer}, {Name: "round", Kind: batch.Integer}, {Name: "draws", Kind: batch.Integer}}
}

// Do runs rounds of chains.
func (t *chainsTask) Do(ctx context.Context, items batch.Range, put func(batch.Record)) error {
	for i := range items.Count {
		round, chain := int((items.Row+i)/int64(t.Chains)), int((items.Row+i)%int64(t.Chains))
		draws := 0
		over, err := t.over(ctx, round)
		if err == nil && !over {
			draws = (round + 1) * t.Every
			err = t.bring(ctx, chain, draws)
		}
		if err != nil {
			return err
		}
		put(batch.Record{Item: items.Item + i, Numbers: []float64{float64(chain), float64(round), float64(draws)}})
	}
	return nil
}

// over reports whether the rule was met after one of the first rounds, which it brings all chains through.
func (t *chainsTask) over(ctx context.Context, rounds int) (bool, error) {
	for {
		t.mu.Lock()
		judged, met := t.judged, t.met
		t.mu.Unlock()
		if met >= 0 || judged >= rounds {
			return met >= 0 && met <= rounds, nil
		}
		for chain := range t.Chains {
			if err := t.bring(ctx, chain, (judged+1)*t.Every); err != nil {
				return false, err
			}
		}
		atomicfile.Step(t.dir)
		fit, err := t.gather(judged * t.Every)
		if err != nil {
			return false, err
		}
		t.mu.Lock()
		if t.judged == judged {
			fewest := fit.Len(0)
			for chain := range t.Chains {
				fewest = min(fewest, fit.Len(chain))
			}
			// A chain may be shorter than it was a moment ago, where a process that was taken for dead wrote its file last: then this
			// round is not judged yet.
			if t.judged = max(judged, fewest/t.Every); fit.Stopped != "" {
				t.met = fit.Len(0) / t.Every
			}
		}
		t.mu.Unlock()
	}
}

// gather returns the fit of all chains, cut where the rule is first met after some draws at which it was not.
func (t *chainsTask) gather(after int) (*infer.Fit, error) {
	cfg := t.Config(t.seed)
	cfg.StopWhen = infer.StopRule{ESS: t.ESS, RHat: t.RHat, Every: t.Every, After: after}
	var files []string
	for chain := range t.Chains {
		files = append(files, t.file(chain))
	}
	fit, err := infer.Gather(t.post, cfg, files)
	return fit, remade(err)
}

// remade says what to do about the file of a chain that is damaged.
func remade(err error) error {
	if errors.As(err, new(*checkpoint.FormatError)) {
		return fmt.Errorf("%w: remove the file, and the same draws are made again", err)
	}
	return err
}

func (t *chainsTask) file(chain int) string {
	return filepath.Join(t.dir, fmt.Sprintf("chain-%05d", chain))
}

// chainFile matches the name of the file of a chain, and that of its claim.
var chainFile = regexp.MustCompile(`^chain-[0-9]{5,}(\.claim)?$`)

// RemoveChains removes the chains that a list left in its folder, and nothing else.
func RemoveChains(folder string) error {
	dir := filepath.Join(folder, "chains")
	entries, err := os.ReadDir(dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if err == nil && (chainFile.MatchString(e.Name()) || atomicfile.Temporary(e.Name())) {
			err = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
	os.Remove(dir) // if nothing is left in it
	return err
}

// bring sees to it that a chain has some draws, whoever makes them.
func (t *chainsTask) bring(ctx context.Context, chain, draws int) error {
	enough := func() (bool, error) {
		have, err := t.draws(chain)
		return have >= draws, err
	}
	claim, err := t.claims.Wait(ctx, t.file(chain)+".claim", enough)
	if err != nil || claim == nil {
		return err
	}
	defer claim.Release()
	if ok, err := enough(); ok || err != nil {
		return err
	}
	cfg := t.Config(t.seed)
	if cfg.FirstChain = chain; t.post.starts != nil {
		cfg.Init = t.post.starts[chain : chain+1]
	}
	cfg.Checkpoint.Every = 10 * time.Second
	if _, err := infer.Advance(ctx, t.post.Clone(), cfg, t.file(chain), draws); err != nil {
		return fmt.Errorf("chain %d: %w", chain, err)
	}
	return ctx.Err()
}

// draws returns how many draws the file of a chain has.
func (t *chainsTask) draws(chain int) (int, error) {
	st, err := os.Stat(t.file(chain))
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	t.mu.Lock()
	k, ok := t.known[chain]
	t.mu.Unlock()
	if ok && k.size == st.Size() && k.changed.Equal(st.ModTime()) {
		return k.draws, nil
	}
	n, err := infer.Advanced(t.file(chain))
	if err != nil {
		return 0, remade(err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.known[chain] = progress{max(n, 0), st.Size(), st.ModTime()}
	return max(n, 0), nil
}

// conclude writes the draws of all chains as a run folder, and says what they are worth. A chain whose file has fewer draws than its
// results say makes them again: it was removed, or a process that was taken for dead wrote it last.
func (c *chains) conclude(g *Merged, env Env, folder string, each func(func(batch.Record) error) error) error {
	task, err := c.open(g.Manifest, env)
	if err != nil {
		return err
	}
	t := task.(*chainsTask)
	want := make([]int, c.Chains)
	if err := each(func(r batch.Record) error {
		if r.Err == "" {
			chain := int(r.Numbers[0])
			want[chain] = max(want[chain], int(r.Numbers[2]))
		}
		return nil
	}); err != nil {
		return err
	}
	for chain, draws := range want {
		have, err := t.draws(chain)
		if err != nil {
			return err
		}
		if have < draws && env.Note != nil {
			env.Note(fmt.Sprintf("%s has %d of %d draws: the others are made again", t.file(chain), have, draws))
		}
		if err := t.bring(context.Background(), chain, draws); err != nil {
			return err
		}
	}
	fit, err := t.gather(0)
	if err != nil {
		return err
	}
	v, err := t.post.check(fit)
	if err != nil {
		return err
	}
	rep := fit.Diagnose()
	dir := runs.Folder(filepath.Join(folder, "posterior"))
	if err := os.MkdirAll(string(dir), 0o777); err != nil {
		return err
	}
	if err := dir.SaveDraws(fit, map[string]string{"seed": fmt.Sprint(t.seed), "model": c.Source}); err != nil {
		return err
	}
	if err := runs.WriteFile(dir.Path("diagnose.txt"), []byte(rep.String()+"\n"+v.String()+"\n")); err != nil {
		return err
	}
	g.Files = append(g.Files, "posterior/"+runs.DrawsFolder, "posterior/chain-N.csv", "posterior/diagnose.txt")
	g.Fit, g.Verdict = fit, v
	g.OK = rep.OK() && v.OK && fit.Stopped != ""
	var b strings.Builder
	if fit.Stopped != "" {
		fmt.Fprintf(&b, "%d chains met R-hat <= %g and ESS >= %g after %d draws each. ", fit.Chains(), c.RHat, c.ESS, fit.Len(0))
	} else {
		fmt.Fprintf(&b, "%d chains did not reach R-hat <= %g and ESS >= %g within %d draws each: raise draws, or look at the model. ", fit.Chains(), c.RHat, c.ESS, c.Draws)
	}
	fmt.Fprintf(&b, "%s %s", rep.Verdict(), v.Line())
	if c.Evidence {
		if e, err := evidenceOf(fit); err != nil {
			fmt.Fprintf(&b, " There is no evidence: %v.", err)
		} else {
			fmt.Fprintf(&b, " %s", e)
		}
	}
	g.Finding = b.String()
	return nil
}
