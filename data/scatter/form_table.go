// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
)

func init() {
	register("table", form{rank: 9, fits: func(name string, head []byte, folder bool) bool {
		if folder {
			return len(tablesIn(name)) > 0
		}
		return slices.Contains(tableEndings, strings.ToLower(filepath.Ext(name))) && foreign.NotText(head) == ""
	}, open: openTable})
}

var (
	tableEndings = []string{".csv", ".dat", ".txt", ".tsv", ".xy", ".grad"}
	energyInName = regexp.MustCompile(`(?i)(\d+(?:\.\d+)?)[ _]?eV`)
	unitInName   = regexp.MustCompile(`^(.*?)\s*[\(\[{](.*)[\)\]}]\s*$`)
)

// mostTabulated is the size of tables that are read to find out what they hold, in bytes.
const mostTabulated = 4 << 20

// Tabulated reports whether a table as text holds intensities against q: it names these columns, and a column or its name says the photon energy.
func Tabulated(name string) bool {
	info, err := os.Stat(name)
	if err != nil || info.Size() > mostTabulated || !slices.Contains(tableEndings, strings.ToLower(filepath.Ext(name))) {
		return false
	}
	t, err := readTable(name)
	if err != nil || t.names == nil {
		return false
	}
	_, _, _, err = t.points(name, Settings{})
	return err == nil
}

// tablesIn lists the tables of a folder that have an energy in their names.
func tablesIn(folder string) (out []string) {
	for _, e := range tableEndings {
		m, _ := filepath.Glob(filepath.Join(folder, "*"+e))
		for _, f := range m {
			if _, ok := energyIn(f); ok {
				out = append(out, f)
			}
		}
	}
	slices.Sort(out)
	return out
}

// openTable reads I(q): one table with or without a column of energies, or a folder of tables with the energies in their names. The points
// of all energies are put on the same q.
func openTable(name string, s Settings) (*content, error) {
	files := tablesIn(name)
	if len(files) == 0 {
		files = []string{name}
	}
	var all []point
	unit, hasErrors := "", true
	for _, f := range files {
		t, err := readTable(f)
		if err != nil {
			return nil, err
		}
		p, u, errors, err := t.points(f, s)
		if err != nil {
			return nil, err
		}
		all, unit, hasErrors = append(all, p...), u, hasErrors && errors
	}
	return gridOf(name, all, unit, hasErrors)
}

// point is a row of a table.
type point struct{ energy, q, i, di float64 }

// gridOf puts points on the axes energy and q; what is not there is NaN.
func gridOf(name string, all []point, unit string, hasErrors bool) (*content, error) {
	var energies, q []float64
	for _, p := range all {
		energies, q = append(energies, p.energy), append(q, p.q)
	}
	energies, q = distinct(energies), distinct(q)
	if n, m := len(energies), len(q); float64(n)*float64(m) > 1e6+100*float64(len(all)) {
		return nil, defect(name, "give each energy the same q, or a file of its own", "its %d rows have %d energies and %d different q: hardly any q is that of another energy", len(all), n, m)
	}
	values, errors := slices.Repeat([]float64{math.NaN()}, len(energies)*len(q)), make([]float64, len(energies)*len(q))
	for _, p := range all {
		e, _ := slices.BinarySearch(energies, p.energy)
		k, _ := slices.BinarySearch(q, p.q)
		values[e*len(q)+k], errors[e*len(q)+k] = p.i, p.di
	}
	c := &content{attrs: map[string]string{}, units: map[string]string{}}
	axis := inMemory("q", []string{"q"}, []int{len(q)}, false, q)
	axis.attrs["units"] = unit
	dims, shape := []string{"energy", "q"}, []int{len(energies), len(q)}
	c.vars = append(c.vars, axis, inMemory("energy", []string{"energy"}, shape[:1], false, energies), inMemory("I", dims, shape, false, values))
	if hasErrors {
		c.vars = append(c.vars, inMemory("dI", dims, shape, false, errors))
	}
	return c, nil
}

