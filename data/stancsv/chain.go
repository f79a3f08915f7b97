package stancsv

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Chain is the table of one chain.
type Chain struct {
	Columns  []string
	Draws    [][]float64       // [draw][column], without warm-up
	Warmup   [][]float64       // [draw][column]; nil if it was not saved
	Settings map[string]string // of the comment lines "key = value"
}

// Column returns the draws of a column, or nil.
func (c *Chain) Column(name string) []float64 {
	i := slices.Index(c.Columns, name)
	if i < 0 {
		return nil
	}
	out := make([]float64, len(c.Draws))
	for k, row := range c.Draws {
		out[k] = row[i]
	}
	return out
}

// Parameters lists the columns that are not the sampler's own.
func (c *Chain) Parameters() []string {
	var out []string
	for _, n := range c.Columns {
		if !strings.HasSuffix(n, "__") {
			out = append(out, n)
		}
	}
	return out
}

// FormatError reports a file that is not a table of draws.
type FormatError struct {
	File string
	Line int
	What string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("stancsv: %s line %d: %s", e.File, e.Line, e.What)
}

// Open reads the file name.
func Open(name string) (*Chain, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Read(f, name)
}

// Read reads a table; name is for messages.
func Read(r io.Reader, name string) (*Chain, error) {
	c := &Chain{Settings: map[string]string{}}
	sc := bufio.NewScanner(r)
	sc.Buffer(make([]byte, 0, 1<<16), 1<<26)
	line := 0
	for sc.Scan() {
		line++
		text := strings.TrimSpace(sc.Text())
		switch {
		case text == "":
		case text[0] == '#':
			c.setting(text[1:])
		case c.Columns == nil:
			if err := c.header(text); err != nil {
				return nil, &FormatError{name, line, err.Error()}
			}
		default:
			row, err := c.row(text)
			if err != nil {
				return nil, &FormatError{name, line, err.Error()}
			}
			c.Draws = append(c.Draws, row)
		}
	}
	if err := sc.Err(); err != nil {
		return nil, &FormatError{name, line + 1, err.Error()}
	}
	if c.Columns == nil {
		return nil, &FormatError{name, line, "no line of column names: is this a file of draws?"}
	}
	c.splitWarmup()
	return c, nil
}

// setting keeps "key = value (Default)" of a comment.
func (c *Chain) setting(text string) {
	key, value, ok := strings.Cut(text, "=")
	if ok {
		value, _, _ = strings.Cut(value, "(")
		c.Settings[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
}

func (c *Chain) header(text string) error {
	for _, n := range strings.Split(text, ",") {
		n = strings.TrimSpace(n)
		if _, err := strconv.ParseFloat(n, 64); err == nil || n == "" {
			return fmt.Errorf("column name %q: want a line of names before the numbers", n)
		}
		if slices.Contains(c.Columns, n) {
			return fmt.Errorf("column %q stands twice", n)
		}
		c.Columns = append(c.Columns, n)
	}
	return nil
}

func (c *Chain) row(text string) ([]float64, error) {
	fields := strings.Split(text, ",")
	if len(fields) != len(c.Columns) {
		return nil, fmt.Errorf("%d values, want %d: was the run cut off?", len(fields), len(c.Columns))
	}
	row := make([]float64, len(fields))
	for i, f := range fields {
		v, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
		if err != nil && !math.IsInf(v, 0) {
			return nil, fmt.Errorf("%q in column %s: want a number", f, c.Columns[i])
		}
		row[i] = v
	}
	return row, nil
}

// splitWarmup moves the warm-up draws apart where the file says that it has them.
func (c *Chain) splitWarmup() {
	if v := c.Settings["save_warmup"]; v != "1" && v != "true" {
		return
	}
	n, err := strconv.Atoi(c.Settings["num_warmup"])
	if thin, e := strconv.Atoi(c.Settings["thin"]); e == nil && thin > 1 {
		n = (n + thin - 1) / thin
	}
	if err == nil && n > 0 && n <= len(c.Draws) {
		c.Warmup, c.Draws = c.Draws[:n], c.Draws[n:]
	}
}

// Write writes the table: settings in the order of keys, then the draws.
func (c *Chain) Write(w io.Writer, keys []string) error {
	b := bufio.NewWriter(w)
	for _, k := range keys {
		fmt.Fprintf(b, "# %s = %s\n", k, c.Settings[k])
	}
	b.WriteString(strings.Join(c.Columns, ",") + "\n")
	for _, row := range slices.Concat(c.Warmup, c.Draws) {
		for i, v := range row {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(strconv.FormatFloat(v, 'g', 17, 64))
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}
