// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"bytes"
	"cmp"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// sweep calls a command once for every point of a grid or a table of parameters, and takes numbers from
// the JSON document that it prints.
//
// In the arguments {name} stands for a parameter, {item} for the number of the item, {seed} for a seed that
// depends on the manifest's seed and the item, and {out} for a folder of the item, which appears under its
// name once the command has ended well.
type sweep struct {
	Program string `yaml:"program" json:"program,omitempty"` // default: this program
	Command words  `yaml:"command" json:"command"`           // its arguments
	Folder  string `yaml:"folder" json:"folder"`             // working directory. Default: that of the configuration
	Grid    axes   `yaml:"grid" json:"grid,omitempty"`       // every combination of these values
	Points  string `yaml:"points" json:"-"`                  // or a CSV file with a header, one point per line
	Take    places `yaml:"take" json:"take,omitempty"`       // columns, and where they are in the document, such as bins.0.x.tau
	Limit   string `yaml:"limit" json:"limit,omitempty"`     // longest time of a call, such as 10m. Default: none
	// Template has files in which parameters stand as in the arguments, by the name that stands for the
	// filled copy there.
	Template map[string]string `yaml:"template" json:"template,omitempty"`

	Source string            `yaml:"-" json:"source,omitempty"`
	SHA256 string            `yaml:"-" json:"sha256,omitempty"`
	Texts  map[string]string `yaml:"-" json:"texts,omitempty"` // of the templates
}

// mostTemplate bounds the size of a template, which the manifest keeps.
const mostTemplate = 256 << 10

// words are the arguments of a command: a list, or a text with spaces between them.
type words []string

// UnmarshalYAML takes a text or a list of texts.
func (w *words) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*w = strings.Fields(n.Value)
		return nil
	}
	return n.Decode((*[]string)(w))
}

// axis is a parameter and its values.
type axis struct {
	Name   string   `json:"name"`
	Values []string `json:"values"`
}

// axes keeps the order of the file: the last parameter varies fastest.
type axes []axis

// UnmarshalYAML reads names with lists of values.
func (a *axes) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind != yaml.MappingNode {
		return errors.New("grid is not a set of parameters: give their values, as in {beta: [0.05, 0.1]}")
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		x := axis{Name: n.Content[i].Value}
		switch v := n.Content[i+1]; v.Kind {
		case yaml.ScalarNode:
			x.Values = []string{v.Value}
		case yaml.SequenceNode:
			for _, e := range v.Content {
				if e.Kind != yaml.ScalarNode {
					return fmt.Errorf("the values of %s are neither numbers nor texts: list them, as in [0.05, 0.1]", x.Name)
				}
				x.Values = append(x.Values, e.Value)
			}
		default:
			return fmt.Errorf("the values of %s are not a list: write them in brackets, as in [0.05, 0.1]", x.Name)
		}
		if len(x.Values) == 0 {
			return fmt.Errorf("%s has no values: give at least one", x.Name)
		}
		*a = append(*a, x)
	}
	return nil
}

// places is a list of names with a text each, in the order of the file.
type places []axis

// UnmarshalYAML reads names with texts.
func (t *places) UnmarshalYAML(n *yaml.Node) error {
	if err := (*axes)(t).UnmarshalYAML(n); err != nil {
		return errors.New("take is not a set of columns: give the place of each number in the document, as in {tau: bins.0.x.tau}")
	}
	return nil
}

func (s *sweep) check() error {
	if len(s.Command) == 0 {
		return errors.New("command is missing: list its arguments, as in [sim, assembly, brain.yaml, --json]")
	}
	if (len(s.Grid) == 0) == (s.Points == "") {
		return errors.New("the points of the sweep are missing: give a grid of parameters, as in grid: {beta: [0.05, 0.1]}, or a CSV file, as in points: FILE.csv")
	}
	if s.Limit != "" {
		if d, err := time.ParseDuration(s.Limit); err != nil || d <= 0 {
			return fmt.Errorf("limit is %q: want a time such as 10m", s.Limit)
		}
	}
	seen := map[string]bool{}
	for _, a := range slices.Concat(s.Grid, axes(s.Take)) {
		if seen[a.Name] || a.Name == "" {
			return fmt.Errorf("the name %q appears twice: parameters and columns must have different names", a.Name)
		}
		seen[a.Name] = true
	}
	for _, a := range s.Grid {
		if err := nameOf("grid", a.Name); err != nil {
			return err
		}
	}
	for _, t := range s.Take {
		if len(t.Values) != 1 {
			return fmt.Errorf("take: the place of %s is missing: give the keys that lead to it, as in bins.0.x.tau", t.Name)
		}
		if slices.Contains(tabled, t.Name) || strings.Contains(t.Name, "/") || strings.Trim(t.Name, ".") == "" {
			return fmt.Errorf("take: a column cannot be called %s: choose another name", t.Name)
		}
	}
	for name := range s.Template {
		if seen[name] || slices.Contains(reserved, name) {
			return fmt.Errorf("template: the name %s is reserved: choose another name", name)
		}
	}
	return nil
}

