package work

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

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
	problem := strings.TrimPrefix(err.Error(), "yaml: ")
	if !strings.HasPrefix(problem, "line ") {
		problem = "line 1: " + problem // which the library leaves out
	}
	return errors.New(problem)
}

var (
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
