// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/data/columns"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/models/expr"
)

// curveFlags describe a problem of a formula and a table without a problem file.
type curveFlags struct {
	parameters
	y, sigma, by, sheet string
	tie                 []string
	ranges, exclude     []string
	likelihood          string
	others              []string // formulas that are compared, whose parameters may be named too
	fit                 fitFlags
	fitted              bool // and not sampled
}

// parameters are what is known of the parameters of a formula.
type parameters struct {
	Start  setting.Numbers   `only:"fit curve" about:"starting value of a parameter; found from the data if none is given"`
	Bounds setting.Intervals `about:"bounds of a parameter, which truncate its prior"`
	Fixed  setting.Numbers   `about:"hold a parameter fixed"`
	Priors setting.Texts     `name:"prior" about:"prior of a parameter, such as tau=lognormal(1,1); in fit curve a penalty, normal or lognormal"`
	Loss   string            `only:"fit curve" zero:"linear" choices:"linear,soft_l1,huber,cauchy,arctan" about:"loss of the residuals"`
	FScale float64           `name:"f-scale" only:"fit curve" zero:"1" above:"0" about:"residual from which a robust loss weighs less, in standard deviations"`
}

const curveHelp = `DATA is a table: text whose columns are separated by commas, semicolons, tabs or
blanks, with or without names, an Excel workbook, a NumPy array, an HDF5 or a
FITS file. FORMULA has columns, components such as gaussian(x, p1_), and
parameters: all names that are no columns. It may say what it describes, as
y = a + b*x does. a[run] is a parameter with a value for each label of the
column run. Several tables are taken together, with the names of their files as
column file.
`

func (f *curveFlags) add(c *cobra.Command, command string) {
	flags := c.Flags()
	frame.AddSettings(c, command, &f.parameters)
	flags.StringVar(&f.y, "y", "", "column, or formula of columns, that the formula describes (default y, or the last column that neither the formula uses nor holds errors by its name)")
	flags.StringVar(&f.sigma, "sigma", "", "standard errors of y: a column, a number, a share such as 5%, or poisson for counts (default a column called sigma, err, error or dy, or after y, such as k_err for k)")
	flags.StringVar(&f.sheet, "sheet", "", "sheet of a workbook, by name or number, or path in an HDF5 file (default the first table)")
	flags.StringArrayVar(&f.tie, "tie", nil, "parameter that follows from others, such as b=2*a; may be repeated")
	flags.StringArrayVar(&f.ranges, "range", nil, "rows to keep, such as x=0:10; may be repeated")
	flags.StringArrayVar(&f.exclude, "exclude", nil, "rows to leave out, such as x=4.2:4.5; may be repeated")
}

// errorNames are names of columns that are taken for standard errors of y.
var errorNames = []string{"sigma", "err", "error", "dy", "y_err", "yerr", "y_error", "sigma_y"}

// errorsOf reports whether a column has a name for the standard errors of another: k_err, k_error, k_sigma, k_sd, k_std, k_se, k_unc, err_k, sigma_k, dk or u_k for k.
func errorsOf(column, of string) bool {
	column, of = strings.ToLower(column), strings.ToLower(of)
	for _, word := range []string{"err", "error", "sigma", "sd", "std", "se", "unc", "uncertainty"} {
		if column == of+"_"+word || column == of+word || column == word+"_"+of {
			return true
		}
	}
	return column == "d"+of || column == "u_"+of
}

// errorsOfAny reports whether a column has a name for the standard errors of y, or of another column of a table.
func errorsOfAny(column string, t columns.Table) bool {
	return slices.Contains(errorNames, column) || slices.ContainsFunc(t, func(c columns.Column) bool { return errorsOf(column, c.Name) })
}

// uses reports whether a formula uses a name.
func uses(text, name string) bool {
	f, err := formula.Parse(text)
	return err == nil && slices.Contains(f.Names(), name)
}

