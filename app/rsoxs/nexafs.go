// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/sim/rsoxs/constants"
)

// nexafsFlags are the flags of reduce nexafs.
type nexafsFlags struct {
	Order float64 `only:"reduce nexafs" default:"1" low:"-0.5" high:"1" about:"order parameter of the sample of spectra at angles, not 0"`
	Scale float64 `only:"reduce nexafs" default:"1" above:"0" about:"factor that makes beta of the spectra"`
	Below float64 `only:"reduce nexafs" default:"3" about:"exponent of the fall of beta below the first energy, down to 30 eV"`
	Above float64 `only:"reduce nexafs" default:"4" above:"0.5" about:"exponent of the fall of beta beyond the last energy"`
}

func reduceNEXAFS(a *frame.App) *cobra.Command {
	var f nexafsFlags
	c := &cobra.Command{
		Use:   "nexafs SPECTRA.csv [OUT.csv|.xlsx|.parquet]",
		Short: "Compute optical constants from absorption spectra",
		Long: `Compute a table of optical constants, delta and beta along and across the
director, from absorption spectra near an edge. Delta follows from beta by the
relations of Kramers and Kronig.

The table has energies in eV and one spectrum, or BetaPara and BetaPerp, or
spectra whose columns are called by the angle of the electric field from the
director in degrees, such as 20 and 90: beta is then A + B cos^2. Spectra should
be joined to the beta of the bare atoms, from 10 eV to 30 keV; what is missing
falls with powers of the energy (--below, --above). A table that has delta, too,
is compared with its own beta.

The table is written to the file that is named last, in the format of its
extension, or else to standard output. invert rsoxs reads it under constants.

  euryale reduce nexafs p3ht.csv P3HT.csv
  euryale reduce nexafs angles.csv P3HT.csv --order 0.6 --scale 2e-3
`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error { return runReduceNEXAFS(a, args, f) },
	}
	frame.AddSettings(c, "reduce nexafs", &f)
	return c
}

// nexafsDoc is the JSON document of reduce nexafs.
type nexafsDoc struct {
	Engine    string         `json:"engine"`
	File      string         `json:"file"`
	Energies  []frame.Number `json:"energy"`
	DeltaPara []frame.Number `json:"delta_para"`
	BetaPara  []frame.Number `json:"beta_para"`
	DeltaPerp []frame.Number `json:"delta_perp"`
	BetaPerp  []frame.Number `json:"beta_perp"`
	Notes     []string       `json:"notes"`
}

func runReduceNEXAFS(a *frame.App, args []string, f nexafsFlags) error {
	if err := frame.CheckSettings(&f); err != nil {
		return err
	}
	out := ""
	if len(args) > 1 { // one table is the input
		var err error
		if out, args, err = a.TableFile("reduce nexafs", args); err != nil {
			return err
		}
		if out == "" {
			return exit.Usage("reduce nexafs writes a table .csv, .xlsx or .parquet: name it last, and one file of spectra before it")
		}
	}
	doc := &nexafsDoc{Engine: "rsoxs", File: args[0], Notes: []string{}}
	if err := f.reduce(doc); err != nil {
		return exit.With(exit.Data, err)
	}
	for _, n := range doc.Notes {
		a.Note("%s", n)
	}
	return a.Tabled(out, doc.table(), doc)
}

// reduce computes the constants of a file.
func (f *nexafsFlags) reduce(doc *nexafsDoc) error {
	c := constants.Continuation{Below: f.Below, Above: f.Above}
	if t, err := scatter.Constants(doc.File); err == nil {
		return doc.compare(t, c)
	}
	s, err := scatter.OpenAbsorption(doc.File)
	if err != nil {
		return err
	}
	para, perp := s.Para, s.Perp
	switch {
	case s.Beta != nil:
		para, perp = s.Beta, s.Beta
	case s.Angles != nil:
		var radians []float64
		for _, x := range s.Angles {
			radians = append(radians, x*math.Pi/180)
		}
		d, err := constants.FromAngles(radians, s.Spectra, f.Order)
		if err != nil {
			return err
		}
		para, perp = d.Para, d.Perp
		doc.Notes = append(doc.Notes, fmt.Sprintf("the law A + B cos^2 leaves %.2g of the spectra at %d angles in the root mean square", d.RMS*f.Scale, len(radians)))
	}
	doc.Energies = frame.Numbers(s.Energies)
	for _, x := range []struct {
		from        []float64
		delta, beta *[]frame.Number
	}{{para, &doc.DeltaPara, &doc.BetaPara}, {perp, &doc.DeltaPerp, &doc.BetaPerp}} {
		beta := slices.Clone(x.from)
		for i := range beta {
			beta[i] *= f.Scale
		}
		delta, err := constants.KramersKronig(s.Energies, beta, s.Energies, c)
		if err != nil {
			return fmt.Errorf("%s: %w", doc.File, err)
		}
		*x.delta, *x.beta = frame.Numbers(delta), frame.Numbers(beta)
	}
	return nil
}

// compare keeps the constants of a table that has delta, too, and says how well it agrees with beta.
func (doc *nexafsDoc) compare(t *scatter.Table, c constants.Continuation) error {
	columns := make([][]float64, 4)
	for _, x := range t.Constants {
		for i, v := range []float64{x.DeltaPara, x.BetaPara, x.DeltaPerp, x.BetaPerp} {
			columns[i] = append(columns[i], v)
		}
	}
	for i, name := range []string{"along", "across"} {
		d, err := constants.Consistency(t.Energies, columns[2*i], columns[2*i+1], c)
		if err != nil {
			return fmt.Errorf("%s: %w", doc.File, err)
		}
		doc.Notes = append(doc.Notes, fmt.Sprintf("delta %s the director differs from that of beta by %.2g %% of its range in the root mean square, and by %.2g %% at %g eV", name, 100*d.RMS, 100*d.Most, d.At))
	}
	doc.Energies = frame.Numbers(t.Energies)
	doc.DeltaPara, doc.BetaPara, doc.DeltaPerp, doc.BetaPerp = frame.Numbers(columns[0]), frame.Numbers(columns[1]), frame.Numbers(columns[2]), frame.Numbers(columns[3])
	return nil
}

// table returns the constants as CSV.
func (doc *nexafsDoc) table() []byte {
	var b strings.Builder
	b.WriteString("Energy,DeltaPara,BetaPara,DeltaPerp,BetaPerp\n")
	for i, e := range doc.Energies {
		fmt.Fprintf(&b, "%g,%.10g,%.10g,%.10g,%.10g\n", float64(e), float64(doc.DeltaPara[i]), float64(doc.BetaPara[i]), float64(doc.DeltaPerp[i]), float64(doc.BetaPerp[i]))
	}
	return []byte(b.String())
}
