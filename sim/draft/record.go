package draft

import (
	"context"
	"fmt"
	"path/filepath"

	"toolbench/sim/replay"
	"toolbench/sim/scenario/run"
	"toolbench/sim/stream"
	"toolbench/toolsys/message"
)

// unknownPrompt stands for what the user said where the recording does not hold it.
const unknownPrompt = "Go on."

// script lays out what the model says and what the user says in between.
func (s *sketch) script() {
	s.prompt = s.blank(s.prompts[1])
	for i, turn := range s.Turns {
		s.out.Calls += len(turn.Calls)
		s.out.Answered += len(turn.Calls) - len(turn.Unanswered)
		s.answers = append(s.answers, blankEvents(replay.Paced(turn, s.o.Pace), s.o.Secrets))
		if i+1 < len(s.Turns) {
			s.ask(turn, s.Turns[i+1])
		}
	}
	if !ends(s.Turns[len(s.Turns)-1]) {
		s.end()
	}
}

// end adds a last answer to a stream that ends with calls, or breaks off.
func (s *sketch) end() {
	s.closed = true
	s.answers = append(s.answers, stream.Script(stream.Turn{ID: "msg_end", Blocks: []stream.Block{{Kind: stream.Text, Text: "(The recording ends here.)"}}}))
}

// record makes the cassette. How often the system asks is seen only when it does: an
// answer that it does not take for an end needs no prompt, and the other way round.
func (s *sketch) record(ctx context.Context) error {
	for range len(s.Turns) + 3 {
		sc, err := s.save()
		if err != nil {
			return err
		}
		asked, ended, err := run.RecordAnswers(ctx, sc, filepath.Join(s.dir, filepath.FromSlash(s.out.Cassette)), s.answers)
		switch n := len(s.answers); {
		case err != nil:
			return err
		case asked == n && ended == nil:
			return nil
		case asked > n && !s.closed:
			s.end()
		case asked > n && len(s.then) > 0:
			last := len(s.then) - 1
			if s.then[last] != unknownPrompt {
				s.note("what the user said last is left out, since the model is not at its end there: %s", message.Line(s.then[last], noteChars))
			}
			s.then = s.then[:last]
		case asked < n && ended == nil:
			s.note("the conversation ends early here: %q was added, for the model to go on", unknownPrompt)
			s.then = append(s.then, unknownPrompt)
		default:
			return fmt.Errorf("%w: it ends after %d of %d answers: %w", ErrFails, asked, n, ended)
		}
	}
	return fmt.Errorf("%w: its answers and prompts do not fit together", ErrFails)
}
