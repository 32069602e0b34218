package reports

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"toolbench/sim/scenario/check"
	"toolbench/sim/secret"
	"toolbench/toolsys/trace"
)

// The viewer is one page of plain HTML, CSS and JavaScript. It asks the network for
// nothing, and its own policy forbids it: only the two embedded parts may run, by hash.
//
//go:embed viewer/*
var viewerFiles embed.FS

// view is an outcome to look at, with the same under other policies.
type view struct {
	check.Result
	others []check.Result
	// again is the command that shows it again; without it, that of Options.
	again string
}

// viewable is a report with outcomes that can be drawn.
type viewable interface{ views() []view }

// viewWriters are the formats in which such a report is written.
var viewWriters = map[string]func(io.Writer, []view, Options) error{"html": writeHTML, "perfetto": writePerfetto, "otlp": writeOTLP}

// views are the failure's, if there is one that can be drawn.
func (r FuzzReport) views() []view {
	if r.Failure == nil || r.Failure.Outcome == nil {
		return nil
	}
	return []view{{Result: *r.Failure.Outcome, again: r.Failure.Again}}
}

// HTML writes one file that opens from disk and shows every outcome over time.
func HTML(w io.Writer, outcomes []check.Result, o Options) error {
	return writeHTML(w, viewsOf(outcomes, o), o)
}

// viewsOf gives outcomes with what Options know of other policies.
func viewsOf(outcomes []check.Result, o Options) []view {
	views := make([]view, len(outcomes))
	for i, outcome := range outcomes {
		views[i].Result = outcome
		if o.Others != nil {
			views[i].others = o.Others(outcome)
		}
	}
	return views
}

func writeHTML(w io.Writer, views []view, o Options) error {
	part := func(name string) string {
		text, err := viewerFiles.ReadFile("viewer/" + name)
		if err != nil {
			panic(err) // it is embedded
		}
		return string(text)
	}
	style, script := part("viewer.css"), part("viewer.js")
	// Nothing of this is a template of a library: the parts are our own files, and the data
	// is base64, in which no character means anything to HTML.
	page := strings.NewReplacer("{{style-hash}}", sourceHash(style), "{{script-hash}}", sourceHash(script),
		"{{style}}", style, "{{script}}", script, "{{data}}", packedViews(views, o)).Replace(part("viewer.html"))
	_, err := io.WriteString(w, page)
	return err
}

// sourceHash is how a content security policy names a script.
func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// packedViews are the views as JSON, compressed: traces repeat themselves. A buffer takes all
// that is written into it.
func packedViews(views []view, o Options) string {
	doc := pageJSON{Version: 1}
	finder := o.finder()
	doc.Views = append(doc.Views, each(views, func(v view) viewJSON { return viewOf(v, finder, o) })...)
	var b bytes.Buffer
	zip, _ := gzip.NewWriterLevel(&b, gzip.BestCompression) // there is such a level
	text, err := json.Marshal(doc)
	if err == nil {
		_, err = zip.Write(text)
	}
	if err = cmp.Or(err, zip.Close()); err != nil {
		panic(err)
	}
	return base64.StdEncoding.EncodeToString(b.Bytes())
}

// finder finds the secrets that a timeline must not quote.
func (o Options) finder() *secret.Finder {
	return secret.New(each(o.Secrets, func(value string) secret.Known { return secret.Known{Value: value} })...)
}

type pageJSON struct {
	Version int        `json:"version"`
	Views   []viewJSON `json:"views"`
}

type viewJSON struct {
	Name     string          `json:"name"`
	About    string          `json:"about"`
	File     string          `json:"file"`
	Status   check.Status    `json:"status"`
	Error    string          `json:"error"`
	Again    string          `json:"again"`
	Failures []check.Failure `json:"failures"`
	Notes    []string        `json:"notes"`
	Batches  [][]string      `json:"batches"`
	Runs     []runViewJSON   `json:"runs"`
	Requests []bodyJSON      `json:"requests"`
	Unread   int             `json:"unread_requests"`
}

