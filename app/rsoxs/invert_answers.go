// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/netcdf"
	"github.com/euryale-dev/euryale/data/zarr"
	"github.com/euryale-dev/euryale/models/morph/measured"
)

// AnswersDoc is what fit.json of measured patterns says beside the estimates.
type AnswersDoc struct {
	Nuisances     map[string]NuisanceDoc  `json:"nuisances"`     // the parameters of the measurement
	Geometry      []GeometryDoc           `json:"geometry"`      // place of the detector of each measurement, as the files have it
	Used          []UsedDoc               `json:"used_pixels"`   // numbers of each frame that were compared
	Interpolation map[string]frame.Number `json:"interpolation"` // standard deviations by which each parameter would move with exact amplitudes
	Information   []InformationDoc        `json:"information"`   // worth of each photon energy
	Correlations  []CorrelationDoc        `json:"correlations"`  // correlations beyond 0.9
	Undetermined  []string                `json:"undetermined"`  // moves of parameters that data and priors barely notice
	Held          []HeldDoc               `json:"held"`          // values that the fit takes for known, those first on which the sample's parameters hang most
}

// HeldDoc says how far the answers hang on a value that is held.
type HeldDoc struct {
	Name  string                  `json:"name"` // parameter that would search for the value
	Value frame.Number            `json:"value"`
	Error frame.Number            `json:"error"` // error that such a value usually has, or the largest that the residuals would not show
	Seen  frame.Number            `json:"seen"`  // error from which on the residuals would show it
	Moves map[string]frame.Number `json:"moves"` // changes of the estimates in standard deviations if the value is higher by the error
}

// held says how far the answers hang on the values that are held.
func (m *measurement) held(s *measured.Solution) ([]HeldDoc, error) {
	list, err := m.Held(s)
	out := []HeldDoc{}
	for _, h := range list {
		out = append(out, HeldDoc{h.Name, frame.Number(h.Value), frame.Number(h.Error), frame.Number(h.Seen), numbered(h.Moves)})
	}
	return out, exit.With(exit.Failed, err)
}

// NuisanceDoc is a parameter of the measurement.
type NuisanceDoc struct {
	X     frame.Number  `json:"x"`
	SD    frame.Number  `json:"sd"`
	Unit  string        `json:"unit,omitempty"`
	Start frame.Number  `json:"start"`
	Prior *frame.Number `json:"prior_share,omitempty"` // share of the prior in what is known, 1 where the data say nothing
}

// GeometryDoc is where a detector stands, as pyFAI has it.
type GeometryDoc struct {
	Distance float64 `json:"distance"` // distance of the detector in mm
	PixelY   float64 `json:"pixel_y"`  // edge of a pixel along y in mm
	PixelX   float64 `json:"pixel_x"`  // edge of a pixel along x in mm
	PoniY    float64 `json:"poni_y"`   // foot of the normal along y in mm from the corner
	PoniX    float64 `json:"poni_x"`   // foot of the normal along x in mm from the corner
	Rot1     float64 `json:"rot1"`     // rotation in rad, as in pyFAI
	Rot2     float64 `json:"rot2"`     // rotation in rad, as in pyFAI
	Rot3     float64 `json:"rot3"`     // rotation in rad, as in pyFAI
}

// UsedDoc says what was compared of a frame.
type UsedDoc struct {
	File         string         `json:"file"`
	Energy       float64        `json:"energy"`       // photon energy in eV
	Polarization float64        `json:"polarization"` // angle of the electric field in degrees
	Exposure     float64        `json:"exposure"`     // exposure time in s
	Likelihood   string         `json:"likelihood"`
	Used         int            `json:"used"`
	LeftOut      map[string]int `json:"left_out"` // numbers that were left out, by the reason
}

// InformationDoc says what the data at a photon energy are worth.
type InformationDoc struct {
	Energy  float64                 `json:"energy"`     // photon energy in eV
	Alone   map[string]frame.Number `json:"sd_alone"`   // standard deviations from this energy alone
	Without map[string]frame.Number `json:"sd_without"` // standard deviations from all other energies
}

// CorrelationDoc is that of two parameters.
type CorrelationDoc struct {
	A     string       `json:"a"`
	B     string       `json:"b"`
	Value frame.Number `json:"value"`
}

// answers fills in what a fit says beside the estimates.
func (m *measurement) answers(a *frame.App, s *measured.Solution, doc *MeasuredDoc) error {
	id := m.Identify(s)
	doc.Nuisances = map[string]NuisanceDoc{}
	units := m.units()
	for i, p := range m.Params {
		if slices.Contains(m.Model.Morphology, p.Name) {
			continue
		}
		n := NuisanceDoc{X: frame.Number(s.X[i]), SD: frame.Number(s.SD[i]), Unit: units[p.Name], Start: frame.Number(p.Start)}
		if share, ok := id.Prior[p.Name]; ok {
			x := frame.Number(share)
			n.Prior = &x
		}
		doc.Nuisances[p.Name] = n
	}
	for _, model := range append([]*measured.Model{m.Model}, m.More...) {
		g, d := model.Data.Geometry, model.Data.Detector
		doc.Geometry = append(doc.Geometry, GeometryDoc{Distance: g.Distance, PixelY: d.PixelY, PixelX: d.PixelX, PoniY: g.PoniY, PoniX: g.PoniX, Rot1: g.Rot1, Rot2: g.Rot2, Rot3: g.Rot3})
	}
	for _, u := range m.Used() {
		doc.Used = append(doc.Used, UsedDoc{File: u.File, Energy: u.Energy, Polarization: u.Angle, Exposure: u.Exposure, Likelihood: u.Noise, Used: u.Used, LeftOut: u.Left})
	}
	doc.Correlations = []CorrelationDoc{}
	for _, c := range id.Correlations {
		doc.Correlations = append(doc.Correlations, CorrelationDoc{c.A, c.B, frame.Number(c.Value)})
	}
	doc.Undetermined = append([]string{}, id.Undetermined...)
	return a.WhileWaiting("the worth of the energies", func() (err error) {
		if doc.Held, err = m.held(s); err != nil {
			return err
		}
		exact, err := m.Interpolation(s)
		if err != nil {
			return exit.With(exit.Failed, err)
		}
		doc.Interpolation = map[string]frame.Number{}
		for name, sd := range exact {
			doc.Interpolation[name] = frame.Number(sd)
		}
		energies, err := m.ByEnergy(s)
		if err != nil {
			return exit.With(exit.Failed, err)
		}
		numbers := func(of map[string]float64) map[string]frame.Number {
			out := map[string]frame.Number{}
			for name, x := range of {
				out[name] = frame.Number(x)
			}
			return out
		}
		for _, e := range energies {
			doc.Information = append(doc.Information, InformationDoc{e.Energy, numbers(e.Alone), numbers(e.Without)})
		}
		return nil
	})
}

