// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package libconfig

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func parse(t testing.TB, text string) *Value {
	t.Helper()
	v, err := Parse([]byte(text), "f")
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return v
}

// show writes a value in one line, for comparison.
func show(v *Value) string {
	var inside []string
	for _, item := range v.Items {
		s := show(item)
		if v.Kind == Group {
			s = item.Name + "=" + s
		}
		inside = append(inside, s)
	}
	list := strings.Join(inside, " ")
	switch v.Kind {
	case Int:
		return fmt.Sprint(v.Int)
	case Float:
		return fmt.Sprintf("%gf", v.Float)
	case Bool:
		return fmt.Sprint(v.Bool)
	case String:
		return fmt.Sprintf("%q", v.Text)
	case Array:
		return "[" + list + "]"
	case List:
		return "(" + list + ")"
	}
	return "{" + list + "}"
}

// The grammar is that of the manual of libconfig 1.7.
func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"":                               "{}",
		" \t\r\n# only a comment":        "{}",
		"\ufeffa=1":                      "{a=1}",
		"a = 1;":                         "{a=1}",
		"a : 1,":                         "{a=1}",
		"a=1 b=2\nc:3":                   "{a=1 b=2 c=3}",
		"a=-1;b=+2;c=010":                "{a=-1 b=2 c=10}",
		"a=0x1F;b=0XffL;c=12L;d=12LL":    "{a=31 b=255 c=12 d=12}",
		"a=0b101;b=0o17;c=0Q17":          "{a=5 b=15 c=15}",
		"a=9223372036854775807L":         "{a=9223372036854775807}",
		"a=1.5;b=-.5;c=2.;d=1e3;e=7e-05": "{a=1.5f b=-0.5f c=2f d=1000f e=7e-05f}",
		"a=True;b=FALSE;c=false":         "{a=true b=false c=false}",
		`a="x"`:                          `{a="x"}`,
		`a="x" "y" // z` + "\n\"z\";":    `{a="xyz"}`,
		`a="q\"\\\n\t\x41\a"`:            `{a="q\"\\\n\tA\a"}`,
		"a=[];b=();c={}":                 "{a=[] b=() c={}}",
		"a=[1,2,3,];b=[1, 2.5]":          "{a=[1 2 3] b=[1 2.5f]}",
		"a=(1,\"x\",[2],({b=3;}),);":     `{a=(1 "x" [2] ({b=3}))}`,
		"k={k0={k=[0.0]}, k1={k=[1.0]}}": "{k={k0={k=[0f]} k1={k=[1f]}}}",
		"a/*x*/=/*y\n*/1/**/;b=2":        "{a=1 b=2}",
		"EnergyData0:\n{\nEnergy = 280.0;\n}\nEnergyData1:{}": "{EnergyData0={Energy=280f} EnergyData1={}}",
		"*a-b_c1=1":          "{*a-b_c1=1}",
		"a=1;# c\n// d\nb=2": "{a=1 b=2}",
	} {
		if got := show(parse(t, in)); got != want {
			t.Errorf("%q: %s, want %s", in, got, want)
		}
	}
}

func TestMistakes(t *testing.T) {
	for in, want := range map[string]string{
		"a":                             "f: line 1, column 2: found the end of the file after a",
		"a=0,5;":                        "f: line 1, column 5: a comma between two digits ends the setting here",
		"a b":                           "f: line 1, column 3: found 'b' after a",
		"a=\n  ;":                       "f: line 2, column 3: found ';', want a value",
		"a=1;\nb=2;\n a=3;":             "f: line 3, column 2: the setting a already exists, in line 1",
		"1a=2":                          "f: line 1, column 1: found '1', want the name",
		"a=[1,2":                        "f: line 1, column 3: the array has no end",
		"a=[1 2]":                       "f: line 1, column 6: found '2' in array",
		"a=[,]":                         "f: line 1, column 4: found ','",
		"a=[1,\"x\"]":                   "f: line 1, column 6: there is text in an array that begins with a whole number",
		"a=[1,[2]]":                     "f: line 1, column 6: there is an array inside an array",
		"a=(1":                          "f: line 1, column 3: the list has no end",
		"a={b=1":                        "f: line 1, column 3: the group has no end",
		"a={b=1]":                       "f: line 1, column 7: found ']', want the name",
		"a=1}":                          "f: line 1, column 4: found '}' outside",
		"a=\"x":                         "f: line 1, column 3: the text has no end",
		"a=\"x\\":                       "f: line 1, column 5: the text contains an unknown escape",
		"a=\"\\q\"":                     "f: line 1, column 4: the text contains an unknown escape",
		"a=\"\\x4\"":                    "f: line 1, column 4: the text contains an unknown escape",
		"a=1 /* b":                      "f: line 1, column 5: the comment has no end",
		"@include \"b.cfg\"":            "f: line 1, column 1: @include",
		"a=1e999":                       "f: line 1, column 3: 1e999 is neither",
		"a=9223372036854775808":         "f: line 1, column 3: 9223372036854775808 is neither",
		"a=nan":                         "f: line 1, column 3: nan is neither",
		"a=0x":                          "f: line 1, column 3: 0x is neither",
		"a=0x-1":                        "f: line 1, column 3: 0x-1 is neither",
		"a=.":                           "f: line 1, column 3: . is neither",
		"a=1_000":                       "f: line 1, column 3: 1_000 is neither",
		"a=np.float64(280.0)":           "f: line 1, column 3: np.float64 is neither",
		"a=" + strings.Repeat("(", 100): "more than 64 groups and lists",
		"\x00":                          "f: line 1, column 1: found '\\x00'",
	} {
		_, err := Parse([]byte(in), "f")
		var e *FormatError
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", in, err, want)
		}
	}
}

