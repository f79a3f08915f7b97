// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Stan returns the problem as a program of the Stan language, with its data as a JSON object. The density is the same but for constants. The
// program also computes log_lik, the log-likelihood of each row. It is an error if something of the problem has no counterpart there.
func (p *Problem) Stan() (program string, data []byte, err error) {
	if _, err := p.Model(); err != nil { // the problem itself is right
		return "", nil, err
	}
	if len(p.SigmaX) > 0 {
		return "", nil, fmt.Errorf("expr: this cannot be written as a Stan program: errors of columns (sigma_x) have no counterpart in what is written: leave them out, or sample the problem here")
	}
	w := &stanWriter{p: p, data: map[string]any{}}
	if err := w.write(); err != nil {
		return "", nil, fmt.Errorf("expr: this cannot be written as a Stan program: %w", err)
	}
	data, err = json.MarshalIndent(w.data, "", "  ")
	return w.text(), append(data, '\n'), err
}

// stanFamily is a family as Stan has it.
type stanFamily struct {
	name         string
	lower, upper string // of the support; "" for none
	half         bool   // a leading location of 0 is Stan's first argument
	discrete     bool
}

var stanFamilies = map[string]stanFamily{
	"normal": {name: "normal"}, "cauchy": {name: "cauchy"}, "studentt": {name: "student_t"}, "laplace": {name: "double_exponential"}, "logistic": {name: "logistic"},
	"gumbel": {name: "gumbel"}, "skewnormal": {name: "skew_normal"}, "expmodnormal": {name: "exp_mod_normal"},
	"lognormal": {name: "lognormal", lower: "0"}, "gamma": {name: "gamma", lower: "0"}, "inversegamma": {name: "inv_gamma", lower: "0"}, "exponential": {name: "exponential", lower: "0"},
	"weibull": {name: "weibull", lower: "0"}, "rayleigh": {name: "rayleigh", lower: "0"}, "chisquared": {name: "chi_square", lower: "0"}, "frechet": {name: "frechet", lower: "0"},
	"halfnormal": {name: "normal", lower: "0", half: true}, "halfcauchy": {name: "cauchy", lower: "0", half: true},
	"beta": {name: "beta", lower: "0", upper: "1"}, "betaproportion": {name: "beta_proportion", lower: "0", upper: "1"},
	"poisson": {name: "poisson", discrete: true}, "poissonlog": {name: "poisson_log", discrete: true}, "bernoulli": {name: "bernoulli", discrete: true},
	"bernoullilogit": {name: "bernoulli_logit", discrete: true}, "binomial": {name: "binomial", discrete: true}, "binomiallogit": {name: "binomial_logit", discrete: true},
	"betabinomial": {name: "beta_binomial", discrete: true}, "negbinomial2": {name: "neg_binomial_2", discrete: true}, "negbinomial2log": {name: "neg_binomial_2_log", discrete: true},
}

// stanFunctions are functions of formulas that Stan has, those of the same name as "".
var stanFunctions = map[string]string{"exp": "", "log": "", "ln": "log", "log10": "", "log2": "", "log1p": "", "expm1": "", "sin": "", "cos": "", "tan": "", "sqrt": "", "atan": "", "arctan": "atan",
	"asin": "", "acos": "", "sinh": "", "cosh": "", "tanh": "", "abs": "", "erf": "", "erfc": "", "lgamma": "", "sigmoid": "inv_logit", "softplus": "log1p_exp", "atan2": "", "min": "fmin", "max": "fmax", "pow": ""}

// stanWords are words of the language that are no names of variables.
var stanWords = strings.Fields(`for in while repeat until if then else true false var struct typedef export auto extern return break continue profile
	int real complex vector row_vector matrix array tuple simplex unit_vector ordered positive_ordered corr_matrix cov_matrix void
	cholesky_factor_corr cholesky_factor_cov data parameters model functions transformed generated quantities lower upper offset multiplier target
	e pi sqrt2 log2 log10 N n log_lik mu_n sigma_n y_observed`)

