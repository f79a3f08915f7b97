// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// ReadConfig reads a configuration in YAML or JSON. All of its mistakes are returned, joined.
func ReadConfig(name string) (*Config, error) {
	text, err := foreign.ReadFile(name, ".yaml", ".yml", ".json")
	if err != nil {
		return nil, err
	}
	return ParseConfig(text, name)
}

// ParseConfig reads the text of a configuration; name is used in messages and to find files in the same
// folder.
func ParseConfig(text []byte, name string) (*Config, error) {
	const most = 4 << 20
	if what := foreign.NotText(text); what != "" || len(text) > most {
		return nil, bad(name, "", "the file of %d bytes is %s; want a configuration in YAML or JSON of at most %d bytes", len(text), what, most)
	}
	text = foreign.Unmarked(text)
	if err := foreign.NotOther(text, foreign.TwoTimeConfig); err != nil {
		return nil, &FormatError{Format: "homodyne", File: name, What: err.Error()}
	}
	if strings.EqualFold(filepath.Ext(name), ".json") {
		if _, err := foreign.JSON(text); err != nil {
			return nil, &FormatError{Format: "homodyne", File: name, What: "the file is not JSON", Err: err}
		}
	}
	var doc yaml.Node
	documents := yaml.NewDecoder(bytes.NewReader(text))
	if err := documents.Decode(&doc); err != nil && err != io.EOF {
		return nil, &FormatError{Format: "homodyne", File: name, What: "the file is not YAML: " + foreign.Text(strings.TrimPrefix(err.Error(), "yaml: "))}
	}
	if len(doc.Content) != 1 || doc.Content[0].Kind != yaml.MappingNode {
		return nil, bad(name, "", "the file has no keys; want a configuration, with lines such as analysis_mode: laminar_flow")
	}
	if err := documents.Decode(new(yaml.Node)); err != io.EOF {
		return nil, bad(name, "", "the file has a second document after ---, which would not be read; want one")
	}
	r := &configReader{c: defaults(), given: map[string]given{}, mainSampler: map[string]bool{}}
	r.c.File = name
	r.mapping("", doc.Content[0], 0)
	r.finish()
	if len(r.errs) > 0 {
		return nil, errors.Join(r.errs...)
	}
	return r.c, nil
}

// given is what sections say of a parameter before its model is known.
type given struct {
	line                                    int
	start, low, high, mean, sd, pLow, pHigh *float64
	kind                                    PriorKind
	fixed                                   bool
}

// configReader collects what a configuration says, and its mistakes.
type configReader struct {
	c     *Config
	errs  []error
	given map[string]given
	order []string // of given

	names, active []string // of initial_parameters
	values        []float64
	valuesLine    int
	folder, file  string // of data
	angles        bool   // whether ranges of angles count
	anglesSet     bool
	mode          string
	modeLine      int
	static, sub   string // of old configurations
	mainSampler   map[string]bool
	scaled, many  bool // whether per_angle_mode was given, and several starts asked for
	starts        int
	strangers     []string // parameters of other models
}

func (r *configReader) wrong(n *yaml.Node, key, format string, args ...any) {
	e := bad(r.c.File, key, format, args...)
	if n != nil {
		e.Line = n.Line
	}
	r.errs = append(r.errs, e)
}

func (r *configReader) notice(format string, args ...any) {
	r.c.Notices = append(r.c.Notices, fmt.Sprintf(format, args...))
}

// mapping reads the keys of a mapping at a path.
func (r *configReader) mapping(path string, n *yaml.Node, depth int) {
	if n.Kind != yaml.MappingNode {
		if !null(n) {
			r.wrong(n, path, "the value is %s; want keys and values", kindOf(n))
		}
		return
	}
	if depth > 20 {
		r.wrong(n, path, "it is nested more than 20 levels deep; use fewer")
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		at := key.Value
		if path != "" {
			at = path + "." + key.Value
		}
		switch {
		case key.Kind != yaml.ScalarNode:
			r.wrong(key, path, "it has %s as a key; want a name", kindOf(key))
		case seen[key.Value]:
			r.wrong(key, at, "it appears twice; remove one")
		case strings.HasPrefix(key.Value, "_"), slices.Contains(remarks, at): // a remark
		case holdsAlias(value, 0):
			r.wrong(value, at, "it is an alias; write the value out")
		case keys[at] != nil:
			if !null(value) {
				keys[at](r, at, value)
			}
		case section(at):
			r.mapping(at, value, depth+1)
		case slices.Contains(meaningless, at):
			if !null(value) {
				r.c.Ignored = append(r.c.Ignored, at)
			}
		default:
			r.unknown(key, path, at)
		}
		seen[key.Value] = true
	}
}

// mostNamed is the number of keys that a message about an unknown one names.
const mostNamed = 12

// unknown reports a key with the nearest one.
func (r *configReader) unknown(key *yaml.Node, path, at string) {
	names := below(path)
	text := fmt.Sprintf("unknown key %s", foreign.Text(foreign.Short(at, 80)))
	if near := spelling.Meant(key.Value, names); near != "" {
		text += "; did you mean " + near + "?"
	} else if elsewhere := ending(key.Value); elsewhere != "" {
		text += "; did you mean " + elsewhere + "?"
	} else if path == "" {
		text += "; there are " + errtext.Few(names, mostNamed)
	} else {
		text += fmt.Sprintf("; %s has %s", path, errtext.Few(names, mostNamed))
	}
	r.wrong(key, "", "%s", text)
}

