package work

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"sort"
	"strings"

	"gopkg.in/yaml.v3"
)

// readFront reads the YAML between a text's first two lines of dashes into head, and gives what
// follows. A text without such a head is all body.
func readFront(text string, head any) (body string, err error) {
	front, body, err := cutFront(text)
	if err != nil {
		return "", err
	}
	front = "\n" + front // lines are those of the file, the first being dashes
	if err = readYAML(front, head, false); err != nil && readYAML(quoted(front), head, false) != nil {
		return "", fmt.Errorf("front matter: %w", err)
	}
	return body, nil
}

// cutFront parts a text file of an agent's user, such as a skill, in the YAML between two
// lines of dashes at its beginning and what follows. Without such lines all of it follows.
func cutFront(text string) (front, body string, err error) {
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

// member matches a key with a text behind it that no sign of YAML's begins.
var member = regexp.MustCompile(`^(\w[\w-]*:\s+)([^\s\[{|>"'&*!].*)$`)

// quoted puts the texts of those lines in quotes that are no YAML by themselves: people write
// descriptions with a colon in them, and agents read them.
func quoted(front string) string {
	lines := strings.Split(front, "\n")
	for i, line := range lines {
		if m := member.FindStringSubmatch(line); m != nil && yaml.Unmarshal([]byte(line), new(yaml.Node)) != nil {
			lines[i] = m[1] + "'" + strings.ReplaceAll(m[2], "'", "''") + "'"
		}
	}
	return strings.Join(lines, "\n")
}

// mostYAML is how many bytes of YAML a file may have. The library bounds depth and aliases by
// itself, but compares each key of a mapping with every other one.
const mostYAML = 64 << 10

// readYAML decodes a text that anybody may have written; strict: an unknown key is an error. An
// empty text leaves out as it is.
func readYAML(text string, out any, strict bool) error {
	if len(text) > mostYAML {
		return fmt.Errorf("the YAML has more than %d bytes", mostYAML)
	}
	dec := yaml.NewDecoder(strings.NewReader(text))
	dec.KnownFields(strict)
	err := dec.Decode(out)
	if wrong, ok := errors.AsType[*yaml.TypeError](err); ok {
		return errors.New(worded(wrong.Errors))
	}
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	// The library's own line is one too low, or that of what is around the mistake. A beginning that ends within brackets
	// or quotes is no YAML either, but for another reason; a bracket that is not closed shows some lines behind it.
	lines := strings.SplitAfter(text, "\n")
	cut := func(n int) error { return yaml.Unmarshal([]byte(strings.Join(lines[:n], "")), new(any)) }
	line := 1 + sort.Search(len(lines)-1, func(n int) bool { e := cut(n + 1); return e != nil && e.Error() == err.Error() })
	for n := 1; n < min(line, 8); n++ {
		if cut(line-n) == nil {
			line -= n - 1
			break
		}
	}
	return fmt.Errorf("line %d: %s", line, yamlPlace.ReplaceAllString(err.Error(), ""))
}

var (
	yamlPlace    = regexp.MustCompile(`^yaml: (line \d+: )?`)
	strangeKey   = regexp.MustCompile(`field (.*) not found in type \S+$`)
	strangeValue = regexp.MustCompile(`(?s)cannot unmarshal (.*) into \S+$`)
)

// worded words what does not fit, without the names that Go has for it, and no more than shows it.
func worded(problems []string) string {
	const most = 3
	var b bytes.Buffer
	for i, p := range problems[:min(len(problems), most)] {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(strangeValue.ReplaceAllString(strangeKey.ReplaceAllString(p, `unknown key "$1"`), "$1 does not belong here"))
	}
	if more := len(problems) - most; more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	return b.String()
}

// textList reads a member of the front matter that is a list of texts, or one text with
// commas between them, those between parentheses apart; nothing is nil.
func textList(value any) ([]string, error) {
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
