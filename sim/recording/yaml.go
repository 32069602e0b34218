package recording

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
	"gopkg.in/yaml.v3"

	"toolbench/sim/cassette"
)

// The recorders' lists, at the left margin of a document.
var (
	yamlList    = regexp.MustCompile(`^(interactions|http_interactions):[ \t]*(?:#.*)?$`)
	yamlPlain   = regexp.MustCompile(`^-(?:[ \t]+(?:request|response|index|id):.*)?[ \t]*$`)
	yamlVersion = regexp.MustCompile(`(?m)^version:[ \t]*["']?([0-9]+)`)
)

// yamlDirective has the version of YAML itself, before a document.
var yamlDirective = []byte("%YAML ")

// yamlScan reads YAML document by document, and a document's list of interactions
// item by item, so that neither has to fit into memory. It cuts at lines: a new item
// begins at its list's indentation, where nothing inside of an item may stand.
type yamlScan struct {
	*exchanges
	// lines takes what is no list of interactions, as it stands in JSON.
	lines    *lineScan
	head     bytes.Buffer // of the document, without its list
	headLine int
	inList   bool
	indent   int
	item     bytes.Buffer
	itemLine int
	// anchors are earlier items that later ones may refer to.
	anchors bytes.Buffer
	large   bool // the item has passed the limit
}

func (s *scanner) scanYAML(r *bufio.Reader) error {
	y := &yamlScan{lines: s.lineScan()}
	y.exchanges, y.lines.what = y.lines.exchanges, "documents"
	y.list = ""
	reader := &lineReader{r: r, max: s.limits.Line}
	for l, err := range reader.all(s) {
		if err != nil {
			return err
		}
		if l.long {
			return s.fail(ErrTooLarge, "line %d is longer than %d bytes", l.n, s.limits.Line)
		}
		if err := y.line(l); err != nil {
			return err
		}
	}
	if err := y.endDocument(true); err != nil {
		return err
	}
	return y.lines.end()
}

func (y *yamlScan) line(l line) error {
	if bytes.Equal(l.text, []byte("---")) || bytes.HasPrefix(l.text, []byte("--- ")) || bytes.Equal(l.text, []byte("...")) { // a document ends
		return y.endDocument(false)
	}
	if !y.inList && bytes.HasPrefix(l.text, yamlDirective) {
		return nil // the parser knows one version
	}
	if y.inList {
		return y.listed(l)
	}
	if m := yamlList.FindSubmatch(l.text); m != nil && y.list == "" {
		y.list, y.version, y.inList, y.indent = string(m[1]), versionIn(y.head.Bytes()), true, -1
		return nil
	}
	if y.list == "" && len(bytes.TrimSpace(y.head.Bytes())) == 0 && yamlPlain.Match(l.text) {
		y.list, y.inList, y.indent = plainList, true, -1
		return y.listed(l)
	}
	return y.headed(l)
}

func (y *yamlScan) headed(l line) error {
	if y.head.Len() == 0 {
		y.headLine = l.n
	}
	if int64(y.head.Len()+len(l.text)) > y.s.limits.Part {
		return y.s.fail(ErrTooLarge, "the document at line %d is larger than %d bytes", y.headLine, y.s.limits.Part)
	}
	y.head.Write(l.text)
	y.head.WriteByte('\n')
	return nil
}

// listed takes a line of the list.
func (y *yamlScan) listed(l line) error {
	indent, dash := margin(l.text)
	switch {
	case indent < 0: // blank
		y.keep(l)
	case dash && (y.indent < 0 || indent == y.indent):
		if err := y.close(false); err != nil {
			return err
		}
		y.indent, y.itemLine = indent, l.n
		y.keep(l)
	case y.indent < 0: // it is no list of that notation
		key := y.list + ":\n"
		y.list, y.inList = "", false
		return y.headed(line{n: l.n - 1, text: append([]byte(key), l.text...)})
	case indent <= y.indent:
		y.inList = false
		if err := y.close(false); err != nil {
			return err
		}
		return y.headed(l)
	default:
		y.keep(l)
	}
	return nil
}

// margin is a line's indentation, -1 for a blank one or one with a tab there, which can only go on with a
// text, and whether an item of a list begins there.
func margin(text []byte) (indent int, dash bool) {
	rest := bytes.TrimLeft(text, " ")
	if len(bytes.TrimSpace(rest)) == 0 || rest[0] == '\t' {
		return -1, false
	}
	return len(text) - len(rest), rest[0] == '-' && (len(rest) == 1 || rest[1] == ' ')
}

