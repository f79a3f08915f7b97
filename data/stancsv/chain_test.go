// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stancsv_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/stancsv"
)

const cmdstan = `# stan_version_major = 2
#     num_samples = 2 (Default)
#     num_warmup = 1
#     save_warmup = 1
#     thin = 1 (Default)
lp__,accept_stat__,divergent__,theta.1,theta.2
-1,0.9,0,1,2
# Adaptation terminated
# Step size = 0.5
-2,0.8,1,3,-inf
-3,0.7,0,5,nan
#  Elapsed Time: 0.1 seconds (Warm-up)
`

func TestReadCmdStan(t *testing.T) {
	c, err := stancsv.Read(strings.NewReader(cmdstan), "x.csv")
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Warmup) != 1 || len(c.Draws) != 2 || c.Column("theta.1")[1] != 5 || !math.IsInf(c.Column("theta.2")[0], -1) || c.Column("mu") != nil {
		t.Errorf("%+v", c)
	}
	if got := c.Parameters(); len(got) != 2 || got[1] != "theta.2" || c.Settings["Step size"] != "0.5" || c.Settings["num_samples"] != "2" {
		t.Errorf("%v %v", got, c.Settings)
	}
}

func TestRoundTrip(t *testing.T) {
	c := &stancsv.Chain{Columns: []string{"lp__", "a"}, Draws: [][]float64{{-1.0 / 3, math.Pi}, {math.Inf(1), 5e-324}}, Settings: map[string]string{"id": "1"}}
	var b bytes.Buffer
	if err := c.Write(&b); err != nil {
		t.Fatal(err)
	}
	d, err := stancsv.Read(&b, "x")
	if err != nil || d.Settings["id"] != "1" || d.Draws[0][1] != math.Pi || d.Draws[1][1] != 5e-324 || d.Draws[0][0] != -1.0/3 {
		t.Errorf("%v %+v", err, d)
	}
}

func TestBadFiles(t *testing.T) {
	for text, want := range map[string]string{
		"":                "no line of column names",
		"1,2\n":           "want a line of names",
		"a,b\n1\n":        "line 2: the row has 1 values",
		"a,b\n1,x\n":      `column b contains "x"`,
		"a,a\n":           "appears twice",
		"a,b\n1,2\n1,2,3": "line 3",
	} {
		if _, err := stancsv.Read(strings.NewReader(text), "f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// A file that was cut anywhere within its last draw is refused, also where what is left of
// the last number is a number; one that was cut within a comment, or after a newline, is
// read.
func TestFilesThatWereCutOff(t *testing.T) {
	whole := "lp__,a\n-1.25,0.5\n-2.5,-0.75\n"
	last := strings.Index(whole, "-2.5")
	for n := last + 1; n < len(whole); n++ {
		for _, end := range []string{"", "\r"} {
			if c, err := stancsv.Read(strings.NewReader(whole[:n]+end), "f"); err == nil || !strings.Contains(err.Error(), "line 3: the file ends within this line") {
				t.Errorf("%q: %v %+v", whole[:n]+end, err, c)
			}
		}
	}
	if _, err := stancsv.Read(strings.NewReader("lp__,al"), "f"); err == nil {
		t.Error("column names that were cut are read")
	}
	for _, text := range []string{whole, whole[:last], whole + "# Elapsed Ti", whole + "  "} {
		if _, err := stancsv.Read(strings.NewReader(text), "f"); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(cmdstan))
	f.Add([]byte("a,b\n1,2\n"))
	f.Add([]byte(`""""`))
	f.Add([]byte("L.1.1,L.2.1,L.1.2,L.2.2,x.1,x.3,x[1],lp__\n# Diagonal elements of inverse mass matrix:\n# 1, 2\n1,2,3,4,5,6,7,8\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := stancsv.Read(bytes.NewReader(b), "f")
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := c.Write(&out); err != nil {
			t.Fatal(err)
		}
		d, err := stancsv.Read(&out, "again")
		if err != nil || len(d.Draws) != len(c.Draws) || len(d.Warmup) != len(c.Warmup) || len(d.Columns) != len(c.Columns) {
			t.Fatalf("written %d and %d draws, read %v: %+v", len(c.Warmup), len(c.Draws), err, d)
		}
		if tree, err := stancsv.Tree([]*stancsv.Chain{c, c}); err == nil {
			stancsv.Chains(tree)
		}
	})
}