// table is a table of numbers as text.
type table struct {
	names []string // in lower case, without units; nil if there is no header
	units []string
	rows  [][]float64
	lines []int
}

// blankBeforeUnit is what separates a name from its unit, as in "q (1/A)".
var blankBeforeUnit = regexp.MustCompile(`\s+([\(\[{])`)

var separators = regexp.MustCompile(`[,;\s]+`)

// cells splits a line at commas, semicolons or tabs, or at blanks if it has none of them.
func cells(line string) []string {
	for _, sep := range []string{",", ";", "\t"} {
		if strings.Contains(line, sep) {
			out := strings.Split(line, sep)
			for i := range out {
				out[i] = strings.Trim(strings.TrimSpace(out[i]), `"`)
			}
			return out
		}
	}
	return separators.Split(strings.TrimSpace(line), -1)
}

// numbersIn returns the numbers of a line, and whether it holds nothing else.
func numbersIn(all []string) (out []float64, ok bool) {
	for _, c := range all {
		if c == "" {
			out = append(out, math.NaN())
			continue
		}
		x, err := strconv.ParseFloat(c, 64)
		if err != nil {
			return nil, false
		}
		out = append(out, x)
	}
	return out, len(out) > 0
}

// decimalCommas is a number with a decimal comma before another separator than a comma.
var decimalCommas = regexp.MustCompile(`(?m)\b[0-9]+,[0-9]+(?:[;\t]|[ ]+[0-9])`)

// readTable reads a table whose lines are numbers, with names in the last line before them, which may be a comment.
func readTable(file string) (*table, error) {
	b, err := foreign.ReadFile(file)
	if err != nil {
		return nil, err
	}
	t := &table{}
	lines := bufio.NewScanner(bytes.NewReader(foreign.Unmarked(b)))
	lines.Buffer(nil, 1<<20)
	header := ""
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			if len(t.rows) == 0 && line != "" && header == "" {
				header = line
			} else if len(t.rows) == 0 && strings.HasPrefix(header, "#") && line != "" {
				header = line
			}
			continue
		}
		row, ok := numbersIn(cells(line))
		switch {
		case ok && len(t.rows) > 0 && len(row) != len(t.rows[0]):
			return nil, &FormatError{Format: "scatter", File: file, Line: n, What: strconv.Itoa(len(row)) + " columns, and " + strconv.Itoa(len(t.rows[0])) + " before", Try: "write as many numbers in each line"}
		case ok:
			t.rows, t.lines = append(t.rows, row), append(t.lines, n)
		case len(t.rows) > 0:
			return nil, &FormatError{Format: "scatter", File: file, Line: n, What: "the line holds a word where numbers are expected: " + foreign.Short(line, 40), Try: "begin comments with #"}
		default:
			header = line
		}
	}
	if len(t.rows) == 0 {
		if line := decimalCommas.Find(b); line != nil {
			return nil, defect(file, "write points as decimal signs", "the table has no line of numbers, but numbers with decimal commas, such as %s", line)
		}
		return nil, defect(file, "give lines of q, I and dI", "the table has no line of numbers")
	}
	t.head(strings.TrimSpace(strings.TrimLeft(header, "# ")))
	return t, lines.Err()
}

// head reads the names of the columns, if there are as many as columns.
func (t *table) head(line string) {
	if line == "" {
		return
	}
	names := cells(blankBeforeUnit.ReplaceAllString(line, "$1"))
	if len(names) != len(t.rows[0]) {
		return
	}
	for _, n := range names {
		unit := ""
		if m := unitInName.FindStringSubmatch(n); m != nil {
			n, unit = m[1], m[2]
		} else if base, u, ok := strings.Cut(n, "_"); ok && (u == "nm" || u == "A" || u == "eV") {
			n, unit = base, u
		}
		t.names, t.units = append(t.names, strings.ToLower(strings.TrimSpace(n))), append(t.units, strings.TrimSpace(unit))
	}
}

