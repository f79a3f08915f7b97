// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package delimited

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// Every separator, place of the names and end of line gives the same table.
func TestTables(t *testing.T) {
	for text, separator := range map[string]string{
		"a,b (nm)\n1,2\n3,nan\n":                                          "commas",
		"\ufeffa;b (nm)\r\n1;2\r\n\r\n3;nan":                              "semicolons",
		"# made by hand\na\tb (nm)\n1\t2\n3\t":                            "tabs",
		"a  b (nm)\r1 2\r# between\r3 NaN\r":                              "blanks",
		"# a b (nm)\n 1  2\n 3  nan\n":                                    "blanks, with the names in a comment",
		"# a,b (nm)\n1;2;\n3;;\n":                                         "semicolons, with the names in a comment",
		"\"a\",\"b (nm)\"\n\"1\",2,\n3,\"\"\n":                            "commas",
		"a;b (nm)\n1,0;2,00\n3;\n":                                        "semicolons, with decimal commas",
		"\xff\xfe" + utf16("a\tb (nm)\n1\t2\n3\t\n", binary.LittleEndian): "tabs",
		"\xfe\xff" + utf16("a;b (nm)\n1;2\n3;\n", binary.BigEndian):       "semicolons",
	} {
		var got []string
		add := func(_ int, cells []string) bool {
			for i, c := range cells {
				if v, err := Number(c); err == nil {
					cells[i] = fmt.Sprint(v)
				} else {
					cells[i] = strings.ReplaceAll(c, " ", "")
				}
			}
			got = append(got, strings.Join(cells, "|"))
			return true
		}
		told, fault := Read(strings.NewReader(text), Table{Known: func(s string) bool { return s == "a" }, Example: "a,b", Header: add, Row: add})
		if fault != nil || told != separator || strings.Join(got, " ") != "a|b(nm) 1|2 3|NaN" {
			t.Errorf("%q: %v by %q, %v", text, got, told, fault)
		}
	}
}

// utf16 writes a text as Windows programs do.
func utf16(s string, order binary.AppendByteOrder) string {
	var b []byte
	for _, r := range s {
		b = order.AppendUint16(b, uint16(r))
	}
	return string(b)
}

// What cannot be read is told with its line.
func TestFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "0 there is no header",
		"1 2\n3 4\n":                             "1 there is no header before these numbers",
		"# x y\n1 2\n":                           "2 there is no header before these numbers",
		"# a b c\n1 2\n":                         "2 there is no header before these numbers",
		"a,b\n1,2\n1,2,3\n":                      "3 the line has 3 fields, but the header has 2",
		"a,b\n\"1,2\n":                           "2 the line has",
		"a,b\n" + strings.Repeat("1", maxLine+1): "2 the file cannot be read: the line has more than",
	} {
		any := func(int, []string) bool { return true }
		_, fault := Read(strings.NewReader(text), Table{Known: func(s string) bool { return s == "a" }, Header: any, Row: any})
		if fault == nil || !strings.HasPrefix(fmt.Sprint(fault.Line, " ", fault.What), want) {
			t.Errorf("%.20q: %+v, want %s", text, fault, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "# a b\n1 2\r3 4", "a;\"b\n", "\t\n#\n,"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		width := -1
		Read(strings.NewReader(s), Table{Known: func(string) bool { return true },
			Header: func(_ int, cells []string) bool { width = len(cells); return true },
			Row: func(line int, cells []string) bool {
				if len(cells) != width || line < 1 {
					t.Fatal(line, cells, width)
				}
				return true
			}})
	})
}
