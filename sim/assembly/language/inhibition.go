package language

import "slices"

// reset inhibits all fibres and all areas but those that are open at first.
func (m *mind) reset() {
	m.inhibited = map[string]map[int]bool{}
	for i, a := range m.Areas {
		if !slices.Contains(m.Open, a) {
			m.inhibited[a] = map[int]bool{0: true}
		}
		for _, b := range m.Areas[i:] {
			m.inhibited[pair(a, b)] = map[int]bool{0: true}
		}
	}
}

func pair(a, b string) string { return min(a, b) + " " + max(a, b) }

// apply applies rules.
func (m *mind) apply(rules []Rule) {
	for _, r := range rules {
		key := r.From
		if r.To != "" {
			key = pair(r.From, r.To)
		}
		if m.inhibited[key] == nil {
			m.inhibited[key] = map[int]bool{}
		}
		if r.Free {
			delete(m.inhibited[key], r.Index)
		} else {
			m.inhibited[key][r.Index] = true
		}
	}
}

func (m *mind) open(key string) bool { return len(m.inhibited[key]) == 0 }

// targets returns where every area projects now.
func (m *mind) targets() targets {
	fires := map[string]bool{}
	for _, a := range m.Areas {
		w, _ := m.brain.Winners(a)
		fires[a] = len(w) > 0
	}
	out := targets{}
	for _, a := range m.Areas {
		for _, b := range m.Areas {
			if !m.open(a) || !m.open(b) || a == lex && b == lex || !m.open(pair(a, b)) {
				continue
			}
			for _, from := range []string{a, b} {
				if fires[from] {
					out.add(from, b)
				}
			}
		}
	}
	return out
}

// fibres writes targets as the fibres of a plan, in the order of the areas.
func (m *mind) fibres(t targets) (list []string) {
	for _, from := range m.Areas {
		for _, to := range m.Areas {
			if slices.Contains(t[from], to) {
				list = append(list, from+">"+to)
			}
		}
	}
	return list
}

// project activates fibres for one step.
func (m *mind) project(t targets) error {
	fibres := m.fibres(t)
	if len(fibres) == 0 {
		return nil
	}
	p, err := m.brain.Plan(fibres...)
	if err != nil {
		return err
	}
	_, err = m.brain.Project(p, 1)
	return err
}

// targets says where areas project.
type targets map[string][]string

func (t targets) add(from, to string) {
	if !slices.Contains(t[from], to) {
		t[from] = append(t[from], to)
	}
}
