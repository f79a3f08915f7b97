// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package csv

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// Create writes a table to the named file, first under a temporary name. Comments become lines that
// begin with #.
func Create(name string, t *Table, comments ...string) error {
	err := atomicfile.Write(name, true, func(w io.Writer) error { return Write(w, t, comments...) })
	if err != nil {
		return fmt.Errorf("csv: %w", err)
	}
	return nil
}

// Write writes a table: comments, header, rows. Numbers have as many digits as are needed to read back
// the same values.
func Write(w io.Writer, t *Table, comments ...string) error {
	if err := t.check(); err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	for _, c := range comments {
		for line := range strings.SplitSeq(c, "\n") {
			fmt.Fprintf(out, "# %s\n", strings.ReplaceAll(line, "\r", " "))
		}
	}
	names := []string{}
	if t.Bin != nil {
		names = append(names, "bin")
	}
	var places [][]float64
	for k, v := range [][]float64{t.Age, t.Q, t.Phi} {
		if v != nil {
			names, places = append(names, []string{"age (s)", "q (1/A)", "phi (deg)"}[k]), append(places, v)
		}
	}
	names = append(names, "tau", "g2")
	if t.Err != nil {
		names = append(names, "g2_err")
	}
	if t.Samples != nil {
		names = append(names, "samples")
	}
	if t.Skew != nil {
		names = append(names, "skew")
	}
	most := 0
	for _, row := range t.Cov {
		most = max(most, len(row))
	}
	for k := range most {
		names = append(names, fmt.Sprint("cov_", k+1))
	}
	fmt.Fprintln(out, strings.Join(names, ","))
	for i := range t.Tau {
		if t.Bin != nil {
			fmt.Fprintf(out, "%d,", t.Bin[i])
		}
		for _, v := range places {
			fmt.Fprintf(out, "%s,", decimal(v[i]))
		}
		fmt.Fprintf(out, "%s,%s", decimal(t.Tau[i]), decimal(t.G2[i]))
		if t.Err != nil {
			fmt.Fprintf(out, ",%s", decimal(t.Err[i]))
		}
		if t.Samples != nil {
			fmt.Fprintf(out, ",%s", decimal(t.Samples[i]))
		}
		if t.Skew != nil {
			fmt.Fprintf(out, ",%s", decimal(t.Skew[i]))
		}
		for k := range most {
			out.WriteByte(',')
			if k < len(t.Cov[i]) {
				out.WriteString(decimal(t.Cov[i][k]))
			}
		}
		fmt.Fprintln(out)
	}
	return out.Flush()
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