func (y *yamlScan) keep(l line) {
	if y.itemLine == 0 {
		return
	}
	if y.large = y.large || int64(y.item.Len()+len(l.text)) > y.s.limits.Part; y.large {
		y.item.Reset()
		return
	}
	y.item.Write(l.text)
	y.item.WriteByte('\n')
}

// close reads the item that is complete. The last one of a file may have been cut.
func (y *yamlScan) close(last bool) error {
	if y.itemLine == 0 {
		return nil
	}
	at := y.itemLine
	defer func() {
		y.item.Reset()
		y.itemLine, y.large = 0, false
	}()
	if y.large {
		y.number++
		y.problem(TooLarge, fmt.Sprintf("the interaction is larger than %d bytes and was left out", y.s.limits.Part), at)
		return nil
	}
	v, err := y.parseItem()
	if err != nil {
		y.unread(y.item.Bytes(), err, at, last)
		return nil
	}
	return y.take(v, at, last)
}

// take takes an interaction, which may be a message of a live session.
func (y *yamlScan) take(v gjson.Result, at int, last bool) error {
	y.lines.at = at
	if known, err := y.lines.live(parsed(v.Get("data"))); known {
		return err
	}
	return y.exchanges.take(v, at, last)
}

// unread notes an item that is no YAML, or not to be read; the last of a file was cut.
func (y *yamlScan) unread(raw []byte, err error, at int, last bool) {
	y.number++
	kind, what := Malformed, "the interaction cannot be read: "
	if last {
		kind, what = CutStream, "the last interaction is cut off: "
	}
	y.problem(kind, what+misread(raw, err, at), at)
}

// misread is why lines of a file, from at on, are no YAML, with the line.
func misread(raw []byte, err error, at int) string {
	if !strings.HasPrefix(err.Error(), "yaml: ") {
		return err.Error()
	}
	line, why := cassette.Misread(raw, err)
	return fmt.Sprintf("line %d: %s", at+line-1, why)
}

// parseItem parses the item; when it refers to one before it, with those before it.
func (y *yamlScan) parseItem() (gjson.Result, error) {
	raw := y.item.Bytes()
	node, err := y.s.parseYAML(raw)
	if err != nil && strings.Contains(err.Error(), "unknown anchor") {
		node, err = y.s.parseYAML(append(bytes.Clone(y.anchors.Bytes()), raw...))
	}
	if err != nil {
		return gjson.Result{}, err
	}
	if node.Kind != yaml.SequenceNode || len(node.Content) == 0 {
		return gjson.Result{}, errors.New("it is no item of a list")
	}
	item := node.Content[len(node.Content)-1]
	if anchored(item) && y.anchors.Len()+len(raw) <= maxAnchors {
		y.anchors.Write(raw)
	}
	return y.s.inJSON(item)
}

// anchored reports whether another item can refer to a part of this one.
func anchored(n *yaml.Node) bool { return n.Anchor != "" || slices.ContainsFunc(n.Content, anchored) }

// maxAnchors bounds the items that are kept because others refer to them.
const maxAnchors = 4 << 20

// endDocument reads what is left of a document.
func (y *yamlScan) endDocument(last bool) error {
	if err := y.close(last); err != nil {
		return err
	}
	head, list, at := bytes.Clone(y.head.Bytes()), y.list, y.headLine
	y.head.Reset()
	y.anchors.Reset()
	y.list, y.version, y.inList, y.itemLine = "", "", false, 0
	if list != "" || len(bytes.TrimSpace(head)) == 0 {
		return nil
	}
	return y.document(head, at, last)
}

// document reads a document that is no block list: one exchange, or a list in another notation.
func (y *yamlScan) document(raw []byte, at int, last bool) error {
	root, err := y.s.parseYAML(raw)
	switch {
	case errors.Is(err, errEmpty):
		return nil // comments stand before the mark of the document
	case errors.Is(err, errNodes):
		return y.s.fail(ErrTooLarge, "the document at line %d %s", at, err)
	case err != nil && !y.s.known():
		return y.s.fail(ErrNotRecording, "it is none of the formats that are known (as YAML: %s)", misread(raw, err, at))
	case err != nil:
		y.unread(raw, err, at, last)
		return nil
	}
	nodes, list := y.parts(root, at)
	y.list, y.version = list, versionIn(raw)
	defer func() { y.list, y.version = "", "" }()
	return y.values(nodes, at)
}

