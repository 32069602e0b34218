package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tried is what a run of a shard keeps: the fault n is noticed unless n is 5, and took n ms.
func tried(t *testing.T, picked []fault, set string) (s shard) {
	t.Helper()
	if set != "" {
		require.NoError(t, s.Set(set))
	}
	for _, f := range s.deal(picked) {
		n := notices{Fault: f.Name, Scenarios: []string{}, Properties: []string{}, Millis: int64(f.id)}
		if f.id != 5 {
			n.Properties, n.By = append(n.Properties, "Test"+f.Name), []string{checkers[f.id%3].name}
		}
		s.Notices = append(s.Notices, n)
		s.Millis += n.Millis
	}
	return s
}

// What shards tried is printed as one run would print it, whatever their number; what is missing,
// cut off or of another list is refused.
func TestShardsJoinToWhatOneRunPrints(t *testing.T) {
	var picked []fault
	for id := range 11 {
		picked = append(picked, fault{mutant: mutant{Name: fmt.Sprint("f", id)}, id: id})
	}
	dir := t.TempDir()
	kept := func(name string, s shard) string {
		require.NoError(t, s.write(filepath.Join(dir, name)))
		return filepath.Join(dir, name)
	}
	for _, asJSON := range []bool{false, true} {
		var want bytes.Buffer
		one := tried(t, picked, "")
		require.Len(t, one.Notices, 11)
		for _, n := range one.Notices {
			require.NoError(t, n.print(&want, asJSON))
		}
		for of := 1; of <= 13; of++ {
			var files []string
			for part := of; part > 0; part-- {
				files = append(files, kept(fmt.Sprint(part), tried(t, picked, fmt.Sprintf("%d/%d", part, of))))
			}
			var got, errs bytes.Buffer
			require.ErrorIs(t, merge(append(files, files[0]), asJSON, &got, &errs), errUnnoticed)
			assert.Equal(t, want.String(), got.String())
			assert.Contains(t, errs.String(), "10 of 11 faults noticed, 0s: 4 by the suite, 4 of the others by the fuzzer, 2 of the rest by tests")
		}
	}
	cut := tried(t, picked, "2/3")
	cut.Notices = cut.Notices[1:]
	first := kept("first", tried(t, picked, "1/3"))
	for file, want := range map[string]string{
		kept("other list", tried(t, picked[1:], "2/3")): "not shards of one list",
		kept("other N", tried(t, picked, "2/4")):        "not shards of one list",
		kept("whole", tried(t, picked, "")):             "it is no shard",
		kept("cut", cut):                                "it holds 3 of its faults; run it again with -shard 2/3",
		first:                                           "the shard 2/3 is missing",
		filepath.Join(dir, "none"):                      "write it with -shard I/N -out FILE",
	} {
		assert.ErrorContains(t, merge([]string{first, file}, false, io.Discard, io.Discard), want, file)
	}
	for _, text := range []string{"", "1", "0/2", "3/2", "1/2x", "a/b"} {
		assert.Error(t, new(shard).Set(text), text)
	}
}
