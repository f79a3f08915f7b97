// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"strconv"
	"strings"
	"syscall"

	"github.com/euryale-dev/euryale/runs"
)

// number is a float64 that is written to JSON as a string if it is not finite.
type number float64

// MarshalJSON writes NaN and infinities as strings.
func (n number) MarshalJSON() ([]byte, error) {
	v := float64(n)
	switch {
	case math.IsNaN(v):
		return []byte(`"NaN"`), nil
	case math.IsInf(v, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(v, -1):
		return []byte(`"-Infinity"`), nil
	}
	return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
}

// UnmarshalJSON reads a number, or a string that names a non-finite one.
func (n *number) UnmarshalJSON(b []byte) error {
	switch strings.Trim(string(b), `"`) {
	case "NaN":
		*n = number(math.NaN())
		return nil
	case "Infinity", "Inf", "+Inf":
		*n = number(math.Inf(1))
		return nil
	case "-Infinity", "-Inf":
		*n = number(math.Inf(-1))
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

func numbers(v []float64) []number {
	out := make([]number, len(v))
	for i, x := range v {
		out[i] = number(x)
	}
	return out
}

// named maps names to values.
func named(names []string, v []float64) map[string]number {
	out := map[string]number{}
	for i, n := range names {
		out[n] = number(v[i])
	}
	return out
}

// document prints v as the command's only JSON document.
func (a *app) document(v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return as(exitBug, err)
	}
	_, err = fmt.Fprintf(a.stdout, "%s\n", b)
	return as(exitCannotWrite, err)
}

// writeFile writes a file under a temporary name and then renames it.
func writeFile(path string, b []byte) error { return as(exitCannotWrite, runs.WriteFile(path, b)) }

func writeJSON(path string, v any) error { return written(runs.WriteJSON(path, v)) }

func text(v number) string { return strconv.FormatFloat(float64(v), 'g', -1, 64) }

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}

// writing returns the exit code for an error from writing a file, and otherwise for any
// other error.
func writing(err error, otherwise int) error {
	if errors.As(err, new(syscall.Errno)) || errors.Is(err, fs.ErrExist) {
		return as(exitCannotWrite, err)
	}
	return as(otherwise, err)
}
