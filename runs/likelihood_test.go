// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package runs_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/euryale-dev/euryale/runs"
)

// A program's log_lik counts what no distribution statement observes, such as censored times, so that it goes before the group
// log_likelihood. The data belong to it if they are as many.
func TestLikelihoodOfTheProgram(t *testing.T) {
	const groups = `, "log_likelihood": {"y": [[[1, 2], [3, 4]]]}, "observed_data": {"y": [7, 8]}}`
	for _, c := range []struct {
		file, name, want string
		numbers, data    int
	}{
		{`{"posterior": {"log_lik": [[[1, 2, 5], [3, 4, 6]]]}` + groups, "", "log_lik", 3, 0},
		{`{"posterior": {"log_lik": [[[1, 2], [3, 4]]]}` + groups, "", "log_lik", 2, 2},
		{`{"posterior": {"log_lik": [[[1, 2, 5], [3, 4, 6]]]}` + groups, "y", "y", 2, 2},
		{`{"posterior": {"a": [[1, 2]]}` + groups, "", "y", 2, 2},
	} {
		file := filepath.Join(t.TempDir(), "draws.json")
		if err := os.WriteFile(file, []byte(c.file), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := runs.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		l, err := s.Likelihood(c.name)
		if err != nil || l.Variable != c.want || len(l.X[0][0]) != c.numbers || len(l.Data) != c.data {
			t.Errorf("%s, %q: %v, %+v", c.file, c.name, err, l)
		}
	}
}