func null(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null"
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	if null(n) {
		return "empty"
	}
	return strconv.Quote(foreign.Short(n.Value, 60))
}

func holdsAlias(n *yaml.Node, depth int) bool {
	if n.Kind == yaml.AliasNode || depth > 40 {
		return true
	}
	for _, c := range n.Content {
		if holdsAlias(c, depth+1) {
			return true
		}
	}
	return false
}

// text returns a scalar in which ${NAME} stands for a variable of the environment.
func (r *configReader) text(key string, n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode {
		r.wrong(n, key, "the value is %s; want a text", kindOf(n))
		return ""
	}
	s := n.Value
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "${")
		name, after, closed := strings.Cut(rest, "}")
		if !found || !closed {
			b.WriteString(s)
			return b.String()
		}
		v, ok := os.LookupEnv(name)
		if !ok {
			r.wrong(n, key, "the environment variable ${%s} is not set; set it, or write the value", foreign.Short(name, 60))
		}
		b.WriteString(before)
		b.WriteString(v)
		s = after
	}
}

// path returns a text that names a file, in which ~ stands for the home folder.
func (r *configReader) path(key string, n *yaml.Node) string {
	s := r.text(key, n)
	if rest, ok := strings.CutPrefix(s, "~"); ok && (rest == "" || rest[0] == '/' || rest[0] == os.PathSeparator) {
		home, err := os.UserHomeDir()
		if err != nil {
			r.wrong(n, key, "~ stands for the home folder, which is not known; write the path out")
		}
		return home + rest
	}
	return s
}

// number returns a finite number from lo to hi.
func (r *configReader) number(key string, n *yaml.Node, lo, hi float64) (float64, bool) {
	if n.Kind != yaml.ScalarNode {
		r.wrong(n, key, "the value is %s; want a number", kindOf(n))
		return 0, false
	}
	v, err := strconv.ParseFloat(strings.ReplaceAll(r.text(key, n), "_", ""), 64)
	switch {
	case err != nil || !linalg.Finite(v):
		r.wrong(n, key, "the value is %s; %s", kindOf(n), foreign.NumberTry(n.Value, "want a number"))
	case !(v >= lo && v <= hi):
		r.wrong(n, key, "the value is %s; want %s", n.Value, between(lo, hi))
	default:
		return v, true
	}
	return 0, false
}

func between(lo, hi float64) string {
	switch {
	case math.IsInf(hi, 1) && lo == math.SmallestNonzeroFloat64:
		return "a number above 0"
	case math.IsInf(hi, 1):
		return fmt.Sprintf("%g or more", lo)
	}
	return fmt.Sprintf("%g to %g", lo, hi)
}

func (r *configReader) whole(key string, n *yaml.Node, lo, hi float64) (int, bool) {
	v, ok := r.number(key, n, lo, hi)
	if ok && v != math.Trunc(v) {
		r.wrong(n, key, "the value is %s; want a whole number", n.Value)
		return 0, false
	}
	return int(v), ok
}

func (r *configReader) truth(key string, n *yaml.Node) bool {
	switch strings.ToLower(n.Value) {
	case "true", "yes", "on", "1":
		return n.Kind == yaml.ScalarNode
	case "false", "no", "off", "0":
		return false
	}
	r.wrong(n, key, "the value is %s; want true or false", kindOf(n))
	return false
}

// numbers returns a list of numbers; a single one is a list too.
func (r *configReader) numbers(key string, n *yaml.Node) (out []float64) {
	items := n.Content
	if n.Kind == yaml.ScalarNode {
		items = []*yaml.Node{n}
	} else if n.Kind != yaml.SequenceNode {
		r.wrong(n, key, "the value is %s; want a list of numbers", kindOf(n))
		return nil
	}
	for i, item := range items {
		v, ok := r.number(fmt.Sprintf("%s[%d]", key, i), item, math.Inf(-1), math.Inf(1))
		if !ok {
			return nil
		}
		out = append(out, v)
	}
	return out
}

func (r *configReader) texts(key string, n *yaml.Node) (out []string) {
	if n.Kind != yaml.SequenceNode {
		r.wrong(n, key, "the value is %s; want a list of names", kindOf(n))
		return nil
	}
	for i, item := range n.Content {
		out = append(out, r.text(fmt.Sprintf("%s[%d]", key, i), item))
	}
	return out
}

// fields visits the entries of a mapping, whose keys must be among those known.
func (r *configReader) fields(key string, n *yaml.Node, known map[string]func(at string, v *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.wrong(n, key, "the value is %s; want keys and values", kindOf(n))
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		f, ok := known[k.Value]
		switch {
		case !ok && !strings.HasPrefix(k.Value, "_"):
			names := make([]string, 0, len(known))
			for name := range known {
				names = append(names, name)
			}
			slices.Sort(names)
			text := "unknown key " + foreign.Text(foreign.Short(key+"."+k.Value, 80))
			if near := spelling.Meant(k.Value, names); near != "" {
				text += "; did you mean " + near + "?"
			} else {
				text += "; there are " + errtext.Few(names, mostNamed)
			}
			r.wrong(k, "", "%s", text)
		case f != nil && !null(v):
			f(key+"."+k.Value, v)
		}
	}
}

// about changes what is given of a parameter.
func (r *configReader) about(name string, n *yaml.Node, change func(g *given)) {
	g, ok := r.given[name]
	if !ok {
		r.order = append(r.order, name)
	}
	if n != nil {
		g.line = n.Line
	}
	change(&g)
	r.given[name] = g
}