// mostInterpolation is the error of the interpolation in standard deviations of a parameter that is told as too large.
const mostInterpolation = 0.1

// shared returns the shares of the priors that are worth a remark.
func (m *measurement) shared(s *measured.Solution) (list []string) {
	id := m.Identify(s)
	for _, name := range s.Names {
		if share := id.Prior[name]; share > 0.5 {
			list = append(list, fmt.Sprintf("%s (%.0f %%)", name, 100*share))
		}
	}
	return list
}

// remarks says in lines how well the parameters are determined.
func (d *AnswersDoc) remarks(priors []string) string {
	var b strings.Builder
	worst, name := 0.0, ""
	for n, x := range d.Interpolation {
		if float64(x) > worst || name == "" {
			worst, name = float64(x), n
		}
	}
	if name != "" {
		fmt.Fprintf(&b, "interpolation error %.2g sd of %s (limit %g)\n", worst, name, mostInterpolation)
	}
	for _, c := range d.Correlations {
		fmt.Fprintf(&b, "%s and %s are correlated by %.3f: the data tell their combination\n", c.A, c.B, float64(c.Value))
	}
	if len(priors) > 0 {
		fmt.Fprintf(&b, "mostly from their priors: %s\n", strings.Join(priors, ", "))
	}
	if len(d.Undetermined) > 0 {
		fmt.Fprintf(&b, "not determined by data and priors: %s\n", strings.Join(d.Undetermined, "; "))
	}
	return b.String()
}

// datasets writes data, model and residuals as fit.nc, and as fit.zarr on request; further measurements have their numbers in the names.
func (m *measurement) datasets(x, sd []float64) error {
	list, err := m.Datasets(x, sd)
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	for i, d := range list {
		name := "fit"
		if i > 0 {
			name = fmt.Sprintf("fit_%d", i+1)
		}
		err := netcdf.WriteDataset(m.dir.Path(name+".nc"), d, netcdf.Settings{Gzip: 4, Overwrite: true})
		if err == nil && m.cfg.Zarr {
			err = zarr.WriteDataset(m.dir.Path(name+".zarr"), d, zarr.Settings{Zlib: 4, Overwrite: true})
		}
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return exit.With(exit.CannotWrite, err)
		}
	}
	return nil
}

// choose prints the photon energies at which a measurement would tell most.
func (m *measurement) choose(a *frame.App) error {
	var plan *measured.Plan
	err := a.WhileWaiting("the choice of energies", func() (err error) {
		plan, err = m.Choose(m.cfg.choose, m.cfg.time)
		return err
	})
	if err != nil {
		return exit.With(exit.Failed, err)
	}
	if a.JSON {
		doc := PlanDoc{Engine: "rsoxs", File: filepath.Base(m.cfg.File), Exposure: frame.Number(plan.Exposure), Energies: plan.Energies, SD: numbered(plan.SD)}
		for _, w := range plan.Without {
			doc.Without = append(doc.Without, numbered(w))
		}
		return exit.With(exit.CannotWrite, a.Document(doc))
	}
	fmt.Fprintf(a.Stdout, "%.4g s at each of %v eV\n", plan.Exposure, plan.Energies)
	units := m.units()
	for _, p := range plan.Names {
		fmt.Fprintf(a.Stdout, "%-16s sd %s", p, frame.WithUnit(fmt.Sprintf("%.3g", plan.SD[p]), units[p]))
		for i, e := range plan.Energies {
			if w := plan.Without[i][p]; !math.IsInf(w, 0) {
				fmt.Fprintf(a.Stdout, ", %.3g without %g eV", w, e)
			} else {
				fmt.Fprintf(a.Stdout, ", not determined without %g eV", e)
			}
		}
		fmt.Fprintln(a.Stdout)
	}
	return nil
}

func numbered(of map[string]float64) map[string]frame.Number {
	out := map[string]frame.Number{}
	for name, x := range of {
		out[name] = frame.Number(x)
	}
	return out
}

// PlanDoc is the JSON document of --choose-energies.
type PlanDoc struct {
	Engine   string                    `json:"engine"`
	File     string                    `json:"file"`
	Exposure frame.Number              `json:"exposure"` // s at each energy
	Energies []float64                 `json:"energies"` // chosen photon energies in eV
	SD       map[string]frame.Number   `json:"sd"`       // standard deviations of the parameters from all of them
	Without  []map[string]frame.Number `json:"without"`  // standard deviations without each of them
}
