// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stancsv

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// setting is a line of CmdStan's header: indented by depth, with a default value.
type setting struct {
	depth  int
	key    string
	value  string // value used if the chain's Settings lack the key
	always bool   // whether it is a heading, without a value, that is always written
}

// header is CmdStan's header, as far as its readers use it.
var header = []setting{
	{0, "stan_version_major", "2", false}, {0, "stan_version_minor", "21", false}, {0, "stan_version_patch", "0", false},
	{0, "model", "model", false}, {0, "method", "sample", false},
	{1, "sample", "", true}, {2, "num_samples", "", false}, {2, "num_warmup", "", false}, {2, "save_warmup", "", false}, {2, "thin", "1", false},
	{2, "adapt", "", true}, {3, "engaged", "1", false}, {3, "gamma", "0.05", false}, {3, "delta", "0.8", false}, {3, "kappa", "0.75", false}, {3, "t0", "10", false},
	{2, "algorithm", "hmc", false}, {3, "hmc", "", true}, {4, "engine", "nuts", false}, {5, "nuts", "", true}, {6, "max_depth", "10", false},
	{4, "metric", "", false}, {4, "stepsize", "1", false},
	{0, "id", "1", false}, {0, "random", "", true}, {1, "seed", "0", false},
}

// Write writes the table in CmdStan's form: a header with the Settings (those that CmdStan does not
// know at its end), the warm-up, the adaptation, the draws, and the times if they are known.
// save_warmup is set according to the rows.
func (c *Chain) Write(w io.Writer) error {
	if err := c.check(); err != nil {
		return err
	}
	b := bufio.NewWriter(w)
	c.writeHeader(b)
	b.WriteString(strings.Join(c.Columns, ",") + "\n")
	writeRows(b, c.Warmup)
	c.writeAdaptation(b)
	writeRows(b, c.Draws)
	if e := c.Elapsed; e != nil {
		fmt.Fprintf(b, "# \n#  Elapsed Time: %s seconds (Warm-up)\n#                %s seconds (Sampling)\n#                %s seconds (Total)\n# \n", seconds(e.Warmup), seconds(e.Sampling), seconds(e.Warmup+e.Sampling))
	}
	return b.Flush()
}

// check returns an error for anything that would not read back unchanged.
func (c *Chain) check() error {
	if len(c.Columns) == 0 {
		return fmt.Errorf("stancsv: the chain has no columns: give it at least one")
	}
	for i, n := range c.Columns {
		if _, err := strconv.ParseFloat(n, 64); err == nil || n == "" || n != strings.TrimSpace(n) || i == 0 && n[0] == '#' || strings.Contains(n, ",") || strings.ContainsFunc(n, unicode.IsControl) {
			return fmt.Errorf("stancsv: %q cannot be the name of a column: want a word without commas that is not a number", n)
		}
	}
	for k, v := range c.Settings {
		if strings.Contains(k, "=") || strings.ContainsFunc(k+v, unicode.IsControl) {
			return fmt.Errorf("stancsv: the setting %q = %q has = in its name or a control character: want one line of plain text", k, v)
		}
	}
	for _, rows := range [][][]float64{c.Warmup, c.Draws} {
		for i, row := range rows {
			if len(row) != len(c.Columns) {
				return fmt.Errorf("stancsv: row %d has %d values, but there are %d columns: want equal numbers", i+1, len(row), len(c.Columns))
			}
		}
	}
	return nil
}

func (c *Chain) writeHeader(b *bufio.Writer) {
	known := map[string]bool{"Step size": true}
	for _, s := range header {
		known[s.key] = true
		if s.always {
			fmt.Fprintf(b, "# %s%s\n", strings.Repeat("  ", s.depth), s.key)
			continue
		}
		fmt.Fprintf(b, "# %s%s = %s\n", strings.Repeat("  ", s.depth), s.key, c.valueOf(s))
	}
	for _, k := range slices.Sorted(maps.Keys(c.Settings)) {
		if !known[k] {
			fmt.Fprintf(b, "# %s = %s\n", k, c.Settings[k])
		}
	}
}

// valueOf returns the value of a setting: for the warm-up, what the rows imply; else the value in
// Settings; else the default.
func (c *Chain) valueOf(s setting) string {
	switch given := c.Settings[s.key]; {
	case s.key == "save_warmup" && len(c.Warmup) > 0:
		return "1"
	case s.key == "save_warmup":
		return "0"
	case s.key == "num_warmup" && len(c.Warmup) > 0 && c.savedWarmup() != len(c.Warmup):
		return strconv.Itoa(len(c.Warmup) * max(c.thin(), 1))
	case given != "":
		return given
	case s.key == "num_samples":
		return strconv.Itoa(len(c.Draws))
	case s.key == "num_warmup":
		return strconv.Itoa(len(c.Warmup))
	case s.key == "metric" && c.Adapted != nil && len(c.Adapted.InvMetric) > 1:
		return "dense_e"
	case s.key == "metric" && c.Adapted != nil && len(c.Adapted.InvMetric) == 0:
		return "unit_e" // readers of diag_e insist on the numbers
	case s.key == "metric":
		return "diag_e"
	}
	return s.value
}

func (c *Chain) writeAdaptation(b *bufio.Writer) {
	if c.Adapted == nil {
		return
	}
	fmt.Fprintf(b, "# Adaptation terminated\n# Step size = %s\n", number(c.Adapted.StepSize))
	switch {
	case len(c.Adapted.InvMetric) == 1:
		b.WriteString("# Diagonal elements of inverse mass matrix:\n")
	case len(c.Adapted.InvMetric) > 1:
		b.WriteString("# Elements of inverse mass matrix:\n")
	}
	for _, row := range c.Adapted.InvMetric {
		for i, v := range row {
			b.WriteString([]string{"# ", ", "}[min(i, 1)] + number(v))
		}
		b.WriteByte('\n')
	}
}

// seconds formats a time to the microsecond, without an exponent.
func seconds(v float64) string {
	return strconv.FormatFloat(math.Round(v*1e6)/1e6, 'f', -1, 64)
}

func writeRows(b *bufio.Writer, rows [][]float64) {
	for _, row := range rows {
		for i, v := range row {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(number(v))
		}
		b.WriteByte('\n')
	}
}

// number formats NaN and infinities as Stan does.
func number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "nan"
	case math.IsInf(v, 1):
		return "inf"
	case math.IsInf(v, -1):
		return "-inf"
	}
	return strconv.FormatFloat(v, 'g', 17, 64)
}
