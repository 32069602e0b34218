package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
)

// Decode validates raw by s and decodes it into a T. With problems, the value
// is T's zero.
//
// The schema must be T's own ([For]) or be as strict: encoding/json matches
// names without regard to case, which an unknown member that s allows could
// abuse. An integer may be written as 2.0 or 1e3. What a schema cannot say - a
// number beyond the Go type, a type's own UnmarshalJSON - is a problem too, with
// keyword "decode".
func Decode[T any](s *Schema, raw json.RawMessage) (T, Problems) {
	var v, zero T
	if s.accepts(raw) {
		if json.Unmarshal(raw, &v) == nil {
			return v, nil
		}
		v = zero
	}
	doc, problems := s.examine(raw)
	if len(problems) > 0 {
		return zero, problems
	}
	err := json.Unmarshal(raw, &v)
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		v = zero
		err = decodeWhole(doc, &v)
	}
	if err != nil {
		return zero, Problems{undecodable(err)}
	}
	return v, nil
}

// decodeWhole decodes doc with its whole numbers written as digits only, since
// encoding/json takes neither 2.0 nor 1e3 for an integer and JSON Schema does.
func decodeWhole(doc any, into any) error {
	raw, err := json.Marshal(wholeNumbers(doc))
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, into)
}

func wholeNumbers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = wholeNumbers(member)
		}
	case []any:
		for i, item := range v {
			v[i] = wholeNumbers(item)
		}
	case json.Number:
		if r, ok := new(big.Rat).SetString(string(v)); ok && r.IsInt() {
			return json.Number(r.Num().String())
		}
	}
	return v
}

func undecodable(err error) Problem {
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return newProblem(nil, "decode", fmt.Sprintf("The input cannot be read: %v", err))
	}
	at := path{}.member(mismatch.Field)
	p := newProblem(at, "decode", fmt.Sprintf(`The parameter "%s" cannot hold %s`, mismatch.Field, mismatch.Value))
	p.Path = mismatch.Field
	return p
}

// DecodeStrict decodes exactly one JSON value into a T, refusing unknown
// members, null at the root and anything after the value. It is no validation:
// missing or doubled members, names in another case and inner nulls pass.
//
// Errors: those of encoding/json.
func DecodeStrict[T any](raw json.RawMessage) (T, error) {
	var v, zero T
	if bytes.Equal(bytes.TrimSpace(raw), []byte("null")) {
		return zero, errors.New("the value is null")
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&v); err != nil {
		return zero, fmt.Errorf("strict decode: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return zero, errors.New("strict decode: data follows the value")
	}
	return v, nil
}
