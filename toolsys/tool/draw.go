package tool

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"toolbench/toolsys/jsonscan"
	"toolbench/toolsys/message"
	"toolbench/toolsys/render"
)

// Drawing is how a tool's calls are drawn (M1). Each member may be nil: what stands in for it is made of the call's
// name, summary, activity, class and result. One that panics, or draws nothing, is stood in for as well (A5).
type Drawing[In, Out any] struct {
	// Use is what a call is given, below its name and summary. While the input streams,
	// members that have not come are zero.
	Use func(in In) []render.Node
	// Queued is drawn of a call that waits, Progress of one that runs.
	Queued   func(in In) []render.Node
	Progress func(in In, reports []string) []render.Node
	// Result is what came of a call, Rejected of one that was refused, Error of one that failed.
	Result   func(in In, a Outcome[Out]) []render.Node
	Rejected func(in In, a Outcome[Out]) []render.Node
	Error    func(in In, a Outcome[Out]) []render.Node
	// Tag is a short note behind the summary: a time limit, a model.
	Tag func(in In) string
	// Grouped draws several calls that follow each other and succeeded as one, where not everything is wanted.
	Grouped func(calls []Called[In, Out]) []render.Node
	// Search is what a search of the conversation finds in the result; the default is all
	// that is drawn of it. Words that are not drawn are left out (M2).
	Search func(in In, a Outcome[Out]) string
}

// Outcome is a result as it is drawn.
type Outcome[Out any] struct {
	// Data is the tool's own answer, where Known: a recording has the text alone, and a
	// result that a hook or the budget replaced is not what the tool gave.
	Data  Out
	Known bool
	// Text is what the model reads, Blocks the whole of it.
	Text   string
	Blocks []message.Block
}

// Called is a call with its answer.
type Called[In, Out any] struct {
	In      In
	Outcome Outcome[Out]
}

// partly is Tool.Partly.
func partly(in reflect.Type) func(json.RawMessage) Input {
	return func(raw json.RawMessage) Input {
		v := reflect.New(in)
		whole := jsonscan.Complete(raw)
		_, _ = guard(func() error { return json.Unmarshal(whole, v.Interface()) }) // what fits is kept
		if !json.Valid(whole) {
			whole = json.RawMessage(`{}`)
		}
		return Input{Raw: whole, Value: v.Elem().Interface()}
	}
}

// eraseDrawing leaves no member nil.
func eraseDrawing(d Drawing[any, any], v View[Input], t Traits[Input]) Drawing[Input, any] {
	draw := Drawing[Input, any]{
		Use:      drawsInput("use", d.Use, given(v)),
		Queued:   drawsInput("queued", d.Queued, func(Input) []render.Node { return []render.Node{render.Words("waiting", render.Dim)} }),
		Progress: drawsBoth("progress", d.Progress, lastReports),
		Result:   drawsBoth("result", d.Result, results(t)),
		Rejected: drawsBoth("rejected", d.Rejected, refused(render.Warn)),
		Error:    drawsBoth("error", d.Error, refused(render.Bad)),
		Tag:      func(Input) string { return "" },
		Grouped:  grouped(d.Grouped, v, t),
	}
	if d.Tag != nil {
		tag := erased("draw tag", d.Tag, "")
		draw.Tag = func(in Input) string { return message.Line(tag(in), SummaryChars) }
	}
	draw.Search = searched(d.Search, draw.Result)
	return draw
}

// safely gives what own draws, or where it panics or draws nothing what otherwise does.
func safely(in Input, member string, own, otherwise func() []render.Node) []render.Node {
	nodes, err := guard(func() []render.Node { return render.Bounded(own()) })
	in.report("draw "+member, err)
	if err == nil && len(nodes) > 0 {
		return nodes
	}
	return render.Bounded(otherwise())
}

func drawsInput(member string, f func(any) []render.Node, otherwise func(Input) []render.Node) func(Input) []render.Node {
	if f == nil {
		return func(in Input) []render.Node { return render.Bounded(otherwise(in)) }
	}
	return func(in Input) []render.Node {
		return safely(in, member, func() []render.Node { return f(in.Value) }, func() []render.Node { return otherwise(in) })
	}
}

// drawsBoth is drawsInput for what also looks at an outcome or at reports.
func drawsBoth[A any](member string, f func(any, A) []render.Node, otherwise func(Input, A) []render.Node) func(Input, A) []render.Node {
	if f == nil {
		return func(in Input, a A) []render.Node { return render.Bounded(otherwise(in, a)) }
	}
	return func(in Input, a A) []render.Node {
		return safely(in, member, func() []render.Node { return f(in.Value, a) }, func() []render.Node { return otherwise(in, a) })
	}
}

// progressLines bound what is shown of the reports of a running call.
const progressLines = 5

