// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"bytes"
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/csv"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
)

func reduceAges(a *frame.App) *cobra.Command {
	var bin, half int
	var ages string
	var all bool
	c := &cobra.Command{
		Use:   "ages RESULT.hdf [OUT.csv|.xlsx|.parquet]",
		Short: "Extract g2 at several sample ages from a two-time correlation",
		Long: `Extract g2 at several ages from the two-time correlation C2 of a bin. At each
delay, g2 is the mean of C2 over the pairs of frames whose midpoint is within
--half of the age. Ages and --half are in steps of C2, which are frames unless
the correlation used a stride or averaged frames. Delays are spaced as in
multi-tau correlations unless --all-delays is given.

The errors, and the covariance between the delays of an age, come from the
scatter of pixels, which euryale correlate stores unless --no-age-errors is
given. They are unknown with --all-delays and for files from other programs.

The table has the columns bin, age, q, phi, tau and g2, and g2_err and the
covariance if they are known. Bin 1 is the first age, so euryale fit g2 fits
every age, and draws its parameters against age. The table
goes to the file that is named last, in the format of its extension, or else to
standard output.

  euryale reduce ages A003_results.hdf --bin 3 --ages 100,500,900 ages.csv
  euryale fit g2 ages.csv --model stretched
`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(_ *cobra.Command, args []string) error { return runReduceAges(a, args, bin, ages, half, all) },
	}
	f := c.Flags()
	f.IntVar(&bin, "bin", 0, "dynamic bin, counted from 1 (default the first one with C2)")
	f.StringVar(&ages, "ages", "", "ages in steps of C2, such as 100,200 (default five, evenly spaced)")
	f.IntVar(&half, "half", 0, "half width of an age in steps (default a tenth of all steps)")
	f.BoolVar(&all, "all-delays", false, "use every delay instead of multi-tau spacing")
	return c
}

// agesDoc is the JSON document of reduce ages.
type agesDoc struct {
	Engine string         `json:"engine"`
	File   string         `json:"file"`
	Bin    int            `json:"bin"`
	Q      frame.Number   `json:"q"`
	Phi    frame.Number   `json:"phi"`
	Step   frame.Number   `json:"step_s"`
	Half   int            `json:"half_steps"`
	Delay  []frame.Number `json:"delay_s"`
	Ages   []ageDoc       `json:"ages"`
}

type ageDoc struct {
	Step int            `json:"age_steps"`
	Age  frame.Number   `json:"age_s"`
	G2   []frame.Number `json:"g2"` // NaN for delays that an age does not reach
	Err  []frame.Number `json:"g2_err,omitempty"`

	cov     []float64 // of the delays that the age reaches; nil: not known
	samples int
}

func runReduceAges(a *frame.App, args []string, bin int, ages string, half int, every bool) error {
	out, files, err := a.TableFile("reduce ages", args)
	if err != nil {
		return err
	}
	if len(files) != 1 {
		return exit.Usage("reduce ages: %s: the output must be a file that ends in .csv", files[1])
	}
	at, err := numbersOf("ages", ages, 0)
	if err != nil {
		return err
	}
	c, r, err := readC2(files[0], bin)
	if err != nil {
		return err
	}
	defer r.Close()
	if half == 0 {
		half = max(c.Rows/10, 1)
	}
	for k := 0; ages == "" && k < 5; k++ {
		at = append(at, c.Rows*(2*k+1)/10)
	}
	if most := slices.Max(at); half < 0 || most >= c.Rows {
		return exit.Usage("--ages up to %d with --half %d reach beyond the correlation, which has steps 0 to %d: choose smaller ages", most, half, c.Rows-1)
	}
	scatter, err := scatterOf(r, c)
	if err != nil {
		return exit.With(exit.Data, err)
	}
	doc := agesOf(c, scatter, at, half, every)
	doc.File, doc.Q, doc.Phi = files[0], frame.Number(r.QMap.Q(c.Bin)), frame.Number(r.QMap.Phi(c.Bin))
	table, err := doc.table(r.QMap.Label(c.Bin))
	if err != nil {
		return exit.With(exit.Bug, err)
	}
	return a.Tabled(out, table, doc)
}

