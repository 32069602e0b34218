package mcpserve

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// remedy is what can be done about JSON that is none.
func remedy(err error) string {
	switch text := err.Error(); {
	case strings.Contains(text, "']' looking for beginning of value"), strings.Contains(text, "'}' looking for beginning of object key"):
		return "take out the comma before it"
	case strings.Contains(text, "exceeded max depth"):
		return "JSON is read 10000 levels deep; flatten it"
	case errors.Is(err, io.ErrUnexpectedEOF):
		return "the file is cut off; write it whole"
	}
	return `write one JSON object a line, an array of objects, or {"tools": [...]}`
}

// kind names a value of JSON.
func kind(raw json.RawMessage) string {
	switch raw[0] {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// plain words a type error without the names of Go types.
func plain(err error) string {
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		return fmt.Sprintf("%s cannot be %s", mismatch.Field, article(mismatch.Value))
	}
	return err.Error()
}

// article puts one before a kind of value.
func article(value string) string {
	if strings.ContainsAny(value[:1], "ao") {
		return "an " + value
	}
	return "a " + value
}
