package reports

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"time"

	"toolbench/sim/scenario/check"
	"toolbench/sim/secret"
	"toolbench/toolsys/trace"
)

// otlpSchema is the version of the semantic conventions whose names spans have.
const otlpSchema = "https://opentelemetry.io/schemas/1.41.0"

// virtualEpoch is the moment at which virtual time begins in formats that need a date.
var virtualEpoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// OTLP writes spans as OTLP's JSON encoding has them, with the names of the semantic
// conventions for generative AI: a trace each scenario, with a span for each agent, each
// request to the model and each call of a tool. Times count from the year 2000.
func OTLP(w io.Writer, outcomes []check.Result, o Options) error {
	return writeOTLP(w, viewsOf(outcomes, o), o)
}

type otlpResource struct {
	Resource   map[string][]otlpAttribute `json:"resource"`
	ScopeSpans []otlpScope                `json:"scopeSpans"`
	SchemaURL  string                     `json:"schemaUrl"`
}

type otlpScope struct {
	Scope     map[string]string `json:"scope"`
	Spans     []otlpSpan        `json:"spans"`
	SchemaURL string            `json:"schemaUrl"`
}

type otlpSpan struct {
	TraceID    string          `json:"traceId"`
	SpanID     string          `json:"spanId"`
	Parent     string          `json:"parentSpanId,omitempty"`
	Name       string          `json:"name"`
	Kind       int             `json:"kind"`
	Start      string          `json:"startTimeUnixNano"`
	End        string          `json:"endTimeUnixNano"`
	Attributes []otlpAttribute `json:"attributes"`
	Events     []otlpEvent     `json:"events"`
	Status     *otlpStatus     `json:"status,omitempty"`
}

type otlpEvent struct {
	Time       string          `json:"timeUnixNano"`
	Name       string          `json:"name"`
	Attributes []otlpAttribute `json:"attributes"`
}

type otlpStatus struct {
	Code    int    `json:"code"`
	Message string `json:"message,omitempty"`
}

type otlpAttribute struct {
	Key   string         `json:"key"`
	Value map[string]any `json:"value"`
}

// Kinds and codes of spans, as OTLP numbers them.
const (
	spanInternal = 1
	spanClient   = 3
	spanOK       = 1
	spanError    = 2
)

func attribute(key string, value any) otlpAttribute {
	switch v := value.(type) {
	case bool:
		return otlpAttribute{key, map[string]any{"boolValue": v}}
	case int:
		return otlpAttribute{key, map[string]any{"intValue": strconv.Itoa(v)}}
	case float64:
		return otlpAttribute{key, map[string]any{"doubleValue": v}}
	}
	return otlpAttribute{key, map[string]any{"stringValue": fmt.Sprint(value)}}
}

func writeOTLP(w io.Writer, views []view, o Options) error {
	scope := otlpScope{Scope: map[string]string{"name": "toolbench"}, SchemaURL: otlpSchema}
	finder := o.finder()
	for i, v := range views {
		scope.Spans = append(scope.Spans, spansOf(v.Result, i, finder)...)
		for j, other := range v.others {
			scope.Spans = append(scope.Spans, spansOf(other, (i+1)*1000+j, finder)...)
		}
	}
	resource := map[string][]otlpAttribute{"attributes": {attribute("service.name", "toolbench")}}
	return printJSON(w, map[string][]otlpResource{"resourceSpans": {{resource, []otlpScope{scope}, otlpSchema}}})
}

// spans are those of one outcome.
type spans struct {
	r     check.Result
	trace string
	all   []otlpSpan
	// agents are the places of the agents' spans; models what each request was asked of.
	agents map[string]int
	calls  map[[2]string]int
	finder *secret.Finder
}

func spansOf(r check.Result, number int, finder *secret.Finder) []otlpSpan {
	s := &spans{r: r, trace: spanID(16, r.Name, r.Policy, strconv.Itoa(number)), agents: map[string]int{}, calls: map[[2]string]int{}, finder: finder}
	s.agent("")
	for _, st := range inOrder(r.Streams) {
		s.stream(st)
	}
	for _, c := range r.Calls {
		s.call(c)
	}
	for _, e := range r.Trace {
		s.event(e)
	}
	return s.all
}

// spanID is a name of so many bytes that is the same for the same words.
func spanID(bytes int, words ...string) string {
	h := sha256.New()
	for _, w := range words {
		fmt.Fprintf(h, "%d:%s", len(w), w)
	}
	return hex.EncodeToString(h.Sum(nil)[:bytes])
}

func nanos(at time.Duration) string { return strconv.FormatInt(virtualEpoch.Add(at).UnixNano(), 10) }

