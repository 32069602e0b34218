package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"
	"github.com/tidwall/gjson"

	"toolbench/reports"
	"toolbench/sim/recording"
	"toolbench/sim/world"
	"toolbench/toolsys"
	"toolbench/toolsys/builtin"
	"toolbench/toolsys/host"
	"toolbench/toolsys/jsonscan"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/tool"
)

type rulesFlags struct {
	printing
	settings, allow, ask, deny  []string
	commands, calls, recordings []string
	mode, dir                   string
}

func (a *app) rulesCommand() *cobra.Command {
	var f rulesFlags
	cmd := &cobra.Command{Use: "rules", Short: "Show what permission rules would decide, and why", Args: onlyFlags("a command is named with --command")}
	flags := cmd.Flags()
	repeatable(flags, &f.settings, "settings", "a settings file")
	repeatable(flags, &f.allow, "allow", "a rule that allows")
	repeatable(flags, &f.ask, "ask", "a rule that asks")
	repeatable(flags, &f.deny, "deny", "a rule that denies")
	repeatable(flags, &f.commands, "command", "a shell command")
	repeatable(flags, &f.calls, "calls", "a file of calls, a JSON object a line")
	repeatable(flags, &f.recordings, "recording", "a recorded session, or a folder of them")
	flags.StringVar(&f.mode, "mode", "", "default, plan, acceptEdits, auto or bypass; without it, the mode of the settings")
	flags.StringVar(&f.dir, "dir", ".", "the working directory of the calls")
	flags.BoolVar(&f.all, "all", false, "show every call in the table, however many are allowed")
	return a.reporter(cmd, &f.printing, func(cmd *cobra.Command, _ []string) error { return a.rules(cmd.Context(), f) })
}

// rules runs the command and gives the error that carries its exit code.
func (a *app) rules(ctx context.Context, f rulesFlags) error {
	if len(f.commands)+len(f.calls)+len(f.recordings) == 0 {
		return usage("name what to decide: --command 'git push', --calls FILE.jsonl or --recording FILE")
	}
	d, err := a.decider(f)
	if err != nil {
		return err
	}
	if err := a.decideAll(ctx, d, f); err != nil {
		return err
	}
	report := d.report()
	report.All = f.all
	return a.print(report, f.printing)
}

// decideAll decides the calls of the flags, in the order commands, files, recordings.
func (a *app) decideAll(ctx context.Context, d *decider, f rulesFlags) error {
	for _, command := range f.commands {
		if err := d.decide(wanted{Cmd: command}, ""); err != nil {
			return err
		}
	}
	for _, file := range f.calls {
		if err := a.decideFile(d, file); err != nil {
			return err
		}
	}
	files, err := a.recordings(f.recordings)
	if err != nil {
		return err
	}
	for _, file := range files {
		if ctx.Err() != nil {
			return interrupted("interrupted")
		}
		if err := a.decideRecording(d, file); err != nil {
			return err
		}
	}
	if len(f.recordings) > 0 && len(d.skipped) == len(files) {
		return usage("%s: none of %d files is a recording", strings.Join(f.recordings, ", "), len(files))
	}
	return nil
}

// decider decides calls one by one and keeps what came of them.
type decider struct {
	system *toolsys.System
	rules  permission.Rules
	mode   permission.Mode
	dir    string
	roots  []string
	home   string

	// places are where settings files have the rules.
	places map[permission.Hit]func() string

	decisions        []reports.RuleDecision
	matched, decided map[permission.Hit]int
	skipped          []reports.Skipped
}

// decider reads the rules and makes the tools that calls are decided for.
func (a *app) decider(f rulesFlags) (*decider, error) {
	dir, err := filepath.Abs(a.path(f.dir))
	if err != nil {
		return nil, usage("--dir %s: %s", f.dir, reason(err))
	}
	d := &decider{dir: host.Follow(dir), home: a.Home, places: map[permission.Hit]func() string{}, matched: map[permission.Hit]int{}, decided: map[permission.Hit]int{}}
	d.roots = []string{d.dir}
	if err := d.load(a, f); err != nil {
		return nil, err
	}
	d.system, err = toolsys.New(toolsys.Config{
		Builtins: builtin.All(builtin.Deps{FS: afero.NewReadOnlyFs(afero.NewOsFs()), Resolve: host.Follow}),
	})
	return d, harness(err)
}

// agentSettings is the part of an agent's settings file that is read here.
type agentSettings struct {
	Permissions struct {
		Allow, Ask, Deny             []string
		DefaultMode                  string
		DisableBypassPermissionsMode string
		AdditionalDirectories        []string
	}
}

