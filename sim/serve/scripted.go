package serve

import (
	"bytes"

	"toolbench/sim/recording"
	"toolbench/sim/scenario"
	"toolbench/sim/stream"
)

// FromScenario gives what a scenario's model says: its cassette, or its scripted
// turns. Errors are those of the scenario's files.
func FromScenario(sc *scenario.Scenario, pace stream.Pace) (*Tape, error) {
	data, err := sc.CassetteFile()
	if err != nil {
		return nil, err
	}
	if data != nil {
		return FromRecording(sc.Cassette(), bytes.NewReader(data), recording.Limits{}, pace)
	}
	t := &Tape{Source: sc.File()}
	for i, s := range sc.Scripts() {
		c := &Conversation{Number: i + 1, For: s.For}
		for _, events := range s.Answers {
			c.Answers = append(c.Answers, NewAnswer(events))
		}
		t.Conversations = append(t.Conversations, c)
	}
	return t, nil
}
