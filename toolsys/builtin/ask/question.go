package ask

import (
	"context"
	_ "embed" // the prompt beside this file
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

//go:embed question.md
var questionPrompt string

// Why AskUserQuestion refuses an input that fits its schema.
const (
	CodeSameQuestion = iota + 1
	CodeSameOption
)

// ErrNobody is the error of a question that nobody is there to answer.
var ErrNobody = errors.New("nobody can answer: this session has no user to ask; decide by yourself and say what you assumed")

// Option is one answer on offer.
type Option struct {
	Label       string `json:"label" minLength:"1" jsonschema:"The answer in one to five words"`
	Description string `json:"description" jsonschema:"What choosing it means"`
}

// Question is one question as the model puts it.
type Question struct {
	Question    string   `json:"question" minLength:"1" jsonschema:"The whole question, ending with a question mark"`
	Header      string   `json:"header" minLength:"1" maxLength:"12" jsonschema:"A label of 12 characters at most"`
	Options     []Option `json:"options" minItems:"2" maxItems:"4" jsonschema:"The answers on offer; the user can always write another"`
	MultiSelect bool     `json:"multiSelect,omitempty" jsonschema:"More than one answer may be chosen"`
}

// QuestionIn is what AskUserQuestion takes.
type QuestionIn struct {
	Questions []Question `json:"questions" minItems:"1" maxItems:"4" jsonschema:"The questions, which are shown together"`
}

// Answer is what was answered to one question.
type Answer struct {
	Question string   `json:"question"`
	Chosen   []string `json:"chosen"`
}

// QuestionOut is what AskUserQuestion answers with, in the order of the questions.
type QuestionOut struct {
	Answers []Answer `json:"answers"`
}

// AskUserQuestion puts one to four multiple-choice questions to the user (SPEC
// L). Where nobody can answer the call is an error. A question
// holds everything up, so the call runs alone.
func AskUserQuestion() *tool.Tool {
	return tool.Must(tool.Def[QuestionIn, QuestionOut]{
		Name:        "AskUserQuestion",
		Hint:        "ask the user multiple choice questions",
		Description: "Asks the user one to four multiple-choice questions.",
		Prompt:      func(tool.PromptOptions) string { return questionPrompt },
		Call:        askUser,
		Block: func(out QuestionOut) []message.Block {
			return []message.Block{message.Text(out.text())}
		},
		Validate: func(in QuestionIn, _ *tool.Context) *tool.Refusal { return distinct(in) },
		Traits: tool.Traits[QuestionIn]{
			ReadOnly:  tool.Always[QuestionIn],
			NeedsUser: tool.Always[QuestionIn],
			Interrupt: tool.Cancel,
			Effects: func(QuestionIn, *tool.Context) tool.Effects {
				return tool.Effects{Writes: []string{"user"}}
			},
		},
		View: tool.View[QuestionIn]{
			Title:    func(QuestionIn) string { return "Question" },
			Summary:  headers,
			Activity: func(QuestionIn) string { return "Waiting for an answer" },
		},
	})
}

func askUser(ctx context.Context, in QuestionIn, c *tool.Context) (tool.Result[QuestionOut], error) {
	if c.AskUser == nil || c.NonInteractive {
		return tool.Result[QuestionOut]{}, ErrNobody
	}
	answers, err := c.AskUser(ctx, in.forUser())
	if err != nil {
		return tool.Result[QuestionOut]{}, fmt.Errorf("the questions were not answered: %w", err)
	}
	if len(answers) != len(in.Questions) {
		return tool.Result[QuestionOut]{}, fmt.Errorf("%d answers came back to %d questions", len(answers), len(in.Questions))
	}
	return tool.Done(in.answered(answers)), nil
}

func (in QuestionIn) forUser() []tool.Question {
	asked := make([]tool.Question, len(in.Questions))
	for i, q := range in.Questions {
		asked[i] = tool.Question{Header: q.Header, Text: q.Question, Multiple: q.MultiSelect}
		for _, o := range q.Options {
			asked[i].Options = append(asked[i].Options, tool.Option(o))
		}
	}
	return asked
}

func (in QuestionIn) answered(answers []tool.Answer) QuestionOut {
	out := QuestionOut{Answers: make([]Answer, len(answers))}
	for i, a := range answers {
		out.Answers[i] = Answer{Question: in.Questions[i].Question, Chosen: append([]string{}, a.Chosen...)}
	}
	return out
}

func (out QuestionOut) text() string {
	var b strings.Builder
	b.WriteString("The user answered:")
	for _, a := range out.Answers {
		chosen := strings.Join(a.Chosen, "; ")
		if len(a.Chosen) == 0 {
			chosen = "(no answer)"
		}
		fmt.Fprintf(&b, "\n- %s\n  %s", a.Question, chosen)
	}
	return b.String()
}

// distinct refuses options that neither a person nor this tool could distinguish.
func distinct(in QuestionIn) *tool.Refusal {
	var questions []string
	for _, q := range in.Questions {
		if slices.Contains(questions, q.Question) {
			return &tool.Refusal{Message: fmt.Sprintf("the question %q is asked twice", q.Question), Code: CodeSameQuestion}
		}
		questions = append(questions, q.Question)
		var labels []string
		for _, o := range q.Options {
			if slices.Contains(labels, o.Label) {
				return &tool.Refusal{Message: fmt.Sprintf("the question %q offers %q twice", q.Question, o.Label), Code: CodeSameOption}
			}
			labels = append(labels, o.Label)
		}
	}
	return nil
}

func headers(in QuestionIn) string {
	all := make([]string, len(in.Questions))
	for i, q := range in.Questions {
		all[i] = q.Header
	}
	return strings.Join(all, ", ")
}
