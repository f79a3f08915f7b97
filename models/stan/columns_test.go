// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/stan"
)

// Variables of several files go together unless two have the same one; what cannot be read is told as it is.
func TestReadFiles(t *testing.T) {
	missing := errors.New("no such file")
	read := func(name string) ([]byte, error) {
		text, ok := map[string]string{"n.json": `{"N": 2}`, "y.csv": "y\n1\n2\n", "m.R": "N <- 3\n", "bad.json": "{"}[name]
		if !ok {
			return nil, missing
		}
		return []byte(text), nil
	}
	d, table, err := stan.ReadFiles([]string{"n.json", "y.csv"}, read)
	if err != nil || !table || string(d["N"]) != "2" || d["y"] == nil {
		t.Errorf("%v, table %v, %v", d, table, err)
	}
	if _, _, err := stan.ReadFiles([]string{"n.json", "m.R"}, read); err == nil || !stan.OfData(err) || !strings.Contains(err.Error(), "m.R has the variable N, which n.json has too") {
		t.Errorf("twice the same variable: %v", err)
	}
	if _, _, err := stan.ReadFiles([]string{"bad.json"}, read); err == nil || !stan.OfData(err) || !strings.Contains(err.Error(), "bad.json") {
		t.Errorf("a damaged file: %v", err)
	}
	if _, _, err := stan.ReadFiles([]string{"none.json"}, read); err != missing {
		t.Errorf("a missing file: %v", err)
	}
}
