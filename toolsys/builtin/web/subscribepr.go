package web

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"toolbench/toolsys/message"
	"toolbench/toolsys/tool"
)

// Bounds of a subscription.
const (
	// DefaultPRAddress is where pull requests are looked up unless the settings name another
	// service of the same form.
	DefaultPRAddress = "https://api.github.com"
	// defaultInterval keeps the four requests of a look within what the service allows
	// who has no token.
	defaultInterval = 300
	// maxPages bounds the pages of a list, pageSize is the entries of one.
	maxPages = 10
	pageSize = 100
	// maxFailures is how many looks in a row may fail.
	maxFailures = 5
)

// CodeBadRepo refuses a name that is none of a repository.
const CodeBadRepo = 1

// SubscribeIn is what SubscribePR takes.
type SubscribeIn struct {
	Repo     string `json:"repo" minLength:"3" maxLength:"140" jsonschema:"The repository, as owner/name"`
	Number   int    `json:"number" minimum:"1" jsonschema:"The pull request's number"`
	Interval int    `json:"interval_seconds,omitempty" minimum:"60" maximum:"3600" default:"300" jsonschema:"How often to look, in seconds"`
}

func (in SubscribeIn) what() string { return fmt.Sprintf("%s#%d", in.Repo, in.Number) }

// SubscribeOut is what SubscribePR answers with.
type SubscribeOut struct {
	TaskID string `json:"task_id"`
	Title  string `json:"title"`
	State  string `json:"state"`
}

