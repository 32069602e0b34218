package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/tidwall/gjson"
)

// valueScan reads JSON that is not a value a line: a list of values, or values one
// after the other, as they are when somebody has formatted them. Each is what a line
// would be, or one exchange.
type valueScan struct {
	*lineScan
	dec     *json.Decoder
	allowed *allowance
	yaml    *yamlScan
}

func (s *scanner) values(dec *json.Decoder, allowed *allowance, y *yamlScan) *valueScan {
	vs := &valueScan{lineScan: s.lineScan(), dec: dec, allowed: allowed, yaml: y}
	vs.what = "values"
	return vs
}

// scanList reads a list.
func (s *scanner) scanList(r *bufio.Reader) error {
	allowed := &allowance{r: r}
	dec := json.NewDecoder(allowed)
	vs := s.values(dec, allowed, &yamlScan{s: s, chains: s.chains(), list: plainList})
	if err := s.documentEnds(vs.list(), 0); err != nil {
		return err
	}
	return vs.end()
}

func (vs *valueScan) end() error {
	return errors.Join(vs.lineScan.end(), vs.yaml.chains.end())
}

// plainList marks exchanges that stand in a list without a name.
const plainList = "[]"

func (vs *valueScan) list() error {
	vs.allowed.left = vs.s.limits.Part
	if t, err := vs.dec.Token(); err != nil || t != json.Delim('[') {
		return errors.Join(errShape, err)
	}
	for vs.dec.More() {
		if err := vs.next(); err != nil {
			return err
		}
	}
	vs.allowed.left = vs.s.limits.Part
	_, err := vs.dec.Token()
	return err
}

// rest reads values until the file ends.
func (vs *valueScan) rest() error {
	for {
		vs.allowed.left = vs.s.limits.Part
		switch err := vs.next(); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

func (vs *valueScan) next() error {
	vs.allowed.left = vs.s.limits.Part
	var v json.RawMessage
	if err := vs.dec.Decode(&v); err != nil {
		return err
	}
	return vs.value(v, vs.allowed.line(vs.dec)-bytes.Count(v, []byte("\n")))
}

// value takes one, which begins at a line.
func (vs *valueScan) value(raw json.RawMessage, at int) error {
	vs.at = at
	var compact bytes.Buffer // how a file is formatted is nothing that was said
	if err := json.Compact(&compact, raw); err != nil {
		return err
	}
	raw = compact.Bytes()
	v := gjson.ParseBytes(raw)
	switch {
	case v.Get("request").IsObject() && v.Get("response").IsObject():
		return vs.exchange(raw)
	case v.Get("scope").Exists() && v.Get("response").Exists() && v.Get("method").Exists():
		return vs.intercepted(v)
	case !v.IsObject():
		vs.s.ignore("values that are no objects")
		return nil
	}
	return vs.take(raw)
}

func (vs *valueScan) exchange(raw json.RawMessage) error {
	vs.yaml.number++
	node, err := vs.s.parseYAML(raw)
	if err != nil {
		vs.s.problem(Problem{Kind: Malformed, Text: worded(err, false), Line: vs.at, Interaction: vs.yaml.number})
		return nil
	}
	return vs.yaml.interaction(node, vs.at, false)
}

// intercepted is an exchange as nock keeps it: bodies as what they mean, or as
// chunks in hexadecimal.
func (vs *valueScan) intercepted(v gjson.Result) error {
	vs.s.format = Exchanges
	vs.yaml.number++
	x := &exchange{
		number: vs.yaml.number, line: vs.at, method: v.Get("method").String(), url: v.Get("scope").String() + v.Get("path").String(), status: int(v.Get("status").Int()),
		request: meant(v.Get("body")), header: alternating(v.Get("rawHeaders")),
	}
	response := v.Get("response")
	if !response.IsArray() {
		x.response = meant(response)
		return vs.yaml.chains.take(x)
	}
	for _, chunk := range response.Array() {
		b, err := unpackChunk(chunk.String(), false)
		if err != nil {
			vs.s.problem(Problem{Kind: Malformed, Text: err.Error(), Line: vs.at, Interaction: x.number})
			return nil
		}
		x.response = append(x.response, b...)
	}
	return vs.yaml.chains.take(x)
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
