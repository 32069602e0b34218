package cassette

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	vcr "github.com/dnaeon/go-vcr/v2/cassette"
	"gopkg.in/yaml.v3"
)

// cassette checks the document's frame and reads each interaction.
func (l *loader) cassette(root *yaml.Node) (*Cassette, error) {
	list := Member(root, "interactions")
	if list == nil {
		return nil, l.failAt(root, ErrNotCassette, "is not a go-vcr cassette: it has no list of interactions"+looksLike(root), "name a go-vcr cassette, or convert the file")
	}
	c := &Cassette{Name: l.file, Version: 1}
	if v := Member(root, "version"); v != nil {
		if err := v.Decode(&c.Version); err != nil || c.Version < 1 || c.Version > 2 {
			return nil, l.failAt(v, ErrInvalid, fmt.Sprintf("has format version %q; 1 and 2 are known", v.Value), recordAgain)
		}
	}
	if list.Kind == yaml.SequenceNode && len(list.Content) == 0 || list.Tag == "!!null" {
		return nil, l.failAt(list, ErrEmpty, "holds no interactions", recordAgain)
	}
	if list.Kind != yaml.SequenceNode {
		return nil, l.failAt(list, ErrNotCassette, "interactions is not a list", recordAgain)
	}
	for n, node := range list.Content {
		i, err := l.interaction(n+1, Resolved(node))
		if err != nil {
			return nil, err
		}
		c.Interactions = append(c.Interactions, *i)
	}
	return c, nil
}

func (l *loader) interaction(number int, node *yaml.Node) (*Interaction, error) {
	i := &Interaction{Number: number, Line: node.Line}
	if node.Kind != yaml.MappingNode {
		return nil, l.failAt(node, ErrInvalid, fmt.Sprintf("interaction %d is not a mapping", number), restore)
	}
	req, resp := Member(node, "request"), Member(node, "response")
	if req == nil || resp == nil || resp.Kind != yaml.MappingNode {
		return nil, l.failAt(node, ErrTruncated, fmt.Sprintf("interaction %d has no request and response: the file was cut off", number), restore)
	}
	if hint := foreign(req, resp); hint != "" {
		return nil, l.failAt(node, ErrNotCassette, "is not a go-vcr cassette: it looks like "+hint, "name a go-vcr cassette, or convert the file")
	}
	if err := l.request(req, i); err != nil {
		return nil, err
	}
	return i, l.response(resp, i)
}

func (l *loader) request(node *yaml.Node, i *Interaction) error {
	r := &i.Request
	err := l.fields(node, []field{{"body", &r.Body}, {"form", &r.Form}, {"headers", &r.Headers}, {"url", &r.URL}, {"method", &r.Method}})
	if err != nil {
		return err
	}
	if _, err := url.Parse(r.URL); r.URL == "" || err != nil {
		return l.failAt(node, ErrInvalid, fmt.Sprintf("the request has no valid url: %q", r.URL), restore)
	}
	return l.whole(node, r)
}

// whole restores a body that was written in part.
func (l *loader) whole(node *yaml.Node, r *vcr.Request) error {
	body, err := l.bodies.Restore(r.Headers, r.Body)
	if err != nil {
		return l.failAt(node, ErrInvalid, "the body of the request "+err.Error(), restore+"; or take out the body and the header "+SharedHeader+", and it is not compared")
	}
	l.shared += int64(len(body) - len(r.Body))
	if l.shared > 4*l.limits.Bytes {
		return l.failAt(node, ErrTooLarge, fmt.Sprintf("has requests of more than %d bytes, of which only parts are written", 4*l.limits.Bytes), "split it, or raise the limit")
	}
	r.Body = body
	return nil
}

func (l *loader) response(node *yaml.Node, i *Interaction) error {
	r := &i.Response
	if err := l.fields(node, []field{{"body", &r.Body}, {"headers", &r.Headers}, {"status", &r.Status}, {"code", &r.Code}}); err != nil {
		return err
	}
	if Member(node, "code") == nil { // go-vcr always writes it, nearly last
		return l.failAt(node, ErrTruncated, fmt.Sprintf("the response of interaction %d has no code: the file was cut off", i.Number), restore)
	}
	if r.Code < 100 || r.Code > 999 {
		return l.failAt(node, ErrInvalid, fmt.Sprintf("%d is no HTTP status", r.Code), restore)
	}
	var err error
	r.Duration, err = l.duration(Member(node, "duration"))
	return err
}

// duration reads what the versions write: "1.5s", "", nothing.
func (l *loader) duration(n *yaml.Node) (time.Duration, error) {
	if n == nil || n.Value == "" || n.Tag == "!!null" {
		return 0, nil
	}
	var d time.Duration
	if err := n.Decode(&d); err != nil || d < 0 {
		return 0, l.failAt(n, ErrInvalid, fmt.Sprintf("the duration %q is none", n.Value), `write it like "1.5s", or leave it empty`)
	}
	return d, nil
}

// field is a member of a mapping and where it goes.
type field struct {
	name string
	to   any
}

// fields decodes the members one by one, so that an error has its own place.
func (l *loader) fields(node *yaml.Node, fs []field) error {
	if node.Kind != yaml.MappingNode {
		return l.failAt(node, ErrInvalid, "is not a mapping", restore)
	}
	for _, f := range fs {
		n := Member(node, f.name)
		if n == nil {
			continue
		}
		if err := n.Decode(f.to); err != nil {
			e := l.failAt(n, ErrInvalid, f.name+" cannot be read", restore)
			e.Cause = reason(err)
			return e
		}
	}
	return nil
}

// reason is the library's first complaint, without the place, which the caller has.
func reason(err error) error {
	if te, ok := errors.AsType[*yaml.TypeError](err); ok && len(te.Errors) > 0 {
		_, text, _ := strings.Cut(te.Errors[0], ": ")
		return errors.New(text)
	}
	return err
}

// Member finds a mapping's value by key; nil when there is none.
func Member(n *yaml.Node, key string) *yaml.Node {
	if n = Resolved(n); n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if Resolved(n.Content[i]).Value == key {
			return Resolved(n.Content[i+1])
		}
	}
	return nil
}

// Resolved is what an alias stands for; another node is what it is.
func Resolved(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

// foreign recognizes recorders that call their list "interactions" too.
func foreign(req, resp *yaml.Node) string {
	status := Member(resp, "status")
	if Member(req, "uri") != nil || status != nil && status.Kind == yaml.MappingNode {
		return "vcrpy's"
	}
	return ""
}

// looksLike names the recorder that a file with other members comes from.
func looksLike(root *yaml.Node) string {
	for _, k := range []struct{ key, name string }{
		{"http_interactions", "Ruby VCR's"}, {"when", "httpmock's"}, {"then", "httpmock's"}, {"log", "an HTTP archive (HAR)"},
	} {
		if Member(root, k.key) != nil {
			return "; it looks like " + k.name
		}
	}
	return ""
}
