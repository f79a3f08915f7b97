// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Document is a kind of document in JSON or YAML that commands take, which its keys tell from the others.
type Document struct {
	What  string     // what it is in words
	Takes []string   // how commands take it, with FILE in the place of its name
	keys  [][]string // sets of keys at the top level; a document that has all keys of one set is of this kind
}

// The documents that the readers of problems ask for.
var (
	FormulaProblem = &Document{What: "a problem of a formula", Takes: []string{"sample expr FILE", "fit nlsq FILE", "sbc --problem FILE", "convert FILE OUT.stan"},
		keys: [][]string{{"expr"}}}
	MorphologyProblem = &Document{What: "a problem of an inversion", Takes: []string{"invert rsoxs FILE", "reduce rsoxs FILE"},
		keys: [][]string{{"model", "grid"}, {"model", "parameters", "constants"}}}
	CircuitProblem = &Document{What: "a circuit to be trained", Takes: []string{"train connectome FILE"},
		keys: [][]string{{"stimuli", "areas", "fibres", "steps"}, {"stimuli", "areas", "fibers", "steps"}, {"areas", "task"}}}
	MeasuredAssemblies = &Document{What: "measurements of assemblies", Takes: []string{"sample assembly --problem FILE"},
		keys: [][]string{{"fit", "k"}, {"fit", "count"}, {"fit", "overlap"}, {"fit", "weight"}, {"fit", "alpha"}, {"fit", "rounds"}}}
	AssemblyScript = &Document{What: "a script of assemblies", Takes: []string{"sim assembly FILE", "plot script FILE"},
		keys: [][]string{{"areas", "run"}}}
	TwoTimeConfig = &Document{What: "a configuration of two-time correlations", Takes: []string{"fit twotime FILE", "sample twotime FILE", "sim twotime FILE", "info FILE"},
		keys: [][]string{{"analysis_mode"}, {"analyzer_parameters"}, {"experimental_data"}}}
	LineList   = &Document{What: "a list of spectral lines", keys: [][]string{{"columns", "kinds", "lines"}}}
	MaskRecipe = &Document{What: "a recipe of a mask", Takes: []string{"mask MASK.tif --recipe FILE"},
		keys: [][]string{{"version", "height", "width", "steps"}}}
)

// documents lists all kinds. Runs and results come first, since a configuration of a run has the keys of its problem further inside only.
var documents = []*Document{
	{What: "the configuration of a run", keys: [][]string{{"command", "version"}}},
	{What: "the list of inputs of a run", keys: [][]string{{"inputs", "crc32c"}}},
	{What: "the summary of draws", keys: [][]string{{"summary", "diagnostics"}}},
	{What: "the result of a fit", Takes: []string{"convert FILE FITS.csv", "fit twotime CONFIG.yaml --from FILE"}, keys: [][]string{{"engine", "model", "crc32c"}, {"engine", "model", "bins"}, {"engine", "model", "status"}, {"parameters", "convergence_status"}}},
	{What: "the result of a simulation", keys: [][]string{{"engine", "measures"}}},
	{What: "a notebook of Jupyter", keys: [][]string{{"cells", "nbformat"}}},
	FormulaProblem, MorphologyProblem, CircuitProblem, MeasuredAssemblies, AssemblyScript, TwoTimeConfig, LineList, MaskRecipe,
	{What: "a configuration of template spectra", Takes: []string{"fit spectra SPECTRUM --config FILE", "sample spectrum SPECTRUM --config FILE"}, keys: [][]string{{"template_lib"}}},
	{What: "the configuration of a work list", Takes: []string{"batch FILE"}, keys: [][]string{{"work"}}},
}

// Documents lists all kinds of documents.
func Documents() []*Document { return slices.Clone(documents) }

// mostKeys bounds the text in which keys of YAML are looked for, in bytes.
const mostKeys = 1 << 20

// yamlKey is a key at the top level of a YAML document.
var yamlKey = regexp.MustCompile(`(?m)^([A-Za-z_][A-Za-z0-9_]*):(?:\s|$)`)

// topKeys returns the keys at the top level of a document in JSON or YAML, none where it is neither.
func topKeys(b []byte) (keys []string) {
	b = Unmarked(b)
	if bytes.HasPrefix(bytes.TrimSpace(b), []byte("{")) {
		var all map[string]json.RawMessage
		if json.Unmarshal(b, &all) == nil {
			for k := range all {
				keys = append(keys, k)
			}
			return keys
		}
	}
	for _, m := range yamlKey.FindAllSubmatch(b[:min(len(b), mostKeys)], -1) {
		keys = append(keys, string(m[1]))
	}
	return keys
}

// DocumentOf tells the kind of a document by its keys, with the keys that tell. It returns nil for others.
func DocumentOf(b []byte) (d *Document, keys []string) {
	have := topKeys(b)
	for _, d := range documents {
		for _, set := range d.keys {
			if !slices.ContainsFunc(set, func(k string) bool { return !slices.Contains(have, k) }) {
				return d, set
			}
		}
	}
	return nil, nil
}

// Problem is JSON for a document of a kind: one of another kind is an error that says which command takes it.
func Problem(b []byte, want *Document) ([]byte, error) {
	b, err := JSON(b)
	if err != nil {
		return nil, err
	}
	return b, NotOther(b, want)
}

// NotOther returns an error if a document is of another kind than the one that is wanted.
func NotOther(b []byte, want *Document) error {
	d, keys := DocumentOf(b)
	if d == nil || d == want {
		return nil
	}
	return &OtherDocument{Is: d, Keys: keys, Want: want}
}

// OtherDocument is the error of a document in the place of one of another kind.
type OtherDocument struct {
	Is, Want *Document
	Keys     []string // what tells the kind
}

// Error says what the document is, and which command takes it.
func (e *OtherDocument) Error() string {
	text := fmt.Sprintf("the file holds %s (%s), not %s", e.Is.What, Named(e.Keys), e.Want.What)
	if to := e.Is.Commands(); to != "" {
		text += ": give it to " + to
	}
	return text
}

// Named quotes keys, as in: it has the keys "model" and "grid".
func Named(keys []string) string {
	quoted := make([]string, len(keys))
	for i, k := range keys {
		quoted[i] = fmt.Sprintf("%q", k)
	}
	if len(keys) == 1 {
		return "it has the key " + quoted[0]
	}
	last := len(keys) - 1
	return "it has the keys " + strings.Join(quoted[:last], ", ") + " and " + quoted[last]
}

// Commands lists the commands that take a document, without its name.
func (d *Document) Commands() string {
	var names []string
	for _, t := range d.Takes {
		name, _, _ := strings.Cut(t, " --")
		names = append(names, strings.TrimSuffix(name, " FILE"))
	}
	return strings.Join(names, " or ")
}