// load reads rules and mode: of the command line, then of each settings file.
func (d *decider) load(a *app, f rulesFlags) error {
	err := d.parse(permission.CommandLine, nil, f.allow, f.ask, f.deny)
	if err != nil {
		return err
	}
	mode, from, noBypass := f.mode, "--mode "+f.mode, ""
	for _, file := range slices.SortedStableFunc(slices.Values(f.settings), func(one, other string) int { return cmp.Compare(a.sourceOf(one), a.sourceOf(other)) }) {
		text, err := os.ReadFile(a.path(file))
		if err != nil {
			return usage("%s: %s", file, reason(err))
		}
		var s agentSettings
		text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
		if err := json.Unmarshal(text, &s); err != nil {
			return usage("%s:%s: it is no settings file: %s; see `toolbench help permissions`", file, world.PlaceOf(text, err), world.Plain(err))
		}
		for _, object := range []string{string(text), gjson.GetBytes(text, "permissions").Raw} {
			if name, twice := jsonscan.Repeated([]byte(object)); twice {
				return usage("%s: %q stands there more than once, and agents take the last one alone: join them", file, name)
			}
		}
		if name := misplaced(text); name != "" {
			return usage("%s: %q is not read: rules stand in \"permissions\", as \"allow\", \"ask\" and \"deny\"", file, name)
		}
		place := &settingsText{file, text}
		if err := d.parse(a.sourceOf(file), place, s.Permissions.Allow, s.Permissions.Ask, s.Permissions.Deny); err != nil {
			return err
		}
		if mode == "" {
			mode, from = s.Permissions.DefaultMode, place.line("defaultMode")+"defaultMode"
		}
		if s.Permissions.DisableBypassPermissionsMode == "disable" {
			noBypass = file
		}
		for _, dir := range s.Permissions.AdditionalDirectories {
			if below, home := strings.CutPrefix(dir, "~/"); home {
				dir = filepath.Join(d.home, below)
			} else if !filepath.IsAbs(dir) {
				dir = filepath.Join(d.dir, dir)
			}
			d.roots = append(d.roots, host.Follow(dir))
		}
	}
	if mode == "" {
		return nil
	}
	if d.mode, err = permission.ParseMode(mode); err != nil {
		return usage("%s: %s", from, strings.TrimPrefix(err.Error(), "permission: "))
	}
	if noBypass != "" && d.mode == permission.Bypass {
		if f.mode != "" {
			return usage("%s: %s forbids it with disableBypassPermissionsMode", from, noBypass)
		}
		d.mode = permission.Default
	}
	return nil
}

// misplaced is the name of a member that looks like a list of rules, where agents read none; empty where there is none.
func misplaced(text []byte) (name string) {
	for _, read := range [][]string{{"@this", "permissions"}, {"permissions", "allow", "ask", "deny", "additionalDirectories"}} {
		gjson.GetBytes(text, read[0]).ForEach(func(key, value gjson.Result) bool {
			rules := slices.Contains([]string{"permissions", "permission", "allow", "ask", "deny"}, strings.ToLower(key.Str))
			if (rules || read[0] != "@this" && value.IsArray()) && !slices.Contains(read[1:], key.Str) {
				name = key.Str
			}
			return name == ""
		})
	}
	return name
}

// sourceOf is where a settings file's rules come from, by its name and place.
func (a *app) sourceOf(file string) permission.Source {
	switch {
	case strings.Contains(filepath.Base(file), "local"):
		return permission.LocalProject
	case strings.HasPrefix(filepath.Base(file), "managed"):
		return permission.Policy
	case a.Home != "" && filepath.Dir(filepath.Dir(a.absolute(file))) == a.Home:
		return permission.User
	}
	return permission.Project
}

// settingsText is a settings file as it was read; nil stands for the command line.
type settingsText struct {
	file string
	text []byte
}

// line is where a file has a rule, with a colon behind it.
func (s *settingsText) line(rule string) string {
	if s == nil {
		return ""
	}
	at := bytes.Index(s.text, jsonscan.AppendQuoted(nil, rule))
	if at < 0 {
		return s.file + ": "
	}
	return fmt.Sprintf("%s:%d: ", s.file, 1+bytes.Count(s.text[:at], []byte("\n")))
}

func (d *decider) parse(source permission.Source, from *settingsText, allow, ask, deny []string) error {
	var problems []string
	for i, texts := range [][]string{deny, ask, allow} {
		behaviour := [...]permission.Behaviour{permission.Deny, permission.Ask, permission.Allow}[i]
		var rules []permission.Rule
		for _, text := range texts {
			rule, err := permission.ParseRule(text)
			if err != nil {
				problems = append(problems, from.line(text)+err.Error())
				continue
			}
			rules = append(rules, rule)
			if hit := (permission.Hit{Rule: rule, Source: source, Behaviour: behaviour}); from != nil && d.places[hit] == nil {
				d.places[hit] = func() string { return from.line(text) } // where most rules stand, nobody asks
			}
		}
		if len(rules) > 0 {
			d.rules = d.rules.With(source, behaviour, rules...)
		}
	}
	if len(problems) > 0 {
		return usage("%s", strings.Join(problems, "; "))
	}
	return nil
}

// wanted is one call to be decided, with rules of its own.
type wanted struct {
	Cmd              string
	Tool             string
	Input            json.RawMessage
	Allow, Ask, Deny []string
}