// parts are what a document has: the items of a recorder's list, requests with responses that stand in
// a list each, as LangChain's cassettes have them, conversations, values in a list, or one value.
func (y *yamlScan) parts(root *yaml.Node, at int) (nodes []*yaml.Node, list string) {
	if entries := cassette.Member(cassette.Member(root, "log"), "entries"); entries != nil { // which need not be in order
		began := func(n *yaml.Node) string { return cmp.Or(cassette.Member(n, "startedDateTime"), &yaml.Node{}).Value }
		slices.SortStableFunc(entries.Content, func(a, b *yaml.Node) int { return strings.Compare(began(a), began(b)) })
		return entries.Content, "entries"
	}
	of := func(key string) *yaml.Node {
		if m := cassette.Member(root, key); m != nil && m.Kind == yaml.SequenceNode {
			return m
		}
		return nil
	}
	for _, key := range []string{"interactions", "http_interactions"} {
		if items := of(key); items != nil {
			return items.Content, key
		}
	}
	if requests, responses := of("requests"), of("responses"); requests != nil && responses != nil {
		return y.pairs(requests.Content, responses.Content, at), "requests"
	}
	for _, items := range []*yaml.Node{of("conversations"), of("mappings"), of("turns"), root} {
		if items != nil && items.Kind == yaml.SequenceNode {
			return items.Content, plainList
		}
	}
	return []*yaml.Node{root}, plainList
}

func (y *yamlScan) pairs(requests, responses []*yaml.Node, at int) (all []*yaml.Node) {
	for i, request := range requests {
		if i == len(responses) {
			y.s.problem(Problem{Kind: CutStream, Text: fmt.Sprintf("%d of the requests have no response", len(requests)-i), Line: at + request.Line - 1, Interaction: y.number + i})
			break
		}
		all = append(all, &yaml.Node{Kind: yaml.MappingNode, Line: request.Line, Content: []*yaml.Node{
			{Kind: yaml.ScalarNode, Tag: "!!str", Value: "request"}, request, {Kind: yaml.ScalarNode, Tag: "!!str", Value: "response"}, responses[i],
		}})
	}
	return all
}

// values takes what stands in a recorder's list, and anything else as it is taken in JSON. A history that
// another goes on from is that one's beginning.
func (y *yamlScan) values(nodes []*yaml.Node, at int) (err error) {
	var all []gjson.Result
	for _, node := range nodes {
		v, wrong := y.s.inJSON(node)
		if wrong != nil {
			y.unread(nil, wrong, at+node.Line-1, false)
		}
		all = append(all, v)
	}
	begun := beginnings(all)
	for i := 0; i < len(all) && err == nil; i++ {
		y.lines.at = at + nodes[i].Line - 1
		switch v := all[i]; {
		case begun[i] || !v.Exists():
		case y.list == plainList:
			err = y.lines.take([]byte(v.Raw))
		default:
			err = y.take(v, y.lines.at, false)
		}
	}
	y.lines.group++
	return err
}

// beginnings marks the histories that later ones go on from: what was sent of one, which is all
// but the answer at its end, was sent again, and more.
func beginnings(all []gjson.Result) []bool {
	out, later := make([]bool, len(all)), map[string]bool{}
	for i, v := range slices.Backward(all) {
		sent := v.Get("messages").Array()
		for len(sent) > 0 && sent[len(sent)-1].Get("role").String() == "assistant" {
			sent = sent[:len(sent)-1]
		}
		h, parts := fnv.New128a(), []string{""}
		for _, m := range sent {
			_, _ = h.Write([]byte(m.Raw)) // a hash never fails
			parts = append(parts, string(h.Sum(nil)))
		}
		out[i] = later[parts[len(sent)]]
		for n := 1; n < len(sent); n++ {
			later[parts[n]] = true
		}
	}
	return out
}

// versionIn is the version of a recorder, as the head of its cassette has it.
func versionIn(head []byte) string {
	if m := yamlVersion.FindSubmatch(head); m != nil {
		return string(m[1])
	}
	return ""
}
