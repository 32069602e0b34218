package run

import (
	"context"
	"encoding/json"
	"slices"

	"toolbench/sim/scenario"
	"toolbench/toolsys/pipeline"
)

// elicit answers a server's question: the first answer for the server or for any, each
// used once.
func (p *person) elicit(ctx context.Context, q pipeline.Elicitation) (json.RawMessage, error) {
	p.mu.Lock()
	i := slices.IndexFunc(p.elicits, func(a scenario.ElicitScript) bool { return a.Server == "" || a.Server == q.Server })
	if i < 0 {
		p.mu.Unlock()
		return nil, errNoAnswer
	}
	a := p.elicits[i]
	p.elicits = slices.Delete(slices.Clone(p.elicits), i, i+1)
	p.mu.Unlock()
	if err := p.r.gate.Sleep(ctx, "user/elicit/"+q.CallID, a.After.D()); err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Action  string         `json:"action"`
		Content map[string]any `json:"content,omitempty"`
	}{a.Action, a.Content})
}