// lastReports is the default of Progress.
func lastReports(_ Input, reports []string) []render.Node {
	if len(reports) == 0 {
		return nil
	}
	all := strings.Join(reports, "\n")
	lines := strings.Split(strings.TrimRight(all, "\n"), "\n")
	shown := lines[max(0, len(lines)-progressLines):]
	closed := []render.Node{render.Text{Text: strings.Join(shown, "\n"), Role: render.Dim}}
	if len(shown) == len(lines) {
		return closed
	}
	return []render.Node{render.Fold{Closed: closed, Open: []render.Node{render.Text{Text: all, Role: render.Dim}}}}
}

// given is the default of Use: the whole input, where all is wanted and the summary does not have it.
func given(v View[Input]) func(Input) []render.Node {
	return func(in Input) []render.Node {
		lines := Members(in.Raw)
		if len(lines) == 0 || len(lines) == 1 && strings.HasSuffix(lines[0], ": "+v.Summary(in)) {
			return nil
		}
		return []render.Node{render.Fold{Open: []render.Node{render.Text{Text: strings.Join(lines, "\n"), Role: render.Dim}}}}
	}
}

// Asked is what a person sees who is asked whether a call may run: what it is given as it
// is drawn and, below that, each member of the input that this does not show in full.
func (t *Tool) Asked(in Input) []render.Node {
	nodes := append([]render.Node{render.Line{Spans: t.Head(in, false)}}, t.Draw.Use(in)...)
	shown := map[string]bool{"": true, t.Present.Summary(in): true}
	for l := range strings.SplitSeq(render.String(nodes, true), "\n") {
		shown[strings.TrimSpace(l)] = true
		if l != "" && strings.ContainsRune("+- ", rune(l[0])) { // of a change
			shown[strings.TrimSpace(l[1:])] = true
		}
	}
	covered := func(lines []string) bool {
		return !slices.ContainsFunc(lines, func(l string) bool { return !shown[strings.TrimSpace(l)] })
	}
	var left []string
	eachMember(in.Raw, func(name string, value json.RawMessage) {
		var text string
		lines := member(name, value)
		if covered(render.Shown(strings.Join(lines, "\n"))) || json.Unmarshal(value, &text) == nil && covered(render.Shown(text)) {
			return
		}
		left = append(left, lines...)
	})
	if len(left) > 0 {
		nodes = append(nodes, render.Text{Text: strings.Join(left, "\n"), Role: render.Dim})
	}
	return render.Bounded(nodes)
}

// Members are the members of an input, one to a line as "name: value"; a text of several
// lines is indented below its name.
func Members(raw json.RawMessage) (lines []string) {
	eachMember(raw, func(name string, value json.RawMessage) { lines = append(lines, member(name, value)...) })
	return lines
}

// FirstText is the first text among the members of an input, in a line: the summary of a
// call of which nothing else is known.
func FirstText(raw json.RawMessage) (first string) {
	eachMember(raw, func(_ string, value json.RawMessage) {
		var text string
		if first == "" && json.Unmarshal(value, &text) == nil {
			first = message.Line(text, SummaryChars)
		}
	})
	return first
}

// eachMember gives the members of an object in their order, as far as they can be read.
func eachMember(raw json.RawMessage, take func(name string, value json.RawMessage)) {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return
		}
		var value json.RawMessage
		if dec.Decode(&value) != nil {
			return
		}
		take(fmt.Sprint(name), value)
	}
}

func member(name string, value json.RawMessage) []string {
	var text string
	if json.Unmarshal(value, &text) != nil {
		return []string{name + ": " + string(value)}
	}
	parts := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(parts) == 1 {
		return []string{name + ": " + parts[0]}
	}
	lines := []string{name + ":"}
	lines = append(lines, Each(parts, func(p string) string { return "  " + p })...)
	return lines
}

// resultLines are those of a result that are shown where room is short, refusalLines those of an error.
const (
	resultLines  = 6
	refusalLines = 10
)

// briefLine is the longest result of one line that is shown and not counted.
const briefLine = 80

// results is the default of Result: a search, a reading and a listing are counted, of
// anything else the first lines are shown.
func results(t Traits[Input]) func(Input, Outcome[any]) []render.Node {
	return func(in Input, a Outcome[any]) []render.Node {
		images := pictures(a.Blocks)
		text := strings.TrimRight(a.Text, "\n")
		switch c := t.Class(in); {
		case text == "" && len(images) > 0:
			return images
		case strings.TrimSpace(text) == "":
			return []render.Node{render.Words("(no output)", render.Dim)}
		case c != Class{} && (strings.Contains(text, "\n") || len(text) > briefLine):
			return append(render.Folded(render.Words(counted(c, text), render.Dim), render.Text{Text: text}), images...)
		}
		return append(render.Brief(text, resultLines, render.Plainly(render.Plain)), images...)
	}
}

// counted words what a call of a class brought.
func counted(c Class, text string) string {
	n := strings.Count(text, "\n") + 1
	switch {
	case c.Search:
		return "Found " + render.Count(n, "line")
	case c.List:
		return "Listed " + render.Count(n, "line")
	}
	return "Read " + render.Count(n, "line")
}

