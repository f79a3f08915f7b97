// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package csv

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func Example() {
	t, err := Read(strings.NewReader("# a gel\nbin,tau (ms),g2\n1,1,1.3\n1,2,1.2\n2,1,1.1\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, bin := range t.Bins() {
		s := t.Select(bin)
		fmt.Println(bin, s.Tau, s.G2)
	}
	// Output:
	// 1 [0.001 0.002] [1.3 1.2]
	// 2 [0.001] [1.1]
}

func TestRead(t *testing.T) {
	nan := math.NaN()
	for in, want := range map[string]*Table{
		"tau,g2\n1,2\n": {Tau: []float64{1}, G2: []float64{2}},
		"\ufeffTau,G2,g2_err\r\n\r\n# c\r\n1e-3, 1.5 ,nan\r\n2,,NaN": {Tau: []float64{1e-3, 2}, G2: []float64{1.5, nan}, Err: []float64{nan, nan}},
		"sigma;g2;delay [us]\n0.1;1;5\n":                             {Tau: []float64{5e-6}, G2: []float64{1}, Err: []float64{0.1}},
		"tau\tbin\tg2\n1\t3\tinf\n":                                  {Tau: []float64{1}, G2: []float64{math.Inf(1)}, Bin: []int{3}},
		"  tau (ns)   g2\n   1   2  \n":                              {Tau: []float64{1e-9}, G2: []float64{2}},
		"tau (s),g2\n4,1\n":                                          {Tau: []float64{4}, G2: []float64{1}},
		"tau_ms,g2\n4,1\n":                                           {Tau: []float64{0.004}, G2: []float64{1}},
		"t_el_us,g2,q_1/nm\n4,1,5\n":                                 {Tau: []float64{4e-6}, G2: []float64{1}, Q: []float64{0.5}},
		"\"tau\",\"g2\"\n\"1\",\"2\"\n":                              {Tau: []float64{1}, G2: []float64{2}},
		"g2_err,g2,tau":                                              {Err: []float64{}},
		// numpy.savetxt(..., header="tau g2 g2_err"), also with delimiter=","
		"# tau g2 g2_err\n1e-3 1.5 0.1\n2 1 0.2\n":     {Tau: []float64{1e-3, 2}, G2: []float64{1.5, 1}, Err: []float64{0.1, 0.2}},
		"# a gel\n# delay (ms), g2\n1,2\n# end\n3,4\n": {Tau: []float64{1e-3, 3e-3}, G2: []float64{2, 4}},
		"# tau g2\n1,2\n":               {Tau: []float64{1}, G2: []float64{2}},
		"# tau g2\nbin,tau,g2\n4,1,2\n": {Tau: []float64{1}, G2: []float64{2}, Bin: []int{4}},
		"bin,tau,g2,samples,skew,cov_1,g2_cov_2\n1,1,2,9,0,4,1\n1,2,2,9,0,1,3\n2,1,2,9,0,5,\n3,1,2,9,0,,\n": {Bin: []int{1, 1, 2, 3}, Tau: []float64{1, 2, 1, 1}, G2: []float64{2, 2, 2, 2},
			Samples: []float64{9, 9, 9, 9}, Skew: []float64{0, 0, 0, 0}, Cov: [][]float64{{4, 1}, {1, 3}, {5}, nil}},
		"tau,g2,g2_err,\n1,2,3,\n4,5,,\n6,7,\n": {Tau: []float64{1, 4, 6}, G2: []float64{2, 5, 7}, Err: []float64{3, nan, nan}},
		"tau;g2;\n1;2;\n":                       {Tau: []float64{1}, G2: []float64{2}},
		"tau,g2\n1,2,\n":                        {Tau: []float64{1}, G2: []float64{2}},
		"#tau,g2\n1,2,\n3,4,\n":                 {Tau: []float64{1, 3}, G2: []float64{2, 4}},
	} {
		got, err := Read(strings.NewReader(in))
		if err != nil || !equal(got, want) {
			t.Errorf("%q: got %+v, %v; want %+v", in, got, err, want)
		}
	}
}

// equal compares the contents of tables, not how they were written.
func equal(a, b *Table) bool {
	x, y := *a, *b
	x.Seconds, y.Seconds = false, false
	return fmt.Sprintf("%v", x) == fmt.Sprintf("%v", y) && (a.Err == nil) == (b.Err == nil) && (a.Bin == nil) == (b.Bin == nil)
}

func TestErrors(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "csv: input: there is no header: begin with a line such as tau,g2,g2_err",
		"1,2\n":                   "csv: input: line 1: there is no header before these numbers",
		"# of a gel\n1,2,3\n":     "csv: input: line 2: there is no header before these numbers, neither in a line of its own nor in a comment that names 3 columns",
		"# tau g2\n1 2 3\n":       "line 2: there is no header",
		"#\n# tau g3\n1 2\n":      `line 2, column 2: there is no column "g3": did you mean g2?`,
		"# tau g2\n1 2\n3 x\n":    `line 3, column 2 (g2): "x" is not a number`,
		"tau,g2,,\n1,2\n":         `line 1, column 3: there is no column ""`,
		"tau,g2\n1,2,,\n":         "line 2: the line has 4 fields, but the header has 2",
		"time,correlation\n1,2\n": `there is no column "time": did you mean tau?`,
		"intensity,g2\n1,2\n":     `there is no column "intensity": the columns are bin`,
		"\n#\ntau,g2_er,g2\n":     `csv: input: line 3, column 2: there is no column "g2_er": did you mean g2_err?`,
		"tua,g2\n":                `did you mean tau?`,
		"tau,g2,tau\n":            "csv: input: line 1, column 3 (tau): the column already exists, as number 1",
		"tau,bin\n":               `the header "tau,bin" has no column g2`,
		"tau (m),g2\n":            `tau has the unknown unit "m"`,
		"tau,g2 (s)\n":            `column g2 has no unit, but "s" is given`,
		"tau,g2\n1,2\n1,x\n":      `csv: input: line 3, column 2 (g2): "x" is not a number: write a number, or nan`,
		"tau,g2\n1,2,3\n":         "csv: input: line 2: the line has 3 fields, but the header has 2",
		"tau,g2\n0x10,2\n":        `"0x10" is not a number`,
		"bin,tau,g2\n1.5,2,3\n":   "line 2, column 1 (bin): 1.5 is not the number of a bin",
		"bin,tau,g2\nnan,2,3\n":   "NaN is not the number of a bin",
		"tau,g2,cov_1,cov_2\n1,2,1,0.5\n2,2,0.4,1\n": "csv: input: line 3: the covariance of rows 1 and 2 of bin 1 is 0.5 here and 0.4 there: rows were removed",
		"bin,tau,g2,cov_1,cov_2\n7,1,2,1,0.5\n":      "line 2: this row of bin 7 has covariances with 2 rows, and the bin has 1",
		"tau,g2,cov_1,cov_2\n1,2,1,0.5\n2,2,0.5,\n":  "line 3: this row of bin 1 has covariances with 1 rows, and the bin has 2",
		"tau,g2,cov_1\n1,2,-1\n":                     "the variance of row 1 of bin 1 is -1",
		"tau,g2,cov_1,cov_3\n":                       "has the column cov_3 but not cov_2",
		"tau,g2,cov_1 (s)\n":                         `there is no column "cov_1 (s)"`,
		"tau,g2\n" + strings.Repeat("1", 1<<20+1):    "line 2: the file cannot be read: the line has more than 1048576 bytes",
	} {
		_, err := Read(strings.NewReader(in))
		var f *FormatError
		if !errors.As(err, &f) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %q", in, err, want)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.csv")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
}

