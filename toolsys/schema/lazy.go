package schema

import (
	"encoding/json"
	"sync"
)

// Lazy is a schema that is built on first use and kept (SPEC A1): start-up
// should not pay for tools that are never called. It is safe for concurrent use.
type Lazy struct {
	raw      func() (json.RawMessage, error)
	compiled func() (*Schema, error)
}

// NewLazy keeps build, which is called at most once, on first use.
func NewLazy(build func() (json.RawMessage, error)) *Lazy {
	raw := sync.OnceValues(build)
	return &Lazy{raw: raw, compiled: sync.OnceValues(func() (*Schema, error) {
		bytes, err := raw()
		if err != nil {
			return nil, err
		}
		return Compile(bytes)
	})}
}

// LazyFor is [For], delayed.
func LazyFor[T any](opts ...Option) *Lazy {
	return NewLazy(func() (json.RawMessage, error) { return For[T](opts...) })
}

// Raw gives the schema's bytes, deriving but not compiling it.
func (l *Lazy) Raw() (json.RawMessage, error) { return l.raw() }

// Schema gives the compiled schema, or the error of building or compiling it,
// the same each time.
func (l *Lazy) Schema() (*Schema, error) { return l.compiled() }
