package twotime

import (
	"fmt"
	"math"
)

// basis returns the functions of the angle that contrast and offset are combinations of, a row for each angle; nil for Constant.
func (s Scaling) basis(angles []float64) (rows [][]float64, err error) {
	for k, phi := range angles {
		switch a := phi * math.Pi / 180; s {
		case Individual, "":
			row := make([]float64, len(angles))
			row[k] = 1
			rows = append(rows, row)
		case Averaged:
			rows = append(rows, []float64{1})
		case Fourier:
			rows = append(rows, []float64{1, math.Cos(a), math.Sin(a), math.Cos(2 * a), math.Sin(2 * a)})
			if len(angles) < len(rows[0]) {
				return nil, fmt.Errorf("twotime: 5 coefficients of contrast for %d angles: take %s or %s", len(angles), Individual, Averaged)
			}
		case Constant:
			return nil, nil
		default:
			return nil, fmt.Errorf("twotime: a scaling %q: want %s, %s, %s or %s", s, Individual, Averaged, Fourier, Constant)
		}
	}
	return rows, nil
}
