package autodiff

import (
	"slices"
	"strconv"

	"github.com/euryale-dev/euryale/tensor"
)

// A program is a list of jobs. A cluster is a job of many elementwise values of
// one shape and the reductions of them: one pass over the elements, tile by
// tile, with intermediate values in tile-sized registers. A step is a job of one
// value that works on whole arrays.
//
// The stage of a value counts the passes that must end before it can start: 0
// for what needs only leaves, one more than an input that must be complete in
// memory (a reduction, a step, a value of another shape), the same as an input
// that the same cluster makes. Values of one stage and shape form one cluster,
// and one that nothing needs before a later cluster of its shape becomes part of
// that: see late.go.

// placement says where the compiler puts a value.
type placement struct {
	stage   int
	cluster *cluster // that computes it
	escapes bool     // must be written to memory
	buf     int      // its array, once planned; 0 is none
}

// cluster is a group of values with one iteration space.
type cluster struct {
	stage  int
	space  tensor.Shape // without axes of length 1
	values []*value
}

// job is one pass: a cluster, which becomes a loop, or a step.
type job struct {
	stage   int
	cluster *cluster
	loop    *loop
	step    *value
}

// grouping collects values into jobs.
type grouping struct {
	jobs   []*job
	bySpot map[string]*cluster
	buf    []byte
}

func group(order []*value) []*job {
	g := &grouping{bySpot: map[string]*cluster{}}
	for _, v := range order {
		switch {
		case v.op == nil || v.kindIs(view) || v.kindIs(barrier):
		case v.kindIs(step):
			v.place.stage = g.stageOf(v, nil)
			g.jobs = append(g.jobs, &job{stage: v.place.stage, step: v})
		default:
			space := squeeze(spaceOf(v))
			v.place.stage = g.stageOf(v, space)
			g.join(v, space)
		}
	}
	slices.SortStableFunc(g.jobs, func(a, b *job) int { return a.stage - b.stage })
	g.jobs = postpone(g.jobs, order)
	for _, v := range order {
		if v.op != nil && !v.kindIs(view) && !v.kindIs(barrier) {
			v.markEscapes()
		}
	}
	return g.jobs
}

// spaceOf is the shape over which v's cluster walks.
func spaceOf(v *value) tensor.Shape {
	if v.kindIs(reduction) {
		return v.in[0].shape
	}
	return v.shape
}

func (g *grouping) stageOf(v *value, space tensor.Shape) int {
	s := 0
	for _, x := range v.in {
		root := x.layout.root
		switch {
		case root.op == nil:
		case space != nil && sameCluster(v, x, space):
			s = max(s, root.place.stage)
		default:
			s = max(s, root.place.stage+1)
		}
		if a := x.layout.after; a != nil && a.layout.root.op != nil {
			s = max(s, a.layout.root.place.stage+1)
		}
	}
	return s
}

// sameCluster reports whether x, an input of v, is made in order by a cluster
// over the same space, so that it needs no memory in between.
func sameCluster(v, x *value, space tensor.Shape) bool {
	root := x.layout.root
	return root.kindIs(elementwise) && x.whole() && squeeze(x.shape).Equal(space) &&
		squeeze(root.shape).Equal(space)
}

func (g *grouping) join(v *value, space tensor.Shape) {
	b := strconv.AppendInt(g.buf[:0], int64(v.place.stage), 36)
	for _, d := range space {
		b = strconv.AppendInt(append(b, ','), int64(d), 36)
	}
	g.buf = b
	c := g.bySpot[string(b)]
	if c == nil {
		c = &cluster{stage: v.place.stage, space: space}
		g.bySpot[string(b)] = c
		g.jobs = append(g.jobs, &job{stage: c.stage, cluster: c})
	}
	c.values = append(c.values, v)
	v.place.cluster = c
}

// markEscapes says of v and its inputs whether they must be written to memory:
// all but elementwise values that only their own cluster reads.
func (v *value) markEscapes() {
	c := v.place.cluster
	v.place.escapes = v.place.escapes || !v.kindIs(elementwise)
	for _, x := range v.in {
		r := x.layout.root
		if c == nil || r.place.cluster != c || !sameCluster(v, x, c.space) {
			r.place.escapes = true
		}
	}
}
