package tool

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// CutFront parts a text file of an agent's user, such as a skill, in the YAML between two
// lines of dashes at its beginning and what follows. Without such lines all of it follows.
func CutFront(text string) (front, body string, err error) {
	text = strings.ReplaceAll(strings.TrimPrefix(text, "\uFEFF"), "\r\n", "\n")
	rest, has := strings.CutPrefix(text, "---\n")
	if !has {
		return "", text, nil
	}
	if body, empty := strings.CutPrefix(rest, "---\n"); empty {
		return "", body, nil
	}
	front, body, closed := strings.Cut(rest+"\n", "\n---\n")
	if !closed {
		return "", "", errors.New("the front matter has no closing line of dashes")
	}
	return front, body, nil
}

// TextList reads a member of the front matter that is a list of texts, or one text with
// commas between them, those between parentheses apart; nothing is nil.
func TextList(value any) ([]string, error) {
	switch v := value.(type) {
	case nil:
		return nil, nil
	case string:
		return splitOutside(v), nil
	case []any:
		texts := []string{}
		for _, item := range v {
			text, ok := item.(string)
			if !ok {
				return nil, fmt.Errorf("%v is no text", item)
			}
			texts = append(texts, text)
		}
		return texts, nil
	}
	return nil, fmt.Errorf("%v is neither a list nor a text", value)
}

// splitOutside cuts at commas that are not between parentheses.
func splitOutside(text string) []string {
	depth := 0
	parts := strings.FieldsFunc(text, func(r rune) bool {
		switch r {
		case '(':
			depth++
		case ')':
			depth--
		}
		return r == ',' && depth == 0
	})
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return slices.DeleteFunc(parts, func(p string) bool { return p == "" })
}