// readC2 opens a result and reads C2 of a bin, or of the first that has one.
func readC2(name string, bin int) (*nexus.C2, *nexus.Result, error) {
	r, err := nexus.Open(name)
	if err != nil {
		return nil, nil, exit.Input(err)
	}
	c, err := func() (*nexus.C2, error) {
		if r.Twotime == nil || len(r.Twotime.Bins) == 0 {
			return nil, fmt.Errorf("%s has no two-time correlation: make one with euryale correlate --correlation twotime", name)
		}
		i := slices.Index(r.Twotime.Bins, bin)
		if bin == 0 {
			i = 0
		}
		if i < 0 {
			return nil, fmt.Errorf("%s: bin %d has no two-time correlation: choose from bins %v", name, bin, r.Twotime.Bins)
		}
		return r.ReadC2(i, 0, true)
	}()
	if err != nil {
		r.Close()
		return nil, nil, exit.With(exit.Data, err)
	}
	return c, r, nil
}

// scatterOf returns how C2 of a bin varies from pixel to pixel, nil if the result does not say so.
func scatterOf(r *nexus.Result, c *nexus.C2) (*correlate.Ages, error) {
	v, err := r.ReadAges(slices.Index(r.Twotime.Bins, c.Bin))
	if err != nil || v == nil {
		return nil, err
	}
	a := &correlate.Ages{Frames: c.Rows, Delays: v.Delays, Blocks: v.Blocks, Groups: v.Groups, Wider: v.Wider, Values: v.Values}
	if !slices.Equal(a.Delays, correlate.AgeDelays(c.Rows)) || a.Blocks > c.Rows {
		return nil, fmt.Errorf("%s: the stored scatter of bin %d has %d delays and %d blocks, which do not match the %d steps: correlate the frames again", r.File, c.Bin, len(a.Delays), a.Blocks, c.Rows)
	}
	return a, nil
}

// agesOf takes g2 at ages from C2, with errors where the scatter of pixels is known. Delay 0, which has the noise of counts, is left out.
func agesOf(c *nexus.C2, scatter *correlate.Ages, ages []int, half int, every bool) *agesDoc {
	doc := &agesDoc{Engine: "xpcs", Bin: c.Bin, Step: frame.Number(c.Step), Half: half}
	delays := correlate.AgeDelays(c.Rows)
	if every {
		delays = nil
		for d := 1; d < c.Rows; d++ {
			delays = append(delays, d)
		}
	}
	for _, d := range delays {
		doc.Delay = append(doc.Delay, frame.Number(float64(d)*c.Step))
	}
	m := correlate.Map{Bin: c.Bin, Frames: c.Rows, C2: c.Data}
	for _, age := range ages {
		d := ageDoc{Step: age, Age: frame.Number(float64(age) * c.Step), G2: frame.Numbers(m.Age(age, half, delays))}
		if scatter != nil && !every {
			places := scatter.Places(age, half)
			d.cov, d.samples = scatter.Covariance(age, half, places)
			d.Err = frame.Numbers(slices.Repeat([]float64{math.NaN()}, len(delays)))
			for i, k := range places {
				d.Err[k] = frame.Number(math.Sqrt(d.cov[i*len(places)+i]))
			}
		}
		doc.Ages = append(doc.Ages, d)
	}
	return doc
}

// table returns the document as a table of g2 in which each age is a bin.
func (d *agesDoc) table(label string) ([]byte, error) {
	t := &csv.Table{}
	notes := []string{fmt.Sprintf("g2 of bin %d (%s) at ages, each over +- %d steps of %g s", d.Bin, label, d.Half, float64(d.Step))}
	for k, age := range d.Ages {
		notes = append(notes, fmt.Sprintf("bin %d: age %g s", k+1, float64(age.Age)))
		reached := 0
		for i, v := range age.G2 {
			if math.IsNaN(float64(v)) {
				continue
			}
			t.Age, t.Q, t.Phi = append(t.Age, float64(age.Age)), append(t.Q, float64(d.Q)), append(t.Phi, float64(d.Phi))
			t.Bin, t.Tau, t.G2 = append(t.Bin, k+1), append(t.Tau, float64(d.Delay[i])), append(t.G2, float64(v))
			if age.Err != nil {
				t.Err, t.Samples = append(t.Err, short([]float64{float64(age.Err[i])})[0]), append(t.Samples, float64(age.samples))
			}
			reached++
		}
		for i := 0; age.Err != nil && i < reached; i++ {
			t.Cov = append(t.Cov, short(age.cov[i*reached:(i+1)*reached]))
		}
	}
	var b bytes.Buffer
	err := csv.Write(&b, t, notes...)
	return b.Bytes(), err
}