// column returns the number of the first column with one of some names, or -1.
func (t *table) column(names ...string) int {
	return slices.IndexFunc(t.names, func(n string) bool { return slices.Contains(names, n) })
}

// swapped says how the column of q looks like that of intensities and the other way round: intensities are evenly spaced, themselves or by their
// logarithms, as q mostly is, and q is not. It returns "" if they do not, or there are less than 8 rows.
func (t *table) swapped(q, i int) string {
	const least = 8
	if len(t.rows) < least || !even(t.rows, i) || even(t.rows, q) || t.rows[1][i] < t.rows[0][i] {
		return ""
	}
	last := len(t.rows) - 1
	return fmt.Sprintf("q goes from %.6g over %.6g to %.6g without even steps, and I in even ones from %.6g over %.6g to %.6g", t.rows[0][q], t.rows[1][q], t.rows[last][q], t.rows[0][i], t.rows[1][i], t.rows[last][i])
}

// even reports whether a column goes up or down in steps, or by factors, that are the same within 1 %.
func even(rows [][]float64, c int) bool {
	x := func(k int) float64 { return rows[k][c] }
	step, factor := x(1)-x(0), x(1)/x(0)
	steps, factors := step != 0, x(0) > 0 && factor != 1
	for k := 1; k < len(rows); k++ {
		steps = steps && math.Abs(x(k)-x(k-1)-step) <= 0.01*math.Abs(step)
		factors = factors && math.Abs(x(k)/x(k-1)-factor) <= 0.01*math.Abs(factor-1)
	}
	return steps || factors
}

// points returns the rows as points. Without names, the columns are q, I and dI.
func (t *table) points(file string, s Settings) (all []point, unit string, errors bool, err error) {
	q, i, d, e := t.column("q", "qr", "|q|"), t.column("i", "intensity", "i(q)", "counts"), t.column("di", "sigma", "err", "error", "idev", "i_err", "di(q)", "std"), t.column("energy", "en", "e", "photon energy")
	if t.names == nil {
		n := len(t.rows[0])
		if n < 2 {
			return nil, "", false, defect(file, "give lines of q, I and dI", "the table has %s and no names of columns", count(n, "column"))
		}
		q, i, d, e = 0, 1, -1, -1
		if n > 2 {
			d = 2
		}
	}
	if t.column("en_energy_setpoint") >= 0 {
		return nil, "", false, defect(file, "name the folder beside it, which holds the images", "this is the table of an SST-1 scan, which lists its images and has no intensities")
	}
	if q < 0 || i < 0 {
		return nil, "", false, defect(file, "call them q and I", "the columns are %s: there is none of q, or none of intensities", strings.Join(t.names, ", "))
	}
	if t.units != nil {
		unit = t.units[q]
	}
	if text := t.swapped(q, i); text != "" {
		return nil, "", false, defect(file, "are the columns of q and I swapped?", "%s", text)
	}
	energy, named := energyIn(file)
	if e < 0 && !named {
		if len(s.Energies) != 1 {
			return nil, "", false, defect(file, `name it ..._285.0eV.dat, or give one with "energies": [285.0]`, "neither a column nor the name of the file says the photon energy")
		}
		energy = s.Energies[0]
	}
	for _, row := range t.rows {
		if math.IsNaN(row[q]) || e >= 0 && math.IsNaN(row[e]) {
			continue
		}
		p := point{energy: energy, q: row[q], i: row[i]}
		if e >= 0 {
			p.energy = row[e]
		}
		if d >= 0 {
			p.di = row[d]
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b point) int { return cmp.Or(cmp.Compare(a.energy, b.energy), cmp.Compare(a.q, b.q)) })
	for k := 1; k < len(all); k++ {
		if all[k].energy == all[k-1].energy && all[k].q == all[k-1].q {
			return nil, "", false, defect(file, "write each point once", "there are two points at q = %g and %g eV", all[k].q, all[k].energy)
		}
	}
	return all, unit, d >= 0, nil
}
