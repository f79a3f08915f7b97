// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// KFold divides observations 0 to n-1 at random into folds of nearly equal size:
// the model is fitted once without each fold. Each fold is in ascending order.
func KFold(n, folds int, seed uint64) ([][]int, error) {
	group := make([]int, n)
	for i := range group {
		group[i] = i
	}
	return KFoldGroups(group, folds, seed)
}

// KFoldGroups divides observations so that those of one group stay together:
// group[i] is the group of observation i. It estimates how well new groups are
// predicted.
func KFoldGroups(group []int, folds int, seed uint64) ([][]int, error) {
	members := map[int][]int{}
	var order []int
	for i, g := range group {
		if members[g] == nil {
			order = append(order, g)
		}
		members[g] = append(members[g], i)
	}
	if folds < 2 || folds > len(order) {
		return nil, fmt.Errorf("diag: cannot make %d folds of %d: want at least 2 folds, each with at least one member", folds, len(order))
	}
	shuffle(order, seed)
	// Large groups first, each to the smallest fold, keeps the sizes close.
	slices.SortStableFunc(order, func(a, b int) int { return len(members[b]) - len(members[a]) })
	out := make([][]int, folds)
	for _, g := range order {
		least := 0
		for f := range out {
			if len(out[f]) < len(out[least]) {
				least = f
			}
		}
		out[least] = append(out[least], members[g]...)
	}
	for f := range out {
		slices.Sort(out[f])
	}
	return out, nil
}

// KFoldStratified divides observations so that each fold has its share of every
// class: class[i] is that of observation i.
func KFoldStratified(class []int, folds int, seed uint64) ([][]int, error) {
	if folds < 2 || folds > len(class) {
		return nil, fmt.Errorf("diag: cannot make %d folds of %d: want at least 2 folds, each with at least one member", folds, len(class))
	}
	order := make([]int, len(class))
	for i := range order {
		order[i] = i
	}
	shuffle(order, seed)
	slices.SortStableFunc(order, func(a, b int) int { return class[a] - class[b] })
	out := make([][]int, folds)
	for k, i := range order {
		out[k%folds] = append(out[k%folds], i)
	}
	for f := range out {
		slices.Sort(out[f])
	}
	return out, nil
}

func shuffle(v []int, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0x6b666f6c64))
	for i := len(v) - 1; i > 0; i-- {
		j := int(uniform01(r) * float64(i+1))
		v[i], v[j] = v[j], v[i]
	}
}

// KFoldELPD combines the folds: heldOut[f][chain][draw][k] is the log likelihood of observation
// folds[f][k] under draws of the model fitted without fold f. ll are the log likelihoods of the
// model fitted to all observations, for P and LPPD, or nil. c says how variances are divided.
func KFoldELPD(folds [][]int, heldOut [][][][]float64, ll [][][]float64, c Convention) (ELPD, error) {
	n := 0
	for _, f := range folds {
		n += len(f)
	}
	if len(heldOut) != len(folds) || n == 0 {
		return ELPD{}, fmt.Errorf("diag: there are %d held-out likelihoods for %d folds of %d observations: give one for each fold", len(heldOut), len(folds), n)
	}
	nan := math.NaN()
	e := ELPD{Method: methodKFold, GoodK: nan, Points: make([]PointELPD, n)}
	seen := make([]bool, n)
	for f, fold := range folds {
		chains, draws, obs, err := likelihoodSize(heldOut[f])
		if err != nil {
			return ELPD{}, fmt.Errorf("%w (fold %d)", err, f)
		}
		if obs != len(fold) {
			return ELPD{}, fmt.Errorf("diag: fold %d has %d observations, but its likelihood has %d: want equal numbers", f, len(fold), obs)
		}
		e.Draws += chains * draws
		for k, i := range fold {
			if i < 0 || i >= n || seen[i] {
				return ELPD{}, fmt.Errorf("diag: observation %d of fold %d is out of range or in two folds: want each of 0 to %d once", i, f, n-1)
			}
			seen[i] = true
			e.Points[i] = PointELPD{ELPD: logMeanExp(observation(heldOut[f], k)), LPPD: nan, P: nan, K: nan, NEff: nan, MCSE: nan}
		}
	}
	if err := e.addLPPD(ll); err != nil {
		return ELPD{}, err
	}
	e.finish(c)
	return e, nil
}

func (e *ELPD) addLPPD(ll [][][]float64) error {
	if ll == nil {
		return nil
	}
	_, _, n, err := likelihoodSize(ll)
	if err != nil {
		return err
	}
	if n != len(e.Points) {
		return fmt.Errorf("diag: the folds have %d observations, but the likelihood of all has %d: want equal numbers", len(e.Points), n)
	}
	for i := range e.Points {
		p := &e.Points[i]
		p.LPPD = logMeanExp(observation(ll, i))
		p.P = p.LPPD - p.ELPD
	}
	return nil
}

func logMeanExp(ll [][]float64) float64 {
	flat := Flatten(ll)
	return logSumExp(flat) - math.Log(float64(len(flat)))
}

// Reloo returns the estimate with exact values for some observations, usually those of Bad:
// heldOut[j][chain][draw] is the log likelihood of observation index[j] under draws of the model
// fitted without it. Their tail shape becomes -Inf.
func (e ELPD) Reloo(index []int, heldOut [][][]float64, c Convention) (ELPD, error) {
	if len(index) != len(heldOut) {
		return ELPD{}, fmt.Errorf("diag: there are %d refits for %d observations: give one for each", len(heldOut), len(index))
	}
	e.Points = slices.Clone(e.Points)
	for j, i := range index {
		if i < 0 || i >= len(e.Points) {
			return ELPD{}, fmt.Errorf("diag: there is no observation %d: want 0 to %d", i, len(e.Points)-1)
		}
		flat := Flatten(heldOut[j])
		elpd := logMeanExp(heldOut[j])
		if len(flat) == 0 || math.IsNaN(elpd) || math.IsInf(elpd, 1) {
			return ELPD{}, fmt.Errorf("diag: the refit without observation %d has log predictive density %v from %d draws: check its density", i, elpd, len(flat))
		}
		p := &e.Points[i]
		p.ELPD, p.P, p.K, p.NEff, p.MCSE = elpd, p.LPPD-elpd, math.Inf(-1), math.NaN(), meanExpError(heldOut[j], elpd)
	}
	e.finish(c)
	return e, nil
}

// meanExpError returns the Monte Carlo standard error of log mean exp.
func meanExpError(ll [][]float64, value float64) float64 {
	x := apply(ll, func(v float64) float64 { return math.Exp(v - value) })
	if span(x) == 0 {
		return 0
	}
	return MCSEMean(x)
}
