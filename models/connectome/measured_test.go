// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome_test

import (
	"context"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/connectome"
)

// Documents of every kind make models; what they lack or misspell is told.
func TestMeasured(t *testing.T) {
	for text, fault := range map[string]string{
		`{"fit": "p", "count": [2, 3], "k": 50}`:                                                         "",
		`{"fit": "beta", "weight": [14.6], "count": [8], "times": [8]}`:                                  "",
		`{"fit": "completion", "alpha": [0.1, 0.5], "recovered": [10, 80], "k": 100}`:                    "",
		`{"fit": "association", "rounds": [10, 20], "overlap": [28, 40], "k": 100}`:                      "",
		`{"fit": "formation", "overlap": [9, 12], "simulator": {"N": 200, "K": 15}, "dynamics": "soft"}`: "",
		`{"fit": "formation", "overlap": [9], "dynamics": "hard"}`:                                       "want emulated, corrected or soft",
		`{"fit": "compeltion"}`:      "did you mean completion?",
		`{"fit": "p", "cuont": [2]}`: "line 1",
		`{"fit": `:                   "ends too early",
	} {
		p, err := connectome.ParseMeasured([]byte(text))
		var m *infer.Model
		if err == nil {
			m, err = p.Model(context.Background(), nil)
		}
		if (err == nil) != (fault == "") || err != nil && !strings.Contains(err.Error(), fault) || err == nil && m == nil {
			t.Errorf("%s: %v, want %q", text, err, fault)
		}
	}
	p := &connectome.Measured{Fit: "completion"}
	if c := p.Settings(infer.Settings{}); c.Draws != 3000 || c.TargetAccept != 0.98 {
		t.Errorf("%+v", c)
	}
	if c := (&connectome.Measured{Fit: "p"}).Settings(infer.Settings{}); c.Draws != 0 {
		t.Errorf("%+v", c)
	}
}