// readTable reads a table.
func (f *curveFlags) readTable(a *frame.App, name string) (columns.Table, error) {
	file, part := columns.SplitPart(name)
	if f.sheet != "" {
		if part != "" {
			return nil, exit.Usage("%s and --sheet %s: give one of them", name, f.sheet)
		}
		part = f.sheet
	}
	b, err := frame.ReadInput(file, ".csv", ".tsv", ".txt", ".dat", ".xlsx", ".npy", ".h5", ".hdf5", ".fits")
	if err != nil {
		return nil, err
	}
	t, note, err := columns.ReadPart(b, part)
	if err != nil {
		return nil, exit.With(exit.Data, fmt.Errorf("%s: %w", name, err))
	}
	if note != "" {
		a.Note("%s: %s", name, note)
	}
	return t, nil
}

// together reads several tables as one, with a column file, and returns them by themselves as well.
func (f *curveFlags) together(a *frame.App, names []string) (t columns.Table, tables []columns.Table, err error) {
	for _, name := range names {
		one, err := f.readTable(a, name)
		if err != nil {
			return nil, nil, err
		}
		tables = append(tables, one)
	}
	if len(tables) == 1 {
		return tables[0], tables, nil
	}
	all, missing, err := expr.Together(names, tables)
	if err != nil {
		return nil, nil, exit.With(exit.Data, err)
	}
	if len(missing) > 0 {
		a.Note("left out, as not all files have it: %s", strings.Join(missing, ", "))
	}
	for _, c := range tables[0] { // in this order
		if own, ok := all[c.Name]; ok && c.Name != expr.FileColumn {
			if c.Values = own.Values; own.Labels != nil {
				c.Values = own.Labels
			}
			t = append(t, c)
		}
	}
	return append(t, columns.Column{Name: expr.FileColumn, Values: all[expr.FileColumn].Labels}), tables, nil
}

// problem makes the problem of a formula and the content of tables.
func (f *curveFlags) problem(a *frame.App, files []string, text string) (*expr.Problem, error) {
	t, tables, err := f.together(a, files)
	if err != nil {
		return nil, err
	}
	name := strings.Join(files, ", ")
	if y, model, ok := expr.SplitFormula(text); ok {
		if f.y != "" && f.y != y {
			return nil, exit.Usage("the formula describes %s, and --y says %s: give one of them", y, f.y)
		}
		f.y, text = y, model
	}
	parsed, err := formula.Parse(text)
	if err != nil {
		return nil, exit.Usage("%v", err)
	}
	p := &expr.Problem{Expr: text, Data: expr.Columns(t), Start: map[string]expr.Values{}}
	p.From(files, tables)
	if !slices.ContainsFunc(parsed.Names(), func(n string) bool { _, column := p.Data[n]; return column }) {
		hint := ""
		if _, column := p.Data["pi"]; column {
			hint = "; pi is the number 3.14159 in formulas, so that a column of this name has to be renamed"
		}
		if parts := parsed.Parts(); len(parts) > 0 {
			hint = fmt.Sprintf(", as in %s(%s, %s)", parts[0].Name, t[0].Name, parts[0].Prefix)
		}
		for _, n := range parsed.Names() {
			if i := slices.IndexFunc(t, func(c columns.Column) bool { return strings.EqualFold(c.Name, n) }); i >= 0 {
				hint = fmt.Sprintf("; %s is not %s", n, t[i].Name)
			}
		}
		return nil, exit.With(exit.Data, fmt.Errorf("%s: the formula %q uses none of the columns %s: write it with one of them%s", name, text, strings.Join(names(t), ", "), hint))
	}
	if p.Implicit = f.fit.implicit; p.Implicit {
		p.Y = "0"
	} else if err := f.chooseY(a, p, t, parsed); err != nil {
		return nil, exit.With(exit.Data, fmt.Errorf("%s: %w", name, err))
	}
	if err := f.take(p, parsed); err != nil {
		return nil, frame.SettingError(err)
	}
	if err := f.fit.describe(p, parsed); err != nil {
		return nil, err
	}
	if err := f.errors(a, p); err != nil {
		return nil, err
	}
	f.tellNames(a, p, parsed)
	if err := p.Misspelt(); err != nil {
		return nil, exit.With(exit.Data, fmt.Errorf("%s: %w", name, err))
	}
	p.Complete()
	if err := f.keep(p); err != nil {
		return nil, err
	}
	used := append(parsed.Names(), p.Sigma)
	for name, column := range p.SigmaX {
		used = append(used, column, p.CorrelationXY[name])
	}
	if y, err := formula.Parse(p.Y); err == nil {
		used = append(used, y.Names()...)
	}
	if n := p.DropEmpty(used); n > 0 {
		a.Note("%s: %s left out, in which a cell that is needed is empty or nan", name, errtext.Count(n, "row"))
	}
	return p, nil
}

