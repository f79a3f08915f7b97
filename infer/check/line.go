// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// brief is the finding without its evidence, with the first remedy. Texts begin with the finding, and what follows their first
// semicolon is evidence; remedies begin with the likeliest.
func (f Flag) brief() string {
	text := beforeSemicolon(f.Text)
	if len(f.Rivals) > 0 {
		text += ", or else: " + listed(f.Rivals)
	}
	return text + "." + f.tried()
}

// beforeSemicolon returns the beginning of a text up to the first semicolon outside parentheses.
func beforeSemicolon(text string) string {
	depth := 0
	for i, r := range text {
		switch {
		case r == '(':
			depth++
		case r == ')':
			depth--
		case depth == 0 && strings.HasPrefix(text[i:], "; "):
			return text[:i]
		}
	}
	return text
}

// tried is the first remedy as a sentence.
func (f Flag) tried() string {
	remedy := beforeSemicolon(f.Remedy)
	if remedy == "" {
		return ""
	}
	return " Try: " + remedy + "."
}

// Line is the verdict in one short line: the strongest finding without its evidence, what to try first, and the kinds of the other
// findings. String has all findings.
func (v Verdict) Line() string {
	first := func(kind string) int { return slices.IndexFunc(v.Flags, func(f Flag) bool { return f.Kind == kind }) }
	unconverged, unjudged := first(KindUnconverged), first(KindUnjudged)
	switch {
	case len(v.Flags) == 0:
		return v.Summary()
	case unconverged >= 0:
		return v.Summary() + v.Flags[unconverged].tried()
	case unjudged >= 0:
		return "The model could not be judged: " + v.Flags[unjudged].brief() + also(slices.Delete(slices.Clone(v.Flags), unjudged, unjudged+1))
	case v.onlyUndetermined():
		return v.Summary() + v.Flags[0].tried()
	}
	return "The model disagrees with the data" + v.size() + ": " + v.Flags[0].brief() + also(v.others())
}

// others are the flags after the first that are not of the same kind and about the same.
func (v Verdict) others() []Flag {
	first := v.Flags[0]
	return slices.DeleteFunc(slices.Clone(v.Flags[1:]), func(f Flag) bool { return f.Kind == first.Kind && f.Where == first.Where })
}

// also names the kinds of further flags.
func also(flags []Flag) string {
	if len(flags) == 0 {
		return ""
	}
	return " Also: " + strings.Join(kindsOf(flags), ", ") + "."
}

// Digest says in a few lines how the model fared in several fits, which are those of a table: how many agree, and for each kind of
// strongest finding, and each direction of it, the fits that show it, with the words of the one that is farthest from the model. name names fits by their
// numbers, and what is the plural of what is fitted, such as "bins".
func Digest(what string, fits []Verdict, name func(which []int) string) []string {
	var kinds []string
	words, shown := map[string]int{}, map[string][]int{}
	for i, v := range fits {
		words[v.Word()]++
		if v.OK || len(v.Flags) == 0 {
			continue
		}
		kind := v.sense()
		if shown[kind] == nil {
			kinds = append(kinds, kind)
		}
		shown[kind] = append(shown[kind], i)
	}
	slices.SortStableFunc(kinds, func(a, b string) int { return cmp.Compare(len(shown[b]), len(shown[a])) })
	lines := []string{tally(what, len(fits), words)}
	for _, sense := range kinds {
		which := shown[sense]
		kind := fits[which[0]].Flags[0].Kind
		worst := slices.MaxFunc(which, func(a, b int) int { return cmp.Compare(fits[a].far(), fits[b].far()) })
		if fits[worst].tooSmall() {
			worst = slices.MinFunc(which, func(a, b int) int { return cmp.Compare(fits[a].far(), fits[b].far()) })
		}
		text := fits[worst].Flags[0].brief()
		if slices.ContainsFunc(which, func(i int) bool { return fits[i].Flags[0].brief() != text }) {
			text = kind + ", such as in " + name([]int{worst}) + ": " + text
		}
		var others []string
		for _, i := range which {
			for _, f := range fits[i].Flags[1:] {
				if f.Kind != kind && !slices.Contains(others, f.Kind) {
					others = append(others, f.Kind)
				}
			}
		}
		if others != nil {
			text += " Also: " + strings.Join(others, ", ") + "."
		}
		lines = append(lines, name(which)+": "+text)
	}
	return lines
}

// sense is the kind of the first flag, and for the size of residuals in which direction it is off, since the causes are opposite.
func (v Verdict) sense() string {
	if v.Flags[0].Kind == KindSize && v.tooSmall() {
		return KindSize + ": too small"
	}
	return v.Flags[0].Kind
}

// tooSmall reports whether the strongest finding is that the residuals are smaller than the errors allow.
func (v Verdict) tooSmall() bool {
	return len(v.Flags) > 0 && v.Flags[0].Kind == KindSize && v.Reduced < v.Expected[0]
}

// far orders verdicts by how far the data lie from the model.
func (v Verdict) far() float64 {
	if math.IsNaN(v.Reduced) {
		return 0
	}
	return v.Reduced
}

// tally counts the words of verdicts.
func tally(what string, n int, words map[string]int) string {
	if words["agrees"] == n {
		return fmt.Sprintf("The model agrees with the data in all %d %s.", n, what)
	}
	text := fmt.Sprintf("The model agrees with the data in %d of %d %s", words["agrees"], n, what)
	for _, word := range []string{"misfit", "undetermined", "not judged"} {
		if words[word] > 0 {
			text += fmt.Sprintf("; %s: %d", word, words[word])
		}
	}
	return text + "."
}