// stanWriter collects the lines of the blocks.
type stanWriter struct {
	p                                                              *Problem
	data                                                           map[string]any
	dataLines, transformedData, parameters, transformed, model, qs []string
	whole                                                          []string // columns that are whole numbers
}

// stanName is a name as the program has it.
func stanName(name string) string {
	if slices.Contains(stanWords, name) || strings.HasPrefix(name, "_") || strings.HasSuffix(name, "__") {
		return "v_" + strings.Trim(name, "_")
	}
	return name
}

// language writes formulas. inRow says that they are inside the loop over rows n.
func (w *stanWriter) language(inRow bool, special map[string]string) formula.Language {
	return formula.Language{
		Number: func(x float64) string {
			s := strconv.FormatFloat(x, 'g', -1, 64)
			if x == math.Pi {
				return "pi()"
			}
			if !strings.ContainsAny(s, ".e") {
				s += ".0"
			}
			return s
		},
		Name: func(name, index string) string {
			if s, ok := special[name]; ok && index == "" {
				return s
			}
			if index != "" {
				return stanName(name) + "[" + stanName(index) + "[n]]"
			}
			if _, column := w.p.Data[name]; column && inRow {
				return stanName(name) + "[n]"
			}
			return stanName(name)
		},
		Function: func(name string) string {
			own, ok := stanFunctions[name]
			if !ok {
				return ""
			}
			if own == "" {
				return name
			}
			return own
		}}
}

func (w *stanWriter) write() error {
	if err := w.columns(); err != nil {
		return err
	}
	for _, name := range sortedKeys(w.p.Fixed) {
		value := strconv.FormatFloat(w.p.Fixed[name], 'g', -1, 64)
		line := "real " + stanName(name) + " = " + value
		if g, ok := w.p.Groups[name]; ok {
			line = fmt.Sprintf("vector[%s] %s = rep_vector(%s, %s)", groupSize(g), stanName(name), value, groupSize(g))
		}
		w.transformedData = append(w.transformedData, line+";")
	}
	for _, name := range w.inOrder() {
		if err := w.parameter(name); err != nil {
			return err
		}
	}
	if err := w.follow("tied", w.p.Tied, &w.transformed); err != nil {
		return err
	}
	if err := w.likelihood(); err != nil {
		return err
	}
	return w.follow("derived", w.p.Derived, &w.qs)
}

func groupSize(g Group) string { return "N_" + stanName(g.Over) }

// columns declares the data.
func (w *stanWriter) columns() error {
	_, n, err := w.p.columns()
	if err != nil {
		return err
	}
	w.data["N"] = n
	w.dataLines = append(w.dataLines, "int<lower=0> N;")
	over := map[string]bool{}
	for _, g := range w.p.Groups {
		over[g.Over] = true
	}
	if err := w.findWhole(); err != nil {
		return err
	}
	for _, name := range sortedKeys(w.p.Data) {
		c, own := w.p.Data[name], stanName(name)
		if over[name] {
			labels, code := c.levels()
			for i := range code {
				code[i]++
			}
			w.data["N_"+own], w.data[own] = len(labels), code
			w.dataLines = append(w.dataLines, fmt.Sprintf("int<lower=1> N_%s;", own), fmt.Sprintf("array[N] int<lower=1, upper=N_%s> %s;", own, own))
			continue
		}
		if c.Labels != nil {
			continue // a column of labels that nothing uses as numbers
		}
		w.data[own] = c.Values
		if slices.Contains(w.whole, name) {
			w.dataLines = append(w.dataLines, "array[N] int "+own+";")
		} else {
			w.dataLines = append(w.dataLines, "vector[N] "+own+";")
		}
	}
	return nil
}

// likelihoodCall is the likelihood with its family.
func (w *stanWriter) likelihoodCall() (*formula.Call, stanFamily, error) {
	text := w.p.Likelihood
	if text == "" {
		text = "normal(mu, sigma)"
	}
	return stanCall(text)
}

func stanCall(text string) (*formula.Call, stanFamily, error) {
	c, err := formula.ParseCall(text)
	if err != nil {
		return nil, stanFamily{}, err
	}
	d, err := dist.FamilyByName(c.Name)
	if err != nil {
		return nil, stanFamily{}, err
	}
	f, ok := stanFamilies[d.Name]
	if !ok {
		return c, f, fmt.Errorf("%s has no counterpart in Stan: choose another distribution", d.Name)
	}
	return c, f, nil
}

