package measure_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"toolbench/bench/measure"
)

// serial runs one call after the other, once the message is whole, and answers in
// the order that arrange gives.
func serial(name string, arrange func([]measure.Answer)) measure.Peer {
	return measure.Peer{Name: name, Path: "a loop", Open: func(all []measure.Tool, m measure.Message) (measure.Conversation, error) {
		var answers []measure.Answer
		return measure.Conversation{
			Run: func(ctx context.Context) error {
				answers = nil
				if err := m.Collect(ctx); err != nil {
					return err
				}
				for _, c := range m.Calls {
					i := slices.IndexFunc(all, func(t measure.Tool) bool { return t.Name == c.Tool })
					_, err := all[i].Do(ctx, c.Path())
					answers = append(answers, measure.Answer{ID: c.ID, Error: err != nil})
				}
				arrange(answers)
				return ctx.Err()
			},
			Answers: func() []measure.Answer { return answers },
		}, nil
	}}
}

var (
	inOrder  = serial("in order", func([]measure.Answer) {})
	reversed = serial("reversed", slices.Reverse[[]measure.Answer])
	broken   = measure.Peer{Name: "broken", Open: func([]measure.Tool, measure.Message) (measure.Conversation, error) {
		return measure.Conversation{Run: func(context.Context) error { return nil }, Answers: func() []measure.Answer { return nil }}, nil
	}}
	fakes = []measure.Peer{inOrder, reversed, broken}
)

// The test binary plays the worker when it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "worker" {
		if err := measure.Work(fakes, os.Args[2:], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestASerialLoopIsSeenAsOne(t *testing.T) {
	s, err := measure.SpanOf(inOrder)
	if err != nil {
		t.Fatal(err)
	}
	if s.Overlaps || s.Makespan < 70 || s.First < 122 {
		t.Errorf("seven calls of 10 ms, one after the other, after the stream: %+v", s)
	}
}

func TestTroublesAreSeen(t *testing.T) {
	for _, c := range []struct {
		peer           measure.Peer
		name           string
		answered       int
		ordered, error bool
	}{
		{inOrder, "order", 6, true, false},
		{reversed, "order", 6, false, false},
		{broken, "order", 0, true, false},
		{inOrder, "failure", 5, true, false},
		{inOrder, "cancel", 5, true, true},
	} {
		got, err := measure.TroubleOf(c.peer, c.name)
		if err != nil {
			t.Fatal(err)
		}
		if got.Answered != c.answered || got.Ordered != c.ordered || (got.Error != "") != c.error {
			t.Errorf("%s %s: %+v", c.peer.Name, c.name, got)
		}
	}
}

// A peer that answers nobody must not look fast.
func TestUnansweredCallsAreNoCost(t *testing.T) {
	_, err := measure.CostOf(broken, false, time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "0 of 8 calls were answered") {
		t.Errorf("got %v", err)
	}
}

func TestWorkersSayWhatTheyDoNotKnow(t *testing.T) {
	for want, args := range map[string][]string{
		`there is no peer "nobody"`:  {"nobody", "cost", "1ms"},
		`there is no case "nothing"`: {"in order", "nothing", "1ms"},
		"a worker takes":             {"in order"},
	} {
		err := measure.Work(fakes, args, &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", args, err, want)
		}
	}
}

// A panic that a peer lets through ends its worker, and nothing else.
func TestAPlanOutlivesItsWorkers(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	plan := measure.Plan{Programs: []measure.Program{{File: self, First: []string{"worker"}}}, Repeats: 2, Seed: 3, Budget: 2 * time.Millisecond, AtOnce: 4}
	rows, err := plan.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3 || rows[0].Name != "in order" || rows[2].Name != "broken" {
		t.Fatalf("rows stand in the order of their programs: %s", raw)
	}
	died := rows[0].Troubles["panic"]
	if len(died) != 2 || !died[0].Died || !strings.Contains(died[0].Error, "panic: the tool broke") {
		t.Errorf("the panic is told: %+v", died)
	}
	if rows[0].Five == nil || rows[0].Five.Micros.Low > rows[0].Five.Micros.Median || rows[0].Five.Micros.Median > rows[0].Five.Micros.High {
		t.Errorf("a median lies between low and high: %s", raw)
	}
	if rows[2].Five != nil || len(rows[2].Problems) == 0 {
		t.Errorf("what could not be measured is a problem: %+v", rows[2])
	}
}
