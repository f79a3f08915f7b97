// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import (
	"slices"
	"strconv"

	"github.com/euryale-dev/euryale/tensor"
)

// placement says where the compiler puts a value.
type placement struct {
	stage   int
	cluster *cluster // cluster that computes the value
	slot    int      // position among the values of the cluster
	escapes bool     // whether the value must be written to memory
	Buf     int      // array of the value once planned; 0 is none
}

// cluster is a group of values with one iteration space.
type cluster struct {
	stage  int
	space  tensor.Shape // shape that the cluster walks over, without axes of length 1
	values []*Value
}

// Job is one pass: a cluster, which becomes a loop, or a step.
type Job struct {
	stage   int
	cluster *cluster
	Loop    *Loop
	Step    *Value
}

// grouping collects values into jobs.
type grouping struct {
	jobs   []*Job
	bySpot map[string]*cluster
	buf    []byte
}

// fuse makes the jobs that compute values in order.
func fuse(order []*Value) []*Job {
	g := &grouping{bySpot: map[string]*cluster{}}
	for _, v := range order {
		switch {
		case v.Op == nil || v.kindIs(View) || v.kindIs(Barrier):
		case v.kindIs(Step):
			v.Place.stage = g.stageOf(v, nil)
			g.jobs = append(g.jobs, &Job{stage: v.Place.stage, Step: v})
		default:
			space := squeeze(spaceOf(v))
			v.Place.stage = g.stageOf(v, space)
			g.join(v, space)
		}
	}
	g.split()
	slices.SortStableFunc(g.jobs, func(a, b *Job) int { return a.stage - b.stage })
	g.jobs = postpone(g.jobs, order)
	g.split() // what joined a later cluster has made it larger
	for _, v := range order {
		if v.Op != nil && !v.kindIs(View) && !v.kindIs(Barrier) {
			v.markEscapes()
		}
	}
	return g.jobs
}

// spaceOf is the shape over which v's cluster walks.
func spaceOf(v *Value) tensor.Shape {
	if v.kindIs(Reduction) {
		return v.In[0].Shape
	}
	return v.Shape
}

func (g *grouping) stageOf(v *Value, space tensor.Shape) int {
	s := 0
	for _, x := range v.In {
		root := x.Layout.Root
		switch {
		case root.Op == nil:
		case space != nil && sameCluster(v, x, space):
			s = max(s, root.Place.stage)
		default:
			s = max(s, root.Place.stage+1)
		}
		if a := x.Layout.after; a != nil && a.Layout.Root.Op != nil {
			s = max(s, a.Layout.Root.Place.stage+1)
		}
	}
	return s
}

// sameCluster reports whether x, an input of v, is made in order by a cluster
// over the same space, so that it needs no memory in between.
func sameCluster(v, x *Value, space tensor.Shape) bool {
	root := x.Layout.Root
	return root.kindIs(Elementwise) && x.whole() && squeeze(x.Shape).Equal(space) &&
		squeeze(root.Shape).Equal(space)
}

func (g *grouping) join(v *Value, space tensor.Shape) {
	b := strconv.AppendInt(g.buf[:0], int64(v.Place.stage), 36)
	for _, d := range space {
		b = strconv.AppendInt(append(b, ','), int64(d), 36)
	}
	g.buf = b
	c := g.bySpot[string(b)]
	if c == nil {
		c = &cluster{stage: v.Place.stage, space: space}
		g.bySpot[string(b)] = c
		g.jobs = append(g.jobs, &Job{stage: c.stage, cluster: c})
	}
	c.values = append(c.values, v)
	v.Place.cluster = c
}

// mostValues is the number of values that unrelated clusters are joined up to. A kernel of many more gains little from what
// they read together, and takes NVIDIA's compiler minutes, because its time grows faster than the kernel.
const mostValues = 128

// split cuts large clusters between values that have nothing to do with each other.
func (g *grouping) split() {
	var all []*Job
	for _, j := range g.jobs {
		if j.cluster == nil || len(j.cluster.values) <= mostValues {
			all = append(all, j)
			continue
		}
		for _, values := range j.cluster.parts() {
			c := &cluster{stage: j.stage, space: j.cluster.space, values: values}
			for _, v := range values {
				v.Place.cluster = c
			}
			all = append(all, &Job{stage: j.stage, cluster: c})
		}
	}
	g.jobs = all
}

// parts returns the values in lists, in order, of which none reads what another computes. A list longer than mostValues cannot be cut.
func (c *cluster) parts() [][]*Value {
	leader := make([]int32, len(c.values)) // the first value of those that are connected, by way of others
	find := func(i int32) int32 {
		for leader[i] != i {
			leader[i] = leader[leader[i]]
			i = leader[i]
		}
		return i
	}
	for i, v := range c.values {
		v.Place.slot, leader[i] = i, int32(i)
		for _, x := range v.In {
			if r := x.Layout.Root; r.Place.cluster == c && sameCluster(v, x, c.space) {
				a, b := find(int32(i)), find(int32(r.Place.slot))
				leader[max(a, b)] = min(a, b)
			}
		}
	}
	sizes := make([]int, len(c.values)) // of the connected values that a leader leads, and then the list of them
	for i := range c.values {
		sizes[find(int32(i))]++
	}
	var filled []int // by list
	for i, n := range sizes {
		if n == 0 {
			continue
		}
		k := len(filled) - 1
		if k < 0 || filled[k]+n > mostValues {
			filled = append(filled, 0)
			k++
		}
		filled[k] += n
		sizes[i] = k
	}
	parts := make([][]*Value, len(filled))
	for i, v := range c.values {
		k := sizes[find(int32(i))]
		if parts[k] == nil {
			parts[k] = make([]*Value, 0, filled[k])
		}
		parts[k] = append(parts[k], v)
	}
	return parts
}

// markEscapes says of v and its inputs whether they must be written to memory:
// all but elementwise values that only their own cluster reads.
func (v *Value) markEscapes() {
	c := v.Place.cluster
	v.Place.escapes = v.Place.escapes || !v.kindIs(Elementwise)
	for _, x := range v.In {
		r := x.Layout.Root
		if c == nil || r.Place.cluster != c || !sameCluster(v, x, c.space) {
			r.Place.escapes = true
		}
	}
}
