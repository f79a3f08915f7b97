// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strconv"
)

// PlusMinus formats a value and its error to two digits of the error. A value whose error is not
// known, NaN, stands alone.
func PlusMinus(v, sd float64) string {
	if math.IsNaN(sd) {
		return fmt.Sprintf("%.5g", v)
	}
	if !(sd > 0) || math.IsInf(sd, 0) || math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Sprintf("%.5g +- %.2g", v, sd)
	}
	digits := 1 - int(math.Floor(math.Log10(sd)))
	if digits < 0 && math.Max(math.Abs(v), sd) < 1e5 {
		unit := math.Pow10(-digits)
		return fmt.Sprintf("%.0f +- %.0f", math.Round(v/unit)*unit, math.Round(sd/unit)*unit)
	}
	if digits < 0 || digits > 6 {
		places := max(1, digits+int(math.Floor(math.Log10(math.Max(math.Abs(v), sd)))))
		return fmt.Sprintf("%.*e +- %.1e", min(places, 15), v, sd)
	}
	return strconv.FormatFloat(v, 'f', digits, 64) + " +- " + strconv.FormatFloat(sd, 'f', digits, 64)
}
