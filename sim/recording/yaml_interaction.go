package recording

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// interaction reads an item of a list, whichever recorder wrote it: they differ in
// a few names and in how deep a body lies.
func (y *yamlScan) interaction(node *yaml.Node, at int, last bool) error {
	req, resp := member(node, "request"), member(node, "response")
	if req == nil || resp == nil {
		if y.s.known() || y.list != "" {
			p := Problem{Kind: Malformed, Text: "the interaction has no request and response", Line: at, Interaction: y.number}
			if last {
				p.Kind, p.Text = CutStream, "the last interaction is cut off"
			}
			y.s.problem(p)
		}
		return nil
	}
	y.s.format = y.recorder(req)
	x := &exchange{number: y.number, line: at, method: text(member(req, "method")), url: address(req), header: headers(member(resp, "headers"))}
	var err error
	if x.request, err = body(req); err == nil {
		x.response, err = body(resp)
	}
	if err != nil {
		y.s.problem(Problem{Kind: Malformed, Text: err.Error(), Line: at, Interaction: y.number})
		return nil
	}
	x.status = status(resp)
	if d, err := time.ParseDuration(text(member(resp, "duration"))); err == nil && d > 0 {
		x.first = Moment{d, true} // it ends at the headers
	}
	return y.chains.take(x)
}

func (y *yamlScan) recorder(req *yaml.Node) Format {
	switch {
	case y.list == plainList:
		return Exchanges
	case y.list == "http_interactions":
		return RubyVCR
	case member(req, "uri") != nil:
		return VCRPy
	}
	if m := yamlVersion.FindSubmatch(y.head.Bytes()); m != nil && string(m[1]) != "1" {
		return GoVCR2
	}
	return GoVCR1
}

// address is the URL, or as much of it as a recorder keeps.
func address(req *yaml.Node) string {
	for _, name := range []string{"url", "uri", "urlPath", "urlPathPattern", "urlPattern", "path"} {
		if at := text(member(req, name)); at != "" {
			return at
		}
	}
	return ""
}

// body is that of a request or response: a text, bytes, what it means, or a mapping
// around one of these, under the name that the recorder gives it.
func body(n *yaml.Node) ([]byte, error) {
	if parsed := member(n, "parsed_body"); parsed != nil {
		if parsed.Kind == yaml.ScalarNode {
			return octets(parsed)
		}
		return inJSON(parsed)
	}
	b := member(n, "body")
	if b == nil || b.Kind == yaml.ScalarNode && text(b) == "" {
		return otherBody(n)
	}
	if b.Kind == yaml.ScalarNode {
		return octets(b)
	}
	if packed := member(b, "base64_string"); packed != nil {
		return fromBase64(packed.Value)
	}
	if inner := member(b, "string"); inner != nil {
		return octets(inner)
	}
	return inJSON(b)
}

// otherBody is a body under another name than most recorders': WireMock's, ExVCR's,
// and of logs that keep the bytes of a stream.
func otherBody(n *yaml.Node) ([]byte, error) {
	for _, name := range []string{"body_raw", "request_body", "jsonBody"} {
		if b := member(n, name); b != nil && b.Kind != yaml.ScalarNode {
			return inJSON(b)
		} else if b != nil {
			return octets(b)
		}
	}
	if b := member(n, "base64Body"); b != nil {
		return fromBase64(b.Value)
	}
	patterns := member(n, "bodyPatterns")
	if patterns == nil || len(patterns.Content) == 0 {
		return nil, nil
	}
	switch b := member(patterns.Content[0], "equalToJson"); {
	case b == nil:
		return nil, nil
	case b.Kind != yaml.ScalarNode:
		return inJSON(b)
	default:
		return octets(b)
	}
}

// headers reads a mapping of names to a text or to a list of them. Names that are
// written as objects of another language are read as the text in them, or left out.
func headers(n *yaml.Node) http.Header {
	out := http.Header{}
	if n = resolved(n); n == nil || n.Kind != yaml.MappingNode {
		return out
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, value := headerName(resolved(n.Content[i])), resolved(n.Content[i+1])
		if name == "" {
			continue
		}
		values := []*yaml.Node{value}
		if value.Kind == yaml.SequenceNode {
			values = value.Content
		}
		for _, v := range values {
			out.Add(name, text(v))
		}
	}
	return out
}

// headerName also finds the name in the state of a string-like object.
func headerName(n *yaml.Node) string {
	if n.Kind == yaml.ScalarNode {
		return n.Value
	}
	for _, c := range n.Content {
		if c = resolved(c); c.Kind == yaml.ScalarNode && c.Value != "" {
			return c.Value
		}
	}
	return ""
}

// status is the HTTP status: a number, or the first word of "200 OK".
func status(resp *yaml.Node) int {
	code := member(resp, "code")
	if code == nil {
		code = member(resp, "status_code")
	}
	if code == nil {
		code = member(resp, "status")
		if inner := member(code, "code"); inner != nil {
			code = inner
		}
	}
	first, _, _ := strings.Cut(text(code), " ")
	n, err := strconv.Atoi(first)
	if err != nil {
		return 0
	}
	return n
}

// mock reads a document of one exchange: when this is asked, then that is answered.
func (y *yamlScan) mock(when, then *yaml.Node, at int) error {
	y.s.format = HTTPMock
	x := &exchange{number: y.number, line: at, method: text(member(when, "method")), url: text(member(when, "path")), header: pairs(member(then, "header")), status: status(then)}
	var err error
	if x.request, err = mockBody(when); err == nil {
		x.response, err = mockBody(then)
	}
	if err != nil {
		y.s.problem(Problem{Kind: Malformed, Text: err.Error(), Line: at, Interaction: y.number})
		return nil
	}
	return y.chains.take(x)
}

func mockBody(n *yaml.Node) ([]byte, error) {
	if b := member(n, "body_base64"); b != nil {
		return fromBase64(b.Value)
	}
	for _, key := range []string{"body", "json_body"} {
		if b := member(n, key); b != nil && b.Kind != yaml.ScalarNode {
			return inJSON(b)
		} else if b != nil {
			return octets(b)
		}
	}
	return nil, nil
}

// pairs reads headers that are written as a list of names and values.
func pairs(n *yaml.Node) http.Header {
	out := http.Header{}
	if n = resolved(n); n == nil || n.Kind != yaml.SequenceNode {
		return out
	}
	for _, p := range n.Content {
		if name := text(member(p, "name")); name != "" {
			out.Add(name, text(member(p, "value")))
		}
	}
	return out
}