var repoName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]{0,38}/[A-Za-z0-9._-]{1,100}$`)

// SubscribePR watches a pull request from the background, by the session's clock: new
// comments, checks that end and its own end come to the conversation as messages (SPEC L).
// The first look is the call's own, so that one that cannot be watched is an error at once.
func SubscribePR(d Deps) *tool.Tool {
	return tool.Must(tool.Def[SubscribeIn, SubscribeOut]{
		Name:     "SubscribePR",
		Describe: func(in SubscribeIn) string { return "Watch " + in.what() },
		Texts:    prompts.Of("subscribepr"),
		Call:     d.subscribe,
		Text: func(out SubscribeOut) string {
			return fmt.Sprintf("Watching as %s: %q, %s. News come to you as messages; TaskStop ends it.", out.TaskID, out.Title, out.State)
		},
		Validate: func(in SubscribeIn, _ *tool.Context) *tool.Refusal {
			if _, name, _ := strings.Cut(in.Repo, "/"); !repoName.MatchString(in.Repo) || strings.Trim(name, ".") == "" {
				return &tool.Refusal{Message: fmt.Sprintf("%q is no repository; write owner/name", message.Line(in.Repo, tool.SummaryChars)), Code: CodeBadRepo}
			}
			return nil
		},
		Subject: func(in SubscribeIn, _ *tool.Context) tool.Subject { return tool.Subject{Content: in.Repo} },
		Traits:  tool.Traits[SubscribeIn]{OpenWorld: tool.Always[SubscribeIn], Interrupt: tool.Cancel},
		Shaping: tool.Shaping[SubscribeIn]{Classifier: SubscribeIn.what},
		Limits:  tool.Limits[SubscribeIn]{Timeout: func(SubscribeIn) time.Duration { return Timeout }},
		View:    tool.Doing("Watch pull request", "Subscribing to ", SubscribeIn.what),
	})
}

func (d Deps) subscribe(ctx context.Context, in SubscribeIn, c *tool.Context) (tool.Result[SubscribeOut], error) {
	if d.Tasks == nil || d.Inbox == nil {
		return tool.Result[SubscribeOut]{}, errors.New("nothing can be watched here: there are no background tasks, or no inbox for the news")
	}
	set := c.CurrentSettings()
	w := watch{Deps: d, in: in, base: cmp.Or(set.PullRequestURL, DefaultPRAddress), token: set.PullRequestToken.Reveal()}
	var err error
	if w.seen, err = w.look(ctx); err != nil {
		return tool.Result[SubscribeOut]{}, fmt.Errorf("%s cannot be watched: %w", in.what(), err)
	}
	if w.seen.state() != "open" {
		return tool.Result[SubscribeOut]{}, fmt.Errorf("%s is %s; there will be no news", in.what(), w.seen.state())
	}
	release, clock, out := d.Inbox.Expect(""), c.Clock, SubscribeOut{Title: w.seen.Title, State: w.seen.state()}
	out.TaskID = d.Tasks.Start(tool.TaskSpec{Kind: "pr", Title: in.what(), Agent: c.AgentID}, func(ctx context.Context, log io.Writer) (int, error) {
		defer release()
		return w.run(ctx, clock, log)
	})
	return tool.Result[SubscribeOut]{Data: out, Observed: []tool.Observation{{Task: out.TaskID}}}, nil
}

// watch is one subscription with what it saw last.
type watch struct {
	Deps
	in          SubscribeIn
	base, token string
	seen        pullRequest
}

// run looks again and again, until the pull request is closed or cannot be looked at.
func (w *watch) run(ctx context.Context, clock tool.Clock, log io.Writer) (int, error) {
	every := time.Duration(cmp.Or(w.in.Interval, defaultInterval)) * time.Second
	for failed := 0; ; {
		if err := clock.Sleep(ctx, "pr/"+w.in.what(), every); err != nil {
			return 1, err
		}
		next, err := w.look(ctx)
		switch {
		case ctx.Err() != nil:
			return 1, context.Cause(ctx)
		case err != nil:
			fmt.Fprintln(log, err)
			if failed++; failed == maxFailures {
				return 1, errors.Join(err, w.post(fmt.Sprintf("%s is watched no more: %d looks in a row failed, the last with: %v", w.in.what(), failed, err)))
			}
			continue
		}
		failed = 0
		if news := w.seen.news(next); len(news) > 0 {
			if err := w.post(w.in.what() + ": " + strings.Join(news, "\n")); err != nil {
				return 1, err
			}
		}
		if w.seen = next; next.state() != "open" {
			return 0, nil
		}
	}
}

func (w *watch) post(text string) error {
	_, err := w.Inbox.Post(tool.Mail{From: "pull request", Kind: tool.MailPR, About: w.in.what(), Text: text})
	return err
}

// pullRequest is what there is to see of one.
type pullRequest struct {
	Title  string `json:"title"`
	State  string `json:"state"`
	Merged bool   `json:"merged"`
	Head   struct {
		SHA string `json:"sha"`
	} `json:"head"`

	comments []comment
	// checks are by name how each check of the last commit stands.
	checks map[string]string
}

type comment struct {
	ID   int64 `json:"id"`
	User struct {
		Login string `json:"login"`
	} `json:"user"`
	Body string `json:"body"`
	Path string `json:"path"`
}

func (p pullRequest) state() string {
	if p.Merged {
		return "merged"
	}
	return p.State
}

// look asks the service for all that there is to see.
func (w *watch) look(ctx context.Context) (pullRequest, error) {
	p := pullRequest{checks: map[string]string{}}
	number := strconv.Itoa(w.in.Number)
	if err := w.get(ctx, &p, "", "pulls", number); err != nil {
		return p, err
	}
	for _, of := range []string{"issues", "pulls"} {
		for page := 1; page <= maxPages; page++ {
			var some []comment
			if err := w.get(ctx, &some, fmt.Sprintf("per_page=%d&page=%d", pageSize, page), of, number, "comments"); err != nil {
				return p, err
			}
			if p.comments = append(p.comments, some...); len(some) < pageSize {
				break
			}
		}
	}
	var found struct {
		Runs []struct {
			Name       string `json:"name"`
			Status     string `json:"status"`
			Conclusion string `json:"conclusion"`
		} `json:"check_runs"`
	}
	err := w.get(ctx, &found, fmt.Sprintf("per_page=%d", pageSize), "commits", p.Head.SHA, "check-runs")
	for _, r := range found.Runs {
		p.checks[r.Name] = cmp.Or(r.Conclusion, r.Status)
	}
	return p, err
}

func (w *watch) get(ctx context.Context, into any, query string, below ...string) error {
	path := slices.Concat([]string{"repos"}, strings.Split(w.in.Repo, "/"), below)
	status, body, err := w.exchange(ctx, request{method: http.MethodGet, base: w.base, path: path, query: query, token: w.token})
	switch {
	case err != nil:
		return err
	case status != http.StatusOK:
		return fmt.Errorf("%s answered %d %s", strings.Join(path, "/"), status, http.StatusText(status))
	}
	if err := json.Unmarshal([]byte(body), into); err != nil {
		return fmt.Errorf("%s: the answer cannot be read: %w", strings.Join(path, "/"), err)
	}
	return nil
}

// news is what changed from p to next, a line each.
func (p pullRequest) news(next pullRequest) []string {
	var news []string
	for _, c := range next.comments {
		if slices.ContainsFunc(p.comments, func(old comment) bool { return old.ID == c.ID }) {
			continue
		}
		where := ""
		if c.Path != "" {
			where = " on " + c.Path
		}
		news = append(news, fmt.Sprintf("%s commented%s: %s", c.User.Login, where, c.Body))
	}
	if p.Head.SHA != next.Head.SHA {
		news = append(news, "new commits, the last is "+next.Head.SHA)
	}
	for _, name := range slices.Sorted(maps.Keys(next.checks)) {
		if next.checks[name] != p.checks[name] {
			news = append(news, fmt.Sprintf("check %s: %s", name, next.checks[name]))
		}
	}
	if next.state() != p.state() {
		news = append(news, "it is "+next.state()+" now")
	}
	return news
}
