// Package autodiff builds graphs of operations, differentiates them and compiles
// them into programs that run without allocating.
//
// A [Node] is a value of a graph. Functions such as [Mul], [Sum] and [MatMul]
// make Nodes from Nodes, broadcasting as NumPy does; [Grad] makes the Nodes of a
// gradient, which are Nodes like any other, so gradients of gradients need
// nothing new. The first mistake in a graph stays with the Node where it
// happened and is carried along, so one look at the end is enough.
//
//	x := autodiff.Input("x", 3)
//	y := autodiff.Sum(autodiff.Softplus(x))
//	prog, err := autodiff.Compile([]*autodiff.Node{y, autodiff.Grad(y, x)[0]}, autodiff.Settings{})
//	if err != nil { ... } // names the op, the shapes and your line
//	st := prog.NewState()
//	copy(st.Input(0), []float64{-1, 0, 2})
//	err = st.Run()
//	fmt.Println(st.Output(0), st.Output(1))
//
// Every operation is one literal that holds its Go function, the same function
// as a C expression for the GPU, its gradient and the range where checks draw
// inputs; see op_softplus.go. A [Program] is immutable and may be shared; a
// [State] is the memory of one run and belongs to one goroutine.
//
// Conventions: arrays are row-major (last axis fastest); truth values are 1 and
// 0; reals take the precision of the Program (float64 unless Settings says 32);
// indices are 64-bit integers and only leaves and index-valued operations have
// them.
package autodiff