// runViewJSON is the run under one policy; the first is the outcome's own. Times are microseconds.
type runViewJSON struct {
	Policy   string       `json:"policy"`
	Makespan int64        `json:"makespan"`
	Serial   int64        `json:"serial"`
	Hidden   share        `json:"hidden"`
	Bound    int64        `json:"bound"`
	Streams  []streamView `json:"streams"`
	Calls    []callView   `json:"calls"`
	Events   []eventView  `json:"events"`
}

type streamView struct {
	Agent   string `json:"agent"`
	Turn    int    `json:"turn"`
	Sent    int64  `json:"sent"`
	First   int64  `json:"first"`
	End     int64  `json:"end"`
	Cut     bool   `json:"cut"`
	Request int    `json:"request"`
}

type callView struct {
	ID      string   `json:"id"`
	Tool    string   `json:"tool"`
	Agent   string   `json:"agent"`
	Turn    int      `json:"turn"`
	Batch   int      `json:"batch"`
	Ready   int64    `json:"ready"`
	Started int64    `json:"started"`
	Ended   int64    `json:"ended"`
	Emitted int64    `json:"emitted"`
	Status  string   `json:"status"`
	Safe    bool     `json:"safe"`
	Waits   string   `json:"waits,omitempty"`
	On      []string `json:"on,omitempty"`
	Input   string   `json:"input,omitempty"`
	Result  string   `json:"result,omitempty"`
}

// eventView is one event of the trace: call is an index into the calls, or -1.
type eventView struct {
	At    int64  `json:"t"`
	Kind  string `json:"k"`
	Agent string `json:"a,omitempty"`
	Turn  int    `json:"n"`
	Call  int    `json:"c"`
	Took  int64  `json:"d,omitempty"`
	Text  string `json:"x,omitempty"`
}

// bodyJSON is a request in lines: those it has in common with the request before it, at
// its start and at its end, are only counted. It is the difference as well.
type bodyJSON struct {
	Head  int      `json:"head"`
	Tail  int      `json:"tail"`
	Lines []string `json:"lines"`
	Bytes int      `json:"bytes"`
}

// Bounds of what is kept for the page: a result may be a whole file.
const (
	maxViewText     = 20_000
	maxViewEvent    = 400
	maxViewRequests = 8 << 20 // of all lines of one view
)

func viewOf(v view, finder *secret.Finder, o Options) viewJSON {
	j := viewJSON{Name: v.Name, About: v.About, File: v.File, Status: v.Status, Again: cmp.Or(v.again, o.again(v.Result)),
		Failures: v.Failures, Notes: v.Notes, Batches: v.Batches}
	if v.Err != nil {
		j.Error = v.Err.Error()
	}
	j.Requests, j.Unread = bodies(v.Requests, finder)
	own := runView(v.Result, finder, true)
	for i := range min(len(own.Streams), len(j.Requests)) {
		own.Streams[i].Request = i
	}
	j.Runs = append(j.Runs, own)
	j.Runs = append(j.Runs, each(v.others, func(other check.Result) runViewJSON { return runView(other, finder, false) })...)
	return j
}

