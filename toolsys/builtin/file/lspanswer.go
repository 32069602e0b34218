package file

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	wide "unicode/utf16"

	"toolbench/toolsys/tool"
)

// What servers answer with, as far as it is used.
type (
	wirePlace struct{ Line, Character int }
	wireRange struct{ Start wirePlace }
	// wireLocation is a Location, or a LocationLink by its members that begin with target.
	wireLocation struct {
		URI                  string
		Range                wireRange
		TargetURI            string
		TargetSelectionRange wireRange
	}
	// wireSymbol is a DocumentSymbol with its children, a SymbolInformation with its location, or an item
	// of a call hierarchy with its URI.
	wireSymbol struct {
		Name           string
		Kind           int
		ContainerName  string
		SelectionRange wireRange
		Children       []wireSymbol
		Location       *wireLocation
		URI            string
	}
)

// kinds are the protocol's kinds of symbols, from 1.
var kinds = strings.Fields("file module namespace package class method property field constructor enum interface function variable " +
	"constant string number boolean array object key null enum-member struct event operator type-parameter")

func (q lsp) ask(ctx context.Context, s *server, in LSPIn, ask question, c *tool.Context) (LSPOut, error) {
	at := object{"textDocument": object{"uri": uri(ask.real)}, "position": object{"line": ask.line, "character": ask.character}}
	f := finder{q: q, c: c, lines: map[string][]string{}}
	var err error
	switch in.Operation {
	case "hover":
		var got struct{ Contents json.RawMessage }
		err = s.call(ctx, atPlace[in.Operation], at, &got)
		return LSPOut{Text: strings.TrimSpace(marked(got.Contents))}, err
	case "document_symbols":
		var got []wireSymbol
		err = s.call(ctx, "textDocument/documentSymbol", object{"textDocument": at["textDocument"]}, &got)
		f.symbols(got, uri(ask.real), "")
	case "workspace_symbols":
		var got []wireSymbol
		err = s.call(ctx, "workspace/symbol", object{"query": in.Query}, &got)
		f.symbols(got, "", "")
	case "incoming_calls", "outgoing_calls":
		err = f.calls(ctx, s, atPlace[in.Operation], at)
	default:
		at["context"] = object{"includeDeclaration": true}
		var got json.RawMessage
		if err = s.call(ctx, atPlace[in.Operation], at, &got); err == nil {
			err = f.locations(got)
		}
	}
	return f.out, err
}

// finder takes places in, in the model's terms.
type finder struct {
	q     lsp
	c     *tool.Context
	lines map[string][]string // of files that were looked into
	out   LSPOut
}

// locations takes in one location, several, or null.
func (f *finder) locations(raw json.RawMessage) error {
	var all []wireLocation
	if text := strings.TrimSpace(string(raw)); strings.HasPrefix(text, "{") {
		all = make([]wireLocation, 1)
		if err := json.Unmarshal(raw, &all[0]); err != nil {
			return fmt.Errorf("its answer cannot be read: %w", err)
		}
	} else if err := json.Unmarshal(raw, &all); err != nil {
		return fmt.Errorf("its answer cannot be read: %w", err)
	}
	for _, l := range all {
		if l.TargetURI != "" {
			l.URI, l.Range = l.TargetURI, l.TargetSelectionRange
		}
		f.add(l.URI, l.Range.Start, Spot{})
	}
	return nil
}

// symbols takes in symbols of a file with what they contain, or those that name their own places.
func (f *finder) symbols(all []wireSymbol, file, within string) {
	for _, s := range all {
		where, start := file, s.SelectionRange.Start
		if s.Location != nil {
			where, start = s.Location.URI, s.Location.Range.Start
		}
		f.add(where, start, Spot{Name: s.Name, Kind: kind(s.Kind), Within: cmp.Or(s.ContainerName, within)})
		f.symbols(s.Children, file, s.Name)
	}
}

func kind(n int) string {
	if n < 1 || n > len(kinds) {
		return "symbol"
	}
	return kinds[n-1]
}

// calls asks for the function at a place, and then who calls it or what it calls.
func (f *finder) calls(ctx context.Context, s *server, method string, at object) error {
	var items []json.RawMessage
	if err := s.call(ctx, "textDocument/prepareCallHierarchy", at, &items); err != nil {
		return err
	}
	for _, item := range items {
		var got []struct{ From, To *wireSymbol }
		if err := s.call(ctx, method, object{"item": item}, &got); err != nil {
			return err
		}
		for _, g := range got {
			end := g.From
			if end == nil {
				end = g.To
			}
			if end != nil {
				f.add(end.URI, end.SelectionRange.Start, Spot{Name: end.Name, Kind: kind(end.Kind)})
			}
		}
	}
	return nil
}

// add takes one place in, with the text of its line where it is no symbol.
func (f *finder) add(where string, at wirePlace, s Spot) {
	if len(f.out.Found) == MaxSpots {
		f.out.Omitted++
		return
	}
	u, err := url.Parse(where)
	if err != nil || u.Scheme != "file" {
		f.out.Omitted++ // such as the inside of an archive, which no tool could read
		return
	}
	s.Path, s.Line, s.Character = shown(u.Path, f.c.State.Dir), at.Line+1, at.Character+1
	if line, ok := f.line(u.Path, at.Line); ok {
		s.Character = characters(line, at.Character) + 1
		if s.Name == "" {
			s.Text = strings.TrimSpace(line)
		}
	}
	f.out.Found = append(f.out.Found, s)
}

// line is a line of a file within the roots; what lies outside is named and not shown.
func (f *finder) line(name string, n int) (string, bool) {
	lines, known := f.lines[name]
	if !known {
		if p, refusal := f.q.locate(name, f.c); refusal == nil && f.q.within(p.real, p.roots) {
			if content, refusal := f.q.load(p); refusal == nil {
				lines = strings.Split(string(content), "\n")
			}
		}
		f.lines[name] = lines
	}
	if n < 0 || n >= len(lines) {
		return "", false
	}
	return strings.TrimSuffix(lines[n], "\r"), true
}

// marked is the text of a hover: one text, one with its language, or several.
func marked(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	var one struct{ Value string }
	if json.Unmarshal(raw, &one) == nil {
		return one.Value
	}
	var all []json.RawMessage
	if json.Unmarshal(raw, &all) != nil {
		return ""
	}
	var parts []string
	for _, r := range all {
		parts = append(parts, marked(r))
	}
	return strings.Join(parts, "\n\n")
}

// units is the length of a text in UTF-16, in which the protocol counts.
func units(text string) int { return len(wide.Encode([]rune(text))) }

// characters is how many characters of a line stand before so many UTF-16 units.
func characters(line string, before int) int {
	n := 0
	for _, r := range line {
		if before <= 0 {
			break
		}
		before -= wide.RuneLen(r)
		n++
	}
	return n
}
