// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/data/netcdf"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/models/morph/measured"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs/phasing"
	"github.com/euryale-dev/euryale/tensor"
)

// PhaseDoc is the JSON document of invert rsoxs for voxels that projections find in measured patterns; it is also written to fit.json.
type PhaseDoc struct {
	Engine     string         `json:"engine"`
	File       string         `json:"file"`
	Model      string         `json:"model"`
	Method     string         `json:"method"`
	Status     string         `json:"status"`     // "determined" or "not determined"
	Starts     int            `json:"starts"`     // number of random starts
	Further    int            `json:"further"`    // number of starts between the sample and itself turned, which look for others with the same patterns
	Kept       int            `json:"kept"`       // number of starts that agree with the data as well as the best
	Residual   frame.Number   `json:"residual"`   // root mean square difference of magnitudes, relative
	Free       frame.Number   `json:"free"`       // the same of cells that were left out
	Noise      frame.Number   `json:"noise"`      // root mean square error of magnitudes by counting, relative
	Spread     frame.Number   `json:"spread"`     // root mean square of the standard deviations of the volume fractions in the support
	Resolution frame.Number   `json:"resolution"` // size in nm of the smallest details on whose phases the starts agree
	Transfer   []frame.Number `json:"transfer"`   // phase retrieval transfer function by ring of q
	Relative   bool           `json:"relative"`   // true where volume fractions are relative to the largest, without log_scale
	Measured   frame.Number   `json:"measured"`   // share of the cells of the grid that hold pixels
	Findings   []string       `json:"findings"`   // sentences on what keeps the voxels from being determined
	Data       []string       `json:"data"`       // lines that say what was understood of the files
	Run        string         `json:"run"`
}

// invertPhases finds voxels in measured patterns by projections. It takes seconds, and a resumed run makes it again.
func invertPhases(ctx context.Context, a *frame.App, cfg *invertConfig, out string, dir runs.Folder) error {
	p, err := measured.OpenPhases(cfg.Problem, cfg.Base)
	if err != nil {
		return imagesError(err)
	}
	for _, line := range p.Read {
		a.Note("%s", line)
	}
	if dir == "" {
		if dir, err = a.MakeRundir(out); err != nil {
			return err
		}
		if err := a.Begin(dir, invertCommand, *cfg, cfg.Problem.Files(cfg.Base)...); err != nil {
			return err
		}
	}
	var r *phasing.Result
	err = a.WhileWaiting("projections", func() (err error) {
		r, err = phasing.Solve(ctx, p.Problem, phasing.Settings{Seed: cfg.Seed, Threads: a.Threads})
		return err
	})
	switch {
	case ctx.Err() != nil:
		return &exit.Error{Code: exit.Interrupted, Err: fmt.Errorf("interrupted; nothing was finished yet"), Hint: "euryale " + invertCommand + " --resume " + foreign.Typed(string(dir))}
	case err != nil:
		return exit.With(exit.Data, err)
	}
	doc := phaseDocument(cfg, p, r, dir)
	if err := savePhases(a, cfg, p, r, doc, dir); err != nil {
		return err
	}
	if a.JSON {
		err = a.Document(doc)
	} else {
		fmt.Fprintf(a.Stdout, "%d of %d starts agree, with a spread of %.2g of the volume fractions; magnitudes are met to %.2g (counting alone makes %.2g), and those left out to %.2g\n%s\n",
			doc.Kept, doc.Starts, float64(doc.Spread), float64(doc.Residual), float64(doc.Noise), float64(doc.Free), details(doc))
		for _, f := range doc.Findings {
			fmt.Fprintf(a.Stdout, "not determined: %s\n", f)
		}
		_, err = fmt.Fprintf(a.Stdout, "results in %s\n", dir)
	}
	switch {
	case err != nil:
		return exit.With(exit.CannotWrite, err)
	case a.Strict && len(doc.Findings) > 0:
		return exit.With(exit.Failed, fmt.Errorf("the voxels are not determined: %s", doc.Findings[0]))
	}
	return nil
}

// details says what a reconstruction shows.
func details(d PhaseDoc) string {
	scale := "volume fractions are absolute"
	if d.Relative {
		scale = `volume fractions are relative to the largest (give "log_scale" in fixed for absolute ones)`
	}
	others := ""
	if d.Further > 0 && len(d.Findings) == 0 {
		others = fmt.Sprintf("; %d further starts, halfway to the sample turned by half a turn, found no other sample with these patterns, which does not prove that there is none", d.Further)
	}
	return fmt.Sprintf("the starts agree on details from %.3g nm on; %s; moved, or mirrored through a point, the sample has the same patterns%s", float64(d.Resolution), scale, others)
}

// phaseDocument scales what is known up to a factor to a largest mean of 1, and makes the document of a reconstruction.
func phaseDocument(cfg *invertConfig, p *measured.Phases, r *phasing.Result, dir runs.Folder) PhaseDoc {
	if p.Problem.Unlimited {
		most := 0.0
		for _, x := range r.Mean[0] {
			most = max(most, x)
		}
		for _, field := range [][]float64{r.Best[0], r.Mean[0], r.Spread[0]} {
			for i := range field {
				field[i] /= max(most, 1e-300)
			}
		}
	}
	square, inside := 0.0, 0.0
	for i, in := range p.Problem.Support {
		if in {
			square, inside = square+r.Spread[0][i]*r.Spread[0][i], inside+1
		}
	}
	findings := append(append([]string{}, p.Findings...), r.Findings...)
	return PhaseDoc{Engine: "rsoxs", File: cfg.File, Model: cfg.Problem.Model, Method: cfg.Problem.Method, Status: map[bool]string{true: "determined", false: "not determined"}[len(findings) == 0], Starts: phasing.UsualRestarts, Further: r.Further, Kept: r.Kept,
		Residual: frame.Number(r.Residual), Free: frame.Number(r.Free), Noise: frame.Number(p.Problem.Noise), Spread: frame.Number(math.Sqrt(square / inside)), Transfer: frame.Numbers(r.Transfer), Relative: p.Problem.Unlimited,
		Resolution: frame.Number(p.Resolution(r)), Measured: frame.Number(p.Measured), Findings: findings, Data: p.Read, Run: string(dir)}
}

// savePhases writes fit.json, the voxels as fit.nc and morphology.h5, and the page.
func savePhases(a *frame.App, cfg *invertConfig, p *measured.Phases, r *phasing.Result, doc PhaseDoc, dir runs.Folder) error {
	if err := frame.WriteJSON(dir.Path("fit.json"), doc); err != nil {
		return err
	}
	d, err := p.Dataset(r)
	if err == nil {
		err = netcdf.WriteDataset(dir.Path("fit.nc"), d, netcdf.Settings{Gzip: 4, Overwrite: true})
	}
	if err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	fraction := tensor.New(tensor.Float64, 1, p.Shape[0], p.Shape[1])
	copy(fraction.Data().([]float64), r.Mean[0])
	volume, err := morph.VolumeOf(&rsoxs.Morphology{PhysSize: p.Voxel, Materials: []rsoxs.Material{{Vfrac: fraction}}})
	if err != nil {
		return exit.With(exit.Bug, err)
	}
	volume.Creator, volume.Created = "euryale "+frame.Version(), undated
	if err := cyrsoxs.WriteMorphology(dir.Path("morphology.h5"), volume, cyrsoxs.WriteSettings{}); err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	if cfg.NoReport {
		return nil
	}
	page := report.Phases(cfg.File, p, r, draws.PageOf(a, &cfg.ChainConfig))
	return exit.With(exit.CannotWrite, page.Save(string(dir)))
}
