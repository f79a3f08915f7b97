// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stancsv

import (
	"bufio"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// Open reads the named file.
func Open(name string) (*Chain, error) {
	f, err := foreign.Open(name, ".csv")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, name)
}

// Read reads a table; name is used in messages. There may be fewer columns than CmdStan writes, and
// settings, adaptation and times may be missing. A last line without a newline is an error, because
// the last number of a truncated draw looks like a number too.
func Read(r io.Reader, name string) (*Chain, error) {
	p := &reader{c: &Chain{Settings: map[string]string{}}}
	in := bufio.NewReader(r)
	if head, _ := in.Peek(512); foreign.NotText(head) != "" {
		return nil, &FormatError{Format: "stancsv", File: name, Line: 1, What: "the file is not a table of draws but " + foreign.NotText(head)}
	}
	sc := bufio.NewScanner(in)
	sc.Buffer(make([]byte, 0, 1<<16), 1<<26)
	whole := true // the line ends with a newline
	sc.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		n, token, err := bufio.ScanLines(data, atEOF)
		whole = n == 0 || data[n-1] == '\n'
		return n, token, err
	})
	line := 0
	for sc.Scan() {
		line++
		if text := strings.TrimSpace(sc.Text()); !whole && text != "" && text[0] != '#' {
			return nil, &FormatError{Format: "stancsv", File: name, Line: line, What: "the file ends within this line, so its last number or name may be incomplete, as when a run was killed: delete the line, or add a newline if it is complete"}
		}
		text := sc.Text()
		if line == 1 {
			text = string(foreign.Unmarked([]byte(text)))
		}
		if err := p.line(strings.TrimSpace(text)); err != nil {
			return nil, &FormatError{Format: "stancsv", File: name, Line: line, What: err.Error()}
		}
	}
	if err := sc.Err(); err != nil {
		return nil, &FormatError{Format: "stancsv", File: name, Line: line + 1, What: err.Error()}
	}
	if p.c.Columns == nil && noDraws[p.c.Method()] == "" {
		return nil, &FormatError{Format: "stancsv", File: name, Line: line, What: "there is no line of column names: give a file of draws as CmdStan writes it"}
	}
	if err := p.c.splitMethod(); err != nil {
		return nil, &FormatError{Format: "stancsv", File: name, Line: 1, What: err.Error()}
	}
	p.c.splitWarmup()
	return p.c, nil
}

// reader parses the lines of a file.
type reader struct {
	c      *Chain
	metric bool // whether the next comments are the inverse mass matrix
}

func (p *reader) line(text string) error {
	switch {
	case text == "":
		return nil
	case text[0] == '#':
		p.comment(strings.TrimSpace(text[1:]))
		return nil
	case p.c.Columns == nil:
		return p.c.header(text)
	}
	p.metric = false
	row, err := p.c.row(text)
	p.c.Draws = append(p.c.Draws, row)
	return err
}

// comment records a setting, a part of the adaptation or a time.
func (p *reader) comment(text string) {
	lower := strings.ToLower(text)
	switch {
	case strings.Contains(lower, "inverse mass matrix"):
		p.adapted().InvMetric, p.metric = nil, true
		return
	case p.metric:
		if row, ok := numbers(text); ok {
			p.c.Adapted.InvMetric = append(p.c.Adapted.InvMetric, row)
			return
		}
		p.metric = false
	}
	if seconds, ok := strings.CutSuffix(strings.TrimSpace(strings.TrimPrefix(lower, "elapsed time:")), "seconds (warm-up)"); ok {
		p.elapsed().Warmup = finite(seconds)
		return
	}
	if seconds, ok := strings.CutSuffix(lower, "seconds (sampling)"); ok {
		p.elapsed().Sampling = finite(seconds)
		return
	}
	key, value, ok := strings.Cut(text, "=")
	if !ok || strings.ContainsFunc(text, unicode.IsControl) {
		return
	}
	value, _, _ = strings.Cut(value, "(")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if _, known := p.c.Settings[key]; !known {
		p.c.Settings[key] = value
	}
	if eps, err := strconv.ParseFloat(value, 64); err == nil && lower[0] == 's' && strings.HasPrefix(lower, "step size") {
		p.adapted().StepSize = eps
	}
}

