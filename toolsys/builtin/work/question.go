package work

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"toolbench/toolsys/tool"
)

// Why AskUserQuestion refuses an input that fits its schema.
const (
	CodeSameQuestion = iota + 1
	CodeSameOption
)

// ErrNobody is the error of a question that nobody is there to answer.
var ErrNobody = errors.New("nobody can answer: this session has no user to ask; decide by yourself and say what you assumed")

// QuestionIn is what AskUserQuestion takes.
type QuestionIn struct {
	Questions []tool.Question `json:"questions" minItems:"1" maxItems:"4" jsonschema:"The questions, which are shown together"`
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
		Coordinates: true,
		Texts:       prompts.Of("question"),
		Call:        tool.Data(askUser),
		Text:        QuestionOut.text,
		Validate:    func(in QuestionIn, _ *tool.Context) *tool.Refusal { return distinct(in) },
		Traits: tool.Traits[QuestionIn]{
			ReadOnly:  tool.Always[QuestionIn],
			NeedsUser: tool.Always[QuestionIn],
			Interrupt: tool.Cancel,
			Effects:   writes[QuestionIn]("user"),
		},
		View: tool.Titled("Question", "Waiting for an answer", func(in QuestionIn) string {
			return strings.Join(tool.Each(in.Questions, func(q tool.Question) string { return q.Header }), ", ")
		}),
		Draw: tool.Drawing[QuestionIn, QuestionOut]{Use: drawQuestions, Result: drawAnswers},
	})
}

func askUser(ctx context.Context, in QuestionIn, c *tool.Context) (QuestionOut, error) {
	if c.AskUser == nil || c.NonInteractive {
		return QuestionOut{}, ErrNobody
	}
	answers, err := c.AskUser(ctx, in.Questions)
	if err != nil {
		return QuestionOut{}, fmt.Errorf("the questions were not answered: %w", err)
	}
	if len(answers) != len(in.Questions) {
		return QuestionOut{}, fmt.Errorf("%d answers came back to %d questions", len(answers), len(in.Questions))
	}
	return in.answered(answers), nil
}

func (in QuestionIn) answered(answers []tool.Answer) QuestionOut {
	out := QuestionOut{Answers: make([]Answer, len(answers))}
	for i, a := range answers {
		out.Answers[i] = Answer{Question: in.Questions[i].Text, Chosen: append([]string{}, a.Chosen...)}
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
		if slices.Contains(questions, q.Text) {
			return &tool.Refusal{Message: fmt.Sprintf("the question %q is asked twice", q.Text), Code: CodeSameQuestion}
		}
		questions = append(questions, q.Text)
		var labels []string
		for _, o := range q.Options {
			if slices.Contains(labels, o.Label) {
				return &tool.Refusal{Message: fmt.Sprintf("the question %q offers %q twice", q.Text, o.Label), Code: CodeSameOption}
			}
			labels = append(labels, o.Label)
		}
	}
	return nil
}
