// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Row summarises the draws of one parameter.
type Row struct {
	Name             string
	Mean, SD         float64
	Low, High        float64 // ends of the narrowest interval that holds 94 % of the draws
	MCSEMean, MCSESD float64
	ESSBulk, ESSTail float64
	RHat             float64
}

// Posterior is the result of sampling, in the form in which it is written to files.
type Posterior struct {
	Model       Model
	Phi         []float64 // azimuths in degrees
	Names       []string
	Draws       [][][]float64 // draws by [parameter][chain][draw]
	Rows        []Row         // summaries of the parameters, in the order of Names
	Warmup      int           // number of warm-up draws of each chain, which were discarded
	Divergences int
	DepthHits   int       // number of trajectories that ended at the largest depth
	BFMI        []float64 // energy Bayesian fraction of missing information (E-BFMI) of each chain
	Accept      float64   // mean acceptance rate
	Target      float64   // target acceptance rate used to adapt the step size
	Seconds     float64
	Points      int // number of pairs of frames, each counted once
	Q           float64
	Customary   bool // same meaning as in Fit
	Window      bool // same meaning as in Fit
	Advice      []string
	Notes       []string
	Software    string
	When        time.Time
}

// Write writes a folder with parameters.json, diagnostics.json, samples.npz and summary.csv, under the
// keys that homodyne uses; the columns of summary.csv are those of ArviZ. An existing folder is an
// error that wraps fs.ErrExist, unless overwrite is set and the folder holds such results.
func (p *Posterior) Write(folder string, overwrite bool) error {
	if err := p.check(); err != nil {
		return err
	}
	return writeFolder(folder, overwrite, func(dir string) error {
		if err := writeJSON(filepath.Join(dir, "parameters.json"), p.parameters()); err != nil {
			return err
		}
		if err := writeJSON(filepath.Join(dir, "diagnostics.json"), p.diagnostics()); err != nil {
			return err
		}
		if err := p.samples(filepath.Join(dir, "samples.npz")); err != nil {
			return err
		}
		text, err := p.summary()
		if err != nil {
			return err
		}
		return atomicfile.WriteBytes(filepath.Join(dir, "summary.csv"), text)
	})
}

// sizes returns the numbers of chains and draws.
func (p *Posterior) sizes() (chains, draws int) {
	if len(p.Draws) > 0 && len(p.Draws[0]) > 0 {
		return len(p.Draws[0]), len(p.Draws[0][0])
	}
	return 0, 0
}

func (p *Posterior) check() error {
	chains, draws := p.sizes()
	if len(p.Draws) != len(p.Names) || len(p.Rows) != len(p.Names) || chains == 0 || draws == 0 {
		return fmt.Errorf("homodyne: the posterior has %d parameters, but draws of %d parameters in %d chains of %d draws, and %d rows: give draws and a row for each parameter", len(p.Names), len(p.Draws), chains, draws, len(p.Rows))
	}
	for i, of := range p.Draws {
		for _, chain := range of {
			if len(of) != chains || len(chain) != draws {
				return fmt.Errorf("homodyne: %s has %d chains, one of which has %d draws: want %d chains of %d draws", p.Names[i], len(of), len(chain), chains, draws)
			}
		}
	}
	return nil
}

func (p *Posterior) worst() (rhat, bulk, tail float64) {
	rhat, bulk, tail = p.Rows[0].RHat, p.Rows[0].ESSBulk, p.Rows[0].ESSTail
	for _, r := range p.Rows {
		rhat, bulk, tail = max(rhat, r.RHat), min(bulk, r.ESSBulk), min(tail, r.ESSTail)
	}
	return rhat, bulk, tail
}

func (p *Posterior) stamp() string { return (&Fit{When: p.When}).when() }

// limits that homodyne names in its files, and those that hold here.
const (
	mostRHat = 1.01
	leastESS = 400
)

