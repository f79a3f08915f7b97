// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gpubench

import (
	"encoding/csv"
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/roofline"
)

const page = "../../docs/GPU.md"

var update = flag.Bool("update", false, "write the table of predictions into "+page)

// measured reads the columns "kernel" and "program" of the table of operations of the page, in milliseconds.
func measured(page string) map[[2]string]float64 {
	list := map[[2]string]float64{}
	for line := range strings.Lines(page) {
		cells := strings.Split(line, "|")
		if len(cells) != 10 {
			continue
		}
		for i, how := range []string{"kernel", "program"} {
			if v, err := strconv.ParseFloat(strings.TrimSpace(cells[3+i]), 64); err == nil {
				list[[2]string{strings.TrimSpace(cells[1]), how}] = v
			}
		}
	}
	return list
}

// bounds lists what bounds the kernels that take most of a row's time, the longest first.
func bounds(r ExplainedRow) string {
	if r.Expected <= r.Host {
		return "host"
	}
	of := map[string]float64{}
	sum := 0.0
	for _, l := range r.Launches {
		of[l.Bound] += l.Expected
		sum += l.Expected
	}
	var words []string
	for len(of) > 0 {
		best := ""
		for b, us := range of {
			if best == "" || us > of[best] || us == of[best] && b < best {
				best = b
			}
		}
		if of[best] >= sum/4 {
			words = append(words, best)
		}
		delete(of, best)
	}
	return strings.Join(words, ", ")
}

// expectedThen reads what the model expected of the kernels that were measured, in milliseconds, before later kernels took their place.
func expectedThen(t *testing.T) map[[2]string]float64 {
	file, err := os.Open("testdata/expected-2026-11.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	list := map[[2]string]float64{}
	for _, r := range rows[1:] {
		if list[[2]string{r[0], r[1]}], err = strconv.ParseFloat(r[2], 64); err != nil {
			t.Fatal(err)
		}
	}
	return list
}

// The page shows what the model expects of an H100 beside what was measured on one, and counts correctly how many rows
// are within 30 %.
func TestPageComparesPredictions(t *testing.T) {
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	card, err := roofline.Find("H100")
	if err != nil {
		t.Fatal(err)
	}
	e, err := Explain(card, "")
	if err != nil {
		t.Fatal(err)
	}
	was, then := measured(string(b)), expectedThen(t)
	var table strings.Builder
	table.WriteString("| operation | as | measured | expected of the same kernels | off by | expected of those of today | bounds of these |\n|---|---|---|---|---|---|---|\n")
	within, count, host, hostWithin := 0, 0, 0, 0
	for _, r := range e.Rows {
		if r.How == "engine" { // whose figures are in another table
			continue
		}
		v, ok := was[[2]string{r.Name, r.How}]
		if !ok {
			t.Errorf("the page has no measured %s of %s", r.How, r.Name)
		}
		expected, ok := then[[2]string{r.Name, r.How}]
		if !ok {
			t.Errorf("testdata has no expected %s of %s", r.How, r.Name)
		}
		off := expected/v - 1
		count++
		if math.Abs(off) <= 0.3 {
			within++
		}
		if r.Expected <= r.Host {
			host++
			if math.Abs(off) <= 0.3 {
				hostWithin++
			}
		}
		fmt.Fprintf(&table, "| %s | %s | %.4f | %.4f | %+.0f %% | %.4f | %s |\n", r.Name, r.How, v, expected, 100*off, r.Expected, bounds(r))
		if r.Unknown != "" {
			t.Errorf("the model does not count all work of %s: %s", r.Name, r.Unknown)
		}
	}
	if count != len(was) {
		t.Errorf("the page has %d measured rows, the model %d", len(was), count)
	}
	fmt.Fprintf(&table, "\nExplained within 30 %%: %d of %d rows. The host bounds %d of them by two constants; of the other %d rows, %d are explained.\n", within, count, host, count-host, within-hostWithin)
	table.WriteString(engineTable(t, card))
	const begin, end = "<!-- predicted -->\n", "<!-- end of predictions -->\n"
	before, rest, found := strings.Cut(string(b), begin)
	old, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no place %q ... %q", page, begin, end)
	}
	if *update {
		if err := os.WriteFile(page, []byte(before+begin+table.String()+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if old != table.String() {
		t.Errorf("%s has other predictions: go test ./internal/gpubench -run Page -update\n%s", page, table.String())
	}
}

// The text and the rows tell apart what is expected and what was measured.
func TestExplanationWithMeasurements(t *testing.T) {
	card, _ := roofline.Find("NVIDIA H100 80GB HBM3")
	e, err := Explain(card, "sum 10M")
	if err != nil || len(e.Rows) != 2 {
		t.Fatal(e, err)
	}
	if text := e.String(); !strings.Contains(text, "nothing was measured") || !strings.Contains(text, "cumulative sum 10M, program: 0.0") {
		t.Error(text)
	}
	e.With(&Report{Rows: []Row{{Name: "sum 10M", How: "program", Millis: 0.0116}}})
	if text := e.String(); strings.Contains(text, "nothing was measured") || !strings.Contains(text, "ms expected, 0.0116 ms measured") {
		t.Error(text)
	}
}

// engineTable is the table of the figures of engines. Each of them is within 30 % or has a sentence about what the model does not explain.
func engineTable(t *testing.T, card roofline.Card) string {
	var table strings.Builder
	table.WriteString("\n| engine | measured | kernels | bus | host | expected of the same kernels | off by | expected of those of today | bound of these | what is not explained |\n|---|---|---|---|---|---|---|---|---|---|\n")
	within, all := 0, 0
	for _, f := range roofline.Figures() {
		s, err := card.Figure(f)
		if err != nil {
			t.Fatal(err)
		}
		all++
		then := s
		if f.Then != nil {
			f.Do = f.Then
			if then, err = card.Figure(f); err != nil {
				t.Fatal(err)
			}
		}
		off := then.Seconds/f.Measured - 1
		note := f.Note
		if math.Abs(off) <= 0.3 {
			within++
		} else if note == "" {
			t.Errorf("%s: the model expects %.3g s, %.3g s were measured, and no note says why", f.Name, then.Seconds, f.Measured)
		}
		if s.Unknown != "" {
			note = strings.TrimSpace(note + " Not counted: " + s.Unknown + ".")
		}
		ms := func(v float64) string { return fmt.Sprintf("%.4f", 1e3*v) }
		fmt.Fprintf(&table, "| %s | %s | %s | %s | %s | %s | %+.0f %% | %s | %s | %s |\n", f.Name, ms(f.Measured), ms(s.Kernels), ms(s.Bus), ms(s.Host), ms(then.Seconds), 100*off, ms(s.Seconds), s.Bound, note)
	}
	fmt.Fprintf(&table, "\nExplained within 30 %%: %d of %d figures of engines. Times are in milliseconds; kernels, bus and host are those of today.\n", within, all)
	return table.String()
}
