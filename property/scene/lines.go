package scene

import (
	"slices"
	"time"
)

// line is when a server was there, by the reference: rows N4 and N6 and the settings of
// mcptool's fleets.
type line struct {
	// up is when it was first there. lost is when it was lost, back when it was there
	// again, down when it was given up; never is not at all.
	up, lost, back, down time.Duration
	// torn: it cannot be told.
	torn bool
	// shaky: not all it has is there all the time, so that of its lists nothing can be told.
	shaky bool
}

// never is a time that does not come.
const never = time.Duration(1<<63 - 1)

// The fleet's own figures: how often in a row a server may fail, how long a first list
// may take, how long a session must last to count as sound, and a call's time limit.
const (
	attempts  = 5
	listLimit = 30 * time.Second
	sound     = 30 * time.Second
	callLimit = 100 * time.Second
)

// line works out a server's, from when calls reached it.
func (v *view) line(s *Server) *line {
	l := &line{lost: never, back: never, down: never, shaky: s.Connect != ""}
	failures, began := 0, time.Duration(0)
	switch s.Connect {
	case "refused", "fails":
		failures, l.up = 1, time.Second
	case "hangs":
		failures, l.up = 1, listLimit+time.Second
	}
	if began = l.up; failures == 0 {
		began = -1 // it is there before all
	}
	killers := slices.DeleteFunc(slices.Clone(v.calls), func(p *played) bool {
		w := served[p.call.Tool]
		return w == nil || w.server != s.Name || !p.ran || !v.s.spoilt(p.call.ID).loses || v.s.ends(p.call) != ""
	})
	switch {
	case len(killers) == 0:
		l.torn = s.List != "" && l.shaky
		return l
	case len(killers) > 1 || killers[0].tries > 1:
		l.torn = true
		return l
	}
	l.lose(killers[0], v.s.spoilt(killers[0].call.ID), failures, began)
	l.torn = l.torn || s.List != "" && l.shaky // it is not there before its list can be read
	return l
}

// lose works out what becomes of a server that is lost under a call.
func (l *line) lose(p *played, k spoilt, failures int, began time.Duration) {
	at := p.reached(k)
	switch {
	case p.ended < at, at >= p.began+callLimit: // it was stopped before it reached the server
		return
	case p.ended == at && p.wasCancelled, at == l.up && l.up > 0:
		l.torn = true
		return
	}
	l.shaky, l.lost = true, at
	if at-began >= sound {
		failures = 0
	}
	for t := at; ; {
		if failures++; failures > attempts {
			l.down = t
			return
		}
		t += min(time.Second<<(failures-1), 30*time.Second)
		if !k.never && t == at+k.back {
			l.torn = true // which comes first is not told
			return
		}
		if !k.never && t > at+k.back {
			l.back = t
			return
		}
	}
}

// reached is when a call's word reached its server.
func (p *played) reached(k spoilt) time.Duration { return p.began + p.call.For + k.slow }

// has says whether a request of the main conversation's turn offers a tool, or may
// (sure is false).
func (v *view) has(name string, turn int, r *request) (in, sure bool) {
	server := serverOf(name)
	if in = v.s.inPool(name, turn); server == "" || !v.s.there(server, turn) {
		return in, true
	}
	l := v.lines[server]
	switch {
	case l == nil:
		return in, true
	case l.torn, l.shaky && v.s.listChanged(server, turn), r.within(l.up) && l.up > 0, r.within(l.down):
		return in, false
	case r.at < l.up || r.at > l.down:
		return false, true
	}
	return in, true
}

// within: the tools of a request were gathered around that instant.
func (r *request) within(at time.Duration) bool { return r.begun <= at && at <= r.at }

// fate is what befell a call beside what its scene says of it.
type fate struct {
	// out: its tool was not offered. unsure: nothing is foretold.
	out, unsure bool
	status      string
}

// fate is that of a call as it went.
func (v *view) fate(p *played) fate {
	f := fate{status: v.s.ends(p.call)}
	w := served[p.call.Tool]
	if p.asked == nil {
		return f
	}
	f.unsure = p.asked.garbled || p.again
	if w == nil {
		return f
	}
	in, sure := v.has(p.call.Tool, p.turn, p.asked)
	f.out, f.unsure = !in, f.unsure || !sure
	if f.status == "" && v.s.unlisted(p.call.Tool, p.turn) {
		f.status = "failed" // the list is the old one, the server has the tool no more
		return f
	}
	if l := v.lines[w.server]; l != nil && p.ran && f.status == "" {
		status, told := v.answered(p, l)
		f.status, f.unsure = status, f.unsure || !told
	}
	return f
}

// answered says how a server's answer to a call comes out.
func (v *view) answered(p *played, l *line) (status string, told bool) {
	k := v.s.spoilt(p.call.ID)
	from, limit := p.reached(k), p.began+callLimit
	to := from + k.lags
	switch {
	case l.torn, to == limit:
		return "", false
	case to > limit:
		to, status = limit, "timeout"
	}
	switch {
	case l.lost == never, from >= limit:
		return status, true
	case k.loses && from == l.lost:
		return "failed", true
	case from == l.lost, to == l.lost, from == l.back:
		return "", false
	case from < l.lost && to > l.lost, from > l.lost && from < l.back:
		return "failed", true
	}
	return status, true
}
