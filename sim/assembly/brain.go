package assembly

import (
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"slices"

	"github.com/euryale-dev/euryale/internal/parallel"
)

// Activity says what areas do that get no input in a step.
type Activity int

const (
	Sticky Activity = iota // they keep their winners
	Silent                 // they fall silent
)

// Sampling is how lazy areas draw the inputs of neurons that never fired.
type Sampling int

const (
	Exact  Sampling = iota // the largest of as many binomial draws as there are such neurons
	Normal                 // K draws from the tail of a normal law, as the reference implementation
)

// Settings of a Brain. Zero values are the defaults.
type Settings struct {
	P         float64  // probability of a synapse, 0 to 1
	Seed      uint64   // of all that is drawn
	Activity  Activity // Default Sticky.
	MaxWeight float64  // no synapse grows beyond; 0 for no bound
	Lazy      Sampling // of neurons that never fired; default Exact
	// EmptyIfSilent leaves an area without winners where no input reaches it. Default:
	// neurons 0 to K-1 win, as the lowest among equals. Silent implies it.
	//
	// An area that no open fibre reaches from anything that fires is not part of a step:
	// it keeps its winners if Sticky.
	EmptyIfSilent bool
	// NoSelf leaves out synapses of neurons onto themselves.
	NoSelf bool
	// Connect, if given, draws the connections instead: it appends to dst, in order,
	// which neurons of a fibre's target the source neuron connects to. It must be
	// safe for concurrent use.
	Connect func(dst []int32, f Fibre, source int) []int32 `json:"-"`
	Cache   int                                            // bytes of drawn connections to keep; default 4 GiB
	Threads int                                            // that draw and count connections; default GOMAXPROCS. Changes no result.
}

// Area is a set of neurons of which K fire together.
type Area struct {
	Name string
	N    int     // neurons
	K    int     // that fire, at most N
	Beta float64 // plasticity of fibres into it, see Rule
	Rule Rule    // by which they learn; default Hebb
	Lazy bool    // store neurons when they first fire, and draw the others; see Sampling
	Column
}

// Brain is a set of areas, stimuli and fibres. It is not safe for concurrent use;
// copies of it are.
type Brain struct {
	set      Settings
	areas    []*area
	stimuli  []*stimulus
	fibres   []*fibre
	byName   map[[2]string]*fibre
	rivals   [][]string
	closed   Inhibition
	frozen   bool // no plasticity
	step     int
	cached   int       // bytes of links
	x        []float64 // inputs of one target
	isWinner []uint8   // 1 for winners
	room     []int32
	arena    []int32   // of subsets, in one step
	rowRoom  []synapse // room for rows
	rowsMade int       // synapses of all slabs
	marked   marks
	laws     map[pair]*binomial // inputs of new neurons, by how many fire
	prof     *Profile
	moved    int // bytes of synapses and inputs read and written so far, at least
}

// area is an Area with its state.
type area struct {
	Area
	winners []int32 // in order of falling input
	changes int     // of the set of winners
	fired   []bool  // neurons that ever did
	support int     // how many
	fixed   bool
	columnState
	into, out []*fibre
}

// stimulus is a set of neurons outside that always fire together.
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
		return fmt.Errorf("assembly: area %q: want a name of its own", a.Name)
	case a.N > math.MaxInt32:
		return fmt.Errorf("assembly: area %s of %d neurons: want at most %d", a.Name, a.N, math.MaxInt32)
	case a.K < 1 || a.K > a.N:
		return fmt.Errorf("assembly: area %s fires %d of %d neurons: want at least 1 and at most all", a.Name, a.K, a.N)
	case !(b.set.P >= 0 && b.set.P <= 1):
		return fmt.Errorf("assembly: synapses with probability %g: want 0 to 1", b.set.P)
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
		return fmt.Errorf("assembly: stimulus %q: want a name of its own", name)
	case size < 0 || size > math.MaxInt32:
		return fmt.Errorf("assembly: stimulus %s of %d neurons: want 0 or more, at most %d", name, size, math.MaxInt32)
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
		return nil, fmt.Errorf("assembly: no area %q: there are %v", name, b.Areas())
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

// Area returns what an area was made of.
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
			return fmt.Errorf("assembly: winner %d of area %s: want different neurons from 0 to %d", w, name, a.stored()-1)
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
		return fmt.Errorf("assembly: block %d of area %s: it has %d blocks of %d neurons", i, name, a.stored()/a.K, a.K)
	}
	w := make([]int32, a.K)
	for j := range w {
		w[j] = int32(i*a.K + j)
	}
	a.set(w)
	return nil
}

// Block returns the block of an area that most of its winners lie in, and which part
// of the block fires. It returns a *SilentError if nothing fires.
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

// Fix freezes the winners of an area, or frees them. It still projects, and synapses
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

// Learn switches plasticity, which is on at first.
func (b *Brain) Learn(on bool) { b.frozen = !on }

// stored returns how many neurons have numbers.
func (a *area) stored() int {
	if a.Lazy {
		return a.support
	}
	return a.N
}

// set makes other neurons fire.
func (a *area) set(winners []int32) {
	a.winners = winners
	a.changes++
}

// changesWith returns what changes will be once the winners of a round fire.
func (a *area) changesWith(r Round) int {
	if a.fixed || r.Kept == len(r.Winners) && r.Kept == len(a.winners) {
		return a.changes
	}
	return a.changes + 1
}

// fire makes the winners of a round those of a.
func (a *area) fire(r Round, step int) {
	a.changes = a.changesWith(r)
	winners := slices.Clone(r.Winners) // the round is the caller's
	a.winners = winners
	a.remember(winners, step)
	if a.Lazy {
		return
	}
	for _, w := range winners {
		if !a.fired[w] {
			a.fired[w] = true
			a.support++
		}
	}
}

// name64 turns names into a number to key counters with.
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

// parallel does n independent things.
func (b *Brain) parallel(n int, do func(worker, i int)) { parallel.Do(b.workers(), n, do) }
