package measure

import (
	"encoding/json"
	"fmt"
)

// Five is the input of five members.
type Five struct {
	Path   string   `json:"path"`
	Offset int      `json:"offset"`
	Limit  int      `json:"limit"`
	Exact  bool     `json:"exact"`
	Globs  []string `json:"globs"`
}

// One is the input of one member.
type One struct {
	Path string `json:"path"`
}

// Input is an input of either size.
type Input interface {
	Five | One
	Where() string
}

// Where is the input's path.
func (f Five) Where() string { return f.Path }

// Where is the input's path.
func (o One) Where() string { return o.Path }

// FiveInput and OneInput write inputs as a model would.
func FiveInput(path string) string {
	return fmt.Sprintf(`{"path":%q,"offset":10,"limit":200,"exact":true,"globs":["*.go","*.md"]}`, path)
}

// OneInput is FiveInput with one member.
func OneInput(path string) string { return fmt.Sprintf(`{"path":%q}`, path) }

// NumberedID is the id of a message's call i.
func NumberedID(i int) string { return fmt.Sprintf("call_%d", i+1) }

// Path reads the path of the call's input, for peers whose tools do not decode. It
// is "" where there is none.
func (c Call) Path() string {
	var in One
	if json.Unmarshal([]byte(c.Input), &in) != nil {
		return ""
	}
	return in.Path
}
