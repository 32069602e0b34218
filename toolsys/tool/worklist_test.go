package tool_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/tool"
)

func newList(subjects ...string) *tool.WorkList {
	l := &tool.WorkList{}
	for _, s := range subjects {
		l.Add(tool.WorkItem{Subject: s})
	}
	return l
}

func TestWhatTheSharedListRefuses(t *testing.T) {
	main, other := "main", "scout"
	for _, test := range []struct {
		name   string
		before []tool.WorkChange // of task 1
		id     string
		change tool.WorkChange
		words  string
	}{
		{"an unknown task", nil, "9", tool.WorkChange{}, `no task "9"; there are 1, 2, 3`},
		{"an id that only looks like one", nil, "01", tool.WorkChange{}, `no task "01"`},
		{"a step left out", nil, "1", tool.WorkChange{Status: tool.WorkCompleted}, "is pending and cannot become completed; from there it can become in_progress, deleted"},
		{"what is open before it", nil, "2", tool.WorkChange{Status: tool.WorkInProgress}, "cannot begin before 1 is completed"},
		{"to wait for itself", nil, "1", tool.WorkChange{Blocks: []string{"1"}}, "cannot wait for task 1"},
		{"a circle", nil, "3", tool.WorkChange{Blocks: []string{"1"}}, "task 1 cannot wait for task 3, which itself waits"},
		{"to wait for an unknown task", nil, "3", tool.WorkChange{BlockedBy: []string{"7"}}, `no task "7"`},
		{"to begin another's", []tool.WorkChange{{Owner: &other, By: main}}, "1", tool.WorkChange{Status: tool.WorkInProgress, By: "left"}, "is scout's"},
		{"to take what is in progress", []tool.WorkChange{{Status: tool.WorkInProgress, By: other}}, "1", tool.WorkChange{Owner: &other, By: "left"}, "in progress and scout has it"},
		{"to complete another's", []tool.WorkChange{{Status: tool.WorkInProgress, By: other}}, "1", tool.WorkChange{Status: tool.WorkCompleted, By: "left"}, "in progress and scout has it"},
		{"to open it again", []tool.WorkChange{{Status: tool.WorkInProgress}, {Status: tool.WorkCompleted}}, "1", tool.WorkChange{Status: tool.WorkPending}, "is completed and cannot become pending"},
	} {
		t.Run(test.name, func(t *testing.T) {
			l := newList("a", "b", "c")
			for _, id := range []string{"2", "3"} { // 1 before 2 before 3
				_, _, err := l.Change(id, tool.WorkChange{BlockedBy: []string{fmt.Sprint(id[0] - '1')}})
				require.NoError(t, err)
			}
			for _, c := range test.before {
				_, _, err := l.Change("1", c)
				require.NoError(t, err)
			}
			want := l.All()
			_, _, err := l.Change(test.id, test.change)
			require.ErrorIs(t, err, tool.ErrWork)
			assert.ErrorContains(t, err, test.words)
			assert.Equal(t, want, l.All(), "a change is made as a whole or not at all")
		})
	}
}

func TestATaskIsClaimedDoneAndTakenOffTheList(t *testing.T) {
	l := newList("a", "b")
	_, _, err := l.Change("1", tool.WorkChange{Blocks: []string{"2"}})
	require.NoError(t, err)
	_, got, err := l.Change("1", tool.WorkChange{Status: tool.WorkInProgress, By: "scout"})
	require.NoError(t, err)
	assert.Equal(t, "scout", got.Owner)
	_, got, err = l.Change("1", tool.WorkChange{Status: tool.WorkPending, By: "main"})
	require.NoError(t, err, "the main conversation gives back what an agent left")
	assert.Empty(t, got.Owner)
	_, _, err = l.Change("1", tool.WorkChange{Status: tool.WorkDeleted})
	require.NoError(t, err)
	left := l.All()
	require.Len(t, left, 1)
	assert.Empty(t, left[0].BlockedBy, "nothing waits for what is gone")
	assert.Equal(t, "3", l.Add(tool.WorkItem{Subject: "c"}).ID, "an id is never given again")
}

// A list in which each task waits for the two before it has more ways through it than there is
// time for.
func TestALongListIsChangedAtOnce(t *testing.T) {
	l := &tool.WorkList{}
	for i := range 100 {
		added := l.Add(tool.WorkItem{Subject: "s"})
		for _, before := range []int{i, i - 1} {
			if before > 0 {
				_, _, err := l.Change(added.ID, tool.WorkChange{BlockedBy: []string{fmt.Sprint(before)}})
				require.NoError(t, err)
			}
		}
	}
	last := l.Add(tool.WorkItem{Subject: "s"})
	_, _, err := l.Change("1", tool.WorkChange{BlockedBy: []string{last.ID}})
	require.NoError(t, err)
	_, _, err = l.Change("1", tool.WorkChange{BlockedBy: []string{"100"}})
	require.ErrorContains(t, err, "which itself waits for it")
}

// Whatever is changed: no circles, both directions agree, and nothing is in progress
// whose dependencies are open.
func TestTheSharedListStaysSound(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		l := newList("a", "b", "c", "d", "e")
		ids := rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "6"})
		for range rapid.IntRange(1, 40).Draw(rt, "changes") {
			_, _, _ = l.Change(ids.Draw(rt, "id"), tool.WorkChange{
				Status: rapid.SampledFrom([]tool.WorkStatus{"", tool.WorkPending, tool.WorkInProgress, tool.WorkCompleted, tool.WorkDeleted}).Draw(rt, "status"),
				Blocks: rapid.SliceOfN(ids, 0, 2).Draw(rt, "blocks"), BlockedBy: rapid.SliceOfN(ids, 0, 2).Draw(rt, "by"),
				By: rapid.SampledFrom([]string{"main", "left", "right"}).Draw(rt, "agent"),
			})
			all := l.All()
			byID := map[string]tool.WorkItem{}
			for _, w := range all {
				byID[w.ID] = w
			}
			for _, w := range all {
				if w.Status == tool.WorkInProgress && (len(l.Open(w)) > 0 || w.Owner == "") {
					rt.Fatalf("in progress: %+v", w)
				}
				for _, id := range w.BlockedBy {
					if !slices.Contains(byID[id].Blocks, w.ID) {
						rt.Fatalf("one direction only: %+v", all)
					}
				}
				if circles(byID, w.ID, w.ID, 0) {
					rt.Fatalf("a circle: %+v", all)
				}
			}
		}
	})
}

func circles(all map[string]tool.WorkItem, from, to string, depth int) bool {
	for _, next := range all[from].Blocks {
		if next == to || depth < len(all) && circles(all, next, to, depth+1) {
			return true
		}
	}
	return false
}
