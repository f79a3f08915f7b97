package infer

// subtree is a finished binary subtree of a trajectory. A single leaf has only
// its first momentum.
type subtree struct {
	level  int
	at     int     // in the trajectory's memory: momenta of the first and last leaf, sum of all
	weight float64 // sum of exp(H0 - H) over exp(shift)
	draw   proposal
}

// proposal is a leaf chosen from a subtree.
type proposal struct {
	at         int // in the trajectory's memory: position, gradient
	lp, energy float64
	index      int
}

// vectors returns the momenta in mem, of n numbers each.
func (s *subtree) vectors(mem []float64, n int) (first, last, rho []float64) {
	b := mem[s.at : s.at+3*n]
	return b[:n:n], b[n : 2*n : 2*n], b[2*n:]
}

func (p *proposal) vectors(mem []float64, n int) (q, g []float64) {
	b := mem[p.at : p.at+2*n]
	return b[:n:n], b[n:]
}

// hold makes s the subtree of one leaf, at a point.
func (s *subtree) hold(mem []float64, at *point) {
	assign(mem[s.at:s.at+len(at.z)], at.z)
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

func (t *trajectory) newProposal() proposal { return proposal{at: t.room(2 * len(t.rho))} }

// next returns the place on the stack of the leaf that is made next.
func (t *trajectory) next() *subtree {
	for len(t.stack) <= t.top {
		t.stack = append(t.stack, subtree{at: t.room(3 * len(t.rho)), draw: t.newProposal()})
	}
	return &t.stack[t.top]
}

// merge joins the neighbours a and b, b being later in time of construction,
// into a. It returns false when the trajectory turns within them.
func (t *trajectory) merge(a, b *subtree) bool {
	n := len(t.rho)
	first, last, sum := a.vectors(t.mem, n)
	x, y := stretch{first, last, sum}, b.stretch(t.mem, n)
	if a.level == 0 {
		x.last, x.rho = first, first
	}
	cross, whole := straight(x, y, sum)
	if t.out.depth >= t.untested && !(whole && (cross || t.noCross || a.level == 0)) {
		return false
	}
	assign(last, y.last)
	a.level++
	weight := a.weight + b.weight
	if t.choice.Float64()*weight < b.weight {
		a.draw, b.draw = b.draw, a.draw
	}
	a.weight = weight
	return true
}

// stretch is a part of a trajectory: momenta of its first and last leaf and the
// sum of all.
type stretch struct{ first, last, rho []float64 }

func (s *subtree) stretch(mem []float64, n int) stretch {
	first, last, rho := s.vectors(mem, n)
	if s.level == 0 {
		return stretch{first, first, first}
	}
	return stretch{first, last, rho}
}

// straight writes the sum of the momenta of a and b, which follows it, and
// reports whether the ends of both together still point along it, and whether
// those of each with its neighbour in the other do, across the joint. NaN does not.
func straight(a, b stretch, sum []float64) (cross, whole bool) {
	var u, v, w, x, y, z float64
	n := len(sum)
	first, last, rho := a.first[:n], a.last[:n], a.rho[:n]
	bFirst, bLast, bRho := b.first[:n], b.last[:n], b.rho[:n]
	for i, r := range rho {
		s, begin, near, far, end := bRho[i], first[i], last[i], bFirst[i], bLast[i]
		left, right, all := r+far, s+near, r+s
		u += begin * left
		v += far * left
		w += near * right
		x += end * right
		y += begin * all
		z += end * all
		sum[i] = all
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