func (p *Posterior) parameters() object {
	chains, draws := p.sizes()
	rhat, bulk, _ := p.worst()
	all := object{}
	least := rhat
	for _, r := range p.Rows {
		all[r.Name] = object{"mean": number(r.Mean), "std": number(r.SD)}
		least = min(least, r.RHat)
	}
	return object{"timestamp": p.stamp(), "analysis_mode": p.Model, "method": "nuts", "software": p.Software, "shear_convention": (&Fit{Customary: p.Customary}).shear(), "time_origin": origin(p.Window),
		"sampling_summary": object{"n_samples": draws, "n_warmup": p.Warmup, "n_chains": chains, "total_samples": chains * draws, "computation_time": number(p.Seconds)},
		"convergence":      object{"all_chains_converged": rhat < mostRHat, "min_r_hat": number(least), "max_r_hat": number(rhat), "min_ess": number(bulk), "acceptance_rate": number(p.Accept)},
		"parameters":       all, "parameter_order": p.Names, "notes": notes(p.Notes)}
}

func (p *Posterior) diagnostics() object {
	chains, draws := p.sizes()
	rhat, bulk, _ := p.worst()
	each := []object{}
	for _, r := range p.Rows {
		each = append(each, object{"name": r.Name, "r_hat": number(r.RHat), "ess": number(r.ESSBulk), "ess_tail": number(r.ESSTail), "converged": r.RHat < mostRHat, "deterministic": false})
	}
	bfmi := []any{}
	for _, v := range p.BFMI {
		bfmi = append(bfmi, number(v))
	}
	return object{
		"convergence":         object{"all_chains_converged": rhat < mostRHat, "r_hat_threshold": mostRHat, "ess_threshold": leastESS, "per_parameter_diagnostics": each},
		"sampling_efficiency": object{"acceptance_rate": number(p.Accept), "target_acceptance": number(p.Target), "divergences": p.Divergences, "tree_depth_warnings": p.DepthHits, "e_bfmi": bfmi},
		"posterior_checks":    object{"effective_sample_size_ratio": number(bulk / float64(chains*draws))},
		"dataset_info":        object{"n_angles": len(p.Phi), "total_data_points": p.Points, "q_value": number(p.Q)},
		"advice":              notes(p.Advice)}
}

// samples writes the draws.
func (p *Posterior) samples(name string) error {
	z, err := createNPZ(name)
	if err != nil {
		return err
	}
	defer z.discard()
	chains, draws := p.sizes()
	n := len(p.Names)
	w := z.array("posterior_samples", "<f8", []int{chains, draws, n})
	row := make([]float64, n*draws)
	for c := range chains {
		for d := range draws {
			for i := range n {
				row[d*n+i] = p.Draws[i][c][d]
			}
		}
		z.put(w, row)
	}
	column := func(name string, of func(r Row) float64) {
		var v []float64
		for _, r := range p.Rows {
			v = append(v, of(r))
		}
		z.floats(name, v, n)
	}
	z.texts("param_names", p.Names...)
	column("r_hat", func(r Row) float64 { return r.RHat })
	column("ess_bulk", func(r Row) float64 { return r.ESSBulk })
	column("ess_tail", func(r Row) float64 { return r.ESSTail })
	z.whole("divergences", p.Divergences)
	z.texts("analysis_mode", string(p.Model))
	z.whole("n_phi", len(p.Phi))
	z.whole("n_chains", chains)
	z.whole("n_samples", draws)
	z.whole("schema_version", 1, 0)
	return z.close()
}

func (p *Posterior) summary() ([]byte, error) {
	var b bytes.Buffer
	w := foreign.CSV(&b)
	w.Write([]string{"", "mean", "sd", "hdi_3%", "hdi_97%", "mcse_mean", "mcse_sd", "ess_bulk", "ess_tail", "r_hat"})
	for _, r := range p.Rows {
		line := []string{r.Name}
		for _, v := range []float64{r.Mean, r.SD, r.Low, r.High, r.MCSEMean, r.MCSESD, r.ESSBulk, r.ESSTail, r.RHat} {
			line = append(line, strconv.FormatFloat(v, 'g', -1, 64))
		}
		w.Write(line)
	}
	w.Flush()
	return slices.Clone(b.Bytes()), w.Error()
}
