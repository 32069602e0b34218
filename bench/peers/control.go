package peers

import (
	"context"
	"sync"

	"toolbench/bench/measure"
)

// control is a goroutine a call and nothing else: what no library can undercut. It
// looks at no input and answers nobody but its counter.
func control() measure.Peer {
	return measure.Peer{Name: "goroutine per call", Path: "control: no decode, no checks", Open: openControl}
}

func openControl(all []measure.Tool, m measure.Message) (measure.Conversation, error) {
	byName := map[string]measure.Tool{}
	for _, t := range all {
		byName[t.Name] = t
	}
	answers := make([]measure.Answer, len(m.Calls))
	paths := make([]string, len(m.Calls))
	for i, c := range m.Calls {
		paths[i] = c.Path()
	}
	return measure.Conversation{
		Run: func(ctx context.Context) error {
			clear(answers)
			if err := m.Collect(ctx); err != nil {
				return err
			}
			var wg sync.WaitGroup
			for i, c := range m.Calls {
				wg.Go(func() {
					_, err := byName[c.Tool].Do(ctx, paths[i])
					answers[i] = measure.Answer{ID: c.ID, Error: err != nil}
				})
			}
			wg.Wait()
			return nil
		},
		Answers: func() []measure.Answer { return answers },
	}, nil
}
