// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/internal/spelling"
	"github.com/euryale-dev/euryale/kernels"
)

// List is a configuration that has been read.
type List struct {
	Path string
	common
	job   job
	lines map[string]int // of the keys
	used  bool           // its files were looked for
}

// common are the keys of all configurations.
type common struct {
	Work    string `yaml:"work"`
	Seed    uint64 `yaml:"seed"`
	Retries *int   `yaml:"retries"` // how often an item that fails is tried again. Default 1
	Block   int64  `yaml:"block"`   // consecutive items that stay in one shard. Default 64, or what the kind takes
	SIMD    string `yaml:"simd"`    // instruction set. Default: the best of this machine
	Device  string `yaml:"device"`  // cpu or cuda. Default cpu
}

// ConfigError reports a mistake in a configuration.
type ConfigError struct {
	File string
	Line int // line of the mistake, from 1; 0 if it is on no particular line
	Text string
}

// Error names the file and the line.
func (e *ConfigError) Error() string {
	if e.Line == 0 {
		return fmt.Sprintf("%s: %s", e.File, e.Text)
	}
	return fmt.Sprintf("%s, line %d: %s", e.File, e.Line, e.Text)
}

// mostBytes bounds a configuration.
const mostBytes = 4 << 20

// Read reads a configuration. Its mistakes are returned as errors of type [*ConfigError], joined.
func Read(path string) (*List, error) {
	text, err := foreign.ReadFile(path)
	if err != nil {
		return nil, err
	}
	l := &List{Path: path}
	if len(text) > mostBytes {
		return nil, l.wrong(0, "the configuration has %d bytes: want at most %d", len(text), mostBytes)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, l.wrong(0, "%s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, l.wrong(0, "the file is not a list of keys and values: write lines such as work: fit g2")
	}
	if err := l.read(doc.Content[0]); err != nil {
		return nil, err
	}
	return l, l.check()
}

func (l *List) wrong(line int, format string, args ...any) error {
	return &ConfigError{l.Path, line, fmt.Sprintf(format, args...)}
}

// read gives the keys to common and to the job of the kind.
func (l *List) read(top *yaml.Node) error {
	var errs []error
	seen := map[string]bool{}
	l.lines = map[string]int{}
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		if spelled := setting.Spelled(key.Value); spelled != key.Value { // as flags are spelled, too
			key.Value = setting.Key(spelled)
		}
		l.lines[key.Value] = key.Line
		if seen[key.Value] {
			errs = append(errs, l.wrong(key.Line, "the key %s appears twice: remove one", key.Value))
		}
		seen[key.Value] = true
		if key.Value == "work" {
			if err := value.Decode(&l.Work); err != nil {
				return l.wrong(value.Line, "work: want one of %s", strings.Join(Names(), ", "))
			}
		}
	}
	if l.Work == "" {
		return l.wrong(0, "the kind of work is missing: add a line such as work: fit g2; the kinds are %s", strings.Join(Names(), ", "))
	}
	k, err := byName(l.Work)
	if err != nil {
		return l.wrong(0, "%s", err)
	}
	l.job = k.job()
	mine, its := keys(&l.common), keys(l.job)
	known := append(slices.Clone(mine), its...)
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		var to any = &l.common
		if slices.Contains(its, key.Value) {
			to = l.job
		} else if !slices.Contains(mine, key.Value) {
			text := fmt.Sprintf("unknown key %s", foreign.Short(key.Value, 60))
			if near := spelling.Meant(key.Value, known); near != "" {
				text += ": did you mean " + near + "?"
			} else {
				text += fmt.Sprintf(": %s has %s", l.Work, strings.Join(known, ", "))
			}
			errs = append(errs, l.wrong(key.Line, "%s", text))
			continue
		}
		if holdsAlias(value) {
			errs = append(errs, l.wrong(value.Line, "%s is an alias, which is not read: write the value out", key.Value))
			continue
		}
		if value.ShortTag() == "!!null" {
			errs = append(errs, l.wrong(value.Line, "%s has no value: give one, or leave the key out for its default", key.Value))
			continue
		}
		if n := notANumber(value, key.Value == "bounds"); n != nil && kindOf(to, key.Value, reflect.Float64, reflect.Map) {
			errs = append(errs, l.wrong(n.Line, "%s: %s: want a finite number", key.Value, n.Value))
			continue
		}
		if broken(value) && counts(to, key.Value) { // yaml would cut it off
			errs = append(errs, l.wrong(value.Line, "%s is %s: want a whole number of at most 64 bits", key.Value, foreign.Short(value.Value, 60)))
			continue
		}
		one := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{key, value}, Line: key.Line}
		if err := one.Decode(to); err != nil {
			errs = append(errs, l.wrong(value.Line, "%s: %s", key.Value, plainly(err)))
		}
	}
	for _, s := range declared(l.job) {
		if line, given := l.lines[s.Key()]; given && errs == nil {
			if text := s.Given(); text != "" {
				errs = append(errs, l.wrong(line, "%s: %s", s.Key(), text))
			}
		}
	}
	return errors.Join(errs...)
}

