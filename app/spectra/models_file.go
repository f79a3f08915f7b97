// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/models/spectra/fitfile"
	"github.com/euryale-dev/euryale/tensor"
	"github.com/euryale-dev/euryale/viz"
)

// modelsFile is the file of the models of a fit of single spectra in the folder of its results. Spectrum K of star N, from 1, has its
// wavelengths in Angstrom in wave_N_K, the model in model_N_K, and in masked_N_K whether a pixel did not count.
const modelsFile = "models.npz"

// mostModels is the largest number of pixels whose models are kept.
const mostModels = 10_000_000

func modelName(what string, star, spectrum int) string {
	return fmt.Sprintf("%s_%d_%d", what, star+1, spectrum+1)
}

// writeModels writes the models of stars that were fitted, if there are not too many.
func writeModels(name string, stars []spectra.Star, outcomes []fitfile.Outcome) error {
	arrays, total := map[string]*tensor.Tensor{}, 0
	for i, star := range stars {
		for k, s := range star.Spectra {
			if outcomes[i].Fit.Err != nil {
				continue
			}
			masked := make([]bool, len(s.Lam))
			copy(masked, s.Bad)
			for what, values := range map[string]any{"wave": s.Lam, "model": outcomes[i].Fit.Spectra[k].Model, "masked": masked} {
				t, err := tensor.From(values)
				if err != nil {
					return err
				}
				arrays[modelName(what, i, k)] = t
			}
			total += len(s.Lam)
		}
	}
	if total == 0 || total > mostModels {
		return nil
	}
	var b bytes.Buffer
	if err := tensor.WriteNPZ(&b, arrays); err != nil {
		return err
	}
	return frame.WriteFile(name, b.Bytes())
}

// addModel adds the model of a star and spectrum, from 0, that a fit kept in a file to an arm; false if the file does not have it.
func addModel(a *viz.SpectrumArm, name string, star, spectrum int) (bool, error) {
	if !foreign.Exists(name) { // results of earlier versions
		return false, nil
	}
	b, err := foreign.ReadFile(name)
	if err != nil {
		return false, exit.Input(err)
	}
	wave, model, masked := modelName("wave", star, spectrum), modelName("model", star, spectrum), modelName("masked", star, spectrum)
	all, err := tensor.ReadNPZ(bytes.NewReader(b), int64(len(b)), wave, model, masked)
	if err != nil {
		return false, exit.InFile(name, err)
	}
	lam, okLam := numbersIn(all[wave])
	values, okValues := numbersIn(all[model])
	bad, okBad := numbersIn(all[masked])
	if !okLam || !okValues || !okBad || len(lam) != len(values) || len(lam) != len(bad) || !slices.IsSorted(lam) {
		return false, nil
	}
	a.Model = slices.Repeat([]float64{math.NaN()}, len(a.Wave))
	a.Masked = slices.Clone(a.Masked)
	for p, w := range a.Wave {
		at, ok := slices.BinarySearch(lam, w)
		if !ok { // outside of what was fitted
			a.Masked[p] = true
			continue
		}
		a.Model[p], a.Masked[p] = values[at], a.Masked[p] || bad[at] > 0
	}
	return true, nil
}

// numbersIn returns the values of a vector; false if there is none.
func numbersIn(t *tensor.Tensor) ([]float64, bool) {
	if t == nil || len(t.Shape()) != 1 {
		return nil, false
	}
	return t.Float64s(), true
}
