package language

import "fmt"

// Words and areas of relative clauses. The area clause holds the link from a noun
// to the verb of its clause.
//
// Reference: Mitropolsky, Ejaz, Shi, Yannakakis and Papadimitriou, Center-Embedding
// and Constituency in the Brain and a New Characterization of Context-Free Languages
// (2022), arXiv:2206.13217.
const (
	that   = "that"
	comma  = ","
	clause = "DEPCLAUSE"
	verb   = "VERB"
	subj   = "SUBJ"
)

// nouns lists the areas that may have a clause: those that the read-out leaves for it.
func (g *Grammar) nouns() (list []string) {
	for _, a := range g.Areas {
		for _, to := range g.ReadOut[a] {
			if to == clause {
				list = append(list, a)
			}
		}
	}
	return list
}

// beginClause links the noun that was just heard to the clause's area, and begins
// anew with that area open.
func (m *mind) beginClause() error {
	rules := []Rule{{Free: true, From: clause}, {From: lex}, {From: verb}}
	for _, a := range m.nouns() {
		rules = append(rules, Rule{Free: true, From: a, To: clause})
	}
	m.apply(rules)
	m.brain.SetWinners(clause, nil)
	for from := range m.targets() {
		m.brain.Fix(from, true)
	}
	m.brain.Fix(clause, false)
	if err := m.run(m.Parameters.Rounds); err != nil {
		return err
	}
	if w, _ := m.brain.Winners(clause); len(w) == 0 {
		return fmt.Errorf("no noun fires that the clause could belong to, in any of the areas %v", m.nouns())
	}
	m.note(that)
	m.reset()
	m.apply([]Rule{{Free: true, From: clause}})
	return nil
}

// endClause begins anew and goes once through the words outside of clauses, without
// plasticity, so that their areas hold them again.
func (m *mind) endClause(outer []string) error {
	m.note(comma)
	m.reset()
	m.learn(false)
	for _, w := range outer {
		if err := m.hear(w, 1, true); err != nil {
			return err
		}
	}
	m.learn(true)
	return nil
}

// readClause reads the verb of a noun's clause and the subject of that verb.
func (m *mind) readClause(noun string) error {
	if err := m.project(targets{clause: {verb}}); err != nil {
		return err
	}
	if err := m.project(targets{verb: {lex, subj}}); err != nil {
		return err
	}
	v := m.word()
	err := m.project(targets{subj: {lex}})
	had := len(m.remembered[clause]) > 0
	m.found(Dependency{noun, v, DepVerb}, had)
	m.found(Dependency{v, m.word(), subj}, had)
	return err
}
