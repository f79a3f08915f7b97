// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package check says whether a model agrees with its data, its bounds and its
// priors. It is the half of a verdict that chains and optimisers cannot give: a fit
// can converge, and four chains can agree, on the parameters of a wrong model.
//
// [Data] holds standardised residuals with what is known of them: the Jacobian of
// the fit, the axes along which they were taken, neighbours on a detector, and named
// [Direction] values such as a shifted beam centre or a second decay. [Judge] tests
// them together at a family-wise false-alarm rate of 1 % and returns a [Verdict],
// whose flags say what was seen, where, how strong, and what to try.
//
//	v, err := check.Judge(check.Data{
//		Z: z, Jacobian: j, Names: []string{"tau", "baseline", "contrast"},
//		Axes: []check.Axis{{Name: "delay", Unit: "s", Values: x}},
//	}, check.Settings{})
//	fmt.Println(v)
//
// All tests are exact for a linear model with normal errors, at any number of
// points: a fit takes the columns of its Jacobian out of the residuals, and the distributions
// of the statistics are those of what remains.
package check
