package reports

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolbench/sim/economics"
	"toolbench/sim/scenario/check"
)

// unit is what a figure counts, which decides how it is written.
type unit string

const (
	unitMS      unit = "ms"
	unitTokens  unit = "tokens"
	unitDollars unit = "dollars"
	unitPercent unit = "percent"
	unitShare   unit = "share"
	unitCount   unit = "count"
)

// worseDirection is the direction in which a figure gets worse. An unsteady one, a real time, differs from run to run.
type worseDirection int

const (
	neutral worseDirection = iota
	upIsWorse
	downIsWorse
	unsteady
)

// figure is one number of an item. Of tells apart figures of one name, as the policies
// do a makespan.
type figure struct {
	name, of string
	value    float64
	unit     unit
	sense    worseDirection
}

func (f figure) label() string {
	if f.of == "" {
		return f.name
	}
	return f.name + " (" + f.of + ")"
}

// start is when a call of one report started, and what it waited for.
type start struct {
	key string
	startJSON
}

// item is one thing that two reports have in common: a scenario, a conversation, a tool, an
// ordering, a ranker.
type item struct {
	name     string
	status   check.Status // "" where there is no verdict
	failures []check.Failure
	err      string
	figures  []figure
	// parts are an ordered partition: the batches of calls, or the matches of words.
	parts  [][]string
	starts []start
	digest string
}

// snapshot is what a report has to be compared. What is the noun of its items, parts that
// of their partition.
type snapshot struct {
	what, parts string
	items       []item
	// counter is what tokens were counted with.
	counter string
	// totals are the figures of all items together: none where items are alternatives.
	totals []figure
}

// snapshot reduces a report to what is compared of it.
func (s Stored) snapshot() snapshot {
	switch doc := s.doc.(type) {
	case runJSON:
		items := itemsOfRun(doc)
		return snapshot{what: "scenario", parts: "batches", items: items, totals: summed(items)}
	case replayJSON:
		items := itemsOfReplay(doc)
		return snapshot{what: "conversation", items: items, totals: summed(items)}
	case tokensJSON:
		return snapshot{what: "tool", items: itemsOfTokens(doc), counter: doc.Counter, totals: modeCosts(doc.FullTokens, doc.Modes)}
	case cacheJSON:
		return snapshot{what: "ordering", parts: "breaks", items: itemsOfOrderings("", doc.Orderings), counter: doc.Counter}
	case recordedCacheJSON:
		items := slices.Concat(each(doc.Recordings, func(r recordedJSON) []item {
			return itemsOfOrderings(conversationName(path.Base(r.File), r.Conversation)+": ", r.Orderings)
		})...)
		return snapshot{what: "ordering", parts: "breaks", items: distinct(items), counter: doc.Counter}
	case standingsJSON:
		return snapshot{what: "ranker", items: itemsOfStandings(doc)}
	case findingsJSON:
		return snapshot{what: "ranker", parts: "matches", items: each(doc.Rankers, func(r toolsFoundJSON) item {
			return item{name: r.Name, parts: each(r.Matches, func(m matchJSON) []string { return []string{m.Name} })}
		})}
	}
	panic(fmt.Sprintf("a report of %s has no snapshot", s.Command))
}

func itemsOfRun(doc runJSON) []item {
	return distinct(each(doc.Outcomes, func(o outcomeJSON) item {
		it := item{name: o.Name, status: o.Status, failures: o.Failures, err: o.Error, parts: o.Batches, digest: o.TraceDigest}
		sense, started := upIsWorse, o.Calls
		if o.Policy == "" { // of an agent that was tried: nothing of ours scheduled its calls
			sense, started = unsteady, nil
		}
		if o.Status != check.Errored {
			it.figures = []figure{
				{name: "makespan", value: float64(o.MakespanMS), unit: unitMS, sense: sense},
				{name: "serial", value: float64(o.SerialMS), unit: unitMS},
				{name: "hidden", value: float64(o.HiddenPercent), unit: unitPercent},
				{name: "calls", value: float64(len(o.Calls)), unit: unitCount},
			}
		}
		times := map[string]int{} // a turn that is tried again makes its calls again
		for _, c := range started {
			key := fmt.Sprint(c.Agent, "\x00", c.Turn, "\x00", c.ID)
			times[key]++
			at := startJSON{ID: c.ID, Tool: c.Tool, AfterMS: c.StartedMS, WaitsFor: c.WaitsFor, On: c.On}
			it.starts = append(it.starts, start{fmt.Sprint(key, "\x00", times[key]), at})
		}
		return it
	}))
}

func itemsOfReplay(doc replayJSON) []item {
	root := commonFolder(each(doc.Recordings, func(r recordingJSON) string { return r.File }))
	var all []item
	for _, r := range doc.Recordings {
		name := strings.TrimPrefix(path.Clean(r.File), root)
		problems := figure{name: "problems", value: float64(len(r.Problems) + r.MoreProblems), unit: unitCount, sense: upIsWorse}
		if len(r.Conversations) == 0 {
			all = append(all, item{name: name, err: r.Error, figures: []figure{problems}})
		}
		for i, c := range r.Conversations {
			it := item{name: name, err: r.Error}
			if len(r.Conversations) > 1 {
				it.name += " #" + strconv.Itoa(c.Number)
			}
			if i == 0 {
				it.figures = append(it.figures, problems)
			}
			it.figures = append(it.figures, conversationFigures(c)...)
			all = append(all, it)
		}
	}
	return distinct(all)
}

