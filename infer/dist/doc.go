// Package dist holds probability laws as log densities in a graph, with their
// supports and the transforms that carry them to the whole real line.
//
// A law is a value: its parameters are Nodes (numbers are taken too), LogProb
// makes the Node of its log density, Support says where it lives and Rand draws
// from it once its parameters are known. One law is one file, and every law in
// All passes one checker: its density integrates to 1, its gradients are right,
// its draws follow its distribution function.
//
//	prior := dist.LogNormal(0, 2)
//	lp := prior.LogProb(tau)          // a Node of tau's shape
//	u := autodiff.Input("u")          // unconstrained
//	tau, logJ := prior.Support.Constrain(u)
//
// Conventions: scale parameters are standard deviations; Gamma, InverseGamma
// and Exponential take rates (beta) as Stan does. Outside its support a density
// is -Inf, with a gradient of 0.
package dist
