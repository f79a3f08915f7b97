package notebook

import (
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/infer/diag"
)

// Compare ranks posteriors of the same data by how well they would predict new data, by
// leave-one-out cross-validation. What it returns displays itself as a table.
func Compare(list ...*Posterior) diag.Comparison {
	ctx, end := interruptible()
	defer end()
	var names []string
	var all []diag.ELPD
	for _, p := range list {
		if p == nil {
			must("Compare", fmt.Errorf("posterior %d is nil", len(names)+1))
		}
		if ctx.Err() != nil {
			must("Compare", errors.New("interrupted"))
		}
		if n := p.shortest(); n < 10 {
			must("Compare "+p.Name, fmt.Errorf("the shortest chain has %d draws: want some hundreds; Continue draws more", n))
		}
		ll, err := p.Fit.LogLik("")
		must("Compare "+p.Name, err)
		e, err := diag.LOO(ll, diag.LOOSettings{})
		must("Compare "+p.Name, err)
		names, all = append(names, p.Name), append(all, e)
	}
	c, err := diag.Compare(names, all, diag.CompareSettings{})
	must("Compare", err)
	return c
}
