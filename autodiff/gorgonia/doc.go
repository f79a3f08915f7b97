// Package gorgonia takes Gorgonia graphs in and gives Gorgonia operations out.
//
// [Import] turns any expression graph into Nodes of autodiff. A [Machine] runs a
// graph as Gorgonia's own machines do, compiled: it is a gorgonia.VM, so only
// the line that makes the machine changes. An [Op] is a compiled function as an
// operation of Gorgonia, for graphs, machines and solvers that stay there.
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
// Gradients that this package makes ([NewTrainer], [Imported.Grad], [Op]) follow
// autodiff's rules. Those made by gorgonia.Grad keep Gorgonia's; where these are
// known to be wrong, Warnings says so.
//
// Differences from Gorgonia, each held by a test: arithmetic is IEEE (x/0 keeps
// its sign, 0/0 is NaN); sums are trees with float64 partials; gradients do not
// pile up over runs; only what the outputs need is run; sliced and transposed
// tensors are read in their logical order.
package gorgonia

// Gorgonia's array libraries refuse to start where this module does not know the
// Go release; the import keeps its version pinned.
import _ "go4.org/unsafe/assume-no-moving-gc"
