// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula_test

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/tensor"
)

// decay is a table of 5 exp(-t/2.3) + 1, for each of some factors, with errors of 0.05.
func decay(header, separator string, factors ...float64) string {
	random := tensor.NewStream(3, 0, 0)
	lines := []string{header}
	for g, f := range factors {
		for i := range 40 {
			x := float64(i) / 4
			cells := []string{fmt.Sprintf("%.3f", x), fmt.Sprintf("%.4f", f*(5*math.Exp(-x/2.3)+1)+0.05*random.Normal())}
			if len(factors) > 1 {
				cells = append(cells, string(rune('A'+g)))
			}
			lines = append(lines, strings.Join(cells, separator))
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func TestFitCurve(t *testing.T) {
	data := apptest.Write(t, "d.csv", strings.ReplaceAll(decay("t (s);signal", ";", 1), ".", ","))
	out := filepath.Join(t.TempDir(), "fit")
	code, text, stderr := apptest.Do(t, "fit", "curve", data, "a*exp(-t/tau) + c", "--sigma", "0.05", "--profile", "--json", "--out", out)
	if code != 0 {
		t.Fatal(stderr)
	}
	var doc struct {
		X        map[string]float64
		SD       map[string]float64
		Interval map[string][]float64  `json:"interval95"`
		Check    struct{ Word string } `json:"model_check"`
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]float64{"a": 5, "tau": 2.3, "c": 1} {
		ends := doc.Interval[name]
		if math.Abs(doc.X[name]-want) > 4*doc.SD[name] || len(ends) != 2 || math.Abs(ends[1]-ends[0]-3.92*doc.SD[name]) > 0.4*doc.SD[name] {
			t.Errorf("%s is %g +- %g, within %v: want %g", name, doc.X[name], doc.SD[name], ends, want)
		}
	}
	if doc.Check.Word != "agrees" || !strings.Contains(stderr, "decimal commas") || !strings.Contains(stderr, "all of 12 fits ended at one minimum") {
		t.Errorf("%s %s", doc.Check.Word, stderr)
	}
	for _, name := range []string{"fit.json", "fits.csv", "report.html"} {
		if _, err := os.Stat(filepath.Join(out, name)); err != nil {
			t.Error(err)
		}
	}
	code, text, stderr = apptest.Do(t, "fit", "curve", data, "a*exp(-t/tau) + c", "--fix", "c=1", "--tie", "a=5*c", "--bounds", "tau=1:3", "--range", "t=0:5", "--exclude", "t=1:2", "--loss", "huber")
	if code != 0 || !strings.Contains(text, "tau          2.3") {
		t.Errorf("exit %d: %s%s", code, text, stderr)
	}
}

func TestFitCurveByGroup(t *testing.T) {
	data := apptest.Write(t, "d.tsv", decay("t\tsignal\tdish", "\t", 1, 2, 3))
	table := filepath.Join(t.TempDir(), "fits.csv")
	code, text, stderr := apptest.Do(t, "fit", "curve", data, "a*exp(-t/tau) + c", "--by", "dish", "--out", table)
	if code != 0 || !strings.Contains(text, "dish=C, 40 rows") {
		t.Fatalf("exit %d: %s%s", code, text, stderr)
	}
	rows := apptest.Rows(t, table)
	if len(rows) != 10 || rows[7][0] != "dish=C" || !strings.HasPrefix(rows[7][2], "15.") && !strings.HasPrefix(rows[7][2], "14.9") {
		t.Errorf("%v", rows)
	}
}

func TestCurveMistakes(t *testing.T) {
	data := apptest.Write(t, "d.csv", decay("t,signal", ",", 1))
	hole := apptest.Write(t, "hole.csv", "t,y\n1,2\n2,\n3,4\n4,5\n5,6.5\n")
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{data, "a*exp(-x/tau)"}, "uses none of the columns t, signal"},
		{[]string{data, "a*exp(-T/tau)"}, "; T is not t"},
		{[]string{data, "a*exp(-T/tau) + 0*t"}, ""},
		{[]string{data, "a*exp(-t/tau", "--y", "signal"}, "are not closed"},
		{[]string{data, "a*exp(-t/tau)", "--y", "singal"}, "did you mean signal?"},
		{[]string{data, "a*exp(-t/tau)", "--start", "tua=3"}, `parameter "tua": want a or tau; did you mean "tau"?`},
		{[]string{data, "a*exp(-t/tau)", "--start", "tau=3,5"}, "the decimal sign is a point, as in 3.5"},
		{[]string{data, "a*exp(-t/tau)", "--start", "t=3"}, "this is a column"},
		{[]string{data, "a*exp(-t/tau)", "--bounds", "tau=5"}, "--bounds tau=5"},
		{[]string{data, "a*exp(-t/tau)", "--bounds", "tau=5:1"}, "with lo < hi"},
		{[]string{data}, "needs a table and a formula"},
		{[]string{data, "a*exp(-t/tau)", "--range", "t=50:60"}, "leaves no row: t goes from 0 to 9.75"},
		{[]string{data, "a*exp(-t/tau)", "--sigma", "err"}, "neither a column nor a number"},
		{[]string{data, "a*exp(-t/tau)", "--sigma", "poisson"}, "which is no count"},
		{[]string{data, "a*exp(-t/tau)", "--by", "dish"}, "there is no column dish"},
		{[]string{"/nowhere.csv", "a*x"}, "/nowhere.csv"},
		{[]string{filepath.Dir(data), "a*x"}, "name a file in it, such as " + data},
		{[]string{data, "gaussian(p_)"}, "write it with one of them, as in gaussian(t, p_)"},
		{[]string{data, "gausian(t, p_)"}, "splineN, sqrt"},
		{[]string{apptest.Write(t, "one.csv", "t,y\n1,3.5\n"), "a*exp(-t/tau) + c"}, "1 row cannot determine 3 parameters"},
	} {
		code, out, stderr := apptest.Do(t, append([]string{"fit", "curve"}, c.args...)...)
		if c.says != "" && (code == 0 || !strings.Contains(stderr, c.says)) {
			t.Errorf("%v\nexit %d: %s%s, want %q", c.args, code, out, stderr, c.says)
		}
	}
	counts := apptest.Write(t, "n.csv", "x,y\n0,1\n1,3\n2,6\n3,17\n4,40\n")
	if code, _, stderr := apptest.Do(t, "fit", "curve", counts, "exp(a + b*x)", "--sigma", "poisson"); code != 0 || !strings.Contains(stderr, "roots of the counts of y that the formula predicts") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if code, _, stderr := apptest.Do(t, "fit", "curve", hole, "a + b*t"); code != 0 || !strings.Contains(stderr, "1 row left out, in which a cell that is needed is empty or nan") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// TestSampleCurve samples without a problem file, and goes on with the same draws.
func TestSampleCurve(t *testing.T) {
	data := apptest.Write(t, "d.csv", decay("t,signal", ",", 1))
	dir := filepath.Join(t.TempDir(), "run")
	code, out, stderr := apptest.Do(t, "sample", "curve", data, "a*exp(-t/tau) + c", "--prior", "tau=lognormal(1, 1)", "--out", dir, "--warmup", "300", "--draws", "300", "--no-report", "--json")
	if code != 0 || !strings.Contains(stderr, "flat priors: a, c, sigma") {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var doc struct{ Summary map[string]map[string]any }
	if err := json.Unmarshal([]byte(out), &doc); err != nil {
		t.Fatal(err)
	}
	if m, _ := doc.Summary["tau"]["mean"].(float64); math.Abs(m-2.3) > 0.1 {
		t.Errorf("tau is %g", m)
	}
	if code, _, stderr := apptest.Do(t, "sample", "curve", data, "a*exp(-t/tau) + c", "--likelihood", "poisson(lam)", "--out", dir+"2"); code == 0 || !strings.Contains(stderr, "has no mu") {
		t.Errorf("a likelihood without mu: exit %d: %s", code, stderr)
	}
	before := apptest.Chains(t, dir)
	os.Remove(data)
	if code, _, stderr := apptest.Do(t, "sample", "curve", "--resume", dir, "--quiet"); code != 0 || apptest.Chains(t, dir) != before {
		t.Errorf("resume: exit %d: %s", code, stderr)
	}
}

// TestProblemWithTable takes the data of a problem from a table beside it.
func TestProblemWithTable(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"d.csv": decay("t,signal", ",", 1), "p.json": `{"expr": "a*exp(-t/tau) + c", "data": "d.csv", "y": "signal"}`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if code, out, stderr := apptest.Do(t, "fit", "nlsq", filepath.Join(dir, "p.json")); code != 0 || !strings.Contains(out, "tau          2.26") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

// TestLabelsOfGroupsInTables writes labels from a table so that neither a spreadsheet nor a terminal obeys them.
func TestLabelsOfGroupsInTables(t *testing.T) {
	data := apptest.Write(t, "g.csv", "t,y,g\n0,1,=1+1\n1,2,=1+1\n2,2.9,=1+1\n0,1,\"\x1b[31mx\"\n1,2,\"\x1b[31mx\"\n2,3.1,\"\x1b[31mx\"\n")
	table := filepath.Join(t.TempDir(), "fits.csv")
	code, out, stderr := apptest.Do(t, "fit", "curve", data, "a + b*t", "--by", "g", "--out", table)
	b, err := os.ReadFile(table)
	if code != 0 || err != nil {
		t.Fatal(code, stderr, err)
	}
	for _, text := range []string{out, string(b)} {
		if strings.Contains(text, "\x1b") || strings.Contains(text, "\n=") || strings.Contains(text, ",=") || !strings.Contains(text, `\x1b[31mx`) {
			t.Errorf("%q", text)
		}
	}
}

// TestUncertainty asks a fit for all that it can say of its errors, in words, in the document and in the folder.
func TestUncertainty(t *testing.T) {
	data := apptest.Write(t, "d.csv", decay("t,signal", ",", 1))
	dir := filepath.Join(t.TempDir(), "fit")
	asked := []string{"fit", "curve", data, "a*exp(-t/tau) + c", "--sigma", "0.05", "--profile", "--limits", "--contour", "a,tau", "--derived", "half=tau*log(2)", "--bootstrap", "200", "--correlations", "--conventions"}
	code, text, stderr := apptest.Do(t, append(asked, "--out", dir)...)
	for _, want := range []string{"half  ", "= tau*log(2)", "   68 %: ", "   95 %: ", "one-sided limits of 95 %", "bootstrap of 200 resampled cases", "correlations:", "SciPy absolute_sigma=True"} {
		if code != 0 || !strings.Contains(text, want) {
			t.Fatalf("exit %d, want %q: %s%s", code, want, text, stderr)
		}
	}
	for _, name := range []string{"curve.csv", "plots/contour-a-tau.svg"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if rows := apptest.Rows(t, filepath.Join(dir, "curve.csv")); len(rows) != 41 || apptest.Cell(t, rows, 1, "new_high95") <= apptest.Cell(t, rows, 1, "high95") {
		t.Errorf("%v", rows[:2])
	}
	if rows := apptest.Rows(t, filepath.Join(dir, "fits.csv")); len(rows) != 5 || apptest.Cell(t, rows, 4, "parameter") != "half" {
		t.Errorf("%v", rows)
	}
	code, text, stderr = apptest.Do(t, append(asked, "--json", "--relative-sigma")...)
	var doc struct {
		SD         map[string]float64
		Reduced    float64                            `json:"chi2_reduced"`
		Derived    map[string]struct{ X, SD float64 } `json:"derived"`
		Interval68 map[string][]float64               `json:"interval68"`
		Limits     map[string][]float64               `json:"limits95"`
		Contours   []struct {
			Level float64
			X     []float64
		} `json:"contours"`
		Bootstrap   struct{ SD map[string]float64 } `json:"bootstrap"`
		Correlation [][]float64                     `json:"correlation"`
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil || code != 0 {
		t.Fatal(code, stderr, err)
	}
	if h := doc.Derived["half"]; math.Abs(h.SD/doc.SD["tau"]-math.Ln2) > 1e-9 || len(doc.Contours) != 3 || len(doc.Contours[2].X) != 48 || doc.Correlation[0][0] != 1 || !(doc.Bootstrap.SD["tau"] > 0) {
		t.Errorf("%+v", doc)
	}
	if one, limits := doc.Interval68["half"], doc.Limits["half"]; len(one) != 2 || len(limits) != 2 || !(limits[0] < one[0] && limits[1] > one[1]) {
		t.Errorf("%v %v", one, limits)
	}
	for _, c := range []struct{ flag, value, says string }{
		{"--contour", "a,taw", "did you mean tau?"}, {"--contour", "a", "want two parameters"}, {"--bootstrap", "3", "want 50 or more"}, {"--starts", "9223372036854775807", "from 0 to 100000"}, {"--starts", "-5", "from 0 to 100000"}, {"--resample", "rows", "want cases or residuals"},
		{"--derived", "half", "want a name and a value"}, {"--derived", "half=taw", "uses taw"},
	} {
		args := []string{"fit", "curve", data, "a*exp(-t/tau) + c", c.flag, c.value}
		if code, _, stderr := apptest.Do(t, args...); code == 0 || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
	}
}

// TestFitCurveErrorsInX fits with errors of a column, of an implicit formula, and with correlated errors, by flags.
func TestFitCurveErrorsInX(t *testing.T) {
	data := apptest.Write(t, "york.csv", "x,y,dx,dy,run\n0,5.9,0.0316,1,A\n0.9,5.4,0.0316,0.745,A\n1.8,4.4,0.0447,0.5,A\n2.6,4.6,0.0354,0.354,A\n3.3,3.5,0.0707,0.224,A\n4.4,3.7,0.112,0.224,B\n5.2,2.8,0.129,0.12,B\n6.1,2.8,0.224,0.12,B\n6.5,2.4,0.745,0.1,B\n7.4,1.5,1,0.0447,B\n")
	rows := make([]string, 10)
	for i := range rows {
		cells := make([]string, 10)
		for k := range cells {
			cells[k] = map[bool]string{true: "0.04", false: "0.01"}[i == k]
		}
		rows[i] = strings.Join(cells, ",")
	}
	cov := apptest.Write(t, "cov.csv", strings.Join(rows, "\n"))
	for _, c := range []struct {
		formula, want string
		flags         []string
	}{
		{"a + b*x", "b            -0.481 +-", []string{"--sigma-x", "dx"}},
		{"a + b*x", "b            -0.481 +-", []string{"--sigma", "dy", "--sigma-x", "x=dx", "--profile", "--contour", "a,b"}},
		{"a + b*x - y", "b            -0.481 +-", []string{"--implicit", "--sigma-x", "x=dx", "--sigma-x", "y=dy", "--start", "a=5", "--start", "b=-0.5"}},
		{"a + b*x", "a            5.76", []string{"--cov", cov}},
		{"a + b*x", "offset_error[B]", []string{"--offset-error", "0.2 over run", "--prior", "b=normal(-0.5, 0.1)", "--scale-error", "2%"}},
		{"a + b*x", "a            5.7", []string{"--sigma", "0.3", "--ar1", "0.2 over run"}},
	} {
		args := append([]string{"fit", "curve", data, c.formula}, c.flags...)
		if code, out, stderr := apptest.Do(t, append(args, "--out", t.TempDir()+"/run")...); code != 0 || !strings.Contains(out, c.want) {
			t.Errorf("%v: exit %d: %s%s", c.flags, code, out, stderr)
		}
	}
	for _, c := range [][]string{{"--sigma-x", "z=dx", "there is no column of numbers z"}, {"--cov", data, "texts"}, {"--scale-error", "2% over rum", "did you mean"}, {"--sigma-x", "dz", "neither a column"}} {
		if code, _, stderr := apptest.Do(t, "fit", "curve", data, "a + b*x", c[0], c[1]); code == 0 || !strings.Contains(stderr, c[2]) {
			t.Errorf("%v: exit %d: %s", c, code, stderr)
		}
	}
}

// TestFitCurveChoices fits several tables together, tells minima, and compares formulas and values of a parameter.
func TestFitCurveChoices(t *testing.T) {
	one, two := apptest.Write(t, "one.csv", decay("t,signal", ",", 1)), apptest.Write(t, "two.csv", decay("t,signal", ",", 2))
	dir := filepath.Join(t.TempDir(), "fit")
	code, out, stderr := apptest.Do(t, "fit", "curve", one, two, "a[file]*exp(-t/tau) + c[file]", "--out", dir, "--contour", "a[one],tau")
	if code != 0 || !strings.Contains(out, "a[two]       9.958") || !strings.Contains(out, "tau          2.280") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "report.html")); err != nil || !strings.Contains(string(b), "Data and fit by file") {
		t.Error(err)
	}
	code, out, stderr = apptest.Do(t, "fit", "curve", one, two, "a*exp(-t/tau) + c", "--by", "file", "--out", dir+"2")
	if _, err := os.Stat(filepath.Join(dir+"2", "plots", "fits.svg")); err != nil || code != 0 || !strings.Contains(out, "file=two, 40 rows") {
		t.Errorf("exit %d: %s%s %v", code, out, stderr, err)
	}
	code, out, stderr = apptest.Do(t, "fit", "curve", one, "a*exp(-t/tau)", "--compare", "a*exp(-t/tau) + c", "--compare", "linear(t, p_)", "--starts", "20", "--json")
	var doc struct {
		Names   []string
		Minima  []struct{ Starts int }
		Choices []struct {
			Model      string
			Parameters int
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || len(doc.Choices) != 3 || len(doc.Minima) == 0 || strings.Join(doc.Names, "") != "actau" {
		t.Errorf("exit %d: %s%s %v", code, out, stderr, err)
	}
	code, out, stderr = apptest.Do(t, "fit", "curve", one, "a*exp(-t/tau)^n/(n + 1) + c + 0.1*t^n", "--choose", "n=1:3")
	if code != 0 || !strings.Contains(out, "n = 3") || !strings.Contains(out, "the least AICc of 3 models follows") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	code, out, stderr = apptest.Do(t, "fit", "curve", one, "a*exp(-t/tau)", "--compare", "a*exp(-t/tau) + c", "--sigma", "0.1", "--evidence", "--prior", "a=normal(0, 10)", "--fix", "tau=2.3", "--prior", "c=normal(0, 5)")
	if code != 0 || !strings.Contains(out, "log evidence") || !strings.Contains(out, "the largest evidence of 2 models follows") {
		t.Fatal(code, out, stderr)
	}
	code, _, stderr = apptest.Do(t, "fit", "curve", one, "a*exp(-t/tau)", "--compare", "a*exp(-t/tau) + c", "--sigma", "0.1", "--evidence", "--prior", "a=normal(0, 10)")
	if code != exit.Data || !strings.Contains(stderr, "tau has none") {
		t.Error(code, stderr)
	}
	code, _, stderr = apptest.Do(t, "fit", "curve", one, "a*exp(-t/tau)", "--compare", "a*exp(-t/tau) + c", "--prior", "d=normal(0, 10)")
	if code != exit.WrongUsage || !strings.Contains(stderr, "no formula has a parameter d") {
		t.Error(code, stderr)
	}
	for _, c := range [][]string{{"--choose", "n=1:5", "has no parameter n"}, {"--choose", "tau=5:1", "want whole numbers"}, {"--choose", "tau=5", "two values or more"}, {"--compare", "a*", "ends early"}} {
		if code, _, stderr := apptest.Do(t, "fit", "curve", one, "a*exp(-t/tau)", c[0], c[1]); code == 0 || !strings.Contains(stderr, c[2]) {
			t.Errorf("%v: exit %d: %s", c, code, stderr)
		}
	}
}

// TestFitCurveReads takes what is described from the formula, dates, and sheets by flag and by name, and samples groups one after another.
func TestFitCurveReads(t *testing.T) {
	data := apptest.Write(t, "d.csv", decay("t,signal,other", ",", 1, 2))
	days := apptest.Write(t, "days.csv", "day,n\n2024-01-05,\"1,000\"\n2024-01-07,\"1,400\"\n2024-01-08,\"1,610\"\n2024-01-10,\"1,990\"\n")
	for _, c := range []struct{ args, says []string }{
		{[]string{data, "signal = a*exp(-t/tau) + c"}, []string{"tau          2.27", "starts were found"}},
		{[]string{data, "log(signal) ~ a + b*t"}, []string{"b            -0.171", ""}},
		{[]string{days, "n ~ a + b*day"}, []string{"b            19", "days since 2024-01-05; numbers of n have marks of thousands"}},
	} {
		if code, out, stderr := apptest.Do(t, append([]string{"fit", "curve"}, c.args...)...); code != 0 || !strings.Contains(out, c.says[0]) || !strings.Contains(stderr, c.says[1]) {
			t.Errorf("%v: exit %d: %s%s", c.args, code, out, stderr)
		}
	}
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"fit", "curve", data, "signal = a*t", "--y", "t"}, "give one of them"},
		{[]string{"sample", "curve", data, "signal = a*t + othre"}, "did you mean it"},
		{[]string{"fit", "curve", data, "signal = a*t", "--sheet", "2"}, "has no part 2"},
		{[]string{"sample", "curve", data, "signal = a*t", "--by", "othre"}, "did you mean"},
		{[]string{"fit", "curve", data, "signal = a*t", "--by", "t"}, "has one value in each group"},
	} {
		if code, out, stderr := apptest.Do(t, c.args...); code == 0 || !strings.Contains(stderr, c.says) {
			t.Errorf("%v: exit %d: %s%s", c.args, code, out, stderr)
		}
	}
	dir := filepath.Join(t.TempDir(), "run")
	code, out, stderr := apptest.Do(t, "sample", "curve", data, "signal = a*exp(-t/tau) + c", "--by", "other", "--out", dir, "--warmup", "100", "--draws", "50", "--chains", "2", "--retries", "0", "--no-report", "--json")
	var doc struct {
		By     string
		Groups []struct {
			Group  string
			Rows   int
			Sample struct {
				Engine string
				Run    string
			}
		}
	}
	if err := json.Unmarshal([]byte(out), &doc); err != nil || code != 0 || doc.By != "other" || len(doc.Groups) != 2 || doc.Groups[1].Group != "other=B" || doc.Groups[1].Sample.Engine != "expr" || doc.Groups[1].Sample.Run != filepath.Join(dir, "other=B") {
		t.Fatalf("exit %d: %v %s%s", code, err, out, stderr)
	}
	for _, group := range []string{"other=A", "other=B"} {
		if _, err := os.Stat(filepath.Join(dir, group, "summary.json")); err != nil {
			t.Error(err)
		}
	}
}

// A column of errors is recognised by the name of what it belongs to: it is not what the formula describes, and it weighs the rows. Which of several columns is described is told.
func TestFitCurveFindsColumns(t *testing.T) {
	table := apptest.Write(t, "rates.csv", "x,k,other,k_err\n0,1,9,0.1\n1,3,9,0.1\n2,5.1,9,0.1\n3,7,9,0.1\n4,9,9,0.1\n")
	code, out, stderr := apptest.Do(t, "fit", "curve", table, "a + b*x", "--range", "x=0:5")
	if code != 0 || !strings.Contains(stderr, "taken to describe the column other; --y names another of k, other") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	code, out, stderr = apptest.Do(t, "fit", "curve", table, "k = a + b*x")
	if code != 0 || !strings.Contains(out, "b            2.000 +- 0.032") || !strings.Contains(stderr, "k_err is taken for the standard errors of k") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
	two := apptest.Write(t, "two.csv", "T,k,k_err\n0,1,0.1\n1,3,0.1\n2,5.1,0.1\n3,7,0.1\n4,9,0.1\n")
	if code, out, stderr = apptest.Do(t, "fit", "curve", two, "a + b*T"); code != 0 || !strings.Contains(out, "b            2.000 +- 0.032") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}

// Data that leave sigma without a posterior are refused before the first draw, and told what would mend it.
func TestSampleCurveWithoutPosterior(t *testing.T) {
	for _, c := range []struct{ rows, formula, want string }{
		{"1,3\n2,3\n3,3\n4,3\n5,3\n", "y = a + b*x", "passes through all 5 rows"},
		{"1,1\n2,3\n3,2\n", "y = a + b*x + c*x^2", "3 rows and 3 parameters with flat priors leave sigma without an upper limit, want at least 5 rows"},
	} {
		data := apptest.Write(t, "data.csv", "x,y\n"+c.rows)
		code, _, stderr := apptest.Do(t, "sample", "curve", data, c.formula, "--out", filepath.Join(t.TempDir(), "run"))
		if code != exit.Data || !strings.Contains(stderr, c.want) || !strings.Contains(stderr, "sigma=lognormal(0, 1)") {
			t.Errorf("exit %d: %s", code, stderr)
		}
	}
}
