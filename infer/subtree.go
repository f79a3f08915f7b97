package infer

// subtree is a finished binary subtree of a trajectory.
type subtree struct {
	level  int
	weight float64 // sum of exp(H0 - H) over exp(shift)
	at     stretch
	room   stretch // that joined leaves need
	draw   proposal
}

// stretch is a part of a trajectory: where in its memory the momenta of the first
// and the last leaf are, and the sum of all. They coincide for a single leaf.
type stretch struct{ first, last, rho int }

// proposal is a leaf chosen from a subtree.
type proposal struct {
	at         int // in the trajectory's memory: position, gradient
	lp, energy float64
	index      int
}

func (p *proposal) vectors(mem []float64, n int) (q, g []float64) {
	b := mem[p.at : p.at+2*n]
	return b[:n:n], b[n:]
}

// hold makes s the subtree of one leaf, at a point.
func (s *subtree) hold(mem []float64, at *point) {
	assign(mem[s.room.first:s.room.first+len(at.z)], at.z)
	s.draw.hold(mem, at)
}

func (p *proposal) hold(mem []float64, at *point) {
	q, g := p.vectors(mem, len(at.q))
	assign(q, at.q)
	assign(g, at.g)
	p.lp = at.lp
}

// room returns the place of k numbers in the memory, which grows at most once
// per depth.
func (t *trajectory) room(k int) int {
	at := len(t.mem)
	t.mem = append(t.mem, make([]float64, k)...)
	return at
}

func (t *trajectory) newProposal() proposal { return proposal{at: t.room(2 * t.n)} }

func (t *trajectory) newStretch() stretch {
	at := t.room(3 * t.n)
	return stretch{at, at + t.n, at + 2*t.n}
}

// next returns the place on the stack of the leaf that is made next.
func (t *trajectory) next() *subtree {
	for len(t.stack) <= t.top {
		t.stack = append(t.stack, subtree{room: t.newStretch(), draw: t.newProposal()})
	}
	return &t.stack[t.top]
}

// merge joins the neighbours a and b, b being later in time of construction,
// into a. It returns false when the trajectory turns within them.
func (t *trajectory) merge(a, b *subtree) bool {
	cross, whole := t.straight(a.at, b.at, a.room.rho)
	if t.out.depth >= t.untested && !(whole && (cross || t.noCross || a.level == 0)) {
		return false
	}
	assign(t.mem[a.room.last:a.room.last+t.n], t.mem[b.at.last:b.at.last+t.n])
	a.at = a.room
	a.level++
	weight := a.weight + b.weight
	if t.choice.Float64()*weight < b.weight {
		a.draw, b.draw = b.draw, a.draw
	}
	a.weight = weight
	return true
}

// straight writes the sum of the momenta of a and b, which follows it, and
// reports whether the ends of both together still point along it, and whether
// those of each with its neighbour in the other do, across the joint. NaN does not.
func (t *trajectory) straight(a, b stretch, sum int) (cross, whole bool) {
	var u, v, w, x, y, z float64
	m := t.mem
	for i := range t.n {
		r, s, begin, near, far, end := m[a.rho+i], m[b.rho+i], m[a.first+i], m[a.last+i], m[b.first+i], m[b.last+i]
		left, right, all := r+far, s+near, r+s
		u += begin * left
		v += far * left
		w += near * right
		x += end * right
		y += begin * all
		z += end * all
		m[sum+i] = all
	}
	return u > 0 && v > 0 && w > 0 && x > 0, y > 0 && z > 0
}

// assign is copy, which costs more than a loop where there are few numbers.
func assign(dst, src []float64) {
	if len(dst) >= long {
		copy(dst, src)
		return
	}
	src = src[:len(dst)]
	for i, v := range src {
		dst[i] = v
	}
}
