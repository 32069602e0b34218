package pool

import (
	"encoding/json"
	"slices"
	"sync"
)

// Assembly makes the pools and snapshots of one conversation, and gives the last ones
// again as long as what they depend on is the same: with thousands of tools, most
// requests change none of them. The zero Assembly has none. One goroutine uses it at a
// time; what it gives may be read by any number.
type Assembly struct {
	catalogue *Catalogue
	inputs    Inputs
	pool      *Pool
	snapshot  *Snapshot
	indexes   indexes
}

// Assemble is c.Assemble.
func (a *Assembly) Assemble(c *Catalogue, in Inputs) *Pool {
	if a.pool != nil && a.catalogue == c && a.inputs.equal(&in) {
		return a.pool
	}
	a.catalogue, a.pool = c, c.Assemble(in)
	a.inputs = in
	a.inputs.Served, a.inputs.Off = slices.Clone(in.Served), slices.Clone(in.Off)
	return a.pool
}

// Look is p.Look.
func (a *Assembly) Look(p *Pool, v View) *Snapshot {
	if s := a.snapshot; s != nil && s.Pool == p && s.View.equal(&v) {
		return s
	}
	v.Discovered = slices.Clone(v.Discovered)
	a.snapshot = p.look(v, &a.indexes)
	return a.snapshot
}

// equal reports whether the same pool comes of both. Served tools in another order count
// as others.
func (in *Inputs) equal(other *Inputs) bool {
	return in.Settings == other.Settings && in.Conditions == other.Conditions && in.Rules.Equal(other.Rules) &&
		slices.Equal(in.Off, other.Off) && slices.Equal(in.Served, other.Served) && slices.EqualFunc(in.Kinds, other.Kinds, narrowAlike)
}

func (v *View) equal(other *View) bool {
	return v.Settings == other.Settings && v.Deferring == other.Deferring && v.Style == other.Style &&
		slices.Equal(v.Discovered, other.Discovered)
}

// written is what a snapshot's definitions came to, by the store that they are in.
type written struct {
	mu   sync.Mutex
	by   *Definitions
	defs []json.RawMessage
}

// of gives the definitions written by d, which write makes at the first time.
func (w *written) of(d *Definitions, write func() []json.RawMessage) []json.RawMessage {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.by != d {
		w.by, w.defs = d, write()
	}
	return slices.Clip(w.defs)
}