func TestLimits(t *testing.T) {
	many := "a=[" + strings.Repeat("1,", maxValues) + "]"
	if _, err := Parse([]byte(many), "f"); err == nil || !strings.Contains(err.Error(), "values") {
		t.Error(err)
	}
	long := strings.NewReader("#" + strings.Repeat(" ", maxBytes))
	if _, err := Read(long, "f"); err == nil || !strings.Contains(err.Error(), "16 MiB") {
		t.Error(err)
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

func TestLookup(t *testing.T) {
	root := parse(t, "Energies = [280, 284.7];\nbeams = ({ k = [0.0, 0.0, 1.0]; });\nRotMask = True;\nDir = \"out\";\nN = 3;")
	k, err := root.Lookup("beams.[0].k.[2]")
	if err != nil || k.Float != 1 || k.Line != 2 || k.Column != 27 || k.File() != "f" {
		t.Error(k, err)
	}
	e, _ := root.Lookup("Energies")
	if x, err := e.Float64s(); err != nil || fmt.Sprint(x) != "[280 284.7]" {
		t.Error(x, err)
	}
	for path, want := range map[string]string{
		"energies": "no setting energies: is it Energies?", "beams.[1]": "beams is a list of 1 elements",
		"beams.[x]": "beams is a list", "zzz": "no setting zzz: add it", "Energies.k": "Energies is an array of 2", "beams.[-1]": "beams is a list",
	} {
		_, err := root.Lookup(path)
		if !errors.Is(err, ErrNotFound) || !strings.Contains(err.Error(), want) || root.Has(path) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if !root.Has("N") {
		t.Error("N is there")
	}
}

func TestKinds(t *testing.T) {
	root := parse(t, "i=1;f=1.5;b=true;s=\"x\";a=[1,2];l=(1,\"x\");")
	get := func(name string) *Value { v, _ := root.Lookup(name); return v }
	i, err1 := get("i").AsInt()
	f, err2 := get("f").AsFloat()
	fi, err3 := get("i").AsFloat()
	b, err4 := get("b").AsBool()
	s, err5 := get("s").AsText()
	if err := errors.Join(err1, err2, err3, err4, err5); err != nil || i != 1 || f != 1.5 || fi != 1 || !b || s != "x" {
		t.Error(err, i, f, fi, b, s)
	}
	for _, check := range []struct {
		call func() error
		want string
	}{
		{func() error { _, err := get("f").AsInt(); return err }, "f: line 1, column 7: f is a fraction, want a whole number"},
		{func() error { _, err := get("s").AsFloat(); return err }, "s is text, want a number"},
		{func() error { _, err := get("i").AsBool(); return err }, "i is a whole number, want true or false"},
		{func() error { _, err := get("b").AsText(); return err }, "b is a truth value, want text"},
		{func() error { _, err := get("i").Float64s(); return err }, "i is a whole number, want an array"},
		{func() error { _, err := get("l").Float64s(); return err }, "element 1 of l is text, want a number"},
	} {
		if err := check.call(); !errors.Is(err, ErrKind) || !strings.Contains(err.Error(), check.want) {
			t.Errorf("%v, want %s", err, check.want)
		}
	}
	if s := Kind(99).String(); s != "kind 99" {
		t.Error(s)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("CaseType = 0;\nEnergies = [280.0, 284.7];\nRotMask = True; // c\n")
	f.Add("k = ({ k = [0.1, 0.2, 0.95]; }, { k = (1); });/* */ s=\"a\\x41\" \"b\"")
	f.Add("EnergyData0:\n{\nEnergy = 284.4;\n}\n")
	f.Fuzz(func(t *testing.T, text string) {
		v, err := Parse([]byte(text), "f")
		if err != nil {
			var e *FormatError
			if !errors.As(err, &e) || e.Line < 1 || e.Line > 1+strings.Count(text, "\n") {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		walk(t, v, text)
	})
}

// walk checks that every value is where it says, and finite.
func walk(t *testing.T, v *Value, text string) {
	lines := strings.Split(strings.TrimPrefix(text, "\ufeff"), "\n")
	if v.Line > len(lines) || v.Column > len(lines[v.Line-1])+1 || math.IsInf(v.Float, 0) || math.IsNaN(v.Float) {
		t.Fatalf("%q: %+v", text, v)
	}
	for _, item := range v.Items {
		walk(t, item, text)
	}
}