func TestCreate(t *testing.T) {
	name := filepath.Join(t.TempDir(), "g2.csv")
	want := &Table{Bin: []int{1, 2}, Tau: []float64{0.1, math.Pi}, G2: []float64{1, math.NaN()}, Err: []float64{math.Inf(1), 0}}
	if err := Create(name, want, "two\nlines"); err != nil {
		t.Fatal(err)
	}
	b, _ := os.ReadFile(name)
	if !strings.HasPrefix(string(b), "# two\n# lines\nbin,tau,g2,g2_err\n1,0.1,1,+Inf\n") {
		t.Errorf("%s", b)
	}
	if got, err := Open(name); err != nil || !equal(got, want) {
		t.Error(got, err)
	}
	if err := Create(name, &Table{Tau: []float64{1}}); err == nil || !strings.Contains(err.Error(), "tau has 1 rows, g2 0") {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(name), "*")); len(left) != 1 {
		t.Error(left)
	}
}

func TestSelect(t *testing.T) {
	one := &Table{Tau: []float64{1}, G2: []float64{2}, Err: []float64{3}}
	if !reflect.DeepEqual(one.Bins(), []int{1}) || !reflect.DeepEqual(one.Select(1), one) || one.Select(2).Len() != 0 || (&Table{}).Bins() != nil {
		t.Error("a table without bins is bin 1")
	}
}