// declared are the settings of a job, with those of the requests within it.
func declared(j job) []setting.Setting {
	all := setting.Of(j)
	v := reflect.ValueOf(j).Elem()
	for i := range v.NumField() {
		if f := v.Type().Field(i); !f.Anonymous && f.Tag.Get("yaml") == ",inline" {
			all = append(all, setting.Of(v.Field(i).Addr().Interface())...)
		}
	}
	return all
}

// Settings lists the settings of a kind of work that commands have as well, with their defaults.
func Settings(kind string) ([]setting.Setting, error) {
	k, err := byName(kind)
	if err != nil {
		return nil, err
	}
	j := k.job()
	_ = j.check() // which sets the defaults, and finds no files
	return declared(j), nil
}

// notANumber returns the first value in a node that is not a number although YAML writes it as one; ends of intervals may be infinite.
func notANumber(n *yaml.Node, infinite bool) *yaml.Node {
	var x float64
	if n.ShortTag() == "!!float" && n.Decode(&x) == nil && (math.IsNaN(x) || math.IsInf(x, 0) && !infinite) {
		return n
	}
	for _, inner := range n.Content {
		if bad := notANumber(inner, infinite); bad != nil {
			return bad
		}
	}
	return nil
}

// plainly leaves out what yaml says about Go.
func plainly(err error) string {
	var wrong *yaml.TypeError
	if !errors.As(err, &wrong) || len(wrong.Errors) == 0 {
		return strings.TrimPrefix(err.Error(), "yaml: ")
	}
	text := wrong.Errors[0]
	if _, after, ok := strings.Cut(text, ": "); ok {
		text = after
	}
	value, wanted, ok := strings.Cut(strings.TrimPrefix(text, "cannot unmarshal "), " into ")
	if !ok {
		return text
	}
	_, value, _ = strings.Cut(value, " ")
	names := map[string]string{"int": "a whole number", "int64": "a whole number", "uint64": "a whole number of at least 0", "float64": "a number", "bool": "true or false", "string": "text"}
	if name := names[strings.TrimPrefix(wanted, "*")]; name != "" {
		wanted = name
	} else if strings.HasPrefix(wanted, "map") {
		wanted = "names with a value each, such as {tau: 1e-3}"
	} else if strings.HasPrefix(wanted, "[2]") {
		wanted = "two numbers in brackets, such as [0, 1]"
	} else {
		wanted = "a list, such as [1, 2]"
	}
	if value == "" { // a list, or names with values
		return "want " + wanted
	}
	return fmt.Sprintf("%s: want %s", foreign.Short(value, 60), wanted)
}

// broken reports whether a value is a number that is not whole, or that is too large for all its digits to
// count.
func broken(n *yaml.Node) bool {
	var x float64
	return n.ShortTag() == "!!float" && (n.Decode(&x) != nil || x != math.Trunc(x) || math.Abs(x) > 1<<53)
}

func holdsAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, holdsAlias)
}

// fields returns the fields of a struct of settings that have keys.
func fields(t reflect.Type) (list []reflect.StructField) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		if options == "inline" {
			list = append(list, fields(f.Type)...)
		} else if f.Name = name; name != "" && name != "-" {
			list = append(list, f)
		}
	}
	return list
}

// keys returns the keys of a struct of settings.
func keys(v any) (names []string) {
	for _, f := range fields(reflect.TypeOf(v).Elem()) {
		names = append(names, f.Name)
	}
	return names
}

// counts reports whether the value of a key is a whole number.
func counts(v any, key string) bool {
	return kindOf(v, key, reflect.Int, reflect.Int64, reflect.Uint64)
}

// kindOf reports whether the value of a key is of one of some kinds.
func kindOf(v any, key string, kinds ...reflect.Kind) bool {
	for _, f := range fields(reflect.TypeOf(v).Elem()) {
		if f.Type.Kind() == reflect.Pointer {
			f.Type = f.Type.Elem()
		}
		if f.Name == key {
			return slices.Contains(kinds, f.Type.Kind())
		}
	}
	return false
}