var (
	// reserved are the names that have a meaning of their own.
	reserved = []string{"item", "seed", "out"}
	// tabled are those that have one in tables of results.
	tabled = []string{"item", "chain", "draw"}
)

// nameOf refuses names of parameters that cannot stand in braces, or that have another meaning.
func nameOf(where, name string) error {
	if !placeholder.MatchString("{" + name + "}") {
		return fmt.Errorf("%s: %q is not a name: use letters, digits and _, and do not begin with a digit", where, name)
	}
	if slices.Contains(reserved, name) || slices.Contains(tabled, name) {
		return fmt.Errorf("%s: the name %s is reserved: choose another name", where, name)
	}
	return nil
}

// placeholder is a name in braces.
var placeholder = regexp.MustCompile(`\{([A-Za-z_][A-Za-z_0-9]*)\}`)

func (s *sweep) names() (names []string) {
	for _, a := range s.Grid {
		names = append(names, a.Name)
	}
	return names
}

// checkNames looks for names in braces that nothing stands for, and for parameters that the command does not
// take.
func (s *sweep) checkNames(names []string) error {
	used := map[string]bool{}
	for _, arg := range s.Command {
		for _, m := range placeholder.FindAllStringSubmatch(arg, -1) {
			if used[m[1]] = true; !slices.Contains(names, m[1]) && !slices.Contains(reserved, m[1]) && s.Template[m[1]] == "" {
				return fmt.Errorf("command: %s has no values: use one of %s, item, seed or out", m[0], strings.Join(names, ", "))
			}
		}
	}
	for name := range s.Template {
		if !used[name] {
			return fmt.Errorf("command does not use the template: write {%s} where the name of the file belongs", name)
		}
		for _, m := range placeholder.FindAllStringSubmatch(s.Texts[name], -1) {
			used[m[1]] = true
		}
	}
	for _, name := range names {
		if !used[name] {
			return fmt.Errorf("neither the command nor a template uses %s: write {%s} where its value belongs", name, name)
		}
	}
	return nil
}

func (s *sweep) resolve(p place, _ *batch.Header) error {
	var err error
	if !filepath.IsAbs(s.Folder) {
		if s.Folder, err = p.relative(filepath.Join(p.folder, s.Folder)); err != nil {
			return err
		}
	}
	s.Texts = map[string]string{}
	called := map[string]string{}
	for name, file := range s.Template {
		files, err := p.files(Texts{file})
		if err != nil {
			return fmt.Errorf("template: %w", err)
		}
		text, err := foreign.ReadFile(located(p.manifest, files[0]))
		if err != nil {
			return err
		}
		if len(text) > mostTemplate {
			return fmt.Errorf("template: %s has %d bytes: want at most %d", file, len(text), mostTemplate)
		}
		base := filepath.Base(files[0])
		if other, ok := called[base]; ok {
			return fmt.Errorf("template: the files of %s and %s are both called %s: rename one of them, since the filled copies are written to one folder", min(name, other), max(name, other), base)
		}
		called[base] = name
		s.Template[name], s.Texts[name] = base, string(text)
	}
	if s.Points == "" {
		return s.checkNames(s.names())
	}
	files, err := p.files(Texts{s.Points})
	if err != nil {
		return err
	}
	s.Source = files[0]
	t, err := readTable(located(p.manifest, s.Source))
	if err != nil {
		return err
	}
	for _, take := range s.Take {
		if slices.Contains(t.names, take.Name) {
			return fmt.Errorf("take: %s is also a column of %s: choose another name", take.Name, s.Points)
		}
	}
	s.SHA256 = t.sum
	return s.checkNames(t.names)
}

// block is 1: a call takes long.
func (s *sweep) block() int64 { return 1 }

func (s *sweep) list(p place, add adder) error {
	if s.Points != "" {
		t, err := readTable(located(p.manifest, s.Source))
		if err != nil {
			return err
		}
		return add(s.Source, 0, int64(len(t.rows)))
	}
	n := int64(1)
	for _, a := range s.Grid {
		if n > math.MaxInt64/int64(len(a.Values)) {
			return errors.New("grid has too many combinations to count: remove values")
		}
		n *= int64(len(a.Values))
	}
	return add("grid", 0, n)
}

// table is a CSV file of points.
type table struct {
	names []string
	rows  [][]string
	sum   string
}

