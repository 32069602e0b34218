package reports

import (
	"fmt"
	"strings"
)

// RulesReport is what permission rules would decide.
type RulesReport struct {
	Version   int            `json:"version"`
	Decisions []RuleDecision `json:"decisions" jsonschema:"One for each call, in order."`
	Totals    map[string]int `json:"totals" jsonschema:"How many calls would be allowed, asked about and denied."`
	Rules     []RuleUse      `json:"rules" jsonschema:"The rules in force, in the order in which they are tried."`
	Skipped   []Skipped      `json:"skipped,omitempty" jsonschema:"Recordings that could not be read."`
	// All shows every call to people, however many are allowed.
	All bool `json:"-"`
}

// RuleDecision is what would become of one call.
type RuleDecision struct {
	Call     string   `json:"call" jsonschema:"The command, or the tool and its input."`
	Tool     string   `json:"tool"`
	From     string   `json:"from,omitempty" jsonschema:"The file and line, or the recording and turn, that the call comes from."`
	Mode     string   `json:"mode"`
	Decision string   `json:"decision" enum:"allow,ask,deny"`
	ReadOnly bool     `json:"read_only" jsonschema:"Whether it is proved that the call only reads."`
	Safe     bool     `json:"safe" jsonschema:"Whether the call may run beside others."`
	Rule     string   `json:"rule,omitempty" jsonschema:"The rule that decides, if one does."`
	Reason   string   `json:"reason"`
	Paths    []string `json:"paths" jsonschema:"The files that the call is known to touch."`
	Error    string   `json:"error,omitempty" jsonschema:"Why the call's input does not fit its tool."`
}

// RuleUse is one rule and how often it mattered.
type RuleUse struct {
	Rule      string `json:"rule"`
	Behaviour string `json:"behaviour" enum:"allow,ask,deny"`
	Source    string `json:"source"`
	Matched   int    `json:"matched" jsonschema:"The calls that the rule is about."`
	Decided   int    `json:"decided" jsonschema:"The calls that it decided."`
	Problem   string `json:"problem,omitempty" jsonschema:"Why the rule has not the effect it seems to have."`
}

func (r RulesReport) document() any { return r }

// fewCalls is how many calls a table shows without being asked for all.
const fewCalls = 20

// show writes a row a call, then what is worth knowing about the rules. Calls that are
// allowed are left out unless all are wanted or there are few.
func (r RulesReport) show(p *page) {
	few := r.All || len(r.Decisions) <= fewCalls
	g := Grid{Columns: columns("Decision", "Call", "Why")}
	for _, d := range r.Decisions {
		if few || d.Decision != "allow" {
			g.add(d.Decision, Cut(Safe(d.Call), 60, p.ASCII), Safe(why(d)))
		}
	}
	p.tables(g)
	total := fmt.Sprintf("%s: %d allowed, %d asked about, %d denied", plural(len(r.Decisions), "call", "calls"), r.Totals["allow"], r.Totals["ask"], r.Totals["deny"])
	if !few && r.Totals["allow"] > 0 {
		total += "; those allowed are left out (--all shows them)"
	}
	p.lines(total)
	p.lines(ruleNotes(r)...)
}

func why(d RuleDecision) string {
	if d.Error != "" {
		return strings.Join(strings.Fields(d.Error), " ")
	}
	return d.Reason
}

// ruleNotes are the rules that did nothing, and why.
func ruleNotes(r RulesReport) []string {
	var notes []string
	for _, u := range r.Rules {
		name := fmt.Sprintf("%s rule %s of %s", u.Behaviour, Safe(u.Rule), u.Source)
		switch {
		case u.Problem != "":
			notes = append(notes, Safe(u.Problem))
		case u.Matched == 0 && len(r.Decisions) > 1:
			notes = append(notes, name+" matched none of these calls")
		case u.Decided == 0 && len(r.Decisions) > 1:
			notes = append(notes, fmt.Sprintf("%s matched %d and decided none: others came first", name, u.Matched))
		}
	}
	return append(notes, each(r.Skipped, func(s Skipped) string { return strings.TrimSpace(Safe(s.File) + ": " + Safe(s.Reason)) })...)
}
