package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"toolbench/property/fuzz"
	"toolbench/property/shards"
	"toolbench/reports"
	"toolbench/toolsys/host"
)

// spreadFlags are those of a run on many machines.
type spreadFlags struct {
	nats, listen, store, name string
	workers, part             int
	replicas, tries           int
	silence                   time.Duration
	unsent                    bool // workers have the files themselves
}

// natsToken is the variable with the token of the NATS server: a command line is no place for it.
const natsToken = "TOOLBENCH_NATS_TOKEN"

// anyPort is where a server listens that is for this process alone.
const anyPort = "127.0.0.1:0"

// add adds the flags, with how many of some things a part has.
func (f *spreadFlags) add(flags *pflag.FlagSet, part int, things string) {
	*f = spreadFlags{listen: anyPort, workers: runtime.GOMAXPROCS(0), part: part, replicas: 1, tries: shards.DefaultTries, silence: shards.DefaultSilence}
	own(flags, number(&f.workers, 0), "workers", "parts at once in this process; 0 leaves all to others")
	own(flags, number(&f.part, 1), "part", "how many "+things+" a worker takes at a time")
	flags.StringVar(&f.nats, "nats", "", "the URL of a NATS server or cluster with JetStream; without it one runs in this process")
	flags.StringVar(&f.listen, "listen", f.listen, "where that one listens; more than 127.0.0.1 lets other machines come")
	flags.StringVar(&f.store, "store", "", "the folder that it keeps its files in, to go on after an end; without it they are gone then")
	flags.StringVar(&f.name, "name", "", "what the workers know it by; made from what is played when not given")
	own(flags, number(&f.replicas, 1), "replicas", "on how many servers of a cluster everything is stored")
	own(flags, number(&f.tries, 1), "tries", "how often a part is given out before it is halved, and a single one of its "+things+" set aside")
	flags.Var(period(&f.silence, time.Millisecond), "silence", "how long a worker may be silent before another gets its part")
}

// check refuses what does not go together.
func (f *spreadFlags) check() error {
	switch {
	case f.silence < time.Second:
		return usage("--silence %s: a worker reports every third of it; give at least 1s", f.silence)
	case f.nats != "" && (f.store != "" || f.listen != anyPort):
		return usage("--nats names a server that runs; --store and --listen are for the one of this process")
	}
	return nil
}

// others reports whether workers of other processes and machines may come.
func (f *spreadFlags) others() bool {
	return f.nats != "" || f.listen != anyPort || f.store != "" || f.workers == 0
}

// spreadCases are the flags of cases that are played on many machines.
type spreadCases struct {
	fuzzFlags
	spreadFlags
}

func (a *app) spreadCommand() *cobra.Command {
	var f spreadCases
	f.everything()
	cmd := &cobra.Command{Use: "campaign", Short: "Play random conversations on many machines", Args: cobra.NoArgs}
	flags := cmd.Flags()
	f.addCases(flags)
	own(flags, choice(&f.engine, "ENGINE", "des", "full", "both"), "engine", "des, full or both")
	f.add(flags, 1_000, "cases")
	return a.reporter(cmd, &f.printing, func(cmd *cobra.Command, _ []string) error {
		f.seeded = cmd.Flags().Changed("seed") || a.fromEnv["seed"]
		return a.spreadFuzz(cmd.Context(), f)
	})
}

// spec is what the workers of a run play: cases of a seed, or recordings. Build is the
// program's: another may come to something else.
type spec struct {
	Fuzz   *fuzzSpec   `json:"fuzz,omitempty"`
	Replay *replaySpec `json:"replay,omitempty"`
	Build  string      `json:"build,omitempty"`
}

type fuzzSpec struct {
	Seed     uint64            `json:"seed"`
	Engine   string            `json:"engine"`
	Policies []string          `json:"policies"`
	Faults   string            `json:"faults"`
	Range    reports.FuzzRange `json:"range"`
}

// playable checks what is asked for.
func (f *spreadCases) playable() error {
	if f.cases == (reports.FuzzRange{}) {
		return usage("name the cases with --seed and --range, as in `toolbench campaign --seed 7 --range 0..100000`")
	}
	part := f.fuzzFlags
	part.findings = "" // which are of the campaign, not of a part
	return part.ranged()
}

