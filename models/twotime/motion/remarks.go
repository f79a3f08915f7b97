// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package motion

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/homodyne"
)

// Units holds the units of the parameters of the motion, "" for numbers.
var Units = map[string]string{
	"D0": "A^2/s^(1+alpha)", "D_offset": "A^2/s", "gamma_dot_t0": "1/s^(1+beta)", "gamma_dot_t_offset": "1/s", "phi0": "degrees",
	"D0_ref": "A^2/s^(1+alpha_ref)", "D_offset_ref": "A^2/s", "D0_sample": "A^2/s^(1+alpha_sample)", "D_offset_sample": "A^2/s",
	"v0": "A/s^(1+v_beta)", "v_offset": "A/s", "f1": "1/s", "f2": "s", "phi0_het": "degrees",
}

// Remarks returns what a person should know about parameters of the motion: what D0 is, and how
// rates of shear in the customary computation follow from those of the sample.
func (p *Problem) Remarks(theta, sd []float64) []string {
	notes := []string{"D0 is the amplitude of the transport coefficient J, which is twice the diffusion coefficient of Stokes and Einstein"}
	if !p.Config.Customary || p.Config.Model != homodyne.LaminarFlow {
		return notes
	}
	t := p.Data.Setup.Times
	s := &homodyne.Start{Customary: true, Names: p.Config.Model.Names(), Values: theta, Errors: sd}
	s = s.Physical(p.C2.Q, p.Config.Gap, t[len(t)-1])
	i := slices.Index(s.Names, "gamma_dot_t0")
	text := fmt.Sprintf("gamma_dot_t0 is as homodyne has it, in its own convention; the rate of shear of the sample is %.5g", s.Values[i])
	if !math.IsNaN(s.Errors[i]) {
		text += fmt.Sprintf(" +- %.2g", s.Errors[i])
	}
	return slices.Concat(notes, []string{text + " " + Units["gamma_dot_t0"]}, s.Notes)
}

// diagonals says which diagonals are not as measured where the noise is to be estimated.
func (p *Problem) diagonals() []string {
	var of []string
	for k, phi := range p.C2.Phi {
		if p.Data.Noise == nil && p.Data.DiagonalReplaced(k) {
			of = append(of, fmt.Sprintf("%.4g", phi))
		}
	}
	if of == nil {
		return nil
	}
	return []string{"at " + strings.Join(of, ", ") + " degrees the diagonal of C2 is not as it was measured, so the numbers of speckles and counts are rough estimates from the residuals, and the errors depend on them: give both if you know them"}
}