func (p *reader) adapted() *Adaptation {
	if p.c.Adapted == nil {
		p.c.Adapted = &Adaptation{}
	}
	return p.c.Adapted
}

func (p *reader) elapsed() *Elapsed {
	if p.c.Elapsed == nil {
		p.c.Elapsed = &Elapsed{}
	}
	return p.c.Elapsed
}

func numbers(text string) ([]float64, bool) {
	var row []float64
	for _, f := range strings.Split(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
		if err != nil {
			return nil, false
		}
		row = append(row, v)
	}
	return row, true
}

// finite parses a number of seconds; anything else gives 0.
func finite(text string) float64 {
	v, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}

func (c *Chain) header(text string) error {
	seen := map[string]bool{}
	names := strings.Split(text, ",")
	if strings.Contains(text, `"`) { // as R writes tables: "L[1,2]"
		quoted, err := csv.NewReader(strings.NewReader(text)).Read()
		if err != nil {
			return fmt.Errorf("the column names are in quotes that do not match: %v: write them without quotes", err)
		}
		names = quoted
	}
	for _, n := range names {
		n = strings.TrimSpace(n)
		if strings.Contains(n, ",") {
			base, index := split(n)
			if index == nil {
				return fmt.Errorf("the column name %.40q contains a comma: want commas only between the indices of an array", n)
			}
			n = base + dotted(index)
		}
		if _, err := strconv.ParseFloat(n, 64); err == nil || n == "" {
			return fmt.Errorf("the column name %q is empty or a number: want a line of names before the numbers", n)
		}
		if strings.ContainsFunc(n, unicode.IsControl) || strings.Contains(n, `"`) {
			return fmt.Errorf("the column name %.40q is not plain text: want names without quotes", n)
		}
		if seen[n] {
			return fmt.Errorf("column %q appears twice: rename one of them", n)
		}
		seen[n] = true
		c.Columns = append(c.Columns, n)
	}
	return nil
}

func (c *Chain) row(text string) ([]float64, error) {
	if n := strings.Count(text, ",") + 1; n != len(c.Columns) {
		return nil, fmt.Errorf("the row has %d values, but there are %d columns: if the run was killed here, delete the row", n, len(c.Columns))
	}
	row := make([]float64, len(c.Columns))
	for i := range row {
		f, rest, _ := strings.Cut(text, ",")
		text = rest
		v, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
		if err != nil && !math.IsInf(v, 0) {
			return nil, fmt.Errorf("column %[2]s contains %[1]q: want a number", f, c.Columns[i])
		}
		row[i] = v
	}
	return row, nil
}

// splitWarmup separates the warm-up draws if the file says that it contains them.
func (c *Chain) splitWarmup() {
	if v := c.Settings["save_warmup"]; v != "1" && v != "true" {
		return
	}
	if n := c.savedWarmup(); n > 0 && n <= len(c.Draws) {
		c.Warmup, c.Draws = c.Draws[:n], c.Draws[n:]
	}
}

// savedWarmup returns the number of warm-up rows that the settings announce, or 0 if they are
// unclear.
func (c *Chain) savedWarmup() int {
	n, err := strconv.Atoi(c.Settings["num_warmup"])
	if err != nil || n < 0 || n > math.MaxInt32 {
		return 0
	}
	thin := max(c.thin(), 1)
	return n/thin + min(n%thin, 1)
}

func (c *Chain) thin() int {
	n, err := strconv.Atoi(c.Settings["thin"])
	if err != nil {
		return 1
	}
	return n
}
