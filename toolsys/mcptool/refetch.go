package mcptool

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// changed is the server's word that its list is another now: what was kept is dropped
// and read anew at once, so that the next request need not wait for it (N6).
func (l *link) changed(v *life) {
	f := l.f
	f.mu.Lock()
	l.again = true
	var begin bool
	if l.phase == up && l.life == v {
		old, _ := f.lists.get(l.Name)
		f.lists.drop(l.Name)
		begin = l.prepareFetch(old)
	}
	f.mu.Unlock()
	if begin {
		f.start(l.actor("list"), l.refetch)
	}
}

// prepareFetch notes that the list is about to be read; false when it already is. The
// fleet's lock is held.
func (l *link) prepareFetch(old []*mcp.Tool) bool {
	if old != nil {
		l.held = old
	}
	if l.fetch != nil {
		return false
	}
	l.fetch = &fetch{}
	return true
}

// refetch reads the list until it is read whole without having changed meanwhile. A
// list that cannot be read leaves the old one in place, with a report.
func (l *link) refetch() {
	f := l.f
	for {
		f.mu.Lock()
		l.again = false
		v := l.life
		f.mu.Unlock()
		tools, err := l.relist(v)
		if err != nil && f.ctx.Err() == nil {
			l.remark("its list of tools cannot be read anew, so the old one stands: " + err.Error())
		}
		if l.conclude(v, tools, err) {
			return
		}
	}
}

func (l *link) relist(v *life) ([]*mcp.Tool, error) {
	if v == nil {
		return nil, fmt.Errorf("%w: it was lost meanwhile", ErrGone)
	}
	ctx, done := l.f.within(l.actor("relist"), l.f.cfg.ConnectLimit)
	defer done()
	tools, err := List(ctx, v.session)
	if err != nil {
		return nil, why(ctx, v.ctx, err)
	}
	return tools, nil
}

// conclude ends the reading, unless the list changed again.
func (l *link) conclude(v *life, tools []*mcp.Tool, err error) bool {
	f := l.f
	f.mu.Lock()
	defer f.mu.Unlock()
	current := l.life == v && l.phase == up
	switch {
	case err == nil && l.again && current:
		return false
	case err != nil:
		tools = l.held
	}
	if current || l.phase == lost {
		f.lists.put(l.Name, tools)
		f.version++
	}
	done := l.fetch
	l.fetch, l.held, done.tools, done.over = nil, nil, tools, true
	for _, wake := range done.waiting {
		wake()
	}
	return true
}
