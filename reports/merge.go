package reports

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"toolbench/sim/scenario/check"
)

// Merge joins the reports of one command's parts, as shards wrote them, in their order;
// names are theirs, for errors. A part that is there twice is one.
func Merge(parts []Stored, names []string) (Stored, error) {
	if len(parts) == 0 {
		return Stored{}, errors.New("there is no report to merge")
	}
	for i, p := range parts {
		if p.Command != parts[0].Command {
			return Stored{}, fmt.Errorf("%s is a report of %s, and %s one of %s; merge those of one command", names[0], parts[0].Command, names[i], p.Command)
		}
	}
	for _, merge := range mergers {
		if all, is, err := merge(parts, names); is {
			return all, err
		}
	}
	panic(fmt.Sprintf("a report of %s is not merged", parts[0].Command))
}

// mixed are the two kinds of reports that some commands write.
var mixed = map[string]string{
	"cache":  "recorded sessions and some of the simulated one",
	"search": "labelled queries and some of words",
}

// mergers are of one type of report each.
var mergers = [...]func([]Stored, []string) (Stored, bool, error){
	merger(mergeRuns), merger(mergeReplays), merger(mergeCaches), merger(mergeFuzz),
	merger(mergeTokens), merger(mergeOrderings), merger(mergeStandings), merger(mergeFound),
}

// merger joins parts that must be of one type, if the first is of it.
func merger[T any](merge func([]T, []string) (T, error)) func([]Stored, []string) (Stored, bool, error) {
	return func(parts []Stored, names []string) (Stored, bool, error) {
		var all []T
		for i, p := range parts {
			doc, ok := p.doc.(T)
			if !ok {
				return Stored{}, i > 0, fmt.Errorf("some of the reports are of %s; merge those of one kind", mixed[p.Command])
			}
			all = append(all, doc)
		}
		doc, err := merge(all, names)
		return Stored{parts[0].Command, doc}, true, err
	}
}

// refusal is why parts cannot be merged: the first reason there is.
type refusal struct {
	names []string
	from  map[string]int // parts, by the keys of what they have
	err   error
}

// unless refuses parts that do not keep to a demand.
func (r *refusal) unless(kept bool, format string, args ...any) {
	if !kept && r.err == nil {
		r.err = fmt.Errorf(format, args...)
	}
}

// once refuses what two parts both have: the key tells it from others, the name is for people.
func (r *refusal) once(part int, key, name string) {
	before, there := r.from[key]
	r.unless(!there || before == part, "%s is in %s and in %s; merge parts that have nothing in common", Safe(name), r.names[before], r.names[part])
	r.from[key] = part
}

func mergeRuns(parts []runJSON, names []string) (runJSON, error) {
	all := runJSON{Version: Version}
	refused := refusal{names: names, from: map[string]int{}}
	for i, p := range parts {
		all.Seed = cmp.Or(all.Seed, p.Seed)
		for _, o := range p.Outcomes {
			refused.once(i, fmt.Sprint(o.File, "\x00", o.Name, "\x00", o.Policy, "\x00", o.Seed), o.Name)
		}
		all.Outcomes = append(all.Outcomes, p.Outcomes...)
		all.Totals.Passed += p.Totals.Passed
		all.Totals.Failed += p.Totals.Failed
		all.Totals.Errors += p.Totals.Errors
	}
	slices.SortStableFunc(all.Outcomes, func(a, b outcomeJSON) int { return strings.Compare(a.File+"\x00"+a.Name, b.File+"\x00"+b.Name) })
	return all, refused.err
}

func mergeReplays(parts []replayJSON, names []string) (replayJSON, error) {
	all := replayJSON{Version: ReplayVersion}
	if slices.ContainsFunc(parts, func(p replayJSON) bool { return p.Shard != nil }) {
		var err error
		if parts, names, err = shardsOfReplay(parts, names); err != nil {
			return all, err
		}
	}
	refused := refusal{names: names, from: map[string]int{}}
	for i, p := range parts {
		for _, r := range p.Recordings {
			refused.once(i, r.File, r.File)
		}
		all.Recordings, all.Skipped = append(all.Recordings, p.Recordings...), append(all.Skipped, p.Skipped...)
	}
	return all, refused.err
}

