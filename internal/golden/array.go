// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Array is an array of any number of axes, in JSON a nested list of numbers or one number, which has no axes.
type Array struct {
	Data  []float64 // the last axis is the fastest
	Shape []int
}

// UnmarshalJSON reads nested lists, which must be equally long in each axis.
func (a *Array) UnmarshalJSON(b []byte) error {
	var list []Array
	if json.Unmarshal(b, &list) != nil {
		var v Float
		err := json.Unmarshal(b, &v)
		*a = Array{Data: []float64{float64(v)}}
		return err
	}
	*a = Array{Shape: []int{len(list)}}
	for i, part := range list {
		if i == 0 {
			a.Shape = append(a.Shape, part.Shape...)
		}
		if !slices.Equal(part.Shape, a.Shape[1:]) {
			return fmt.Errorf("golden: element %d of a list has shape %v, the first one %v", i, part.Shape, a.Shape[1:])
		}
		a.Data = append(a.Data, part.Data...)
	}
	return nil
}

// Ints returns the numbers rounded towards 0.
func (a Array) Ints() (out []int) {
	for _, v := range a.Data {
		out = append(out, int(v))
	}
	return out
}
