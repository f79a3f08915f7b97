package cyrsoxs

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/libconfig"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// setting is one key of the file.
type setting struct {
	key     string
	absent  string // value where the key is missing, in words; "" if it is needed
	read    func(r *configReader, v *libconfig.Value)
	example string // of a needed one
}

// settings in the order of the warnings about missing ones.
var settings = []setting{
	{key: "CaseType", example: "CaseType = 0;", read: func(r *configReader, v *libconfig.Value) { r.c.CaseType = CaseType(r.whole(v)) }},
	{key: "Energies", example: "Energies = [284.7, 285.2];", read: func(r *configReader, v *libconfig.Value) { r.c.Energies = r.numbers(v, 0) }},
	{key: "EAngleRotation", example: "EAngleRotation = [0.0, 5.0, 165.0];", read: func(r *configReader, v *libconfig.Value) { copy(r.c.EAngleRotation[:], r.numbers(v, 3)) }},
	{key: "MorphologyType", example: "MorphologyType = 0;", read: func(r *configReader, v *libconfig.Value) { r.c.MorphologyType = MorphologyType(r.whole(v)) }},
	{key: "EwaldsInterpolation", absent: "1, linear", read: func(r *configReader, v *libconfig.Value) { r.c.Interpolation = Interpolation(r.whole(v)) }},
	{key: "WindowingType", absent: "0, none", read: func(r *configReader, v *libconfig.Value) { r.c.Window = Window(r.whole(v)) }},
	{key: "RotMask", absent: "false", read: func(r *configReader, v *libconfig.Value) { r.c.RotMask = r.truth(v) }},
	{key: "Algorithm", absent: "0, communication minimising", read: func(r *configReader, v *libconfig.Value) { r.c.Algorithm = Algorithm(r.whole(v)) }},
	{key: "MaxStreams", absent: "1", read: func(r *configReader, v *libconfig.Value) { r.c.MaxStreams = r.whole(v) }},
	{key: "ScatterApproach", absent: "0, partial", read: func(r *configReader, v *libconfig.Value) { r.c.ScatterApproach = ScatterApproach(r.whole(v)) }},
	{key: "ReferenceFrame", absent: "1, lab", read: func(r *configReader, v *libconfig.Value) { r.c.ReferenceFrame = ReferenceFrame(r.whole(v)) }},
	{key: "DumpMorphology", absent: "false", read: func(r *configReader, v *libconfig.Value) { r.c.DumpMorphology = r.truth(v) }},
	{key: "NumThreads", absent: "4", read: func(r *configReader, v *libconfig.Value) { r.c.NumThreads = r.whole(v) }},
	{key: "HDF5DirName", absent: "HDF5", read: func(r *configReader, v *libconfig.Value) { r.c.HDF5Dir = r.text(v) }},
}

// geometry are keys that only some cases need; alias is the documented name of
// Algorithm, which CyRSoXS itself does not read.
const (
	keyBeams    = "listKVectors"
	keyDetector = "DetectorCoordinates"
	keyAlias    = "AlgorithmType"
)

// former are keys of old files, and where their content stands now.
var former = map[string]string{
	"NumX": "the morphology has the size", "NumY": "the morphology has the size", "NumZ": "the morphology has the size",
	"PhysSize": "the morphology has the voxel size", "NumMaterial": "the morphology has the number",
	"StartEnergy": "Energies lists them", "EndEnergy": "Energies lists them", "IncrementEnergy": "Energies lists them",
	"StartAngle": "EAngleRotation has it", "EndAngle": "EAngleRotation has it", "IncrementAngle": "EAngleRotation has it",
	"WriteVTI": "only HDF5 is written", "VTIDirName": "only HDF5 is written", "WriteHDF5": "HDF5 is always written",
}

// ReadConfig reads config.txt. Looser than CyRSoXS, with a warning each: a whole
// number may stand for a fraction, 0 and 1 for false and true, AlgorithmType for
// Algorithm, and groups k0 = { k = [...]; } inside braces for the list of beams.
// Missing optional keys are warned of, and so are keys that mean nothing. The
// error has everything that is wrong, joined.
func ReadConfig(name string) (*Config, []string, error) {
	root, err := libconfig.Open(name)
	if err != nil {
		return nil, nil, err
	}
	return readConfig(root)
}

