package reports

import (
	"cmp"
	"fmt"

	"toolbench/sim/replay"
	"toolbench/sim/secret"
)

// DriftReport is what changed in shape between recorded answers and those of now.
type DriftReport struct {
	Version  int                  `json:"version"`
	Source   string               `json:"source" jsonschema:"The recording."`
	BaseURL  string               `json:"base_url" jsonschema:"Where its requests were sent."`
	Model    string               `json:"model,omitempty" jsonschema:"The model that was asked in place of the recorded one."`
	Requests int                  `json:"requests" jsonschema:"Requests in the recording."`
	Sent     int                  `json:"sent" jsonschema:"Requests that were sent and answered."`
	Same     bool                 `json:"same" jsonschema:"All were sent, and no shape changed: the command ends with 0."`
	Changes  []replay.DriftChange `json:"changes" jsonschema:"What changed, the gravest first, each once."`
	LeftOut  []DriftLeftOut       `json:"left_out" jsonschema:"Requests that were not sent, since nothing could be compared."`
}

// DriftLeftOut is a request that was not sent.
type DriftLeftOut struct {
	Request int    `json:"request" jsonschema:"Its place in the recording, from 1." minimum:"1"`
	Reason  string `json:"reason"`
}

// Blank takes secrets out of what came from recordings and APIs.
func (r *DriftReport) Blank(finder *secret.Finder) {
	for i := range r.Changes {
		c := &r.Changes[i]
		for _, text := range []*string{&c.Name, &c.Recorded, &c.Now} {
			*text = finder.Text(*text, nil)
		}
	}
	for i := range r.LeftOut {
		r.LeftOut[i].Reason = finder.Text(r.LeftOut[i].Reason, nil)
	}
}

// requestsShown is how many requests a row names.
const requestsShown = 5

// show writes a row a change, and a line that sums it up.
func (r DriftReport) show(p *page) {
	g := Grid{Columns: columns("What", "Recorded", "Now", ">Requests")}
	for _, c := range r.Changes {
		what := c.Aspect
		if c.Name != "" {
			what += " " + c.Name
		}
		g.add(Safe(what), Safe(cmp.Or(c.Recorded, "-")), Safe(cmp.Or(c.Now, "-")), numbers(c.Requests[:min(requestsShown, len(c.Requests))], len(c.Requests)))
	}
	p.tables(g)
	for _, l := range r.LeftOut {
		p.section(fmt.Sprintf("Request %d was not sent", l.Request), l.Reason)
	}
	text := fmt.Sprintf("%d of %s answered", r.Sent, plural(r.Requests, "request", "requests"))
	if r.Same {
		text += ", in the shapes that were recorded"
	} else if n := len(r.Changes); n > 0 {
		text += ", " + plural(n, "difference", "differences")
	}
	p.fold("", text)
}

func (r DriftReport) document() any { return r }
