// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign_test

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// hostile are names that mean something to shells, to YAML, to Kubernetes or to terminals.
var hostile = []string{
	"", " ", "plain", "run 7.h5", "it's", `'`, `''`, `"`, `\`, `a\'b`, `\\`, "$(touch /tmp/x)", "`touch x`", "${HOME}", "$HOME", "$$", "a;b", "a&b", "a|b", "<a>", "#a", "a #b", "a: b", ": #", "- a", "? a", "-rf", "--help",
	"!x", "&a", "*", "?", "[a]", "{a}", "{a: b}", "~", "~root", "%s", "@", "=", "null", "~", "true", "yes", "0x10", "1e5", "12:30", "2001-01-01", "<<", "a\nb", "\n", "\r", "a\tb", "\x1b[31mred\a", "\x7f", "\u0085", "\u009b2J", "x\u202ey", "\u2028",
	"\ufeff", "é", "日本", "😀", "a'\nb'; echo $(id) #", "|", ">", "---", "...", "a,b", "a\\nb", `\x41`, `\u0041`, "$(VAR) $$(VAR)",
}

// Words of shells are what was quoted, and start nothing.
func TestWordsOfShells(t *testing.T) {
	for _, shell := range []string{"sh", "bash"} {
		if _, err := exec.LookPath(shell); err != nil {
			t.Logf("no %s here", shell)
			continue
		}
		var script strings.Builder
		var want []string
		for _, s := range hostile {
			if shell == "bash" || foreign.Text(s) == s { // a plain sh may not have $'...'
				script.WriteString("printf '%s\\0' " + foreign.Shell(s) + "\n")
				want = append(want, s)
			}
			if shell == "bash" {
				script.WriteString("printf '%s\\0' " + foreign.Typed(s) + "\n")
				if strings.HasPrefix(s, "-") {
					s = "./" + s
				}
				want = append(want, s)
			}
		}
		out, err := exec.Command(shell, "-c", script.String()).Output()
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
		if len(got) != len(want) {
			t.Fatalf("%s: %d words, want %d", shell, len(got), len(want))
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("%s: %q, want %q", shell, got[i], want[i])
			}
		}
	}
}

// The value of a flag stays what it is, also if it begins with a hyphen.
func TestTypedValue(t *testing.T) {
	for value, want := range map[string]string{"-5": "-5", "": "''", "-": "-", "--a b": "--'a b'", "a;b": "'a;b'", "-1:2": "-1:2", "-$(x)": "-'$(x)'"} {
		if got := foreign.TypedValue(value); got != want {
			t.Errorf("%q: %s, want %s", value, got, want)
		}
	}
}

// Names are typed as they are if nothing speaks against it, and never with what controls a terminal.
func TestTyped(t *testing.T) {
	for name, want := range map[string]string{"run7/a_master.h5": "run7/a_master.h5", "run 7.h5": "'run 7.h5'", "it's": `'it'\''s'`, "-rf": "./-rf", "é": "é", "a\nb": `$'a\012b'`, "it's\x1b": `$'it\'s\033'`, "": "''"} {
		if got := foreign.Typed(name); got != want {
			t.Errorf("%s is typed %s, want %s", name, got, want)
		}
	}
	for _, s := range hostile {
		if got := foreign.Typed(s); foreign.Text(got) != got || strings.ContainsAny(got, "\n\t") {
			t.Errorf("%q is typed %q", s, got)
		}
	}
}

// Scalars of YAML are what was quoted, on one line, in every place.
func TestScalarsOfYAML(t *testing.T) {
	for _, s := range hostile {
		text, err := foreign.YAML(s)
		if err != nil {
			t.Error(err)
		}
		if foreign.Text(text) != text || strings.Contains(text, "\n") {
			t.Errorf("%q becomes %q", s, text)
		}
		var doc struct {
			A string
			B []string
			C map[string]string
		}
		if err := yaml.Unmarshal([]byte("a: "+text+"\nb: [x, "+text+", y]\nc: {k: "+text+", l: z}\n"), &doc); err != nil || doc.A != s || len(doc.B) != 3 || doc.B[1] != s || doc.C["k"] != s || doc.C["l"] != "z" {
			t.Errorf("%q: %+v, %v", s, doc, err)
		}
		var word string
		if err := json.Unmarshal([]byte(text), &word); err != nil || word != s {
			t.Errorf("as JSON: %q: %q, %v", s, word, err)
		}
	}
	if _, err := foreign.YAML("a\xff"); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Error(err)
	}
}

func TestLine(t *testing.T) {
	if got := foreign.Line("a\n#SBATCH\x1b"); got != `a\n#SBATCH\x1b` {
		t.Error(got)
	}
}

// Names that the process knows stay on one line in any text; other line feeds stay what they are.
func TestName(t *testing.T) {
	foreign.Name("--out=some/b\nc/d\te.csv")
	foreign.Name("\n")
	foreign.Name("plain")
	for text, want := range map[string]string{
		"wrote b\nc/d\te.csv\nand\tmore\n": "wrote b\\nc/d\\te.csv\nand\tmore\n",
		"x b\nc.html\n":                    "x b\\nc.html\n",
		"b\n\nc":                           "b\n\nc",
	} {
		if got := foreign.Text(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	var b strings.Builder
	table := foreign.Table(&b, 0)
	if _, err := fmt.Fprintf(table, "file\tvalue\nb\nc\t%d\n", 1); err != nil || table.Flush() != nil || b.String() != "file  value\nb\\nc  1\n" {
		t.Errorf("%v, %q", err, b.String())
	}
}
