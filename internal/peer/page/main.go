// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Page puts what benchmarks printed into a document: page DOCUMENT replaces what stands there between the lines
//
//	<!-- measured: bench/peers.txt -->
//	<!-- end of what was measured -->
//
// by the tables of that file, whose path begins at the present folder, below what their headers say about the machine. Files that
// are not there leave their place as it is.
package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

const (
	before = "<!-- measured: "
	after  = " -->"
	end    = "<!-- end of what was measured -->"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "page: name the document, such as docs/PERFORMANCE.md")
		os.Exit(64)
	}
	if err := update(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

// update writes the document anew.
func update(document string) error {
	text, err := os.ReadFile(document)
	if err != nil {
		return err
	}
	out, err := filled(string(text), func(file string) (string, error) {
		measured, err := os.ReadFile(file)
		return string(measured), err
	})
	if err != nil {
		return fmt.Errorf("%s: %w", document, err)
	}
	return atomicfile.WriteBytes(document, []byte(out))
}

// filled returns a document with the tables of the files that read returns.
func filled(document string, read func(file string) (string, error)) (string, error) {
	var out strings.Builder
	for {
		head, rest, found := strings.Cut(document, before)
		out.WriteString(head)
		if !found {
			return out.String(), nil
		}
		file, rest, named := strings.Cut(rest, after)
		old, rest, ends := strings.Cut(rest, end)
		if !named || !ends {
			return "", fmt.Errorf("%q has no line %q after it", before+file+after, end)
		}
		measured, err := read(file)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			measured = old
		case err != nil:
			return "", err
		case !strings.Contains(measured, "\n|") && !strings.HasPrefix(measured, "|"):
			return "", fmt.Errorf("%s has no table, so that the one in the document stays: measure again, or remove the file", file)
		default:
			measured = "\n" + tables(measured)
		}
		fmt.Fprint(&out, before, file, after, measured, end)
		document = rest
	}
}

// tables returns what headers say, each thing once, and then the rows of all tables, each title once.
func tables(measured string) string {
	var said, rows []string
	for line := range strings.Lines(measured) {
		line = strings.TrimSpace(line)
		switch text, header := strings.CutPrefix(line, "# "); {
		case header && !slices.Contains(said, text):
			said = append(said, text)
		case strings.HasPrefix(line, "|") && !slices.Contains(rows, line):
			rows = append(rows, line)
		}
	}
	out := "\n"
	for _, s := range said {
		out += "- " + s + "\n"
	}
	return out + "\n" + strings.Join(rows, "\n") + "\n\n"
}