// findWhole finds the columns that must be whole numbers: the observations, and numbers of trials.
func (w *stanWriter) findWhole() error {
	c, f, err := w.likelihoodCall()
	if err != nil || !f.discrete {
		return err
	}
	w.whole = append(w.whole, w.p.Y)
	if _, ok := w.p.Data[w.p.Y]; !ok {
		return fmt.Errorf("the observations of %s are a formula, %s, and Stan wants whole numbers: give them as a column", f.name, w.p.Y)
	}
	if strings.HasPrefix(f.name, "binomial") || f.name == "beta_binomial" {
		n := c.Args[0].String()
		if _, ok := w.p.Data[n]; !ok {
			return fmt.Errorf("the number of trials of %s is %s, and must be a column: give one", f.name, n)
		}
		w.whole = append(w.whole, n)
	}
	return nil
}

// inOrder lists the sampled parameters, each after those that its prior and its bounds name.
func (w *stanWriter) inOrder() (order []string) {
	var visit func(name string)
	all := w.p.parameters()
	visit = func(name string) {
		if slices.Contains(order, name) || !slices.Contains(all, name) {
			return
		}
		if c, err := formula.ParseCall(w.p.Priors[name]); err == nil && slices.Contains(w.p.NonCentred, name) {
			for _, other := range c.Names() {
				if other != name {
					visit(other)
				}
			}
		}
		order = append(order, name)
	}
	for _, name := range all {
		visit(name)
	}
	return order
}

// parameter declares a parameter and its prior.
func (w *stanWriter) parameter(name string) error {
	var lower, upper, statement string
	var args []string
	if text := w.p.Priors[name]; text != "" {
		c, err := formula.ParseCall(text)
		if err != nil {
			return err
		}
		for _, a := range c.Args {
			s, err := a.Print(w.language(false, nil))
			if err != nil {
				return err
			}
			args = append(args, s)
		}
		switch c.Name {
		case "uniform":
			lower, upper = args[0], args[1]
		case "truncatednormal":
			lower, upper = args[2], args[3]
			statement = fmt.Sprintf("%s ~ normal(%s, %s) T[%s, %s];", stanName(name), args[0], args[1], lower, upper)
		default:
			_, f, err := stanCall(text)
			if err != nil {
				return fmt.Errorf("the prior of %s: %w", name, err)
			}
			if lower, upper = f.lower, f.upper; f.half {
				args = append([]string{"0"}, args...)
			}
			statement = fmt.Sprintf("%s ~ %s(%s);", stanName(name), f.name, strings.Join(args, ", "))
		}
	}
	lower, upper, statement, err := w.bounded(name, lower, upper, statement)
	if err != nil {
		return err
	}
	var within []string
	for _, b := range []struct{ word, at string }{{"lower", lower}, {"upper", upper}} {
		if b.at != "" {
			within = append(within, b.word+"="+b.at)
		}
	}
	if slices.Contains(w.p.NonCentred, name) && within == nil && len(args) >= 2 {
		within = []string{"offset=" + args[len(args)-2], "multiplier=" + args[len(args)-1]}
	}
	constraint := ""
	if within != nil {
		constraint = "<" + strings.Join(within, ", ") + ">"
	}
	line := "real" + constraint + " " + stanName(name) + ";"
	if g, ok := w.p.Groups[name]; ok {
		line = "vector" + constraint + "[" + groupSize(g) + "] " + stanName(name) + ";"
	}
	w.parameters = append(w.parameters, line)
	if statement != "" {
		w.model = append(w.model, statement)
	}
	return nil
}

