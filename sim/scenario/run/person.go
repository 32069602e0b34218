package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"toolbench/sim/scenario"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/tool"
)

// person answers from the scenario's script.
type person struct {
	r *runner

	mu      sync.Mutex
	permits []scenario.Permit
	answers []scenario.AnswerScript
	elicits []scenario.ElicitScript
	always  []permission.Rule // what the person has allowed for good
}

var errNothingToRemember = errors.New("no rule is proposed that could always allow this")

var errNoAnswer = errors.New("the scenario has no answer for this question")

// next takes the first answer that fits out of a list of the person's.
func next[T any](p *person, list *[]T, fits func(T) bool) (answer T, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(*list, fits)
	if i < 0 {
		return answer, errNoAnswer
	}
	answer = (*list)[i]
	*list = slices.Delete(slices.Clone(*list), i, i+1)
	return answer, nil
}

// permit answers a permission question: the first answer for the call, for the
// tool or for anything, each used once.
func (p *person) permit(ctx context.Context, q pipeline.Question) (pipeline.Reply, error) {
	p.mu.Lock()
	always := len(p.always) > 0 && permission.AllowedBy(q.Inputs, p.always)
	p.mu.Unlock()
	if always {
		return pipeline.Reply{Allow: true}, nil
	}
	a, err := next(p, &p.permits, func(a scenario.Permit) bool {
		return (a.Call == "" || a.Call == q.CallID) && (a.Tool == "" || a.Tool == q.Tool)
	})
	if err != nil {
		return pipeline.Reply{}, err
	}
	wait := a.After.D()
	if a.Never {
		wait = hang
	}
	if a.Deaf {
		ctx = context.WithoutCancel(ctx)
	}
	if err := p.r.gate.Sleep(ctx, "user/permit/"+q.CallID, wait); err != nil {
		return pipeline.Reply{}, err
	}
	if a.Always && !p.remember(permission.Propose(q.Inputs)) {
		return pipeline.Reply{}, errNothingToRemember
	}
	reply := pipeline.Reply{Allow: a.Allow || a.Always, Text: a.Text}
	if a.Input != nil {
		raw, err := json.Marshal(a.Input)
		if err != nil {
			return reply, fmt.Errorf("the scripted input: %w", err)
		}
		reply.Input = raw
	}
	return reply, nil
}

// remember keeps rules, and reports whether there are any.
func (p *person) remember(rules []permission.Rule) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.always = append(p.always, rules...)
	return len(rules) > 0
}

// answer answers the questions of AskUserQuestion, one script a call.
func (p *person) answer(ctx context.Context, callID string, qs []tool.Question) ([]tool.Answer, error) {
	a, err := next(p, &p.answers, func(scenario.AnswerScript) bool { return true })
	if err != nil {
		return nil, err
	}
	if err := p.r.gate.Sleep(ctx, "user/answer/"+callID, a.After.D()); err != nil {
		return nil, err
	}
	out := make([]tool.Answer, len(qs))
	for i := range qs {
		if i < len(a.Choose) {
			out[i] = tool.Answer{Chosen: []string{a.Choose[i]}}
		}
	}
	return out, nil
}

// classify is the scripted safety classifier.
func (r *runner) classify(ctx context.Context, _, input string) (permission.Verdict, error) {
	for _, c := range r.sc.Classifier {
		if !strings.Contains(input, c.Match) {
			continue
		}
		if err := r.gate.Sleep(ctx, "classifier/"+input, c.After.D()); err != nil {
			return permission.Verdict{}, err
		}
		if c.Fails {
			return permission.Verdict{}, errors.New("the classifier failed")
		}
		return permission.Verdict{Ruling: rulings[c.Ruling], Text: c.Text}, nil
	}
	return permission.Verdict{}, nil
}

var rulings = map[string]permission.Ruling{"": permission.NoRuling, "clears": permission.Clears, "blocks": permission.Blocks}

// elicit answers a server's question: the first answer for the server or for any, each
// used once.
func (p *person) elicit(ctx context.Context, q pipeline.Elicitation) (json.RawMessage, error) {
	a, err := next(p, &p.elicits, func(a scenario.ElicitScript) bool { return a.Server == "" || a.Server == q.Server })
	if err != nil {
		return nil, err
	}
	if err := p.r.gate.Sleep(ctx, "user/elicit/"+q.CallID, a.After.D()); err != nil {
		return nil, err
	}
	return json.Marshal(struct {
		Action  string         `json:"action"`
		Content map[string]any `json:"content,omitempty"`
	}{a.Action, a.Content})
}

// compact answers the session when it asks whether to cut; nil when the scenario
// never does.
func (r *runner) compact() func(context.Context, []message.Message) (loop.Summary, bool, error) {
	all := r.sc.World.Compactions
	if len(all) == 0 {
		return nil
	}
	return func(context.Context, []message.Message) (loop.Summary, bool, error) {
		r.mu.Lock()
		turn := r.turn
		r.mu.Unlock()
		for _, c := range all {
			if c.Turn == turn {
				return loop.Summary{Text: c.Summary, Keep: c.Keep}, true, nil
			}
		}
		return loop.Summary{}, false, nil
	}
}
