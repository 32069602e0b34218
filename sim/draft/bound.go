package draft

import (
	"toolbench/sim/recording"
	"toolbench/sim/scenario"
)

// Limits of a draft, in bytes. Each request of a cassette has all that was said before,
// so that it grows with the square of a session's length; a scenario's file has the
// answers of its stand-ins.
const (
	maxCassette = 16 << 20
	maxAnswers  = scenario.MaxFileBytes * 2 / 3
)

// bound keeps as many turns of a long session as make a cassette and a file that can be
// read, and says so. A first turn that is too long by itself is kept: the file's own
// limit words what is wrong with it.
func (s *sketch) bound() {
	history, cassette, answers := 0, 0, 0
	for _, d := range s.definitions() {
		history += len(d.Description) + len(d.Schema)
	}
	for i, turn := range s.Turns {
		size, told := weight(turn)
		history += size + len(s.prompts[turn.Number])
		cassette += history
		if answers += told + len(quote(s.prompts[turn.Number])); i > 0 && (cassette > maxCassette || answers > maxAnswers) {
			s.note("the first %d of %d turns: what follows would make its files larger than they may be, since each request has all that was said before", i, len(s.Turns))
			s.Turns = s.Turns[:i]
			return
		}
	}
}

// weight is how much a turn adds to each later request, and how much of it comes into
// the scenario's file, as JSON writes it.
func weight(t *recording.Turn) (size, told int) {
	for _, e := range t.Events {
		size += len(e.Data) / 2 // the rest of a delta is its frame
	}
	for _, c := range t.Calls {
		told += len(c.Input) + 200
		if r := t.Result(c.ID); r != nil {
			n := len(quote(r.Text))
			told += n
			size += n
		}
	}
	return size, told
}