func (l *List) check() error {
	var errs []error
	if l.Retries != nil && (*l.Retries < 0 || *l.Retries > 100) {
		errs = append(errs, l.wrong(0, "retries is %d: want 0 to 100", *l.Retries))
	}
	if l.Block < 0 || l.Block > 1e9 {
		errs = append(errs, l.wrong(0, "block is %d: want 1 to 1000000000 items", l.Block))
	}
	if l.Device != "" && l.Device != "cpu" && l.Device != "cuda" {
		errs = append(errs, l.wrong(0, "device is %s: want cpu or cuda", l.Device))
	}
	if l.SIMD == "" {
		l.SIMD = InstructionSet()
	} else if !slices.Contains(instructionSets(), l.SIMD) {
		errs = append(errs, l.wrong(0, "simd is %s: want one of %s, the instruction sets of this processor", l.SIMD, strings.Join(instructionSets(), ", ")))
	}
	if err := l.job.check(); err != nil {
		errs = append(errs, l.mistakes(err)...)
	}
	return errors.Join(errs...)
}

// mistakes are an error about the configuration, or errors about its settings with their lines.
func (l *List) mistakes(err error) (errs []error) {
	settings := setting.Errors(err)
	for _, e := range settings {
		key := setting.Key(e.Name)
		errs = append(errs, l.wrong(l.lines[key], "%s: %s", key, e.Text))
	}
	if len(settings) == 0 {
		errs = append(errs, l.wrong(0, "%s", err))
	}
	return errs
}

// InstructionSet returns the instruction set that the kernels of this process use. Machines that use
// the same one give results with the same bits.
func InstructionSet() string { return named(kernels.Best()) }

// instructionSets lists those that this processor has.
func instructionSets() (names []string) {
	for _, l := range kernels.Levels() {
		names = append(names, named(l))
	}
	return names
}

func named(l kernels.Level) string {
	if l == kernels.PureGo && runtime.GOARCH != "amd64" {
		return l.String() + "-" + runtime.GOARCH // compilers may fuse a product and a sum
	}
	return l.String()
}

// OtherSetError says that a manifest asks for a different instruction set from the one this process
// uses.
type OtherSetError struct {
	Want, Have string
	// Level is the value of EURYALE_SIMD that selects the instruction set on this machine. It is empty
	// if there is none.
	Level string
}

// Error says how to select the instruction set or make a new manifest.
func (e *OtherSetError) Error() string {
	if e.Level != "" {
		return fmt.Sprintf("the manifest asks for the instruction set %s, this process uses %s: set EURYALE_SIMD=%s", e.Want, e.Have, e.Level)
	}
	return fmt.Sprintf("the manifest asks for the instruction set %s, which this processor does not have (it has %s): its results would differ in the last bits. Run it on other machines, or make a manifest with simd: %s", e.Want, strings.Join(instructionSets(), ", "), e.Have)
}

// CheckSet returns an [*OtherSetError] if this process does not use the instruction set that a manifest
// asks for.
func CheckSet(m *batch.Manifest) error {
	if m.SIMD == "" || m.SIMD == InstructionSet() {
		return nil
	}
	e := &OtherSetError{Want: m.SIMD, Have: InstructionSet()}
	for _, l := range kernels.Levels() {
		if named(l) == m.SIMD {
			e.Level = l.String()
		}
	}
	return e
}

// Create writes the manifest of a list to a file, which must not exist yet, and the identities of its input files beside it.
func (l *List) Create(path string) (*batch.Manifest, error) {
	h, list, err := l.complete(path)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, err
	}
	m, err := batch.Create(path, h, list)
	if err != nil {
		return nil, err
	}
	return m, recordInputs(m)
}

// Hash returns the hash that the manifest of a list would have if it were written to this file.
func (l *List) Hash(path string) (string, error) {
	h, list, err := l.complete(path)
	if err != nil {
		return "", err
	}
	return batch.HashOf(h, list)
}

// complete returns the header of a manifest at a path, and what lists its items. It reads the configuration
// once more if the files of this list were looked for before, as their names depend on the path.
func (l *List) complete(path string) (batch.Header, func(add func(string, int64, int64) error) error, error) {
	if l.used {
		fresh, err := Read(l.Path)
		if err != nil {
			return batch.Header{}, nil, err
		}
		*l = *fresh
	}
	l.used = true
	p := place{folder: filepath.Dir(l.Path), manifest: filepath.Dir(path)}
	h := batch.Header{Command: l.Work, Seed: l.Seed, SIMD: l.SIMD, Retries: 1, Block: l.Block, Device: l.Device}
	if l.Retries != nil {
		h.Retries = *l.Retries
	}
	if h.Device == "" {
		h.Device = "cpu"
	}
	if c, ok := l.job.(resolving); ok {
		if err := c.resolve(p, &h); err != nil {
			return h, nil, l.named(err)
		}
	}
	if b, ok := l.job.(interface{ block() int64 }); ok && h.Block == 0 {
		h.Block = b.block()
	}
	var err error
	if h.Settings, err = json.Marshal(l.job); err != nil {
		return h, nil, l.wrong(0, "%s", err)
	}
	return h, func(add func(string, int64, int64) error) error {
		if err := l.job.list(p, add); err != nil {
			return l.named(err)
		}
		return nil
	}, nil
}