// runView reduces a run to what is drawn; its texts are kept where whole is set.
func runView(r check.Result, finder *secret.Finder, whole bool) runViewJSON {
	us := func(d time.Duration) int64 { return d.Microseconds() }
	j := runViewJSON{Policy: r.Policy, Makespan: us(r.Makespan), Serial: us(r.Serial), Hidden: share(r.Hidden), Bound: us(r.LowerBound)}
	for _, s := range r.Streams {
		j.Streams = append(j.Streams, streamView{Agent: s.Agent, Turn: s.Turn, Sent: us(s.Sent), First: us(s.First), End: us(s.End), Cut: s.Cut, Request: -1})
	}
	index := map[[2]string]int{}
	for i, c := range r.Calls {
		index[[2]string{c.Agent, c.ID}] = i
		j.Calls = append(j.Calls, callView{
			ID: c.ID, Tool: c.Tool, Agent: c.Agent, Turn: c.Turn, Batch: c.Batch, Ready: us(c.Ready), Started: us(c.Started),
			Ended: us(c.Ended), Emitted: us(c.Emitted), Status: c.Status, Safe: c.Safe, Waits: c.WaitsFor, On: c.On,
		})
	}
	for _, e := range r.Trace {
		at := -1
		if i, ok := index[[2]string{e.Agent, e.Call}]; ok && e.Call != "" {
			at = i
		}
		if !whole { // when, and nothing else
			j.Events = append(j.Events, eventView{At: us(e.At), Kind: string(e.Kind()), Agent: e.Agent, Turn: e.Turn, Call: at})
			continue
		}
		if at >= 0 {
			switch data := e.Data.(type) {
			case trace.Ready:
				j.Calls[at].Input = clipped(finder.Text(data.Input, nil), maxViewText)
			case trace.Emitted:
				j.Calls[at].Result = clipped(finder.Text(data.Text, nil), maxViewText)
			}
		}
		j.Events = append(j.Events, eventOf(e, at, finder))
	}
	return j
}

// eventOf is an event without what is shown elsewhere.
func eventOf(e trace.Event, call int, finder *secret.Finder) eventView {
	v := eventView{At: e.At.Microseconds(), Kind: string(e.Kind()), Agent: e.Agent, Turn: e.Turn, Call: call}
	switch data := e.Data.(type) {
	case trace.Ready:
		v.Text = fmt.Sprintf("safe=%t", data.Safe)
		return v
	case trace.Emitted:
		v.Text = "status=" + data.Status
		return v
	case trace.Hook:
		v.Took = data.Took.Microseconds()
	case *trace.Stage:
		v.Took = data.Took.Microseconds()
	}
	v.Text = clipped(finder.Text(eventText(e), nil), maxViewEvent)
	return v
}

// eventText are the members of what happened, as they stand in the canonical line.
func eventText(e trace.Event) string {
	bare := trace.Event{Data: e.Data} // its line begins alike for all
	return strings.TrimSpace(strings.TrimPrefix(string(bare.AppendLine(nil)), "0 "+string(e.Kind())+" turn=0"))
}

// clipped shortens a text to at most so many bytes, and counts what is left out.
func clipped(text string, most int) string {
	if len(text) <= most {
		return text
	}
	cut := most
	for cut > 0 && !utf8.RuneStart(text[cut]) {
		cut--
	}
	return fmt.Sprintf("%s… (%d bytes more)", text[:cut], len(text)-cut)
}

// bodies are requests, each as its difference to the one before. Those that would make
// the page too large are only counted.
func bodies[B interface{ Bytes() []byte }](requests []B, finder *secret.Finder) (all []bodyJSON, left int) {
	var before []string
	size := 0
	for i, request := range requests {
		body := request.Bytes()
		lines := requestLines(body, finder)
		head, tail, both := 0, 0, min(len(before), len(lines))
		for head < both && before[head] == lines[head] {
			head++
		}
		for tail < both-head && before[len(before)-1-tail] == lines[len(lines)-1-tail] {
			tail++
		}
		mid := lines[head : len(lines)-tail]
		for _, line := range mid {
			size += len(line)
		}
		if size > maxViewRequests {
			return all, len(requests) - i
		}
		all = append(all, bodyJSON{Head: head, Tail: tail, Lines: mid, Bytes: len(body)})
		before = lines
	}
	return all, 0
}

func requestLines(body []byte, finder *secret.Finder) []string {
	var indented bytes.Buffer
	text := string(body)
	if json.Indent(&indented, body, "", " ") == nil {
		text = indented.String()
	}
	lines := strings.Split(finder.Text(text, nil), "\n")
	for i := range lines {
		lines[i] = clipped(lines[i], maxViewText)
	}
	return lines
}