func readTable(name string) (*table, error) {
	text, err := foreign.ReadFile(name)
	if err != nil {
		return nil, err
	}
	rows, err := csv.NewReader(bytes.NewReader(foreign.Unmarked(text))).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(rows) < 2 {
		return nil, fmt.Errorf("%s has no points: write a header with the names of the parameters, and a line for every point", name)
	}
	t := &table{names: rows[0], rows: rows[1:], sum: hashOf(text)}
	for i, n := range t.names {
		if t.names[i] = strings.TrimSpace(n); t.names[i] == "" || slices.Contains(t.names[:i], t.names[i]) || slices.Contains(reserved, t.names[i]) {
			return nil, fmt.Errorf("%s: column %d cannot be called %q: use names that differ from each other and from %s", name, i+1, n, strings.Join(reserved, ", "))
		}
		if err := nameOf("column "+strconv.Itoa(i+1), t.names[i]); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return t, nil
}

func (s *sweep) open(m *batch.Manifest, env Env) (batch.Task, error) {
	t := &sweepTask{sweep: s, m: m, env: env, parameters: s.names(), grace: 10 * time.Second, process: ofThisProcess()}
	if s.Source != "" {
		points, err := readTable(path(m, s.Source))
		if err != nil {
			return nil, err
		}
		if points.sum != s.SHA256 {
			return nil, fmt.Errorf("%s has changed since the manifest was made: make a new manifest", path(m, s.Source))
		}
		t.points, t.parameters = points, points.names
	}
	if s.Limit != "" {
		t.limit, _ = time.ParseDuration(s.Limit)
	}
	var err error
	if t.program = cmp.Or(s.Program, env.Program); t.program == "" {
		if t.program, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	if t.program, err = s.located(m, t.program); err != nil {
		return nil, err
	}
	if env.Permit != nil {
		if err := env.Permit(t.program); err != nil {
			return nil, err
		}
	}
	return t, removeLeft(filepath.Join(env.Folder, "points"))
}

// located makes the path of a program absolute, because a relative one would be looked for in PATH, or from the folder in which it
// runs.
func (s *sweep) located(m *batch.Manifest, program string) (string, error) {
	if !strings.ContainsRune(filepath.ToSlash(program), '/') || filepath.IsAbs(program) {
		return program, nil
	}
	return filepath.Abs(filepath.Join(path(m, s.Folder), program))
}

// runs returns the program as it is given to Permit.
func (s *sweep) runs(m *batch.Manifest) string {
	if s.Program == "" {
		return "euryale"
	}
	if program, err := s.located(m, s.Program); err == nil {
		return program
	}
	return s.Program
}

type sweepTask struct {
	*sweep
	m          *batch.Manifest
	env        Env
	parameters []string
	points     *table // nil for a grid
	program    string
	limit      time.Duration
	grace      time.Duration // until a command that was told to end is killed
	process    string        // ending of folders that are being written
}

// Columns returns the parameters as texts, and the numbers taken from the output of the command.
func (t *sweepTask) Columns() []batch.Column {
	var c []batch.Column
	for _, name := range t.parameters {
		c = append(c, batch.Column{Name: name, Kind: batch.Text})
	}
	for _, take := range t.Take {
		c = append(c, batch.Column{Name: take.Name})
	}
	return c
}

// point returns the values of the parameters of a row.
func (t *sweepTask) point(row int64) ([]string, error) {
	if t.points != nil {
		if row >= int64(len(t.points.rows)) {
			return nil, fmt.Errorf("there is no point %d: the table has %d points", row+1, len(t.points.rows))
		}
		return t.points.rows[row], nil
	}
	values := make([]string, len(t.Grid))
	for i := len(t.Grid) - 1; i >= 0; i-- {
		n := int64(len(t.Grid[i].Values))
		values[i], row = t.Grid[i].Values[row%n], row/n
	}
	return values, nil
}

// Do calls the command for each item.
func (t *sweepTask) Do(ctx context.Context, items batch.Range, put func(batch.Record)) error {
	for i := range items.Count {
		values, err := t.point(items.Row + i)
		var r batch.Record
		if err == nil {
			r, err = t.call(ctx, items.Item+i, values)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			r = batch.Record{Err: err.Error()}
		}
		r.Item = items.Item + i
		put(r)
	}
	return nil
}

func (t *sweepTask) call(ctx context.Context, item int64, values []string) (batch.Record, error) {
	if t.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, t.limit, fmt.Errorf("the command took longer than the limit of %s: raise limit", t.limit))
		defer cancel()
	}
	stand := map[string]string{"item": strconv.FormatInt(item, 10), "seed": strconv.FormatUint(batch.Seed(t.m.Seed, item)>>1, 10)}
	for i, name := range t.parameters {
		stand[name] = values[i]
	}
	filled, err := t.fill(item, stand)
	if err != nil {
		return batch.Record{}, err
	}
	maps.Copy(stand, filled)
	var out string // folder of the item, and
	var final string
	var args []string
	for _, arg := range t.Command {
		args = append(args, placeholder.ReplaceAllStringFunc(arg, func(m string) string {
			if m == "{out}" && out == "" {
				final = filepath.Join(t.env.Folder, "points", fmt.Sprintf("%09d", item))
				if abs, err := filepath.Abs(final); err == nil {
					final = abs
				}
				out = final + t.process
				stand["out"] = out
			}
			return stand[m[1:len(m)-1]]
		}))
	}
	if out != "" {
		if err := errors.Join(os.RemoveAll(out), os.MkdirAll(filepath.Dir(out), 0o777)); err != nil {
			return batch.Record{}, err
		}
	}
	cmd := exec.CommandContext(ctx, t.program, args...)
	cmd.Dir = path(t.m, t.Folder)
	kill := together(cmd)
	cmd.WaitDelay = t.grace
	var stdout document
	var stderr tail
	if cmd.Stderr = &stderr; len(t.Take) > 0 {
		cmd.Stdout = &stdout
	}
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil && cmd.Process != nil {
			kill() // what it started and left behind
		}
		switch cause := context.Cause(ctx); {
		case cause != nil:
			err = cause
		case stdout.tooLong:
			err = fmt.Errorf("it printed more than %d bytes on standard output, where the document with the numbers is expected: print less, or remove take", mostPrinted)
		}
		called := strings.Join(args, " ")
		if out != "" { // the error of an item does not depend on who works on it
			called = strings.ReplaceAll(called, out, final)
		}
		if said := stderr.words(); said != "" {
			err = fmt.Errorf("%w: %s", err, said)
		}
		return batch.Record{}, fmt.Errorf("%s %s: %w", filepath.Base(t.program), called, err)
	}
	r := batch.Record{Texts: values}
	if len(t.Take) > 0 {
		var doc any
		d := json.NewDecoder(&stdout.text)
		d.UseNumber()
		if err := d.Decode(&doc); err != nil {
			return r, fmt.Errorf("the command printed no JSON document to take numbers from: add --json to its arguments: %w", err)
		}
		for _, take := range t.Take {
			v, err := lookUp(doc, take.Values[0])
			if err != nil {
				return r, fmt.Errorf("take: %s: %w", take.Name, err)
			}
			r.Numbers = append(r.Numbers, v)
		}
	}
	if out != "" {
		if _, err := os.Stat(out); err == nil {
			if err := replace(out, final); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// fill writes the templates of an item with its values, and returns the names of the files.
func (t *sweepTask) fill(item int64, stand map[string]string) (map[string]string, error) {
	files := map[string]string{}
	for name, text := range t.Texts {
		text = placeholder.ReplaceAllStringFunc(text, func(m string) string {
			if v, ok := stand[m[1:len(m)-1]]; ok {
				return v
			}
			return m
		})
		file, err := filepath.Abs(filepath.Join(t.env.Folder, "inputs", fmt.Sprintf("%09d", item), t.Template[name]))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(file), 0o777)
		}
		if err == nil {
			err = atomicfile.WriteBytes(file, []byte(text))
		}
		if err != nil {
			return nil, err
		}
		files[name] = file
	}
	return files, nil
}

