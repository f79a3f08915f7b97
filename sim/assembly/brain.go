// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/parallel"
)

// Activity says what areas do in a step in which they get no input.
type Activity int

const (
	Sticky Activity = iota // areas without input keep their winners
	Silent                 // areas without input fall silent
)

// Sampling says how lazy areas draw the inputs of neurons that never fired.
type Sampling int

const (
	// Exact draws inputs given that the neurons lost all rounds so far: results have the distribution of those of
	// areas that exist whole.
	Exact Sampling = iota
	// Normal draws K inputs from the tail of a normal distribution, as if the neurons had never lost, as the reference
	// implementation does: supports are up to 90 % too large.
	Normal
)

// Settings are the settings of a Brain. Zero values are the defaults.
type Settings struct {
	P         float64  // probability of a synapse, 0 to 1
	Seed      uint64   // seed of everything that is drawn
	Activity  Activity // behaviour of areas without input; default Sticky
	MaxWeight float64  // largest weight a synapse grows to; 0 for no bound
	Lazy      Sampling // sampling of the inputs of neurons that never fired, in lazy areas; default Exact
	// EmptyIfSilent leaves an area without winners if no input reaches it. By default neurons 0 to
	// K-1 win then, as the lowest among equals. Silent implies EmptyIfSilent.
	//
	// An area is not part of a step if nothing that fires reaches it through an open fibre; if
	// Sticky, it keeps its winners.
	EmptyIfSilent bool
	// NoSelf leaves out synapses of neurons onto themselves.
	NoSelf bool
	// Connect draws the connections instead, unless it is nil: it appends to dst, in order, the
	// neurons of a fibre's target that the source neuron connects to. It must be safe for
	// concurrent use.
	Connect func(dst []int32, f Fibre, source int) []int32 `json:"-"`
	// memory for drawn connections, in bytes; default 4 GiB
	Cache int
	// number of threads that draw and count connections, and, in the first of several brains that step
	// together, that work for all of them; default GOMAXPROCS. It changes no result.
	Threads int
	// Backend runs the steps, such as autodiff.CUDA{}; default the CPU. On a GPU, winners are those
	// of the CPU except where inputs differ by less than 2^-32 of themselves; with Storage Float16,
	// weights between neurons are rounded to 11 bits and are no larger than 65504. Brains with a
	// Profile stay on the CPU.
	Backend ad.Backend `json:"-"`
}

// Area is a set of neurons of which K fire together.
type Area struct {
	Name string
	N    int     // number of neurons
	K    int     // number of neurons that fire at a time, at most N
	Beta float64 // plasticity of the fibres into the area, see Rule
	Rule Rule    // learning rule of the fibres into the area; default Hebb
	// Lazy makes the area store neurons only once they fire and draw the others; see Sampling.
	Lazy bool
	Column
}

// Brain is a set of areas, stimuli and fibres. It is not safe for concurrent use; clones can run
// concurrently.
type Brain struct {
	set           Settings
	areas         []*area
	stimuli       []*stimulus
	fibres        []*fibre
	byName        map[[2]string]*fibre
	rivals        [][]string
	closed        Inhibition
	frozen        bool // whether plasticity is off
	step          int
	cached        int       // bytes of the connections in memory
	x             []float64 // inputs of the current target
	isWinner      []uint8   // for neuron j, 1 at j+1 if it is a winner, else 0; 0 at 0
	room          []int32
	ranked        ranked
	tally         []uint64   // inputs of a new neuron in earlier rounds
	fired         [][]uint64 // (64 defeats, neuron) a bit for each defeat in which a neuron that fires now fired
	arena         []int32    // memory of the subsets drawn in one step
	cuts          []int      // places in arena where the sources of recruits over one fibre end
	marked        marks
	distributions map[pair]*binomial // distributions of the inputs of new neurons, by the number of firing neurons
	prof          *Profile
	moved         int // lower bound on the bytes of synapses and inputs read and written so far
	gpu           *device
	asked         int      // work that was too little for a GPU, which is not asked for again until there is more
	log           []learnt // what the GPU has learnt that the weights here lack
	logged        int      // neurons in log
}

