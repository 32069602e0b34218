package work

import (
	"encoding/json"
	"strconv"
	"strings"

	"toolbench/toolsys/render"
	"toolbench/toolsys/tool"
)

// agentReports are the last of an agent's reports that are shown while it works.
const agentReports = 4

// drawAgent draws a sub-agent: its task, what it is doing, and its answer behind what it
// took.
func drawAgent() tool.Drawing[AgentIn, AgentOut] {
	return tool.Drawing[AgentIn, AgentOut]{
		Use: func(in AgentIn) []render.Node {
			if in.Prompt == "" {
				return nil
			}
			return render.Brief(in.Prompt, 3, render.Plainly(render.Dim))
		},
		Tag: func(in AgentIn) string {
			tag := in.Model
			if in.RunInBackground {
				tag = strings.TrimPrefix(tag+", in the background", ", ")
			}
			return tag
		},
		Progress: func(_ AgentIn, reports []string) []render.Node {
			all := reportList(reports)
			if len(reports) <= agentReports {
				return []render.Node{all}
			}
			return []render.Node{render.Fold{
				Closed: []render.Node{render.Words(render.Count(len(reports)-agentReports, "earlier step"), render.Dim), reportList(reports[len(reports)-agentReports:])},
				Open:   []render.Node{all},
			}}
		},
		Result: func(_ AgentIn, o tool.Outcome[AgentOut]) []render.Node {
			if !o.Known || o.Data.Text == "" {
				return nil
			}
			took := render.Words("Done: "+render.Count(o.Data.Turns, "turn")+", "+render.Count(o.Data.Calls, "call"), render.Dim)
			return append([]render.Node{took}, render.Brief(o.Data.Text, 6, render.Plainly(render.Plain))...)
		},
	}
}

func reportList(reports []string) render.List {
	return render.List{Items: tool.Each(reports, func(r string) render.Item {
		return render.Item{Mark: render.Bullet, Spans: []render.Span{{Text: strings.TrimSpace(r), Role: render.Dim}}}
	})}
}

// stages are how far a thing to do is, as a mark.
var stages = map[string]render.Mark{Completed: render.Done, InProgress: render.Active}

func stage(status string) render.Mark {
	if m, ok := stages[status]; ok {
		return m
	}
	return render.Pending
}

// drawTodos draws the list; what is being done stands in its active form.
func drawTodos(in TodoIn) []render.Node {
	if len(in.Todos) == 0 {
		return nil
	}
	return []render.Node{render.List{Items: tool.Each(in.Todos, func(t TodoItem) render.Item {
		span := render.Span{Text: t.Content}
		switch stage(t.Status) {
		case render.Active:
			span = render.Span{Text: t.ActiveForm, Role: render.Strong}
		case render.Done:
			span.Role = render.Dim
		}
		return render.Item{Mark: stage(t.Status), Spans: []render.Span{span}}
	})}}
}

// drawTasks draws the shared list, with who has a task and what it waits for.
func drawTasks(_ Nothing, o tool.Outcome[TaskListOut]) []render.Node {
	return render.Listed(render.Count(len(o.Data.Tasks), "task"), o.Data.Tasks, func(t TaskOut) render.Item {
		spans := []render.Span{{Text: t.Task.ID + ". " + t.Task.Subject}}
		if t.Task.Owner != "" {
			spans = append(spans, render.Span{Text: " (" + t.Task.Owner + ")", Role: render.Agent})
		}
		if len(t.Open) > 0 {
			spans = append(spans, render.Span{Text: " waits for " + strings.Join(t.Open, ", "), Role: render.Dim})
		}
		return render.Item{Mark: stage(string(t.Task.Status)), Spans: spans}
	})
}

// drawQuestions draws what is asked, with the options of each.
func drawQuestions(in QuestionIn) (nodes []render.Node) {
	for _, q := range in.Questions {
		items := tool.Each(q.Options, func(o tool.Option) render.Item {
			spans := []render.Span{{Text: o.Label}}
			if o.Description != "" {
				spans = append(spans, render.Span{Text: "  " + o.Description, Role: render.Dim})
			}
			return render.Item{Mark: render.Bullet, Spans: spans}
		})
		nodes = append(nodes, render.Group{Head: []render.Span{{Text: q.Text}}, Nodes: []render.Node{render.List{Items: items}}})
	}
	return nodes
}

// drawAnswers draws what was chosen of each question.
func drawAnswers(_ QuestionIn, o tool.Outcome[QuestionOut]) []render.Node {
	if !o.Known {
		return nil
	}
	return []render.Node{render.List{Items: tool.Each(o.Data.Answers, func(a Answer) render.Item {
		chosen := render.Span{Text: strings.Join(a.Chosen, ", "), Role: render.Strong}
		if len(a.Chosen) == 0 {
			chosen = render.Span{Text: "(no answer)", Role: render.Dim}
		}
		return render.Item{Mark: render.Bullet, Spans: []render.Span{{Text: a.Question + " "}, chosen}}
	})}}
}

// drawPlan draws a plan: its headings and points stand out, as they do in Markdown.
func drawPlan(in ExitIn) []render.Node {
	if in.Plan == firstLine(in.Plan) {
		return nil // the summary has it
	}
	return render.Brief(in.Plan, 20, func(text string) render.Node { return render.Code{Text: text, Language: "markdown"} })
}

// drawJobs draws the scheduled jobs, with when each fires next.
func drawJobs(_ Nothing, o tool.Outcome[CronListOut]) []render.Node {
	if !o.Known || len(o.Data.Jobs) == 0 {
		return nil
	}
	rows := tool.Each(o.Data.Jobs, func(j CronJob) []string {
		return []string{j.ID, j.Cron, at(j.Next), strconv.Itoa(j.Fired), firstLine(j.Prompt)}
	})
	table := render.Table{Heads: []string{"job", "when", "next", "fired", "prompt"}, Rows: rows}
	return render.Folded(render.Words(render.Count(len(rows), "job"), render.Dim), table)
}

// drawPeers draws the agents of the session.
func drawPeers(_ Nothing, o tool.Outcome[ListPeersOut]) []render.Node {
	return render.Listed(render.Count(len(o.Data.Peers), "agent"), o.Data.Peers, func(p PeerOut) render.Item {
		spans := []render.Span{{Text: p.Name, Role: render.Agent}, {Text: " " + p.Status}}
		if p.Title != "" {
			spans = append(spans, render.Span{Text: "  " + p.Title, Role: render.Dim})
		}
		return render.Item{Mark: render.Bullet, Spans: spans}
	})
}

// drawCalls draws the calls that are to be made within, in order, where all is wanted: each
// is drawn by itself once it is made.
func drawCalls(in ReplIn) []render.Node {
	if len(in.Calls) == 0 {
		return nil
	}
	items := tool.Each(in.Calls, func(c ReplCall) render.Item {
		input, _ := json.Marshal(c.Input) // it was read from JSON
		return render.Item{Mark: render.Bullet, Spans: []render.Span{{Text: c.Tool}, {Text: " " + string(input), Role: render.Dim}}}
	})
	return []render.Node{render.Fold{Open: []render.Node{render.List{Items: items}}}}
}