// lookUp finds a number in a document: names of objects and places in lists, with dots between them.
func lookUp(doc any, where string) (float64, error) {
	at := doc
	for i, key := range strings.Split(where, ".") {
		switch v := at.(type) {
		case map[string]any:
			next, ok := v[key]
			if !ok {
				return 0, fmt.Errorf("the document has no key %s: want one of %s", foreign.Short(key, 60), foreign.Short(strings.Join(sortedKeys(v), ", "), 300))
			}
			at = next
		case []any:
			k, err := strconv.Atoi(key)
			if k < 0 {
				k += len(v)
			}
			if err != nil || k < 0 || k >= len(v) {
				return 0, fmt.Errorf("there is no element %s: the list has %d elements, numbered from 0", foreign.Short(key, 60), len(v))
			}
			at = v[k]
		default:
			return 0, fmt.Errorf("%s is a single value, which has no %s: shorten the place", strings.Join(strings.Split(where, ".")[:i], "."), foreign.Short(key, 60))
		}
	}
	switch v := at.(type) {
	case json.Number:
		return v.Float64()
	case bool:
		return truth(v), nil
	case string:
		if x, err := strconv.ParseFloat(v, 64); err == nil { // such as NaN
			return x, nil
		}
	case nil:
		return math.NaN(), nil
	}
	return 0, fmt.Errorf("the value at %s is not a number: take another place", where)
}

func sortedKeys(m map[string]any) (names []string) {
	for k := range m {
		names = append(names, k)
	}
	slices.Sort(names)
	return names
}

func (s *sweep) values() (names []string) {
	for _, t := range s.Take {
		names = append(names, t.Name)
	}
	return names
}