// resolving is a job whose settings need files to be complete.
type resolving interface {
	resolve(p place, h *batch.Header) error
}

// named says of which configuration an error is.
func (l *List) named(err error) error {
	if errors.As(err, new(*ConfigError)) {
		return err
	}
	if setting.Errors(err) != nil {
		return errors.Join(l.mistakes(err)...)
	}
	return fmt.Errorf("%s: %w", l.Path, err)
}

// Texts is one text, or a list of texts.
type Texts []string

// UnmarshalYAML reads a text or a list of texts.
func (t *Texts) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*t = Texts{n.Value}
		return nil
	}
	return n.Decode((*[]string)(t))
}

// place knows where files are.
type place struct {
	folder   string // of the configuration
	manifest string // folder of the manifest
}

// files lists the files that patterns stand for, in the order of the patterns and of the names. Names
// are absolute if the pattern is, else relative to the folder of the manifest.
func (p place) files(patterns Texts) ([]string, error) {
	var names []string
	if len(patterns) == 0 {
		return nil, errors.New("files is missing: give a name or pattern, such as results/*.hdf, or a list of them")
	}
	for _, pattern := range patterns {
		full, search := pattern, pattern
		if !filepath.IsAbs(full) { // the folder is no pattern, whatever it is called
			full, search = filepath.Join(p.folder, pattern), filepath.Join(literal(p.folder), pattern)
		}
		found, err := filepath.Glob(search)
		if _, e := os.Stat(full); e == nil { // neither is a file of that very name
			found, err = []string{filepath.Clean(full)}, nil
		}
		if err != nil {
			return nil, fmt.Errorf("files: %q: %w", pattern, err)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("files: there is no file %s: check the name or the pattern", full)
		}
		for _, f := range found {
			if !filepath.IsAbs(pattern) {
				if f, err = p.relative(f); err != nil {
					return nil, err
				}
			}
			names = append(names, f)
		}
	}
	return names, nil
}

// literal is a pattern that stands for one name alone.
func literal(name string) string {
	if filepath.Separator == '\\' { // patterns there have no way to say it
		return name
	}
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(name)
}

// relative returns the name of a file as seen from the folder of the manifest.
func (p place) relative(name string) (string, error) {
	from, err := filepath.Abs(p.manifest)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(from, to)
	return filepath.ToSlash(rel), err
}

// path returns where a file of a manifest is.
func path(m *batch.Manifest, source string) string { return located(m.Folder(), source) }

func located(folder, source string) string {
	if filepath.IsAbs(source) {
		return source
	}
	return filepath.Join(folder, filepath.FromSlash(source))
}

// Changed describes how the manifest that a list would have if it were written to this file differs
// from an existing one.
func (l *List) Changed(path string, m *batch.Manifest) string {
	h, list, err := l.complete(path)
	if err != nil {
		return "configuration, files or their bins have changed"
	}
	var keys []string
	for _, k := range []struct {
		name     string
		now, had any
	}{{"work", h.Command, m.Command}, {"seed", h.Seed, m.Seed}, {"retries", h.Retries, m.Retries}, {"simd", h.SIMD, m.SIMD}, {"device", h.Device, m.Device}} {
		if k.now != k.had {
			keys = append(keys, fmt.Sprintf("%s is %v and was %v", k.name, k.now, k.had))
		}
	}
	keys = append(keys, different("", h.Settings, m.Settings)...)
	if len(keys) > 0 {
		return strings.Join(keys, ", ")
	}
	var items int64
	if err := list(func(_ string, _, count int64) error { items += count; return nil }); err == nil && items != m.Items {
		return fmt.Sprintf("its files give %d items now, and gave %d", items, m.Items)
	}
	return "its files, their bins or its block have changed"
}

// different lists the keys of JSON documents whose values differ.
func different(within string, a, b json.RawMessage) (keys []string) {
	var x, y map[string]json.RawMessage
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil || x == nil || y == nil {
		if !bytes.Equal(a, b) {
			keys = append(keys, fmt.Sprintf("%s is %s and was %s", within, short(a), short(b)))
		}
		return keys
	}
	for _, k := range slices.Sorted(maps.Keys(x)) {
		keys = append(keys, different(k, x[k], y[k])...)
	}
	for _, k := range slices.Sorted(maps.Keys(y)) {
		if _, ok := x[k]; !ok {
			keys = append(keys, different(k, nil, y[k])...)
		}
	}
	return keys
}

// short is a value for a message.
func short(v json.RawMessage) string {
	switch {
	case v == nil:
		return "not given"
	case len(v) > 60:
		return string(v[:60]) + "..."
	}
	return string(v)
}
