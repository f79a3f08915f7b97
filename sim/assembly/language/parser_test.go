package language

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/golden"
)

func TestReferenceSentences(t *testing.T) {
	var f struct{ Grammars map[string]*Grammar }
	golden.JSON(t, &f, "assemblies", "parser_grammars.json")
	var all struct {
		Cases []struct {
			Grammar, Sentence string
			Dependencies      [][3]string
		}
	}
	golden.JSON(t, &all, "assemblies", "parser_outputs.json")
	for _, c := range all.Cases {
		if c.Grammar == "english_recursive" {
			continue
		}
		t.Run(c.Sentence, func(t *testing.T) {
			p, err := NewParser(f.Grammars[c.Grammar], 1)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			got, err := p.Parse(c.Sentence)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(time.Since(start))
			var want []Dependency
			for _, d := range c.Dependencies {
				want = append(want, Dependency{d[0], d[1], d[2]})
			}
			order := func(a, b Dependency) int {
				return cmp.Or(cmp.Compare(a.Head, b.Head), cmp.Compare(a.Dependent, b.Dependent), cmp.Compare(a.Role, b.Role))
			}
			slices.SortFunc(got, order)
			slices.SortFunc(want, order)
			if !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		})
	}
}

// Words that are not there and tables that do not fit are refused.
func TestRefusals(t *testing.T) {
	small := `{"areas": ["LEX", "VERB"], "initially_disinhibited": ["LEX", "VERB"], "lex_words": 1, "readout": {},
		"lexicon": {"words": {"run": [0, "verb"]}, "classes": {"verb": {"pre": [["fiber", "disinhibit", "LEX", "VERB", 0]], "post": []}}},
		"defaults": {"p": 0.1, "LEX_k": 10, "non_LEX_n": 1000, "non_LEX_k": 30, "project_rounds": 5, "word_threshold": 0.7}}`
	g, err := ReadGrammar(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewParser(g, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.Parse("run away"); err == nil || !strings.Contains(err.Error(), `word 2, "away"`) {
		t.Errorf("unknown word: %v", err)
	}
	for want, change := range map[string][2]string{
		"block 3 of 1":           {`[0, "verb"]`, `[3, "verb"]`},
		"there is no area":       {`"LEX", "VERB", 0]`, `"LEX", "NOUN", 0]`},
		"want [\"area\", action": {`"fiber", "disinhibit"`, `"fiber", "open"`},
		"without the area LEX":   {`"areas": ["LEX", `, `"areas": [`},
		"grammar: ":              {`{"areas"`, `["areas"`},
		"want [block, class]":    {`[0, "verb"]`, `"verb"`},
	} {
		if _, err := ReadGrammar(strings.NewReader(strings.Replace(small, change[0], change[1], 1))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
