// Package optim fits: nonlinear least squares with bounds, robust losses and
// honest covariances.
//
// A [Problem] is a residual vector as a function of parameters, given as a graph
// (exact Jacobians) or as Go functions. [LeastSquares] returns a [Result] whose
// [Status] says in words how it ended; not converging is a status, not an error.
//
//	a, b := autodiff.Input("a"), autodiff.Input("b")
//	model := autodiff.Mul(a, autodiff.Exp(autodiff.Neg(autodiff.Mul(b, autodiff.Const(x)))))
//	prob, err := optim.FromGraph(autodiff.Sub(model, autodiff.Const(y)), []*autodiff.Node{a, b})
//	prob.Start = []float64{1, 1}
//	res, err := optim.LeastSquares(ctx, prob, optim.Settings{})
//	fmt.Println(res.X, res.SD(), res.Status)
package optim