func conversationFigures(c conversationJSON) []figure {
	figures := []figure{
		{name: "calls", value: float64(c.Calls), unit: unitCount},
		{name: "answered", value: float64(c.Answered), unit: unitCount, sense: downIsWorse},
		{name: "batches", value: float64(c.Batches), unit: unitCount},
	}
	for _, policy := range slices.Sorted(maps.Keys(c.Policies)) {
		figures = append(figures,
			figure{"makespan", policy, float64(c.Policies[policy].MakespanMS), unitMS, upIsWorse},
			figure{"hidden", policy, float64(c.Policies[policy].HiddenPercent), unitPercent, neutral})
	}
	return figures
}

// commonFolder is the longest folder, with its slash, that all files lie in.
func commonFolder(files []string) string {
	if len(files) == 0 {
		return ""
	}
	root := path.Dir(path.Clean(files[0]))
	for _, f := range files {
		for root != "." && root != "/" && !strings.HasPrefix(path.Clean(f), root+"/") {
			root = path.Dir(root)
		}
	}
	if root == "." {
		return ""
	}
	return strings.TrimSuffix(root, "/") + "/"
}

// modeCosts are what definitions cost whole and in each mode.
func modeCosts(full int, m economics.Modes) []figure {
	return []figure{
		{name: "tokens", value: float64(full), unit: unitTokens, sense: upIsWorse},
		{name: "names", value: float64(m.Names.Tokens), unit: unitTokens, sense: upIsWorse},
		{name: "names_hint", value: float64(m.Hints.Tokens), unit: unitTokens, sense: upIsWorse},
		{name: "api", value: float64(m.API.Tokens), unit: unitTokens, sense: upIsWorse},
	}
}

func itemsOfTokens(doc tokensJSON) []item {
	var all []item
	for _, row := range doc.Worst {
		name := row.Name
		if row.Server != "" && !strings.Contains(name, row.Server) {
			name = row.Server + "/" + name
		}
		all = append(all, item{name: name, figures: modeCosts(row.Full, row.Modes)})
	}
	if doc.Recorded == nil {
		return distinct(all)
	}
	for _, s := range doc.Recorded.Sessions {
		it := item{name: conversationName("session "+path.Base(s.File), s.Conversation),
			figures: []figure{{name: "tokens", of: "whole session", value: float64(s.Whole), unit: unitTokens, sense: upIsWorse}}}
		for _, way := range s.Ways {
			it.figures = append(it.figures, figure{"net", way.Name, float64(way.Total), unitTokens, upIsWorse})
		}
		all = append(all, it)
	}
	return distinct(all)
}

func conversationName(file string, n int) string {
	if n > 1 {
		return file + " #" + strconv.Itoa(n)
	}
	return file
}

func itemsOfOrderings(prefix string, orderings []orderingJSON) []item {
	return each(orderings, func(o orderingJSON) item {
		it := item{name: prefix + o.Name, figures: []figure{
			{name: "kept", value: o.Kept, unit: unitPercent, sense: downIsWorse},
			{name: "missed", value: float64(o.Tokens.Missed), unit: unitTokens, sense: upIsWorse},
			{name: "tokens", value: float64(o.Tokens.Read + o.Tokens.Written + o.Tokens.Plain), unit: unitTokens, sense: upIsWorse},
		}}
		for _, list := range slices.Sorted(maps.Keys(o.Dollars)) {
			it.figures = append(it.figures, figure{"dollars", list, o.Dollars[list], unitDollars, upIsWorse})
		}
		it.parts = each(o.Breaks, func(b economics.CacheBreak) []string { return []string{"turn " + strconv.Itoa(b.Turn)} })
		return it
	})
}

func itemsOfStandings(doc standingsJSON) []item {
	return each(doc.Rankers, func(r standingJSON) item {
		it := item{name: r.Name}
		for _, k := range doc.Ks {
			key := strconv.Itoa(k)
			it.figures = append(it.figures,
				figure{name: "hit@" + key, value: float64(r.All.Hit[key]), unit: unitShare, sense: downIsWorse},
				figure{name: "recall@" + key, value: float64(r.All.Recall[key]), unit: unitShare, sense: downIsWorse})
		}
		it.figures = append(it.figures,
			figure{name: "mrr", value: float64(r.All.MRR), unit: unitShare, sense: downIsWorse},
			figure{name: "none_given", value: float64(r.NoneGiven), unit: unitCount, sense: downIsWorse})
		return it
	})
}

// summed are the sums of figures over items; shares have none.
func summed(items []item) []figure {
	var all []figure
	for _, it := range items {
		for _, f := range it.figures {
			if f.unit == unitPercent || f.unit == unitShare {
				continue
			}
			i := slices.IndexFunc(all, func(o figure) bool { return o.name == f.name && o.of == f.of })
			if i < 0 {
				all = append(all, f)
				continue
			}
			all[i].value += f.value
		}
	}
	return all
}

// distinct numbers items of one name, so that each is compared with its own.
func distinct(all []item) []item {
	seen := map[string]int{}
	for i := range all {
		name := all[i].name
		if seen[name]++; seen[name] > 1 {
			all[i].name = fmt.Sprintf("%s (%d)", name, seen[name])
		}
	}
	return all
}

// text writes a value of a figure for people.
func (u unit) text(value float64, o Options) string {
	switch u {
	case unitMS:
		return o.short(time.Duration(value))
	case unitDollars:
		return "$" + strconv.FormatFloat(rounded(value, 1e4), 'f', -1, 64)
	case unitPercent:
		return percent(value)
	}
	return strconv.FormatFloat(rounded(value, 1e4), 'f', -1, 64)
}
