package loop_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"

	"toolbench/toolsys/loop"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

// slow reads the key it is told to, and takes "/slow" a second; note writes it, and
// says what the state held of files, changing the to-do list.
func slow(d *def) {
	d.Traits.Effects = func(in in, _ *tool.Context) tool.Effects { return tool.Effects{Reads: []string{in.Text}} }
	d.Call = func(_ context.Context, in in, _ *tool.Context) (tool.Result[string], error) {
		if in.Text == "/slow" {
			time.Sleep(time.Second)
		}
		return tool.Result[string]{Observed: []tool.Observation{tool.Seen(in.Text, nil)}}, nil
	}
}

func note(d *def) {
	exclusive(d)
	d.Permit = func(in, *tool.Context) permission.Opinion { return permission.Opinion{Behaviour: permission.Allow} }
	d.Traits.Effects = func(in in, _ *tool.Context) tool.Effects {
		return tool.Effects{Reads: []string{"todos"}, Writes: []string{in.Text, "todos", schedule.OrderKey}}
	}
	d.Call = func(_ context.Context, in in, c *tool.Context) (tool.Result[string], error) {
		var seen []string
		for _, f := range c.State.Files.All() {
			seen = append(seen, f.Path)
		}
		said := fmt.Sprintf("%s after %d", strings.Join(seen, " "), len(c.State.Todos))
		return tool.Result[string]{Data: said, Modify: func(s tool.State) tool.State {
			s.Todos = append(s.Todos[:len(s.Todos):len(s.Todos)], tool.Todo{Content: in.Text})
			return s
		}}, nil
	}
}

// A call sees what those before it left behind that have ended, though their results
// wait behind a slow one; everything is committed in call order.
func TestUnderEffectsACallSeesWhatItWouldSeeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &script{turns: []turn{calls("Read /slow", "Read /a", "Note /a", "Note /b", "Read /c"), says("done")}}
		began := time.Now()
		r := open(t, s, func(c *loop.Config) { c.Policy = schedule.Effects }, named("Read", slow), named("Note", note))
		r.send(t)
		assert.Equal(t, time.Second, time.Since(began))
		ids, texts := s.results(1)
		assert.Equal(t, []string{"c0", "c1", "c2", "c3", "c4"}, ids)
		assert.Equal(t, "/a after 0", texts["c2"], "the slow call is none that it could see")
		assert.Equal(t, "/a after 1", texts["c3"])
		assert.Equal(t, []tool.Todo{{Content: "/a"}, {Content: "/b"}}, r.State().Todos)
		var files []string
		for _, f := range r.State().Files.All() {
			files = append(files, f.Path)
		}
		assert.Equal(t, []string{"/slow", "/a", "/c"}, files, "in call order")
		assert.Equal(t, "c0 ok", r.kinds(trace.KindEmitted, "status")[0])
	})
}

// What a call sees of those before it does not depend on the order in which they ended.
func TestUnderEffectsACallSeesAllBeforeItWhateverEndedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		took := map[string]time.Duration{"/slow": 10 * time.Second, "/b": 3 * time.Second, "/z": 2 * time.Second}
		read := named("Read", all(slow, call(func(_ context.Context, in in, _ *tool.Context) (tool.Result[string], error) {
			time.Sleep(took[in.Text])
			return tool.Result[string]{Observed: []tool.Observation{tool.Seen(in.Text, nil)}}, nil
		})))
		s := &script{turns: []turn{calls("Read /slow", "Note /a", "Read /b", "Note /b", "Read /z"), says("done")}}
		r := open(t, s, func(c *loop.Config) { c.Policy = schedule.Effects }, read, named("Note", note))
		r.send(t)
		_, texts := s.results(1)
		assert.Equal(t, "/b after 1", texts["c3"], "it began when /b was read, after /z")
	})
}

// Near the bound of what is remembered, earlier reads may push out the file that a call
// wants to change, so that it waits for them.
func TestUnderEffectsAChangeWaitsWhereReadsMayBeForgotten(t *testing.T) {
	for remembered, want := range map[int]string{10: "/slow", tool.FileCacheLimit: "/1"} {
		synctest.Test(t, func(t *testing.T) {
			s := &script{turns: []turn{calls("Read /slow", "Note /1"), says("done")}}
			r := open(t, s, func(c *loop.Config) {
				c.Policy = schedule.Effects
				for i := range remembered {
					c.State = c.State.Observe(tool.Seen(fmt.Sprintf("/%d", i), nil))
				}
			}, named("Read", slow), named("Note", note))
			r.send(t)
			_, texts := s.results(1)
			first, _, _ := strings.Cut(texts["c1"], " ")
			if remembered == tool.FileCacheLimit {
				assert.Equal(t, want, first, "/0 was pushed out before")
				assert.Contains(t, texts["c1"], "/slow")
				return
			}
			assert.NotContains(t, texts["c1"], want)
		})
	}
}