// spreadFuzz runs the command and gives the error that carries its exit code.
func (a *app) spreadFuzz(ctx context.Context, f spreadCases) error {
	if err := f.playable(); err != nil {
		return err
	}
	began := time.Now()
	got, err := a.spread(ctx, f.spreadFlags, spreadWork{
		spec: spec{Fuzz: &fuzzSpec{Seed: f.seed, Engine: f.engine, Policies: f.policies, Faults: faultWords(f.may), Range: f.cases}},
		name: fmt.Sprint("fuzz-", f.seed),
		all:  shards.Range(f.cases), things: "cases",
	})
	if err != nil {
		return err
	}
	return a.spreadReport(ctx, f, got, time.Since(began))
}

// spreadWork is what is dealt out: a range of things, which the spec lets a worker play.
type spreadWork struct {
	spec
	name, things string
	all          shards.Range
	// send stores what workers need beside the spec; nil where they need nothing else.
	send func(context.Context, *shards.Queue) error
}

// spread plays the items of a range on all workers that join, and gives the results of its parts.
func (a *app) spread(ctx context.Context, f spreadFlags, w spreadWork) (*shards.Gathered, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	w.Build = a.build()
	text, _ := json.Marshal(w.spec) // it is made of texts and numbers
	if f.name == "" {
		sum := sha256.Sum256(text)
		f.name = w.name + "-" + hex.EncodeToString(sum[:4])
	}
	s, err := a.natsServer(f)
	if err != nil {
		return nil, err
	}
	defer s.end()
	nc, err := shards.Connect(s.url, s.token)
	if err != nil {
		return nil, usage("--nats %s: %s", withoutUser(s.url), err)
	}
	defer nc.Close()
	a.waiting(nc)
	q, err := shards.Open(ctx, nc, f.name, text, shards.Options{Replicas: f.replicas, Silence: f.silence, Tries: f.tries})
	if errors.Is(err, shards.ErrOther) {
		return nil, usage("--name %s: another campaign has this name, with other %s or another build", f.name, w.things)
	}
	if err == nil && w.send != nil {
		err = w.send(ctx, q)
	}
	var got *shards.Gathered
	if err == nil {
		got, err = a.gather(ctx, q, f, s, w)
	}
	switch {
	case ctx.Err() != nil && s.dir != "":
		return nil, interrupted("interrupted: what was done is gone; with --store it is kept")
	case ctx.Err() != nil:
		return nil, interrupted("interrupted: what was done is kept, and the same command goes on")
	case err != nil:
		return nil, harness(err)
	}
	if err := q.Close(ctx); err != nil {
		a.logf("what is stored of %s was left: %s", f.name, err)
	}
	if s.own != nil {
		s.own.Empty(ctx)
	}
	return got, nil
}

// gather plays parts in this process, while other workers may take some, until all are done.
func (a *app) gather(ctx context.Context, q *shards.Queue, f spreadFlags, s *natsServer, w spreadWork) (*shards.Gathered, error) {
	working, stop := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop(nil)
	parts := 1 + (w.all.Len()-1)/uint64(f.part)
	for range min(uint64(f.workers), parts) { // one more would wait for nothing, with a connection of its own
		all.Go(func() {
			if err := a.workOn(working, s.url, s.token, f.name, true); err != nil {
				stop(err)
			}
		})
	}
	if f.others() {
		made := "" // how a worker gets a token that was made here; one that was given is not repeated
		if a.env(natsToken) == "" && s.token != "" {
			made = natsToken + "=" + s.token + " "
		}
		a.logf("workers may come: %stoolbench worker --nats %s --name %s", made, withoutUser(s.url), f.name)
	}
	p := a.fuzzProgress(fuzzFlags{})
	defer p.clear()
	got, err := q.Gather(working, w.all, uint64(f.part), func(g shards.Progress) {
		text := fmt.Sprintf("%d of %d %s, %d parts, %.0f %[3]s/s", g.Done, g.Of, w.things, g.Parts, float64(g.Done)/time.Since(p.began).Seconds())
		if g.Aside > 0 {
			text += fmt.Sprintf(", %d set aside", g.Aside)
		}
		p.show(text)
	})
	if failed := context.Cause(working); failed != nil {
		return nil, failed
	}
	return got, err
}

