package reports

import (
	"io"

	"toolbench/sim/scenario/check"
)

type runJSON struct {
	Version  int           `json:"version"`
	Seed     uint64        `json:"seed" jsonschema:"Seed of the run, 0 when nothing ran."`
	Totals   Totals        `json:"totals"`
	Outcomes []outcomeJSON `json:"outcomes" jsonschema:"One a scenario, in the order of the suite."`
}

type outcomeJSON struct {
	Name          string          `json:"name"`
	About         string          `json:"about,omitempty" jsonschema:"What the scenario guards, in a sentence."`
	File          string          `json:"file,omitempty" jsonschema:"The scenario's file; absent when it has none."`
	Tags          []string        `json:"tags"`
	Status        check.Status    `json:"status" enum:"passed,failed,error"`
	Policy        string          `json:"policy" jsonschema:"How calls were scheduled."`
	Seed          uint64          `json:"seed" jsonschema:"Seed of this scenario's run."`
	MakespanMS    ms              `json:"makespan_ms" jsonschema:"The whole run."`
	SerialMS      ms              `json:"serial_ms" jsonschema:"What it would take with each stream followed by each of its calls, one after the other."`
	HiddenPercent share           `json:"hidden_percent" jsonschema:"Share of serial_ms that was saved."`
	BoundMS       ms              `json:"bound_ms" jsonschema:"The lower bound: no policy could be faster with these calls, their arrivals and times, what they read and write, and the limit."`
	Batches       [][]string      `json:"batches" jsonschema:"The partition of the calls, by tool name."`
	Calls         []callJSON      `json:"calls"`
	Failures      []check.Failure `json:"failures"`
	TraceDigest   string          `json:"trace_digest" jsonschema:"Equal digests, equal runs."`
	Error         string          `json:"error,omitempty" jsonschema:"Why there is no verdict."`
	Invalid       bool            `json:"invalid,omitempty" jsonschema:"True when the scenario's file is at fault, and not the harness."`
	Notes         []string        `json:"notes,omitempty"`
	TookMS        *ms             `json:"took_ms,omitempty" jsonschema:"Real time; differs from run to run."`
	Again         string          `json:"again" jsonschema:"The command that shows it again."`
}

type callJSON struct {
	ID        string   `json:"id"`
	Tool      string   `json:"tool"`
	Agent     string   `json:"agent,omitempty" jsonschema:"The sub-agent that made the call; absent in the main conversation."`
	Turn      int      `json:"turn" jsonschema:"The request it answers, from 1."`
	Batch     int      `json:"batch"`
	ReadyMS   ms       `json:"ready_ms" jsonschema:"Its block completed."`
	StartedMS ms       `json:"started_ms" jsonschema:"The scheduler let it go."`
	EndedMS   ms       `json:"ended_ms" jsonschema:"It was done."`
	EmittedMS ms       `json:"emitted_ms" jsonschema:"Its result left, in call order."`
	Status    string   `json:"status"`
	Safe      bool     `json:"safe" jsonschema:"It may run beside others."`
	WaitsFor  string   `json:"waits_for,omitempty" jsonschema:"What it waited for before it started; absent when it started at once."`
	On        []string `json:"on,omitempty" jsonschema:"Ids of the calls it waited for."`
}

// JSON writes one object as run.schema.json describes it. Texts are the true ones;
// what a terminal would obey is escaped, so that printing the report is safe.
func JSON(w io.Writer, outcomes []check.Result, o Options) error {
	return printJSON(w, runOf(outcomes, o))
}

// StoredRun is the report of outcomes as it would be read back.
func StoredRun(outcomes []check.Result, o Options) Stored { return Stored{"run", runOf(outcomes, o)} }

func runOf(outcomes []check.Result, o Options) runJSON {
	all := each(outcomes, func(outcome check.Result) outcomeJSON { return outcomeOf(outcome, o) })
	run := runJSON{Version: Version, Totals: Count(outcomes), Outcomes: all}
	if len(all) > 0 {
		run.Seed = all[0].Seed
	}
	return run
}

func outcomeOf(outcome check.Result, o Options) outcomeJSON {
	j := outcomeJSON{
		Name: outcome.Name, About: outcome.About, File: outcome.File, Tags: outcome.Tags,
		Status: outcome.Status, Policy: outcome.Policy, Seed: outcome.Seed,
		MakespanMS: ms(outcome.Makespan), BoundMS: ms(outcome.LowerBound), SerialMS: ms(outcome.Serial), HiddenPercent: share(rounded(outcome.Hidden, 1e4)),
		Batches: outcome.Batches, Calls: each(outcome.Calls, callOf), Failures: outcome.Failures,
		TraceDigest: outcome.Digest, Invalid: outcome.Invalid, Notes: outcome.Notes, Again: o.again(outcome),
	}
	if outcome.Err != nil {
		j.Error = outcome.Err.Error()
	}
	if !o.OmitTook {
		j.TookMS = new(ms(outcome.Took))
	}
	return j
}

func callOf(c check.Call) callJSON {
	return callJSON{
		ID: c.ID, Tool: c.Tool, Agent: c.Agent, Turn: c.Turn, Batch: c.Batch,
		ReadyMS: ms(c.Ready), StartedMS: ms(c.Started), EndedMS: ms(c.Ended), EmittedMS: ms(c.Emitted),
		Status: c.Status, Safe: c.Safe, WaitsFor: c.WaitsFor, On: c.On,
	}
}