// agent gives the place of an agent's span, which is made when it is first met.
func (s *spans) agent(name string) int {
	if i, ok := s.agents[name]; ok {
		return i
	}
	span := otlpSpan{TraceID: s.trace, SpanID: spanID(8, s.trace, "agent", name), Name: "invoke_agent " + s.r.Name, Kind: spanInternal,
		Start: nanos(0), End: nanos(longest(s.r)), Attributes: []otlpAttribute{attribute("gen_ai.operation.name", "invoke_agent"), attribute("gen_ai.provider.name", "anthropic")}}
	if name == "" {
		span.Attributes = append(span.Attributes, attribute("gen_ai.agent.name", s.r.Name), attribute("toolbench.policy", s.r.Policy),
			attribute("toolbench.status", s.r.Status), attribute("toolbench.hidden_percent", rounded(s.r.Hidden, 1e4)))
		span.Status = &otlpStatus{Code: spanOK}
		if s.r.Status != "" && s.r.Status != check.Passed {
			span.Status = &otlpStatus{spanError, s.why()}
		}
	} else {
		span.Name, span.Parent = "invoke_agent "+name, s.all[0].SpanID
		span.Attributes = append(span.Attributes, attribute("gen_ai.agent.id", name))
		from, to := s.extent(name)
		span.Start, span.End = nanos(from), nanos(to)
	}
	s.agents[name] = len(s.all)
	s.all = append(s.all, span)
	return s.agents[name]
}

func (s *spans) why() string {
	if s.r.Err != nil {
		return s.r.Err.Error()
	}
	if len(s.r.Failures) > 0 {
		return s.r.Failures[0].Expectation + " does not hold"
	}
	return string(s.r.Status)
}

// extent is when a sub-agent was at work.
func (s *spans) extent(name string) (from, to time.Duration) {
	from = longest(s.r)
	for _, st := range s.r.Streams {
		if st.Agent == name {
			from, to = min(from, st.Sent), max(to, st.End)
		}
	}
	for _, c := range s.r.Calls {
		if c.Agent == name {
			from, to = min(from, c.Ready), max(to, c.Ended, c.Emitted)
		}
	}
	return min(from, to), to
}

func (s *spans) stream(st check.Stream) {
	parent := s.all[s.agent(st.Agent)].SpanID
	span := otlpSpan{TraceID: s.trace, SpanID: spanID(8, s.trace, "chat", st.Agent, strconv.Itoa(st.Turn), nanos(st.Sent)), Parent: parent,
		Name: "chat", Kind: spanClient, Start: nanos(st.Sent), End: nanos(max(st.Sent, st.End)),
		Attributes: []otlpAttribute{attribute("gen_ai.operation.name", "chat"), attribute("gen_ai.provider.name", "anthropic"), attribute("toolbench.turn", st.Turn)},
		Events:     []otlpEvent{{Time: nanos(st.First), Name: "toolbench.first_byte"}}}
	for _, e := range s.r.Trace {
		if req, ok := e.Data.(trace.Request); ok && e.Agent == st.Agent && e.Turn == st.Turn && req.Model != "" {
			span.Name = "chat " + req.Model
			span.Attributes = append(span.Attributes, attribute("gen_ai.request.model", req.Model))
			break
		}
	}
	if st.Cut {
		span.Status = &otlpStatus{spanError, "the stream broke off"}
		span.Attributes = append(span.Attributes, attribute("error.type", "cut"))
	}
	s.all = append(s.all, span)
}

func (s *spans) call(c check.Call) {
	span := otlpSpan{TraceID: s.trace, SpanID: spanID(8, s.trace, "call", c.Agent, c.ID, strconv.Itoa(c.Turn)), Parent: s.all[s.agent(c.Agent)].SpanID,
		Name: "execute_tool " + c.Tool, Kind: spanInternal, Start: nanos(c.Started), End: nanos(max(c.Started, c.Ended)),
		Attributes: []otlpAttribute{
			attribute("gen_ai.operation.name", "execute_tool"), attribute("gen_ai.tool.name", c.Tool), attribute("gen_ai.tool.call.id", c.ID),
			attribute("gen_ai.tool.type", "function"), attribute("toolbench.status", c.Status), attribute("toolbench.batch", c.Batch), attribute("toolbench.turn", c.Turn),
		},
		Events: []otlpEvent{{Time: nanos(c.Ready), Name: "toolbench.ready"}, {Time: nanos(max(c.Ended, c.Emitted)), Name: "toolbench.emitted"}}}
	if c.WaitsFor != "" {
		span.Attributes = append(span.Attributes, attribute("toolbench.waits_for", c.WaitsFor))
	}
	if c.Status != "" && c.Status != "ok" {
		span.Status = &otlpStatus{spanError, c.Status}
		span.Attributes = append(span.Attributes, attribute("error.type", c.Status))
	}
	s.calls[[2]string{c.Agent, c.ID}] = len(s.all)
	s.all = append(s.all, span)
}

// event adds inputs, results, hooks and decisions to the span of their call.
func (s *spans) event(e trace.Event) {
	i, ok := s.calls[[2]string{e.Agent, e.Call}]
	if !ok {
		return
	}
	span := &s.all[i]
	switch data := e.Data.(type) {
	case trace.Ready:
		span.Attributes = append(span.Attributes, attribute("gen_ai.tool.call.arguments", clipped(s.finder.Text(data.Input, nil), maxViewText)))
	case trace.Emitted:
		span.Attributes = append(span.Attributes, attribute("gen_ai.tool.call.result", clipped(s.finder.Text(data.Text, nil), maxViewText)))
	case trace.Hook, trace.Decision, trace.Ask, trace.Cancel:
		text := clipped(s.finder.Text(eventText(e), nil), maxViewEvent)
		span.Events = append(span.Events, otlpEvent{nanos(e.At), "toolbench." + string(e.Kind()), []otlpAttribute{attribute("toolbench.text", text)}})
	}
}