// shardsOfReplay puts the shards of one list of files in order. One that is there twice, as one
// that was replayed again is, counts once; none may be missing.
func shardsOfReplay(parts []replayJSON, names []string) (ordered []replayJSON, theirs []string, err error) {
	first := ReplayShard{}
	if parts[0].Shard != nil {
		first = *parts[0].Shard
	}
	at := map[int]int{}
	for i, p := range parts {
		if p.Shard == nil || p.Shard.Of != first.Of || p.Shard.Files != first.Files || p.Shard.List != first.List {
			return nil, nil, fmt.Errorf("%s and %s are not --shard parts of one list of files: give all parts the same files in the same order, and the same N", names[0], names[i])
		}
		before, there := at[p.Shard.Part]
		if there && !reflect.DeepEqual(p, parts[before]) {
			return nil, nil, fmt.Errorf("%s and %s are both shard %d/%d, and differ", names[before], names[i], p.Shard.Part, p.Shard.Of)
		}
		at[p.Shard.Part] = i
	}
	for n := 1; n <= first.Of; n++ {
		i, there := at[n]
		if !there {
			return nil, nil, fmt.Errorf("the shard %d/%d is missing; replay it with --shard %[1]d/%d", n, first.Of)
		}
		ordered, theirs = append(ordered, parts[i]), append(theirs, names[i])
	}
	return ordered, theirs, nil
}

func mergeCaches(parts []recordedCacheJSON, names []string) (recordedCacheJSON, error) {
	all := recordedCacheJSON{Version: CacheVersion, Counter: parts[0].Counter, Prices: parts[0].Prices}
	refused := refusal{names: names, from: map[string]int{}}
	for i, p := range parts {
		refused.unless(p.Counter == all.Counter, "%s is counted with %s, and %s with %s", names[0], all.Counter, names[i], p.Counter)
		for _, r := range p.Recordings {
			refused.once(i, fmt.Sprint(r.File, r.Conversation), r.File)
		}
		all.Recordings, all.Skipped = append(all.Recordings, p.Recordings...), append(all.Skipped, p.Skipped...)
	}
	return all, refused.err
}

// Outcomes are those of a report of run or try, without what the report leaves out, and
// the commands that show them again.
func (s Stored) Outcomes() (outcomes []check.Result, again func(check.Result) string, ok bool) {
	doc, ok := s.doc.(runJSON)
	if !ok {
		return nil, nil, false
	}
	commands := map[string]string{}
	for _, o := range doc.Outcomes {
		commands[o.File+"\x00"+o.Name] = o.Again
		outcomes = append(outcomes, resultOf(o))
	}
	return outcomes, func(r check.Result) string { return commands[r.File+"\x00"+r.Name] }, true
}

// resultOf is the reverse of outcomeOf.
func resultOf(o outcomeJSON) check.Result {
	r := check.Result{
		Name: o.Name, About: o.About, File: o.File, Tags: o.Tags, Status: o.Status, Policy: o.Policy, Seed: o.Seed,
		Makespan: time.Duration(o.MakespanMS), Serial: time.Duration(o.SerialMS), Hidden: float64(o.HiddenPercent), LowerBound: time.Duration(o.BoundMS),
		Batches: o.Batches, Failures: o.Failures, Digest: o.TraceDigest, Invalid: o.Invalid, Notes: o.Notes,
	}
	if o.Error != "" {
		r.Err = errors.New(o.Error)
	}
	if o.TookMS != nil {
		r.Took = time.Duration(*o.TookMS)
	}
	r.Calls = each(o.Calls, func(c callJSON) check.Call {
		return check.Call{
			ID: c.ID, Tool: c.Tool, Agent: c.Agent, Turn: c.Turn, Batch: c.Batch, Ready: time.Duration(c.ReadyMS), Started: time.Duration(c.StartedMS),
			Ended: time.Duration(c.EndedMS), Emitted: time.Duration(c.EmittedMS), Status: c.Status, Safe: c.Safe, WaitsFor: c.WaitsFor, On: c.On,
		}
	})
	return r
}

// Failed reports whether a stored report holds a failure: of a scenario, or of a case.
func (s Stored) Failed() bool {
	doc, ok := s.doc.(fuzzJSON)
	return ok && doc.Failure != nil
}

// Parts deals things out to so many parts of about equal time; it gives the part of each,
// from 0. What has no time, that is a negative one, is taken for the mean. Equal times give
// equal parts, whoever asks.
func Parts(times []time.Duration, parts int) []int {
	var sum time.Duration
	known := 0
	for _, t := range times {
		if t >= 0 {
			sum += t
			known++
		}
	}
	mean := time.Millisecond
	if known > 0 {
		mean = sum / time.Duration(known)
	}
	order := make([]int, len(times))
	cost := slices.Clone(times)
	for i := range order {
		order[i] = i
		if cost[i] < 0 {
			cost[i] = mean
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(cost[b], cost[a]) })
	load, count, of := make([]time.Duration, parts), make([]int, parts), make([]int, len(times))
	for _, i := range order {
		least := 0
		for p := range parts {
			if load[p] < load[least] || load[p] == load[least] && count[p] < count[least] {
				least = p
			}
		}
		of[i] = least
		load[least] += cost[i]
		count[least]++
	}
	return of
}