// decideFile decides the calls of a file, one JSON object a line.
func (a *app) decideFile(d *decider, name string) error {
	file, err := a.open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	lines, before := bufio.NewReader(file), len(d.decisions)
	for n := 1; ; n++ {
		line, err := lines.ReadBytes('\n')
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if text := bytes.TrimSpace(line); len(text) > 0 {
			var call wanted
			if problem := json.Unmarshal(text, &call); problem != nil {
				return usage("%s:%d: it is no call: %s", name, n, problem)
			}
			if call.Cmd == "" && call.Tool == "" {
				return usage(`%s:%d: a call has a "cmd", or a "tool" and its "input"`, name, n)
			}
			if problem := d.decide(call, fmt.Sprintf("%s:%d", name, n)); problem != nil {
				return usage("%s:%d: %s", name, n, problem)
			}
		}
		switch {
		case errors.Is(err, io.EOF) && len(d.decisions) == before:
			return usage(`%s: it holds no call; a line is {"cmd": "git push"} or {"tool": "Read", "input": {...}}`, name)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return usage("%s: %s", name, reason(err))
		}
	}
}

// decideRecording decides all calls of a recorded session.
func (a *app) decideRecording(d *decider, f found) error {
	file, err := a.open(f.path)
	if err != nil {
		return err
	}
	defer file.Close()
	_, err = recording.Scan(f.path, file, recording.Limits{}, recording.Handler{Turn: func(c *recording.Conversation, t *recording.Turn) error {
		for _, call := range t.Calls {
			if call.Cut || call.Repeated {
				continue
			}
			where := fmt.Sprintf("%s, conversation %d, turn %d", f.path, c.Number, t.Number)
			if err := d.decide(wanted{Tool: call.Name, Input: call.Input}, where); err != nil {
				return err
			}
		}
		return nil
	}})
	switch {
	case err == nil:
		return nil
	case f.named:
		return invalid(err)
	}
	d.skipped = append(d.skipped, skippedFile(f.path, err))
	return nil
}

// decide decides one call and notes it.
func (d *decider) decide(call wanted, from string) error {
	own := *d
	if err := own.parse(permission.CommandLine, nil, call.Allow, call.Ask, call.Deny); err != nil {
		return err
	}
	out := reports.RuleDecision{Call: call.Cmd, Tool: call.Tool, From: from, Mode: d.mode.String()}
	if call.Cmd != "" {
		out.Tool = "Bash"
		call.Input, _ = json.Marshal(map[string]string{"command": call.Cmd}) // a string always fits
	} else {
		out.Call = strings.TrimSpace(call.Tool + " " + string(call.Input))
	}
	decision, query, err := d.system.Decide(out.Tool, call.Input, &tool.Context{
		State:    tool.State{Dir: d.dir, Env: map[string]string{"HOME": d.home}},
		Security: tool.Security{Rules: own.rules, Mode: d.mode, Roots: d.roots, Home: d.home},
	})
	if err != nil {
		out.Decision, out.Error, out.Reason = permission.Deny.String(), err.Error(), "the call would be refused before permission"
	} else {
		out.Decision, out.Reason = decision.Behaviour.String(), decision.Reason.String()
		d.count(decision, query)
	}
	if hit := decision.Reason.Hit; hit != nil {
		out.Rule = hit.Rule.String()
	}
	own.describe(&out, query, call.Input)
	d.decisions = append(d.decisions, out)
	return nil
}

// describe adds what the call was read as.
func (d *decider) describe(out *reports.RuleDecision, q permission.Query, raw json.RawMessage) {
	out.ReadOnly = q.ReadOnly
	out.Paths = slices.Clone(q.Paths)
	if q.Shell != nil {
		for _, p := range q.Shell.Parts {
			out.ReadOnly = out.ReadOnly && p.ReadOnly
			out.Paths = append(out.Paths, each(p.Files, func(f permission.File) string { return f.Path })...)
		}
	}
	slices.Sort(out.Paths)
	out.Paths = slices.Compact(out.Paths)
	out.Safe = out.ReadOnly && d.system.Safe(out.Tool, raw)
}

// count notes which of the common rules are about a call, and which decided it.
func (d *decider) count(decision permission.Decision, q permission.Query) {
	for _, h := range d.rules.All() {
		if h.Rule.Covers(q) {
			d.matched[h]++
		}
	}
	if decision.Reason.Hit != nil {
		h := *decision.Reason.Hit
		h.What = ""
		d.decided[h]++
	}
}

// report is what came of all calls.
func (d *decider) report() reports.RulesReport {
	r := reports.RulesReport{Version: reports.RulesVersion, Decisions: d.decisions, Totals: map[string]int{"allow": 0, "ask": 0, "deny": 0}, Skipped: d.skipped}
	for _, one := range d.decisions {
		r.Totals[one.Decision]++
	}
	problems := map[permission.Hit]string{}
	for _, p := range d.system.RuleProblems(d.rules) {
		problems[p.Hit] = p.String()
		if place := d.places[p.Hit]; place != nil {
			problems[p.Hit] = place() + p.String()
		}
	}
	for _, h := range d.rules.All() {
		r.Rules = append(r.Rules, reports.RuleUse{
			Rule: h.Rule.String(), Behaviour: h.Behaviour.String(), Source: h.Source.String(),
			Matched: d.matched[h], Decided: d.decided[h], Problem: problems[h],
		})
	}
	return r
}