// bounded narrows the support of a parameter to its bounds, which truncate its prior.
func (w *stanWriter) bounded(name, lower, upper, statement string) (lo, hi, truncated string, err error) {
	b, ok := w.p.Bounds[name]
	if !ok {
		return lower, upper, statement, nil
	}
	at := func(x float64, support string) string {
		if math.IsInf(x, 0) {
			return support
		}
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	lo, hi = at(b[0], lower), at(b[1], upper)
	if statement == "" {
		return lo, hi, "", nil
	}
	if _, vector := w.p.Groups[name]; vector {
		return "", "", "", fmt.Errorf("%s is a vector with a prior that is truncated at its bounds: leave the bounds out", name)
	}
	return lo, hi, strings.TrimSuffix(statement, ";") + " T[" + lo + ", " + hi + "];", nil
}

// follow declares quantities that formulas of parameters give.
func (w *stanWriter) follow(field string, all map[string]string, lines *[]string) error {
	var done []string
	var add func(name string) error
	add = func(name string) error {
		if slices.Contains(done, name) {
			return nil
		}
		done = append(done, name)
		f, err := formula.Parse(all[name])
		if err != nil {
			return err
		}
		for _, other := range f.Names() {
			_, column := w.p.Data[other]
			_, vector := w.p.Groups[other]
			if column || vector {
				return fmt.Errorf("%s: %s is computed from %s, which has several values: leave it out and compute it from the draws", field, name, other)
			}
			if all[other] != "" {
				if err := add(other); err != nil {
					return err
				}
			}
		}
		text, err := f.Print(w.language(false, nil))
		*lines = append(*lines, "real "+stanName(name)+" = "+text+";")
		return err
	}
	for _, name := range sortedKeys(all) {
		if err := add(name); err != nil {
			return err
		}
	}
	return nil
}

// likelihood writes the loops over the rows.
func (w *stanWriter) likelihood() error {
	c, f, err := w.likelihoodCall()
	if err != nil {
		return err
	}
	var body []string
	special := map[string]string{}
	for _, part := range []struct{ name, text string }{{"mu", w.p.Expr}, {"sigma", w.p.Sigma}} {
		if part.text == "" {
			continue
		}
		own, err := formula.Parse(part.text)
		if err != nil {
			return err
		}
		text, err := own.Print(w.language(true, nil))
		if err != nil {
			return err
		}
		body, special[part.name] = append(body, "real "+part.name+"_n = "+text+";"), part.name+"_n"
	}
	var args []string
	for _, a := range c.Args {
		text, err := a.Print(w.language(true, special))
		if err != nil {
			return err
		}
		args = append(args, text)
	}
	if f.half {
		args = append([]string{"0"}, args...)
	}
	y := stanName(w.p.Observation())
	if _, column := w.p.Data[w.p.Y]; !column {
		y = "y_observed"
		own, err := formula.Parse(w.p.Y)
		if err != nil {
			return err
		}
		text, err := own.Print(w.language(true, nil))
		if err != nil {
			return err
		}
		w.transformedData = append(w.transformedData, "vector[N] "+y+";", "for (n in 1:N) {", "  "+y+"[n] = "+text+";", "}")
	}
	loop := func(last string) []string {
		lines := []string{"for (n in 1:N) {"}
		for _, l := range append(slices.Clone(body), last) {
			lines = append(lines, "  "+l)
		}
		return append(lines, "}")
	}
	density := map[bool]string{true: "lpmf", false: "lpdf"}[f.discrete]
	w.model = append(w.model, loop(fmt.Sprintf("%s[n] ~ %s(%s);", y, f.name, strings.Join(args, ", ")))...)
	w.qs = append(append(w.qs, "vector[N] log_lik;"), loop(fmt.Sprintf("log_lik[n] = %s_%s(%s[n] | %s);", f.name, density, y, strings.Join(args, ", ")))...)
	return nil
}

// text joins the blocks.
func (w *stanWriter) text() string {
	var b strings.Builder
	for _, block := range []struct {
		name  string
		lines []string
	}{{"data", w.dataLines}, {"transformed data", w.transformedData}, {"parameters", w.parameters}, {"transformed parameters", w.transformed}, {"model", w.model}, {"generated quantities", w.qs}} {
		if len(block.lines) == 0 {
			continue
		}
		b.WriteString(block.name + " {\n")
		for _, l := range block.lines {
			b.WriteString("  " + l + "\n")
		}
		b.WriteString("}\n")
	}
	return b.String()
}
