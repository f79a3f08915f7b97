// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package gorgonia connects autodiff with Gorgonia: it imports Gorgonia graphs and exports Gorgonia
// operations.
//
// [Import] turns any expression graph into Nodes of autodiff. A [Machine] runs a graph as
// Gorgonia's own machines do, compiled: it is a gorgonia.VM, so only the line that makes the
// machine changes. An [Op] is a compiled function as an operation of Gorgonia, for graphs, machines
// and solvers that stay there.
//
//	cost := gorgonia.Must(gorgonia.Mean(gorgonia.Must(gorgonia.Square(residual))))
//	vm, err := bridge.NewTrainer(cost, w, b) // was: gorgonia.Grad and NewTapeMachine
//	if err != nil { ... }                     // names the node and its shape
//	defer vm.Close()
//	solver := gorgonia.NewAdamSolver(gorgonia.WithLearnRate(0.01))
//	for range 100 {
//		err = vm.RunAll()
//		err = solver.Step(gorgonia.NodesToValueGrads(vm.Learnables()))
//	}
//
// Gradients that this package makes ([NewTrainer], [Imported.Grad], [Op]) follow autodiff's rules;
// that of BatchNorm is Gorgonia's own, which is right. YOLOv3 has no gradient, and neither have
// operations of other packages that are not a gorgonia.SDOp; both are reported as errors. Graphs
// that gorgonia.Grad has differentiated keep Gorgonia's derivatives; where these are known to be
// wrong, Warnings says so.
//
// # Differences from Gorgonia
//
// Values agree up to rounding, not to the last bit: [autodiff.Compile] rewrites graphs, and sums
// are trees with float64 partials. Each of the following further differences is checked by a test:
//
//   - Division by zero follows IEEE 754: x/0 is an infinity of the sign of x and
//     0/0 is NaN, where Gorgonia's tensors give +Inf.
//   - Sums and maxima along inner axes, ByIndices along inner axes, Sparsemax
//     along any axis, GroupNorm of large groups and CTCLoss of an empty target
//     give what they are defined to give; Gorgonia does not.
//   - Gradients do not pile up over runs. Where elements tie for the largest, they
//     share the gradient. That of CTCLoss is by the log-probabilities themselves.
//   - Only nodes that the outputs need are run. Read statements are among them;
//     Set statements are not, and Warnings lists them.
//   - Sliced and transposed tensors are read in their logical order.
//
// The meaning of a graph is kept, however odd: LogSumExp adds the maximum before it takes the
// logarithm, AveragePool1D takes maxima, AveragePool2D divides by the width of the image, and a
// slice by steps that do not divide its range lacks the rest.
package gorgonia

// Gorgonia's array libraries refuse to start where this module does not know the
// Go release; the import keeps its version pinned.
import (
	_ "go4.org/unsafe/assume-no-moving-gc"

	"github.com/euryale-dev/euryale/internal/given"
)

func init() { given.BuildsGraphs() }