// tellNames says what names of a formula are taken for that were probably meant otherwise.
func (f *curveFlags) tellNames(a *frame.App, p *expr.Problem, parsed *formula.Formula) {
	for _, n := range parsed.Names() {
		_, column := p.Data[n]
		_, fixed := p.Fixed[n]
		switch {
		case column && n == p.Y:
			a.Note("the formula uses %s, which it describes: it can meet the data without saying anything about them", n)
		case column || fixed || p.Start[n] != nil || p.Bounds[n] != (expr.Bounds{}) || p.Tied[n] != "" || p.Priors[n] != "":
		case n == "e":
			a.Note("e is taken for a parameter; the exponential function is exp(x)")
		case slices.Contains([]string{"exp", "log", "ln", "log10", "sin", "cos", "tan", "sqrt", "erf"}, n):
			a.Note("%s is taken for a parameter; the function is written %s(x)", n, n)
		}
	}
}

// groups are the rows of each value of the column of --by, with these values.
func (f *curveFlags) groups(p *expr.Problem) (rows [][]int, labels []string, err error) {
	if uses(p.Expr, f.by) {
		return nil, nil, fmt.Errorf("the formula %q uses %s, which has one value in each group: group by another column", p.Expr, f.by)
	}
	return p.GroupsOf(f.by)
}

func names(t columns.Table) (all []string) {
	for _, c := range t {
		all = append(all, c.Name)
	}
	return all
}

// chooseY finds the column that the formula describes.
func (f *curveFlags) chooseY(a *frame.App, p *expr.Problem, t columns.Table, parsed *formula.Formula) error {
	p.Y = f.y
	if p.Y == "" {
		if _, ok := p.Data["y"]; ok {
			p.Y = "y"
			return nil
		}
		var able []string
		for _, c := range t {
			if _, numbers := c.Values.([]float64); numbers && !slices.Contains(parsed.Names(), c.Name) && !errorsOfAny(c.Name, t) && c.Name != f.sigma && c.Name != f.by && !f.fit.takes(c.Name) {
				p.Y, able = c.Name, append(able, c.Name)
			}
		}
		if len(able) > 1 {
			a.Note("the formula is taken to describe the column %s; --y names another of %s", p.Y, strings.Join(able, ", "))
		}
	}
	if p.Y == "" {
		return fmt.Errorf("no column of numbers is left for what the formula describes: name one with --y; the columns are %s", strings.Join(names(t), ", "))
	}
	y, err := formula.Parse(p.Y)
	if err != nil {
		return fmt.Errorf("--y: %w", err)
	}
	for _, n := range y.Names() {
		if _, ok := p.Data[n]; !ok {
			return fmt.Errorf("--y %s: there is no column %s%s; the columns are %s", p.Y, n, didYouMean(n, names(t)), strings.Join(names(t), ", "))
		}
	}
	return nil
}

func didYouMean(name string, all []string) string {
	if m := spelling.Meant(name, all); m != "" {
		return fmt.Sprintf(" (did you mean %s?)", m)
	}
	return ""
}