// spreadReport merges what was found and prints it, as one process would have.
func (a *app) spreadReport(ctx context.Context, f spreadCases, got *shards.Gathered, took time.Duration) error {
	var parts []reports.Stored
	var names []string
	files, failures := map[string]string{}, map[string]*reports.FuzzFailure{}
	for i, data := range got.Results {
		var p partResult
		if err := json.Unmarshal(data, &p); err != nil {
			return harness(err)
		}
		stored, err := reports.Read(p.Report)
		if err != nil {
			return harness(fmt.Errorf("part %s: %w", got.Parts[i], err))
		}
		parts, names = append(parts, stored), append(names, got.Parts[i].String())
		maps.Copy(files, p.Files)
		if one := stored.Fuzz(); one.Failure != nil {
			id := fuzz.FindingID(one.Failure.Broke, one.Failure.Found)
			if failures[id] == nil {
				failures[id] = one.Failure
			}
		}
	}
	for _, c := range got.Aside {
		a.logf("case %d was set aside: %s", c.Case, c.Why)
	}
	if len(got.Aside) > 0 { // without them the report is not of all
		return harness(fmt.Errorf("cases set aside: %d; all others were played", len(got.Aside)))
	}
	whole, err := reports.Merge(parts, names)
	if err != nil {
		return harness(err)
	}
	report := whole.Fuzz()
	report.Took, report.Goals = took, f.goals
	a.keepFailure(f, &report, files)
	if err := a.print(report, f.printing); err != nil {
		return err
	}
	if len(failures) > 1 {
		a.logf("%d causes were found; --findings FOLDER keeps them apart", len(failures))
	}
	if f.findings != "" {
		if err := a.noteCauses(ctx, f, failures, files); err != nil {
			return err
		}
	}
	return judged(nil, report.Failure != nil)
}

// keepFailure writes the files of the failure that counts, where the user wants them.
func (a *app) keepFailure(f spreadCases, report *reports.FuzzReport, files map[string]string) {
	if report.Failure == nil {
		return
	}
	for _, name := range []*string{&report.Failure.File, &report.Failure.CaseFile} {
		if text, ok := files[*name]; ok {
			*name = a.keep(f.fuzzFlags, filepath.Base(*name), []byte(text))
		}
	}
}

// noteCauses notes in the ledger of a folder what was found, each cause once.
func (a *app) noteCauses(ctx context.Context, f spreadCases, failures map[string]*reports.FuzzFailure, files map[string]string) error {
	var causes []*reports.FuzzFailure
	for _, id := range slices.Sorted(maps.Keys(failures)) {
		one := *failures[id]
		if text, ok := files[one.CaseFile]; ok {
			one.CaseFile = a.keep(f.fuzzFlags, filepath.Base(one.CaseFile), []byte(text))
		}
		causes = append(causes, &one)
	}
	return a.noteFindings(ctx, f.findings, causes...)
}

// natsServer is the NATS server of a run: one of this process, or another.
type natsServer struct {
	url, token string
	own        *shards.Server
	dir        string   // to remove
	lock       *os.File // of a folder that stays: two servers would take each other's streams away
}

func (a *app) natsServer(f spreadFlags) (*natsServer, error) {
	if f.nats != "" {
		return &natsServer{url: f.nats, token: a.env(natsToken)}, nil
	}
	at, port, err := net.SplitHostPort(f.listen)
	number, err2 := strconv.Atoi(port)
	if err = errors.Join(err, err2); err != nil {
		return nil, usage("--listen %s: write HOST:PORT, as 0.0.0.0:4222", f.listen)
	}
	s := &natsServer{token: cmp.Or(a.env(natsToken), rand.Text())}
	dir := a.path(f.store)
	if f.store == "" {
		if dir, err = os.MkdirTemp("", "toolbench-nats-"); err != nil {
			return nil, harness(err)
		}
		s.dir = dir
	} else if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, usage("--store %s: %s", f.store, reason(err))
	} else if s.lock, err = os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o600); err != nil {
		return nil, usage("--store %s: %s", f.store, reason(err))
	} else if err := host.Lock(s.lock); err != nil {
		_ = s.lock.Close() // nothing was written
		return nil, usage("--store %s: another campaign has it (%s); wait for its end, or name another folder", f.store, reason(err))
	}
	if s.own, err = shards.Serve(at, cmp.Or(number, -1), dir, s.token); err != nil { // -1 is any
		s.end()
		return nil, usage("--listen %s: %s", f.listen, err)
	}
	s.url = s.own.URL()
	return s, nil
}

func (s *natsServer) end() {
	if s.own != nil {
		s.own.Close()
	}
	_ = s.lock.Close() // nothing was written, and without a folder that stays there is none
	if s.dir != "" {
		_ = os.RemoveAll(s.dir) // a temporary folder that stays behind does no harm
	}
}

// withoutUser is a URL as it may be printed.
func withoutUser(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "that URL"
	}
	return u.Redacted()
}
