package recording

import (
	"errors"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"
	"gopkg.in/yaml.v3"
)

// plainList marks exchanges that stand in a list without a name, or a line each.
const plainList = "[]"

// exchange is an object with a request and a response, whoever wrote it.
func (ls *lineScan) exchange(v gjson.Result) error {
	ls.pairs.number++
	node, err := ls.s.inNodes(v)
	if err != nil {
		ls.s.problem(Problem{Kind: Malformed, Text: worded(err, false), Line: ls.at, Interaction: ls.pairs.number})
		return nil
	}
	return ls.pairs.interaction(node, ls.at, false)
}

// flat is an exchange whose parts stand side by side.
func (ls *lineScan) flat(x *exchange) error {
	ls.s.format = Exchanges
	ls.pairs.number++
	x.number, x.line = ls.pairs.number, ls.at
	return ls.pairs.chains.take(x)
}

// flatExchange reads what nock, the test proxy of Azure's libraries, and logs of
// nothing but the two bodies keep; nil where v is none of them.
func flatExchange(v gjson.Result) *exchange {
	switch {
	case v.Get("request.messages").IsArray() && v.Get("response").Exists():
		return &exchange{url: "/v1/messages", status: http.StatusOK, request: meant(v.Get("request")), response: meant(v.Get("response")), header: http.Header{}}
	case v.Get("scope").Exists() && v.Get("response").Exists() && v.Get("method").Exists():
		return &exchange{
			method: v.Get("method").String(), url: v.Get("scope").String() + v.Get("path").String(), status: int(v.Get("status").Int()),
			request: meant(v.Get("body")), response: chunked(v.Get("response")), header: alternating(v.Get("rawHeaders")),
		}
	case v.Get("RequestUri").Exists() && v.Get("ResponseBody").Exists():
		return &exchange{
			method: v.Get("RequestMethod").String(), url: v.Get("RequestUri").String(), status: int(v.Get("StatusCode").Int()),
			request: meant(v.Get("RequestBody")), response: meant(v.Get("ResponseBody")), header: alternating(v.Get("ResponseHeaders")),
		}
	}
	return nil
}

// chunked is a body in pieces, in hexadecimal or base64; what is no list of them is
// what it means.
func chunked(v gjson.Result) []byte {
	if !v.IsArray() {
		return meant(v)
	}
	var out []byte
	for _, chunk := range v.Array() {
		b, err := unpackChunk(chunk.String(), false)
		if err != nil {
			return meant(v)
		}
		out = append(out, b...)
	}
	return out
}

// meant is a body that stands as a text, or as the JSON that it is.
func meant(v gjson.Result) []byte {
	if v.Type == gjson.String {
		return []byte(v.Str)
	}
	return []byte(v.Raw)
}

// alternating reads headers as a list of names and values in turn, or as members.
func alternating(v gjson.Result) http.Header {
	out := http.Header{}
	if v.IsObject() {
		v.ForEach(func(name, value gjson.Result) bool {
			out.Add(name.Str, value.String())
			return true
		})
		return out
	}
	list := v.Array()
	for i := 0; i+1 < len(list); i += 2 {
		out.Add(list[i].String(), list[i+1].String())
	}
	return out
}

// inNodes writes JSON as a tree of YAML, within the limits. Not every text of JSON is
// one of YAML: its escapes differ.
func (s *scanner) inNodes(v gjson.Result) (*yaml.Node, error) {
	left := s.limits.Nodes
	n := node(v, s.limits.Depth, &left)
	if n == nil {
		return nil, errNodes
	}
	if n.Kind != yaml.MappingNode {
		return nil, errors.New("it is no object")
	}
	return n, nil
}

// node is nil where the limits are passed.
func node(v gjson.Result, depth int, left *int) *yaml.Node {
	if *left--; *left < 0 || depth < 0 {
		return nil
	}
	if !v.IsObject() && !v.IsArray() {
		return scalar(v)
	}
	n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	if v.IsObject() {
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
	}
	whole := true
	v.ForEach(func(key, value gjson.Result) bool {
		inner := node(value, depth-1, left)
		if whole = inner != nil; !whole {
			return false
		}
		if v.IsObject() {
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key.Str})
		}
		n.Content = append(n.Content, inner)
		return true
	})
	if !whole {
		return nil
	}
	return n
}

func scalar(v gjson.Result) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Value: v.Raw}
	switch {
	case v.Type == gjson.String:
		n.Tag, n.Value = "!!str", v.Str
	case v.Type == gjson.Null:
		n.Tag = "!!null"
	case v.Type != gjson.Number:
		n.Tag = "!!bool"
	case strings.ContainsAny(v.Raw, ".eE"):
		n.Tag = "!!float"
	default:
		n.Tag = "!!int"
	}
	return n
}
