package reports

import (
	"fmt"
	"io"
	"strings"

	"toolbench/reports/screen"
)

// ListVersion is the version of the JSON that list writes.
const ListVersion = 1

// Listed is one scenario of a list.
type Listed struct {
	Name  string   `json:"name"`
	Tags  []string `json:"tags"`
	About string   `json:"about"`
	File  string   `json:"file"`
}

type listJSON struct {
	Version   int      `json:"version"`
	Scenarios []Listed `json:"scenarios"`
}

// ListJSON writes one object as list.schema.json describes it.
func ListJSON(w io.Writer, all []Listed) error {
	list := listJSON{Version: ListVersion, Scenarios: []Listed{}}
	for _, l := range all {
		l.Tags = present(l.Tags)
		list.Scenarios = append(list.Scenarios, l)
	}
	return PrintJSON(w, list)
}

// ListTable writes a row a scenario.
func ListTable(w io.Writer, all []Listed, o Options) error {
	g := screen.Grid{Columns: []screen.Column{{Title: "Scenario"}, {Title: "Tags"}, {Title: "About"}}}
	for _, l := range all {
		g.Rows = append(g.Rows, []string{screen.Safe(l.Name), screen.Safe(strings.Join(l.Tags, " ")), screen.Safe(l.About)})
	}
	drawn, err := g.Draw(o.Width, o.ASCII)
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(w, drawn)
	return err
}
