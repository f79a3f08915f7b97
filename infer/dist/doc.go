// Package dist holds probability distributions as log densities in a graph, with their
// supports and the transforms that carry them to the whole real line.
//
// A distribution is a value: its parameters are Nodes (numbers are taken too), LogProb
// makes the Node of its log density, LogCDF and LogCCDF those of its tails, Support
// says where it lives, Transform how a sampler gets there, and Fill draws arrays of
// it once its parameters are known. Distributions of numbers, vectors and matrices have one
// type: Event counts the axes of one value. Truncate, Censored, Mixture and
// Independent make new distributions of given ones. One family is one file, and every
// family in All passes the same checks: its density integrates to 1, its gradients are right, its draws
// follow its distribution function.
//
//	prior := dist.LogNormal(0, 2)
//	lp := prior.LogProb(tau)          // a Node of tau's shape
//	u := autodiff.Input("u")          // unconstrained
//	tau, logJ := prior.Transform().Constrain(u)
//	y := dist.Truncate(dist.StudentT(4, tau, 1), 0, nil)
//
// Conventions: scale parameters are standard deviations; Gamma, InverseGamma
// and Exponential take rates (beta) as Stan does; categories count from 0. Outside
// its support a density is -Inf, with a gradient of 0.
package dist
