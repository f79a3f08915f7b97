// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/stan"
)

// isProblem reports whether a file is a problem of a formula, and no result.
func isProblem(name string) bool {
	if !strings.EqualFold(filepath.Ext(name), ".json") {
		return false
	}
	f, err := foreign.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || st.Size() > largestProblem {
		return false
	}
	var keys struct{ Expr, Data, Engine *json.RawMessage }
	return json.NewDecoder(f).Decode(&keys) == nil && keys.Expr != nil && keys.Data != nil && keys.Engine == nil
}

// largestProblem is the size in bytes of the largest file that is looked into for a problem.
const largestProblem = 256 << 20

// convertedDoc is the JSON document of convert of a problem.
type convertedDoc struct {
	In   []string `json:"in"`
	Out  string   `json:"out"`
	Data string   `json:"data"`
	Kind string   `json:"kind"`
}

// convertProblem writes a problem as a program of the Stan language, with its data beside it.
func convertProblem(a *frame.App, in, out, to string, c frame.Conversion) error {
	if to != "" && to != "stan" || to == "" && filepath.Ext(out) != ".stan" {
		return exit.Usage("convert to %s: a problem of a formula can be written as a Stan program: give OUT the extension .stan", out)
	}
	p, err := draws.OpenProblem(in)
	if err != nil {
		return err
	}
	program, data, err := p.Stan()
	if err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: %w", in, err))
	}
	if _, err := stan.Parse(filepath.Base(out), program, stan.Settings{}); err != nil {
		return exit.With(exit.Data, fmt.Errorf("%s: names of columns or parameters clash with those that the program needs: rename them: %w", in, err))
	}
	beside := strings.TrimSuffix(out, ".stan") + ".data.json"
	for _, name := range []string{out, beside} {
		if err := a.MayWrite(name, "file", c.Overwrite); err != nil {
			return err
		}
	}
	if err := frame.WriteFile(out, []byte(program)); err != nil {
		return err
	}
	if err := frame.WriteFile(beside, data); err != nil {
		return err
	}
	if a.JSON {
		return exit.With(exit.CannotWrite, a.Document(convertedDoc{[]string{in}, out, beside, "stan"}))
	}
	_, err = fmt.Fprintf(a.Stdout, "wrote %s and its data, %s\n", out, beside)
	return exit.With(exit.CannotWrite, err)
}