// ParseConfig is ReadConfig of a text; name is for messages.
func ParseConfig(text, name string) (*Config, []string, error) {
	root, err := libconfig.Parse([]byte(text), name)
	if err != nil {
		return nil, nil, err
	}
	return readConfig(root)
}

// configReader fills a Config and collects what is to be said about the file.
type configReader struct {
	c        *Config
	root     *libconfig.Value
	lines    map[string]int
	warnings []string
	bad      mistakes
}

func readConfig(root *libconfig.Value) (*Config, []string, error) {
	r := &configReader{c: NewConfig(), root: root, lines: map[string]int{}}
	r.alias()
	for _, s := range settings {
		r.one(s)
	}
	r.directions()
	r.strangers()
	for _, err := range r.c.mistakes() {
		if e := err.(*FormatError); !r.complained(e.Key) {
			e.Line = r.lines[e.Key]
			r.bad = append(r.bad, e)
		}
	}
	if err := r.bad.in(root.File()); err != nil {
		return nil, r.warnings, err
	}
	return r.c, r.warnings, nil
}

// complained reports that a key has an error already.
func (r *configReader) complained(key string) bool {
	return slices.ContainsFunc(r.bad, func(err error) bool { return err.(*FormatError).Key == key })
}

func (r *configReader) warn(line int, format string, args ...any) {
	s := r.root.File()
	if line > 0 {
		s += fmt.Sprintf(":%d", line)
	}
	r.warnings = append(r.warnings, s+": "+fmt.Sprintf(format, args...))
}

// get finds a key and remembers its line.
func (r *configReader) get(key string) *libconfig.Value {
	v, err := r.root.Lookup(key)
	if err != nil {
		return nil
	}
	r.lines[key] = v.Line
	return v
}

func (r *configReader) one(s setting) {
	v := r.get(s.key)
	switch {
	case v != nil:
		s.read(r, v)
	case s.absent != "" && r.lines[s.key] == 0:
		r.warn(0, "no %s: taken as %s", s.key, s.absent)
	case s.absent == "":
		try := "add " + s.example
		if near := r.near(s.key); near != "" {
			try = "is it " + near + "?"
		}
		r.bad.add(s.key, try, "is needed").Err = ErrIncomplete
	}
}

// near finds a name in the file like a missing one.
func (r *configReader) near(key string) string {
	var names []string
	for _, v := range r.root.Items {
		if !known(v.Name) {
			names = append(names, v.Name)
		}
	}
	return spelling.Meant(key, names)
}

// fault keeps an error of a value.
func (r *configReader) fault(v *libconfig.Value, key string, err error) {
	var e *libconfig.FormatError
	if errors.As(err, &e) && !r.complained(key) {
		r.bad.add(key, e.Try, "%s", strings.TrimPrefix(e.What, key+" ")).Line = v.Line
	}
}

func (r *configReader) whole(v *libconfig.Value) int {
	n, err := v.AsInt()
	if err == nil && n != int64(int32(n)) {
		err = v.Errorf("", "%d is out of range", n)
	}
	if err != nil {
		r.fault(v, v.Name, err)
	}
	return int(int32(n))
}

func (r *configReader) truth(v *libconfig.Value) bool {
	if v.Kind == libconfig.Int && (v.Int == 0 || v.Int == 1) {
		r.warn(v.Line, "%s is %d: taken as %t (CyRSoXS ignores it: write true or false)", v.Name, v.Int, v.Int == 1)
		return v.Int == 1
	}
	b, err := v.AsBool()
	if err != nil {
		r.fault(v, v.Name, err)
	}
	return b
}

func (r *configReader) text(v *libconfig.Value) string {
	s, err := v.AsText()
	if err != nil {
		r.fault(v, v.Name, err)
	}
	return s
}

// numbers reads an array of n fractions; n of 0 is any number.
func (r *configReader) numbers(v *libconfig.Value, n int) []float64 {
	return r.array(v, v.Name, n)
}

