package recording

import (
	"container/list"
	"strconv"

	"toolbench/toolsys/message"
)

// places remembers which conversation the latest lines belong to, by their id.
type places struct {
	of    map[string]*list.Element
	order *list.List
}

type placed struct{ id, key string }

func newPlaces() places { return places{of: map[string]*list.Element{}, order: list.New()} }

// maxPlaces bounds what is remembered; a line follows one that was written lately.
const maxPlaces = 16384

func (p places) put(id, key string) {
	if id == "" {
		return
	}
	if e, ok := p.of[id]; ok {
		e.Value = placed{id, key}
		return
	}
	p.of[id] = p.order.PushFront(placed{id, key})
	if p.order.Len() > maxPlaces {
		delete(p.of, p.order.Remove(p.order.Back()).(placed).id)
	}
}

func (p places) get(id string) (string, bool) {
	e, ok := p.of[id]
	if !ok {
		return "", false
	}
	return e.Value.(placed).key, true
}

// quoted shortens what stands in a message about a file's content.
func quoted(s string) string {
	return strconv.Quote(message.Excerpt(s, 81))
}
