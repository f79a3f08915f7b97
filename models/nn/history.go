// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// String returns a table with a row for each epoch: loss and values of training, those of the
// validation if there is one, and the learning rate of the last step. The best epoch has a star.
func (h *History) String() string {
	if len(h.Epochs) == 0 {
		return "no epochs\n"
	}
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	first := h.Epochs[0]
	judged := slices.ContainsFunc(h.Epochs, func(e Epoch) bool { return !math.IsNaN(e.Validation) })
	values, names := slices.Sorted(maps.Keys(first.Values)), slices.Sorted(maps.Keys(first.ValidationValues))
	fmt.Fprintf(w, "epoch\tloss\t")
	for _, name := range values {
		fmt.Fprintf(w, "%s\t", name)
	}
	if judged {
		fmt.Fprintf(w, "validation loss\t")
		for _, name := range names {
			fmt.Fprintf(w, "validation %s\t", name)
		}
	}
	fmt.Fprintf(w, "learning rate\t\n")
	for i, e := range h.Epochs {
		best := ""
		if i == h.Best {
			best = "*"
		}
		fmt.Fprintf(w, "%s%d\t%.4g\t", best, i+1, e.Loss)
		for _, name := range values {
			fmt.Fprintf(w, "%.4g\t", e.Values[name])
		}
		if judged {
			fmt.Fprintf(w, "%.4g\t", e.Validation)
			for _, name := range names {
				fmt.Fprintf(w, "%.4g\t", e.ValidationValues[name])
			}
		}
		fmt.Fprintf(w, "%.3g\t\n", e.Rate)
	}
	w.Flush() // a strings.Builder takes everything
	return b.String()
}