// area is an Area and its state.
type area struct {
	Area
	winners []int32 // winners, in order of falling input
	changes int     // number of times the set of winners has changed
	fired   []bool  // whether each stored neuron has ever fired
	support int     // number of neurons that have ever fired
	fixed   bool
	columnState
	memory    memory // of a lazy area
	into, out []*fibre
}

// stimulus is a set of neurons outside the areas that always fire together.
type stimulus struct {
	name string
	size int
}

// New makes a brain without areas.
func New(s Settings) *Brain {
	if s.Cache == 0 {
		s.Cache = 4 << 30
	}
	return &Brain{set: s, byName: map[[2]string]*fibre{}}
}

// AddArea adds an area, connected to and from all others.
func (b *Brain) AddArea(a Area) error {
	switch {
	case a.Name == "" || b.taken(a.Name):
		return fmt.Errorf("assembly: an area cannot be named %q: give it a name that no other area or stimulus has", a.Name)
	case a.N > math.MaxInt32:
		return fmt.Errorf("assembly: area %s has %d neurons: want at most %d", a.Name, a.N, math.MaxInt32)
	case a.K < 1 || a.K > a.N:
		return fmt.Errorf("assembly: area %s is to fire %d of its %d neurons: want at least 1 and at most all", a.Name, a.K, a.N)
	case !(b.set.P >= 0 && b.set.P <= 1):
		return fmt.Errorf("assembly: the probability of a synapse is %g: want 0 to 1", b.set.P)
	}
	if err := a.Rule.check(a.Name, a.Beta, b.set.MaxWeight); err != nil {
		return err
	}
	if err := a.Column.check(a); err != nil {
		return err
	}
	n := a.N
	if a.Lazy {
		n = 0
	}
	b.areas = append(b.areas, &area{Area: a, fired: make([]bool, n)})
	return nil
}

// AddStimulus adds a stimulus of size neurons.
func (b *Brain) AddStimulus(name string, size int) error {
	switch {
	case name == "" || b.taken(name):
		return fmt.Errorf("assembly: a stimulus cannot be named %q: give it a name that no other area or stimulus has", name)
	case size < 0 || size > math.MaxInt32:
		return fmt.Errorf("assembly: stimulus %s has %d neurons: want at least 0 and at most %d", name, size, math.MaxInt32)
	}
	b.stimuli = append(b.stimuli, &stimulus{name: name, size: size})
	return nil
}

func (b *Brain) taken(name string) bool {
	_, err := b.area(name)
	return err == nil || b.stimulus(name) != nil
}

