// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// another says how the names of a set are changed into those of another one: in a folder, what matches from becomes to, in the names of
// files and folders and in the texts and keys of JSON files; drop is the name, before it is changed, of a member to leave out.
type another struct {
	folder, from, to, drop string
	inside                 bool // other files have the names, too, which stay as long as they are
}

// fewest is the number of cases from which on lists of cases lose one in a set of other sizes.
const fewest = 4

// within reports whether a file is in one of some folders.
func within(folders []string, name string) bool {
	return slices.ContainsFunc(folders, func(folder string) bool { return strings.HasPrefix(name, folder+"/") })
}

// shorter leaves out the last case of each list of cases in a document. Arrays beside it keep their rows, of which the last are not used then.
func shorter(t *testing.T, b []byte) []byte {
	t.Helper()
	var walk func(v any, depth int) any
	walk = func(v any, depth int) any {
		switch v := v.(type) {
		case []any:
			if len(v) >= fewest && depth < 3 {
				if _, ok := v[0].(map[string]any); ok {
					return v[:len(v)-1]
				}
			}
		case map[string]any:
			for k, x := range v {
				v[k] = walk(x, depth+1)
			}
		}
		return v
	}
	return again(t, b, func(v any) any { return walk(v, 0) })
}

// again writes a document after a change.
func again(t *testing.T, b []byte, change func(any) any) []byte {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(change(v))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// part is an expression for a name that is a part of a longer one between _, -, ., / or the ends.
func part(name string) string { return `(^|[_./-])(` + name + `)($|[_./-])` }

// others are the names of our set. README files say which parts of a name are the set's.
var others = []another{
	{"assemblies", "", "", "", false},
	{"cuda", "", "", "", false},
	{"inference/posteriors", `^(.*)\.json$`, "other-$1.json", "kidiq-kidscore_interaction.json", false},
	{"inference/inferencedata", `minimal(_netcdf4)?\.(nc|zarr)`, "small.$2", "", false},
	{"measured", "", "", "", false},
	{"scatter/cases", part(`g(\d\d)`), "${1}case-${3}-of-another${4}", "g12", false},
	{"scatter/reduce", part(`g(\d\d)`), "${1}case-${3}-of-another${4}", "", false},
	{"scatter/morph", part(`g([A-Z]_\w+?)`), "${1}film${3}${4}", "", false},
	{"scatter/cases", part(`g([A-Z]_\w+?)`), "${1}film${3}${4}", "", false},
	{"scatter/demo", `^demo(\d)_(\w+)`, "inverse-${1}-${2}", "demo2_optics", false},
	{"scatter/grad", `^gr(\d+)_(\w+)`, "slope-${1}-${2}", "gr05_nearest", false},
	{"spectra/desi", `synth-1`, "other-27", "run2_resol", false},
	{"spectra/desi", part(`run(\d)`), "${1}night${3}x${4}", "", false},
	{"spectra", part(`m([1-5])(multi|resol|)`), "${1}aster${3}${4}${5}", "m4", false},
	{"spectra/resolution", part(`desi_([ab])`), "${1}fiber${3}${4}", "", false},
	{"xpcs/qmap", `^(R_\w+|[STV]\d)$`, "geometry-${1}", "S3", false},
	{"xpcs/hdf5", part(`([AB])`), "${1}sample${2}2${4}", "", false},
	{"xpcs/correlator", part(`([AB])`), "${1}sample${2}2${4}", "", false},
	{"xpcs/mask", `file_mask`, "blemish", "", false},
	{"xpcs/mask", part(`(param|center)_(\d)`), "${1}${3}_other_${4}${5}", "", false},
	{"xpcs/twotime", `(fit|posterior)_(static|laminar|heterodyne)`, "${1}_${2}_again", "fit_laminar_compat", false},
}

// sizes are the folders whose lists of cases may be shorter.
var sizes = []string{"assemblies", "cuda", "inference", "scatter", "spectra", "xpcs"}

// whole are those in them whose lists are parts of one thing, such as the repeats of an average.
var whole = []string{"xpcs/analysis"}

// arms are the changes for a set with other arms, which files of DESI do not have.
var arms = []another{
	{"spectra", `desi_([brz])`, "mock_$1", "", true},
}

// plant writes another set of all topics to a folder: ours under other names, without some members, or without a folder.
func plant(t *testing.T, to string, changes []another, without string, short ...string) {
	t.Helper()
	for _, topic := range topics(t) {
		files := find(t, topic).files
		err := fs.WalkDir(files, topic, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || without != "" && strings.HasPrefix(name, without) {
				return err
			}
			b, err := fs.ReadFile(files, name)
			if err != nil {
				return err
			}
			as := name
			if strings.HasSuffix(name, ".json") && within(short, name) && !within(whole, name) {
				b = shorter(t, b)
			}
			for _, c := range changes {
				if !strings.HasPrefix(name, c.folder+"/") || c.from == "" {
					continue
				}
				re := regexp.MustCompile(c.from)
				if c.drop != "" && slices.ContainsFunc(strings.Split(name, "/"), func(base string) bool { return of(base, c.drop) }) {
					return nil
				}
				if strings.HasSuffix(name, ".json") {
					b = renamed(t, b, re, c)
				} else if c.inside {
					b = re.ReplaceAll(b, []byte(c.to))
				}
				parts := strings.Split(as, "/")
				for i := strings.Count(c.folder, "/") + 1; i < len(parts); i++ {
					parts[i] = re.ReplaceAllString(parts[i], c.to)
				}
				as = path.Join(parts...)
			}
			file := filepath.Join(to, filepath.FromSlash(as))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				return err
			}
			return os.WriteFile(file, b, 0o644)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// topics lists the topics of the set that the tests find.
func topics(t *testing.T) (names []string) {
	for _, c := range others {
		topic, _, _ := strings.Cut(c.folder, "/")
		if ending(t, func(t testing.TB) { find(t, topic) }) == "" && !slices.Contains(names, topic) {
			names = append(names, topic)
		}
	}
	return names
}

// of reports whether a file's name is that of a member or begins with it.
func of(name, member string) bool {
	rest, ok := strings.CutPrefix(name, member)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '_')
}

// renamed changes the keys and texts of a document, and leaves out what is named by or belongs to a member that is left out.
func renamed(t *testing.T, b []byte, re *regexp.Regexp, c another) []byte {
	t.Helper()
	dropped := func(x any) bool {
		o, ok := x.(map[string]any)
		if ok && c.drop != "" {
			for _, f := range o {
				if s, ok := f.(string); ok && s == c.drop {
					return true
				}
			}
		}
		return false
	}
	var walk func(v any) any
	walk = func(v any) any {
		switch v := v.(type) {
		case string:
			return re.ReplaceAllString(v, c.to)
		case []any:
			out := []any{}
			for _, x := range v {
				if !dropped(x) {
					out = append(out, walk(x))
				}
			}
			return out
		case map[string]any:
			out := map[string]any{}
			for k, x := range v {
				if c.drop == "" || k != c.drop {
					out[re.ReplaceAllString(k, c.to)] = walk(x)
				}
			}
			return out
		}
		return v
	}
	return again(t, b, walk)
}
