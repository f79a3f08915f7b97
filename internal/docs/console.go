// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Command is a command line of a page.
type Command struct {
	Text  string   // the line without its comment
	Words []string // the words of the line, as a shell splits them
	Line  int      // number of the line in the page
	Code  int      // exit code that the comment promises
}

// IsConsole reports whether a block holds command lines.
func (b Block) IsConsole() bool {
	return slices.Contains([]string{"sh", "console"}, b.Lang) || b.Lang == "" && strings.HasPrefix(strings.TrimPrefix(b.Text, "$ "), "euryale ")
}

var promise = regexp.MustCompile(`exits with code (\d+)`)

// CommandLines returns the command lines of a block in their order. Lines that end in a backslash go on in the next one, && separates two
// commands, and a comment may promise an exit code ("# exits with code 65").
func (b Block) CommandLines() (out []Command) {
	lines := strings.Split(b.Text, "\n")
	for i := 0; i < len(lines); i++ {
		at, line := b.Line+i, lines[i]
		for strings.HasSuffix(line, `\`) && i+1 < len(lines) {
			i++
			line = strings.TrimSuffix(line, `\`) + lines[i]
		}
		line, comment, _ := strings.Cut(" "+strings.TrimPrefix(strings.TrimSpace(line), "$ "), " #")
		code := 0
		if m := promise.FindStringSubmatch(comment); m != nil {
			code, _ = strconv.Atoi(m[1])
		}
		for _, text := range strings.Split(line, " && ") {
			if words := Words(text); len(words) > 0 {
				out = append(out, Command{strings.TrimSpace(text), words, at, code})
			}
		}
	}
	return out
}

var word = regexp.MustCompile(`(?:"[^"]*"|'[^']*'|[^\s"'])+`)

// Words splits a command line as a shell does: quotes hold words together, and files that match a pattern outside quotes replace it.
func Words(line string) (out []string) {
	for _, w := range word.FindAllString(line, -1) {
		plain := strings.NewReplacer(`"`, "", `'`, "").Replace(w)
		files, err := filepath.Glob(plain)
		if err != nil || len(files) == 0 || plain != w || !strings.ContainsAny(w, "*?[") {
			files = []string{plain}
		}
		out = append(out, files...)
	}
	return out
}

// After reports whether a block follows another one with nothing but empty lines between them.
func (b Block) After(a Block) bool { return b.Line-2-a.End() <= 1 }

// End is the number of the line that closes the block.
func (b Block) End() int { return b.Line + strings.Count(b.Text, "\n") }

// Elapsed matches what differs between two runs of the same command: times, and the progress of chains.
var Elapsed = regexp.MustCompile(`[\d.]+ (?:µs|ms|s|min)\.(?:$|  )|\bin [\d.]+ s\b|\b\d+:\d\d\b`)

var printed = regexp.MustCompile(`[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?`)

// Differs says where two outputs of a command differ, "" for nowhere. Numbers agree if they differ by at most the share tol of the larger one or by
// two units of the last digit of the coarser one; spaces and elapsed times do not count, and a line of dots in want stands for any lines.
func Differs(got, want string, tol float64) string {
	have := outputLines(got)
	anywhere := false
	for _, w := range outputLines(want) {
		if w == "..." {
			anywhere = true
			continue
		}
		i := 0
		for anywhere && i < len(have) && !alike(have[i], w, tol) {
			i++
		}
		if i >= len(have) {
			return fmt.Sprintf("there is no line %q", w)
		}
		if !alike(have[i], w, tol) {
			return fmt.Sprintf("the output is %q where the page has %q", have[i], w)
		}
		have, anywhere = have[i+1:], false
	}
	if len(have) > 0 && !anywhere {
		return fmt.Sprintf("the page lacks the line %q", have[0])
	}
	return ""
}

func outputLines(text string) (out []string) {
	for line := range strings.Lines(text) {
		if line = strings.Join(strings.Fields(Elapsed.ReplaceAllString(strings.TrimRight(line, "\n"), " TIME ")), " "); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// alike compares two lines: their words, and their numbers within a tolerance, but for those beside an error without bounds, which say nothing.
func alike(a, b string, tol float64) bool {
	if strings.Contains(a, "+Inf") {
		tol = math.Inf(1)
	}
	x, y := printed.FindAllString(a, -1), printed.FindAllString(b, -1)
	if len(x) != len(y) || printed.ReplaceAllString(a, "N") != printed.ReplaceAllString(b, "N") {
		return false
	}
	for i := range x {
		u, _ := strconv.ParseFloat(x[i], 64)
		v, _ := strconv.ParseFloat(y[i], 64)
		if math.Abs(u-v) > max(tol*max(math.Abs(u), math.Abs(v)), 2.001*max(unit(x[i]), unit(y[i]))) {
			return false
		}
	}
	return true
}

// unit is one unit of the last digit of a printed number.
func unit(text string) float64 {
	mantissa, exponent, _ := strings.Cut(text, "e")
	e, _ := strconv.Atoi(exponent)
	if _, decimals, ok := strings.Cut(mantissa, "."); ok {
		return math.Pow(10, float64(e-len(decimals)))
	}
	if e == 0 {
		return 0 // a count
	}
	return math.Pow(10, float64(e))
}
