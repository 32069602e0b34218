package draft

import (
	"encoding/json"
	"regexp"
)

// headBytes is how much of a recording is looked at for where the session worked.
const headBytes = 64 << 10

// head keeps the beginning of what goes through it.
type head struct{ text []byte }

// Write implements io.Writer; it never fails.
func (h *head) Write(p []byte) (int, error) {
	h.text = append(h.text, p[:min(len(p), headBytes-len(h.text))]...)
	return len(p), nil
}

var (
	// cwd is how transcripts tell the working directory, told how prompts do.
	cwd  = regexp.MustCompile(`"cwd":\s*("(?:[^"\\\n]|\\.)+")`)
	told = regexp.MustCompile(`(?i)\b(?:working directory|cwd)(?: is)?[:=]?[ \x60*]{1,4}((?:/|~/|[A-Za-z]:\\)[^\s"'<>\x60]*)`)
)

// dir is the working directory of a transcript, "" if it does not say.
func (h *head) dir() string {
	m := cwd.FindSubmatch(h.text)
	if m == nil {
		return ""
	}
	var dir string
	if json.Unmarshal(m[1], &dir) != nil {
		return ""
	}
	return dir
}

// workingDir is what a request's prompts say of it.
func workingDir(body string) string {
	m := told.FindStringSubmatch(body)
	if m == nil {
		return ""
	}
	var dir string
	if json.Unmarshal([]byte(`"`+m[1]+`"`), &dir) != nil { // the body is JSON, and may have been cut in an escape
		return ""
	}
	return dir
}
