// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/stan"
)

// TestRefusedPrograms sees that programs which Stan refuses are refused, with the line that Stan names and a sentence that says more than
// that something is wrong. They are programs of language.json in which a word was left out, doubled, inserted or replaced.
func TestRefusedPrograms(t *testing.T) {
	b, err := os.ReadFile("testdata/refused.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Code string
		Data json.RawMessage
		Line int
	}
	if err := json.Unmarshal(b, &cases); err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`line (\d+)`)
	for _, c := range cases {
		_, err := stan.Parse("MODEL.stan", c.Code, stan.Settings{})
		if err == nil {
			_, err = compileText("MODEL.stan", c.Code, c.Data)
		}
		if err == nil {
			t.Errorf("this is accepted:\n%s", c.Code)
			continue
		}
		text := err.Error()
		if m := line.FindStringSubmatch(text); m == nil || m[1] != fmt.Sprint(c.Line) {
			t.Errorf("want line %d in: %s", c.Line, text)
		}
		if said := text[strings.LastIndex(text, "-\n")+1:]; len(strings.Fields(said)) < 4 {
			t.Errorf("this says little: %s", text)
		}
	}
	if len(cases) < 300 {
		t.Errorf("there are %d programs, want 300", len(cases))
	}
}