func (b *Brain) area(name string) (*area, error) {
	i := slices.IndexFunc(b.areas, func(a *area) bool { return a.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("assembly: there is no area %q: choose from %v", name, b.Areas())
	}
	return b.areas[i], nil
}

func (b *Brain) stimulus(name string) *stimulus {
	for _, s := range b.stimuli {
		if s.name == name {
			return s
		}
	}
	return nil
}

// Areas lists the names of the areas in the order they were added.
func (b *Brain) Areas() (names []string) {
	for _, a := range b.areas {
		names = append(names, a.Name)
	}
	return names
}

// Stimuli lists the names of the stimuli in the order they were added.
func (b *Brain) Stimuli() (names []string) {
	for _, s := range b.stimuli {
		names = append(names, s.name)
	}
	return names
}

// Area returns the description that an area was added with.
func (b *Brain) Area(name string) (Area, error) {
	a, err := b.area(name)
	if err != nil {
		return Area{}, err
	}
	return a.Area, nil
}

// Winners returns the neurons of an area that fire, in order of falling input.
func (b *Brain) Winners(name string) ([]int32, error) {
	a, err := b.area(name)
	if err != nil {
		return nil, err
	}
	return slices.Clone(a.winners), nil
}

// Support returns how many neurons of an area ever fired.
func (b *Brain) Support(name string) (int, error) {
	a, err := b.area(name)
	if err != nil {
		return 0, err
	}
	return a.support, nil
}

// SetWinners makes neurons of an area fire. They do not count as its support.
func (b *Brain) SetWinners(name string, winners []int32) error {
	a, err := b.area(name)
	if err != nil {
		return err
	}
	seen := map[int32]bool{}
	for _, w := range winners {
		if w < 0 || int(w) >= a.stored() || seen[w] {
			return fmt.Errorf("assembly: neuron %d of area %s cannot be a winner: give different neurons from 0 to %d", w, name, a.stored()-1)
		}
		seen[w] = true
	}
	a.set(slices.Clone(winners))
	return nil
}

// Activate makes block i of an area fire: neurons i K to (i+1) K - 1.
func (b *Brain) Activate(name string, i int) error {
	a, err := b.area(name)
	if err != nil {
		return err
	}
	if i < 0 || (i+1)*a.K > a.stored() {
		return fmt.Errorf("assembly: block %d of area %s does not exist: choose from the %d blocks of %d neurons, which are numbered from 0", i, name, a.stored()/a.K, a.K)
	}
	w := make([]int32, a.K)
	for j := range w {
		w[j] = int32(i*a.K + j)
	}
	a.set(w)
	return nil
}

// Block returns the block of an area that holds most of its winners, and the fraction of the block
// that fires. It returns a *SilentError if nothing fires.
func (b *Brain) Block(name string) (block int, overlap float64, err error) {
	a, err := b.area(name)
	if err != nil {
		return 0, 0, err
	}
	if len(a.winners) == 0 {
		return 0, 0, a.silent("block of area " + name)
	}
	count := map[int]int{}
	for _, w := range a.winners {
		i := int(w) / a.K
		if count[i]++; count[i] > count[block] || count[i] == count[block] && i < block {
			block = i
		}
	}
	return block, float64(count[block]) / float64(a.K), nil
}

// Fix freezes the winners of an area, or releases them. A frozen area still projects, and synapses
// into it still learn.
func (b *Brain) Fix(name string, fixed bool) error {
	a, err := b.area(name)
	if err == nil {
		a.fixed = fixed
	}
	return err
}

// SetThreads sets how many threads draw and count connections, 0 for GOMAXPROCS. It
// changes no result.
func (b *Brain) SetThreads(n int) { b.set.Threads = max(n, 0) }

// Learn switches plasticity on or off; it is on at first.
func (b *Brain) Learn(on bool) { b.frozen = !on }

// stored returns the number of neurons whose state is stored: of a lazy area, those that have won.
func (a *area) stored() int { return len(a.fired) }

// set replaces the winners of an area.
func (a *area) set(winners []int32) {
	a.winners = winners
	a.changes++
}

// changesWith returns the value that changes will have once the winners of a round fire.
func (a *area) changesWith(r Round) int {
	if a.fixed || r.Kept == len(r.Winners) && r.Kept == len(a.winners) {
		return a.changes
	}
	return a.changes + 1
}

// fire makes the winners of a round the winners of a.
func (a *area) fire(r Round, step int) {
	a.changes = a.changesWith(r)
	winners := slices.Clone(r.Winners) // the round is the caller's
	a.winners = winners
	a.remember(winners, step)
	for _, w := range winners {
		if !a.fired[w] {
			a.fired[w] = true
			a.support++
		}
	}
}

// name64 hashes names to a number that keys counters.
func name64(names ...string) uint64 {
	h := fnv.New64a()
	for _, n := range names {
		h.Write([]byte(n))
		h.Write([]byte{0})
	}
	return h.Sum64()
}

func (b *Brain) workers() int {
	if b.set.Threads > 0 {
		return b.set.Threads
	}
	return runtime.GOMAXPROCS(0)
}

// parallel does n independent pieces of work.
func (b *Brain) parallel(n int, do func(worker, i int)) { parallel.Do(b.workers(), n, do) }
