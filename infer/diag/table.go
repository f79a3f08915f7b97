// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"html"
	"math"
	"strconv"
)

// Columns returns the names of the numbers of every row, as in CSV.
func (s Summary) Columns() []string {
	ci := s.ciName()
	return []string{"mean", "sd", ci + "_lb", ci + "_ub", "q05", "q50", "q95", "hdi94_lo", "hdi94_hi",
		"mcse_mean", "mcse_sd", "ess_bulk", "ess_tail", "r_hat"}
}

// Values returns the numbers of a row in the order of Summary.Columns. Mean and standard deviation are NaN, and so are their
// errors, where the draws do not tell them.
func (r *Row) Values() []float64 {
	told := *r
	if !r.HasMean() {
		told.Mean = math.NaN()
	}
	if !r.HasSD() {
		told.SD, told.MCSEMean, told.MCSESD = math.NaN(), math.NaN(), math.NaN()
	}
	return []float64{told.Mean, told.SD, r.CI.Low, r.CI.High, r.Q05, r.Q50, r.Q95, r.HDI94.Low, r.HDI94.High,
		told.MCSEMean, told.MCSESD, r.ESSBulk, r.ESSTail, r.RHat}
}

// CSV returns the whole table with all digits; numbers that are not finite are
// NaN, Inf and -Inf.
func (s Summary) CSV() string {
	g := grid{append([]string{"name"}, s.Columns()...)}
	for i := range s.Rows {
		g = append(g, exactAll(s.Rows[i].Name, s.Rows[i].Values()...))
	}
	return g.csv()
}

// String returns the table as text in aligned columns. The mean and interval
// are rounded to the digit of 2 mcse_mean, the standard deviation to that of
// 2 mcse_sd, effective sample sizes downwards, R-hat to two decimals. Where tails are so heavy that
// the draws tell no mean or no standard deviation, it says none; see CheckTails.
func (s Summary) String() string {
	text := s.cells().text()
	if s.Note != "" {
		text += "\n" + s.Note
	}
	return text
}

// Markdown returns the table of String for Markdown.
func (s Summary) Markdown() string {
	text := s.cells().markdown()
	if s.Note != "" {
		text += "\n" + s.Note + "\n"
	}
	return text
}

// HTML returns the table of String for a web page or notebook.
func (s Summary) HTML() string {
	page := s.cells().html()
	if s.Note != "" {
		page += "<p>" + html.EscapeString(s.Note) + "</p>\n"
	}
	return page
}

// SimpleRender returns the table for the notebook gophernotes.
func (s Summary) SimpleRender() map[string]interface{} {
	return map[string]interface{}{"text/html": s.HTML(), "text/plain": s.String()}
}

func (s Summary) cells() grid {
	ci := s.ciName()
	out := grid{{"", "mean", "sd", ci + "_lb", ci + "_ub", "ess_bulk", "ess_tail", "r_hat", "mcse_mean"}}
	for i := range s.Rows {
		r := &s.Rows[i]
		row := []string{r.Name, rounded(r.Mean, r.MCSEMean), rounded(r.SD, r.MCSESD),
			rounded(r.CI.Low, r.MCSEMean), rounded(r.CI.High, r.MCSEMean),
			floored(r.ESSBulk), floored(r.ESSTail), fixed(r.RHat, 2), short(r.MCSEMean, 2)}
		if !r.HasSD() {
			row[1], row[2], row[3], row[4], row[8] = short(r.Mean, 2), "none", short(r.CI.Low, 4), short(r.CI.High, 4), "none"
		}
		if !r.HasMean() {
			row[1] = "none"
		}
		out = append(out, row)
	}
	return out
}

func (s Summary) ciName() string {
	kind := "eti"
	if s.HDI {
		kind = "hdi"
	}
	return kind + strconv.FormatFloat(100*s.Prob, 'g', 6, 64)
}

// rounded writes v to the decimal of the first digit of twice its error.
func rounded(v, mcse float64) string {
	if !(mcse > 0) || math.IsInf(mcse, 0) || math.IsNaN(v) || math.IsInf(v, 0) {
		return short(v, 4)
	}
	digit := int(math.Floor(math.Log10(2 * mcse)))
	lead := digit
	if v != 0 {
		lead = int(math.Floor(math.Log10(math.Abs(v))))
	}
	switch {
	case lead < -4 || lead > 9:
		return strconv.FormatFloat(v, 'e', min(max(lead-digit, 0), 17), 64)
	case digit >= 0:
		unit := math.Pow(10, float64(digit))
		return fixed(math.Round(v/unit)*unit, 0)
	}
	return fixed(v, min(-digit, 17))
}

func floored(v float64) string { return fixed(math.Floor(v), 0) }

func fixed(v float64, decimals int) string { return strconv.FormatFloat(v, 'f', decimals, 64) }

func short(v float64, digits int) string { return strconv.FormatFloat(v, 'g', digits, 64) }