// assigned splits name=value.
func assigned(flag, text string) (name, value string, err error) {
	name, value, ok := strings.Cut(text, "=")
	if name, value = strings.TrimSpace(name), strings.TrimSpace(value); !ok || name == "" || value == "" {
		return "", "", exit.Usage("--%s %s: want a name and a value, such as --%s tau=3", flag, text, flag)
	}
	return name, value, nil
}

// take puts starts, bounds, fixed and tied parameters and priors into a problem.
func (f *curveFlags) take(p *expr.Problem, parsed *formula.Formula) error {
	known := slices.Concat(parsed.Names(), []string{"sigma"}, slices.Collect(maps.Keys(f.Priors)))
	for _, text := range f.others {
		if other, err := formula.Parse(text); err == nil {
			known = append(known, other.Names()...)
		}
	}
	tied := setting.Texts{}
	for _, text := range f.tie {
		name, value, err := assigned("tie", text)
		if err != nil {
			return err
		}
		tied[name] = value
	}
	for _, flag := range []struct {
		name  string
		names []string
	}{{"start", slices.Sorted(maps.Keys(f.Start))}, {"fixed", slices.Sorted(maps.Keys(f.Fixed))}, {"tie", slices.Sorted(maps.Keys(tied))}, {"bounds", slices.Sorted(maps.Keys(f.Bounds))}} {
		for _, name := range flag.names {
			if _, column := p.Data[name]; column {
				return &setting.Error{Name: flag.name, Text: name + ": this is a column and no parameter"}
			}
			if !slices.Contains(known, name) {
				names := slices.DeleteFunc(parsed.Names(), func(n string) bool { _, column := p.Data[n]; return column })
				return &setting.Error{Name: flag.name, Text: setting.UnknownParameter(name, names)}
			}
		}
	}
	for name, x := range f.Start {
		p.Start[name] = expr.Values{x}
	}
	if f.Bounds != nil {
		p.Bounds = map[string]expr.Bounds{}
	}
	for name, b := range f.Bounds {
		p.Bounds[name] = b
	}
	if len(tied) > 0 {
		p.Tied = tied
	}
	p.Fixed, p.Priors, p.Likelihood = f.Fixed, f.Priors, f.likelihood
	return nil
}

// ofFlags gives an error about a value of a flag the exit code of wrong usage: the data are not to blame.
func (f *curveFlags) ofFlags(err error) error {
	var bad *expr.FieldError
	if !errors.As(err, &bad) || exit.CodeOf(err) != exit.Data {
		return err
	}
	flag := map[string]string{"priors": "prior", "tied": "tie"}[bad.Field]
	value := bad.Name
	if text, given := f.Priors[bad.Name]; flag == "prior" && given {
		value += "=" + text
	}
	return exit.Usage("--%s %s: %s", cmp.Or(flag, bad.Field), value, strings.TrimPrefix(exit.Text(bad.Err, nil), "prior of "+bad.Name+": "))
}

// errSpan is that of a range of numbers that is none.
var errSpan = errors.New("want a range such as 0:10, with the lower end first")

// span reads a range such as 0:10, 0: or :10.
func span(text string) (lo, hi float64, err error) {
	left, right, ok := strings.Cut(text, ":")
	if !ok {
		return 0, 0, errSpan
	}
	lo, hi = math.Inf(-1), math.Inf(1)
	if left = strings.TrimSpace(left); left != "" {
		if lo, err = strconv.ParseFloat(left, 64); err != nil {
			return 0, 0, err
		}
	}
	if right = strings.TrimSpace(right); right != "" {
		hi, err = strconv.ParseFloat(right, 64)
	}
	if err == nil && !(lo < hi) {
		err = errSpan
	}
	return lo, hi, err
}

// madeErrors is the column of errors that were computed from y.
const madeErrors = "sigma_of_y"

// fewCounts is the count below which a normal distribution with an error of sqrt(n) is no good.
const fewCounts = 10

