package oracle

import (
	"slices"
	"time"

	"toolbench/property/generate"
)

// connection is when a server was there, by the reference: rows N4 and N6 and the settings of mcptool's fleets.
type connection struct {
	// up is when it was first there. lost is when it was lost, back when it was there
	// again, down when it was given up; never is not at all.
	up, lost, back, down time.Duration
	// unknown: it cannot be predicted.
	unknown bool
	// unsteady: not all it has is there all the time, so that nothing can be predicted of its lists.
	unsteady bool
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

// connection works out a server's, from when calls reached it.
func (v *SystemView) connection(s *generate.Server) *connection {
	l := &connection{lost: never, back: never, down: never, unsteady: s.Connect != ""}
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
	killers := slices.DeleteFunc(slices.Clone(v.calls), func(p *systemCall) bool {
		w := generate.Served[p.call.Tool]
		return w == nil || w.Server != s.Name || !p.ran || !v.s.LosesServer(p.call.ID) || RunStatus(v.s, p.call) != ""
	})
	switch {
	case len(killers) == 0:
		l.unknown = s.List != "" && l.unsteady
		return l
	case len(killers) > 1 || killers[0].tries > 1:
		l.unknown = true
		return l
	}
	l.lose(killers[0], failures, began)
	l.unknown = l.unknown || s.List != "" && l.unsteady // it is not there before its list can be read
	return l
}

// lose works out what becomes of a server that is lost under a call.
func (l *connection) lose(p *systemCall, failures int, began time.Duration) {
	at, back := p.reached(), p.delay("gone")
	returns := back > 0 || !p.suffers("gone")
	switch {
	case p.ended < at, at >= p.began+callLimit: // it was stopped before it reached the server
		return
	case p.ended == at && p.wasCancelled, at == l.up && l.up > 0:
		l.unknown = true
		return
	}
	l.unsteady, l.lost = true, at
	if at-began >= sound {
		failures = 0
	}
	for t := at; ; {
		if failures++; failures > attempts {
			l.down = t
			return
		}
		t += min(time.Second<<(failures-1), 30*time.Second)
		if returns && t == at+back {
			l.unknown = true // which comes first is not settled
			return
		}
		if returns && t > at+back {
			l.back = t
			return
		}
	}
}

// reached is when a call reached its server.
func (p *systemCall) reached() time.Duration { return p.began + p.call.For + p.delay("slow") }

// offers reports whether a request of the main conversation's turn offers a tool, or may (sure is false).
func (v *SystemView) offers(name string, turn int, r *request) (in, sure bool) {
	server := generate.ServerOf(name)
	if in = InPool(v.s, name, turn); server == "" || !Connected(v.s, server, turn) {
		return in, true
	}
	l := v.connections[server]
	switch {
	case l == nil:
		return in, true
	case l.unknown, l.unsteady && ListChanged(v.s, server, turn), r.within(l.up) && l.up > 0, r.within(l.down):
		return in, false
	case r.at < l.up || r.at > l.down:
		return false, true
	}
	return in, true
}

// within reports whether the tools of a request were gathered around that instant.
func (r *request) within(at time.Duration) bool { return r.begun <= at && at <= r.at }

// circumstances are those that a call met.
func (v *SystemView) circumstances(p *systemCall) Circumstances {
	f := Circumstances{Status: RunStatus(v.s, p.call)}
	w := generate.Served[p.call.Tool]
	if p.asked == nil {
		return f
	}
	f.Unknown = p.asked.garbled || p.repeated
	if w == nil {
		return f
	}
	if p.background() { // servers come and go with the turns of the main conversation, which goes on meanwhile
		f.Unknown = true
		return f
	}
	in, sure := v.offers(p.call.Tool, p.turn, p.asked)
	f.NotOffered, f.Unknown = !in, f.Unknown || !sure
	if f.Status == "" && missing(v.s, p.call.Tool, p.turn, true) {
		f.Status = "failed" // the list is the old one, the server has the tool no more
		return f
	}
	if l := v.connections[w.Server]; l != nil && p.ran && f.Status == "" {
		status, sure := v.answered(p, l)
		f.Status, f.Unknown = status, f.Unknown || !sure
	}
	return f
}

// answered is how a server's answer to a call comes out.
func (v *SystemView) answered(p *systemCall, l *connection) (status string, sure bool) {
	from, limit := p.reached(), p.began+callLimit
	to := from + p.delay("lags")
	switch {
	case l.unknown, to == limit:
		return "", false
	case to > limit:
		to, status = limit, "timeout"
	}
	switch {
	case l.lost == never, from >= limit:
		return status, true
	case v.s.LosesServer(p.call.ID) && from == l.lost:
		return "failed", true
	case from == l.lost, to == l.lost, from == l.back:
		return "", false
	case from < l.lost && to > l.lost, from > l.lost && from < l.back:
		return "failed", true
	}
	return status, true
}