// mostPicture is how much of a picture is drawn, in base64: what is larger is named.
const mostPicture = 700_000

// pictures stand for the images and documents of a result.
func pictures(blocks []message.Block) (nodes []render.Node) {
	for _, b := range blocks {
		if b.Type == message.TypeImage || b.Type == message.TypeDocument {
			image := render.Image{Media: b.MediaType, Bytes: base64.RawStdEncoding.DecodedLen(len(strings.TrimRight(b.Data, "=")))}
			if len(b.Data) <= mostPicture {
				image.Data = b.Data
			}
			nodes = append(nodes, image)
		}
	}
	return nodes
}

func refused(role render.Role) func(Input, Outcome[any]) []render.Node {
	return func(_ Input, a Outcome[any]) []render.Node {
		text := cmp.Or(strings.TrimSpace(a.Text), "(without a reason)")
		return render.Brief(text, refusalLines, render.Plainly(role))
	}
}

// grouped is nil for calls that are each drawn by themselves: those that neither search,
// read nor list, and whose tool has no drawing of several.
func grouped(f func([]Called[any, any]) []render.Node, v View[Input], t Traits[Input]) func([]Called[Input, any]) []render.Node {
	counted := func(calls []Called[Input, any]) []render.Node {
		var names []string
		for _, c := range calls {
			if t.Class(c.In) == (Class{}) {
				return nil
			}
			names = append(names, v.Summary(c.In))
		}
		head := []render.Span{{Text: message.Line(v.Title(calls[0].In), activityChars), Role: render.Strong}, {Text: fmt.Sprintf(" ×%d ", len(calls))}, {Text: strings.Join(names, ", "), Role: render.Dim}}
		return []render.Node{render.Line{Spans: head}}
	}
	return func(calls []Called[Input, any]) []render.Node {
		if len(calls) == 0 {
			return nil
		}
		if f == nil {
			return render.Bounded(counted(calls))
		}
		own := Each(calls, func(c Called[Input, any]) Called[any, any] { return Called[any, any]{c.In.Value, c.Outcome} })
		return safely(calls[0].In, "grouped", func() []render.Node { return f(own) }, func() []render.Node { return counted(calls) })
	}
}

// searched keeps search to the words that are drawn (M2).
func searched(f func(any, Outcome[any]) string, result func(Input, Outcome[any]) []render.Node) func(Input, Outcome[any]) string {
	return func(in Input, a Outcome[any]) string {
		shown := render.String(result(in, a), true)
		if f == nil {
			return shown
		}
		own, err := guard(func() string { return f(in.Value, a) })
		if err != nil {
			in.report("draw search", err)
			return shown
		}
		words := strings.Fields(shown)
		slices.Sort(words)
		return strings.Join(slices.DeleteFunc(strings.Fields(strings.Join(render.Shown(own), "\n")), func(w string) bool {
			_, found := slices.BinarySearch(words, w)
			return !found
		}), " ")
	}
}

// Unwanted reports whether a status is that of a call which somebody did not want: it is drawn
// as refused, and not as failed.
func Unwanted(status string) bool {
	return status == "denied" || status == "cancelled" || status == "interrupted"
}

// DrawEnded draws a call that is over, and what came of it. A change in its place stands for the
// one that was asked for.
func (t *Tool) DrawEnded(in Input, status string, failed bool, a Outcome[any]) []render.Node {
	head := []render.Node{render.Line{Spans: t.Head(in, false)}}
	given := append(head, t.Draw.Use(in)...)
	switch {
	case Unwanted(status):
		return append(given, t.Draw.Rejected(in, a)...)
	case failed:
		return append(given, t.Draw.Error(in, a)...)
	}
	came := t.Draw.Result(in, a)
	if a.Known && render.HasDiff(came) {
		given = head
	}
	return append(given, came...)
}

// Truncated reports whether there is more of a result than is shown where room is short (M1).
func (t *Tool) Truncated(in Input, a Outcome[any]) bool { return render.Hides(t.Draw.Result(in, a)) }

// Head is the line of a call. While it is at work the activity stands in for the name.
func (t *Tool) Head(in Input, working bool) []render.Span {
	role := cmp.Or(render.Role(t.Present.Color), render.Strong)
	name, summary := t.Present.Title(in), t.Present.Summary(in)
	if activity := t.Present.Activity(in); working && activity != "" {
		name, summary = activity, ""
	}
	spans := []render.Span{{Text: message.Line(name, activityChars), Role: role}}
	switch {
	case summary == "":
	case strings.HasSuffix(spans[0].Text, ")"):
		spans = append(spans, render.Span{Text: ": " + summary})
	default:
		spans = append(spans, render.Span{Text: "(" + summary + ")"})
	}
	if tag := t.Draw.Tag(in); tag != "" {
		spans = append(spans, render.Span{Text: " " + tag, Role: render.Tag})
	}
	return spans
}

// activityChars is the longest activity, or title, that is shown.
const activityChars = 100