// errors finds the standard errors of y.
func (f *curveFlags) errors(a *frame.App, p *expr.Problem) error {
	if f.sigma == "" && (p.Cov != nil || p.Implicit) {
		return nil
	}
	if f.sigma == "" {
		names := slices.Clone(errorNames)
		for _, n := range p.Numeric() {
			if errorsOf(n, p.Y) {
				names = append(names, n)
			}
		}
		for _, n := range names {
			if c, ok := p.Data[n]; ok && c.Labels == nil && n != p.Y && !f.fit.takes(n) && !uses(p.Expr, n) {
				p.Sigma = n
				a.Note("the column %s is taken for the standard errors of %s; --sigma names another", n, p.Y)
				return nil
			}
		}
		return nil
	}
	if _, ok := p.Data[f.sigma]; ok {
		p.Sigma = f.sigma
		return nil
	}
	y, err := p.Observed()
	if err != nil {
		return exit.With(exit.Data, err)
	}
	made, few := make([]float64, len(y)), 0
	share, percent := strings.CutSuffix(f.sigma, "%")
	x, err := strconv.ParseFloat(share, 64)
	switch {
	case strings.EqualFold(f.sigma, "poisson"):
		for i, v := range y {
			if v < 0 || v != math.Trunc(v) {
				return exit.With(exit.Data, fmt.Errorf("--sigma poisson: %s is %g in %s, which is no count: name a column of errors instead", p.Y, v, p.Row(i)))
			}
			made[i] = math.Sqrt(max(v, 1))
			if v < fewCounts {
				few++
			}
		}
		switch {
		case f.fitted:
			a.Note("errors are the roots of the counts of %s that the formula predicts, as at the maximum of the Poisson likelihood; a column of roots has those of the observed counts", p.Y)
		case few > 0:
			a.Note("%s of %s below %d: errors of sqrt(n) draw the fit towards low counts there, and verdicts blame the model; sample curve --likelihood \"poisson(mu)\" has the right distribution", errtext.Count(few, "value"), p.Y, fewCounts)
		}
	case err != nil || !(x > 0) || math.IsInf(x, 0):
		return exit.Usage("--sigma %s: this is neither a column%s nor a number above 0, a share such as 5%%, or poisson", f.sigma, didYouMean(f.sigma, p.Numeric()))
	default:
		for i, v := range y {
			made[i] = x
			if percent {
				made[i] = x / 100 * math.Abs(v)
			}
			if !(made[i] > 0) {
				return exit.With(exit.Data, fmt.Errorf("--sigma %s: %s is 0 in %s, so that its error would be 0: give a number or a column", f.sigma, p.Y, p.Row(i)))
			}
		}
	}
	p.Sigma = madeErrors
	p.Data[p.Sigma] = expr.Column{Values: made}
	return nil
}

// keep leaves out rows by --range and --exclude.
func (f *curveFlags) keep(p *expr.Problem) error {
	for _, flag := range []struct {
		name string
		list []string
		in   bool
	}{{"range", f.ranges, true}, {"exclude", f.exclude, false}} {
		for _, text := range flag.list {
			name, value, err := assigned(flag.name, text)
			if err != nil {
				return err
			}
			c, ok := p.Data[name]
			if !ok || c.Labels != nil {
				return exit.Usage("--%s %s: there is no column of numbers %s%s", flag.name, text, name, didYouMean(name, p.Numeric()))
			}
			lo, hi, err := span(value)
			if err != nil {
				return exit.Usage("--%s %s: want a range such as %s=0:10", flag.name, text, name)
			}
			left := 0
			p.Keep(func(i int) bool {
				in := c.Values[i] >= lo && c.Values[i] <= hi
				if in == flag.in {
					left++
				}
				return in == flag.in
			})
			if left == 0 {
				return exit.With(exit.Data, fmt.Errorf("--%s %s leaves no row: %s goes from %.6g to %.6g", flag.name, text, name, slices.Min(c.Values), slices.Max(c.Values)))
			}
		}
	}
	return nil
}
