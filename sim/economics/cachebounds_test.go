package economics

import (
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
)

// Servers come and go; one that was there before the first turn came before the built-in tools.
func TestServersComeAndGo(t *testing.T) {
	tools := []*mcp.Tool{{Name: "send"}}
	var w toolset
	there := func() (names []string) {
		for _, s := range w.servers {
			for _, t := range s.tools {
				names = append(names, fmt.Sprintf("%s %t", t.Name, s.early))
			}
		}
		return names
	}
	w.apply(PoolEvent{Turn: 0, Server: "none"})
	assert.Empty(t, w.servers, "it has no tools")
	w.apply(PoolEvent{Turn: 0, Server: "mail", Tools: tools})
	w.apply(PoolEvent{Turn: 1, Server: "news", Tools: tools})
	assert.Equal(t, []string{"mcp__mail__send true", "mcp__news__send false"}, there())
	w.apply(PoolEvent{Turn: 2, Server: "mail"})
	assert.Equal(t, []string{"mcp__news__send false"}, there())
	s := ChurnSession{Events: []PoolEvent{{Turn: 0}, {Turn: 1}, {Turn: 2}}}
	assert.Len(t, s.at(1), 2)
	assert.Len(t, s.at(2), 1)
}

// Our breakpoints stand behind the last built-in tool, the system prompt and the last message.
func TestBreakpointsStandWhereTheyShould(t *testing.T) {
	at := func(tools, system, messages []Block) (marks []int) {
		for i, b := range marked(tools, system, messages) {
			if b.Breakpoint {
				marks = append(marks, i)
			}
		}
		return marks
	}
	one, two := []Block{{Name: "a"}}, []Block{{Name: "a"}, {Name: "b"}}
	assert.Equal(t, []int{1, 3, 5}, at([]Block{{Builtin: true}, {Builtin: true}, {}}, one, two))
	assert.Equal(t, []int{0, 1, 2}, at([]Block{{Builtin: true}}, one, one))
	assert.Equal(t, []int{1, 2}, at([]Block{{}}, one, one), "no built-in tool")
	assert.Zero(t, (&playing{OrderingCost: OrderingCost{Turns: []Usage{{Read: 1}, {Read: 2}}}}).sum().Kept, "nothing built in is nothing kept")
}

// What deferral adds stands behind the messages that there were, and at the end of a conversation that
// was shortened since.
func TestAdditionsStandAtTheirPlaces(t *testing.T) {
	names := func(blocks []Block) (all []string) {
		for _, b := range blocks {
			all = append(all, b.Name)
		}
		return all
	}
	messages := []Block{{Name: "1"}, {Name: "2"}, {Name: "3"}}
	var h history
	h.put(Block{Name: "first"})
	h.messages = 1
	h.put(Block{Name: "second"}, Block{Name: "third"})
	h.messages = 3
	h.put(Block{Name: "last"})
	assert.Equal(t, []string{"first", "1", "second", "third", "2", "3", "last"}, names(h.with(messages)))
	assert.Equal(t, []string{"first", "1", "second", "third", "2", "last"}, names(h.with(messages[:2])))
}