func draw(t *rapid.T) *Table {
	n := rapid.IntRange(0, 20).Draw(t, "n")
	floats := func(name string) []float64 { return rapid.SliceOfN(rapid.Float64(), n, n).Draw(t, name) }
	x := &Table{Tau: floats("tau"), G2: floats("g2")}
	if rapid.Bool().Draw(t, "err") {
		x.Err = floats("err")
	}
	if rapid.Bool().Draw(t, "bins") {
		x.Bin = rapid.SliceOfN(rapid.IntRange(1, 99), n, n).Draw(t, "bin")
	}
	if n > 0 && rapid.Bool().Draw(t, "covariance") {
		size := rapid.SliceOfN(rapid.Float64Range(1e-3, 1e3), n, n).Draw(t, "sizes")
		x.Cov, x.Samples, x.Skew = make([][]float64, n), floats("samples"), floats("skew")
		for i := range n {
			for j := range n {
				if x.Bin == nil || x.Bin[i] == x.Bin[j] {
					x.Cov[i] = append(x.Cov[i], size[i]*size[j])
				}
			}
		}
	}
	return x
}

// What is written is read back, to the last bit.
func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := draw(t)
		var b bytes.Buffer
		if err := Write(&b, want, "comment"); err != nil {
			t.Fatal(err)
		}
		got, err := Read(&b)
		if err != nil || !equal(got, want) {
			t.Fatalf("got %+v, %v; want %+v", got, err, want)
		}
	})
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"tau,g2\n1,2\n", "bin,tau,g2,cov_1,cov_2\n1,1,2,4,1\n1,2,2,1,3\n2,1,2,5,\n", "bin;g2_err;tau (ms);g2\n1;2;3;nan\n", "# c\n\ntau g2\n1 2\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := Read(bytes.NewReader(b))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := Write(&out, x); err != nil {
			t.Fatal(err)
		}
		again, err := Read(&out)
		if err != nil || !equal(again, x) {
			t.Fatalf("read %+v, wrote it, read %+v, %v", x, again, err)
		}
	})
}

// Decimal commas are read, and told, and so are delays without a unit.
func TestDecimalCommas(t *testing.T) {
	for text, want := range map[string]bool{"tau,g2\n1,2\n": true, "tau (s),g2\n1,2\n": false, "tau_ms,g2\n1,2\n": false} {
		if got, err := Read(strings.NewReader(text)); err != nil || got.Seconds != want {
			t.Errorf("%q: assumed seconds: %v", text, err)
		}
	}
	for text, want := range map[string]bool{"tau;g2\n0,5;1,25\n": true, "tau;g2\n0.5;1.25\n": false, "tau,g2\n0.5,1.25\n": false} {
		got, err := read(strings.NewReader(text), "x.csv")
		if err != nil || got.Tau[0] != 0.5 || got.G2[0] != 1.25 || got.Decimal != want {
			t.Errorf("%q: %+v, %v", text, got, err)
		}
	}
}
