package recording

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/tidwall/gjson"
)

// valueScan reads JSON that is not a value a line: a list of values, or values one
// after the other, as they are when somebody has formatted them. Each is what a line
// would be, or one exchange.
type valueScan struct {
	*lineScan
	dec     *json.Decoder
	allowed *allowance
}

func (s *scanner) values(dec *json.Decoder, allowed *allowance) *valueScan {
	vs := &valueScan{lineScan: s.lineScan(), dec: dec, allowed: allowed}
	vs.what = "values"
	return vs
}

// scanList reads a list.
func (s *scanner) scanList(r *bufio.Reader) error {
	allowed := &allowance{r: r}
	dec := json.NewDecoder(allowed)
	vs := s.values(dec, allowed)
	if err := s.documentEnds(vs.list(), 0); err != nil {
		return err
	}
	return vs.end()
}

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
	if !gjson.ParseBytes(raw).IsObject() {
		vs.s.ignore("values that are no objects")
		return nil
	}
	return vs.take(raw)
}