func (r *configReader) array(v *libconfig.Value, key string, n int) []float64 {
	all, err := v.Float64s()
	if err == nil && n > 0 && len(all) != n {
		err = v.Errorf("", "has %d numbers, want %d", len(all), n)
	}
	if err != nil {
		r.fault(v, key, err)
		return nil
	}
	if slices.ContainsFunc(v.Items, func(x *libconfig.Value) bool { return x.Kind == libconfig.Int }) {
		r.warn(v.Line, "%s has whole numbers: taken as fractions (CyRSoXS stops: write 1.0 for 1)", key)
	}
	return all
}

// alias takes AlgorithmType where there is no Algorithm.
func (r *configReader) alias() {
	v, main := r.get(keyAlias), r.get("Algorithm")
	switch {
	case v == nil:
	case main == nil:
		r.c.Algorithm = Algorithm(r.whole(v))
		r.lines["Algorithm"] = v.Line
		r.warn(v.Line, "AlgorithmType is taken as Algorithm (CyRSoXS reads Algorithm only)")
	case v.Kind != main.Kind || v.Int != main.Int:
		r.warn(v.Line, "AlgorithmType is not Algorithm in line %d, which counts", main.Line)
	}
}

// directions reads beams and detector where the case needs them.
func (r *configReader) directions() {
	beams, detector := r.get(keyBeams), r.get(keyDetector)
	switch {
	case r.c.CaseType != BeamDivergence && r.c.CaseType != GrazingIncidence:
		r.idle(beams)
	case beams == nil:
		r.c.KVectors = nil
	default:
		r.beams(beams)
	}
	switch {
	case r.c.CaseType != GrazingIncidence:
		r.idle(detector)
	case detector == nil:
		r.bad.add(keyDetector, "add DetectorCoordinates = [0.0, 0.0, 1.0];", "is needed for %s", r.c.CaseType).Err = ErrIncomplete
	default:
		copy(r.c.Detector[:], r.numbers(detector, 3))
		r.c.Detector = unit(r.c.Detector)
	}
}

// idle warns of a direction that the case does not use.
func (r *configReader) idle(v *libconfig.Value) {
	if v != nil && !r.complained("CaseType") {
		r.warn(v.Line, "%s is not used with CaseType %d, %s", v.Name, r.c.CaseType, r.c.CaseType)
	}
}

func (r *configReader) beams(v *libconfig.Value) {
	r.c.KVectors = nil
	switch v.Kind {
	case libconfig.List:
	case libconfig.Group:
		r.warn(v.Line, "%s is a group: taken as a list (CyRSoXS reads ({ k = [x, y, z]; }, ...))", keyBeams)
	default:
		r.bad.add(keyBeams, "write ({ k = [0.0, 0.0, 1.0]; })", "is no list of groups").Line = v.Line
		return
	}
	for i, item := range v.Items {
		k, err := item.Lookup("k")
		if err != nil {
			r.bad.add(keyBeams, "write { k = [0.0, 0.0, 1.0]; }", "element %d has no k", i).Line = item.Line
			return
		}
		if xyz := r.array(k, keyBeams, 3); xyz != nil {
			r.c.KVectors = append(r.c.KVectors, unit([3]float64(xyz)))
		}
	}
}

// unit scales a vector to length 1; one without a direction stays, for Check.
func unit(k [3]float64) [3]float64 {
	length := math.Sqrt(k[0]*k[0] + k[1]*k[1] + k[2]*k[2])
	if length == 0 || !finite(length) {
		return k
	}
	return [3]float64{k[0] / length, k[1] / length, k[2] / length}
}

func known(name string) bool {
	return name == keyBeams || name == keyDetector || name == keyAlias ||
		slices.ContainsFunc(settings, func(s setting) bool { return s.key == name })
}

// strangers warns of keys that mean nothing.
func (r *configReader) strangers() {
	var names []string
	for _, s := range settings {
		names = append(names, s.key)
	}
	names = append(names, keyBeams, keyDetector)
	for _, v := range r.root.Items {
		if known(v.Name) {
			continue
		}
		if why, ok := former[v.Name]; ok {
			r.warn(v.Line, "%s is ignored: %s", v.Name, why)
		} else if near := spelling.Meant(v.Name, names); near != "" {
			r.warn(v.Line, "%s is ignored: is it %s?", v.Name, near)
		} else {
			r.warn(v.Line, "%s is ignored: there is no such setting", v.Name)
		}
	}
}
