package fault

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Fault is one thing that goes wrong, at one place.
type Fault struct {
	// What is the verb: a name of Verbs.
	What string
	// Arg is what the verb is about: a status, the name of an error, a text.
	Arg string
	// Call or Tool name the call that goes wrong; Request and Event a place in a stream.
	Call, Tool     string
	Request, Event int
	// For is how long it takes; 0 where none is given.
	For time.Duration
}

// Verb is one thing that can go wrong.
type Verb struct {
	Name string
	// Arg describes its argument; "" if it has none. Lasts: it may have a duration;
	// Needs: it is nothing without one.
	Arg   string
	Lasts bool
	Needs bool
	// At is the place it needs: the call that goes wrong, a request, or one of its
	// events too.
	At Place
}

// Place is the kind of place a verb applies to.
type Place uint8

// The places.
const (
	AtCall Place = iota
	AtRequest
	AtEvent
)

// Verbs are all of them.
func Verbs() []Verb { return verbs[:] }

var verbs = [...]Verb{
	{Name: "panic", At: AtCall},
	{Name: "error", Arg: "a text", At: AtCall},
	{Name: "hang", At: AtCall},
	{Name: "deaf", At: AtCall},
	{Name: "huge", At: AtCall},
	{Name: "empty", At: AtCall},
	{Name: "full", At: AtCall},
	{Name: "readonly", At: AtCall},
	{Name: "slow", Lasts: true, Needs: true, At: AtCall},
	{Name: "progress", Lasts: true, Needs: true, At: AtCall},
	{Name: "lags", Lasts: true, Needs: true, At: AtCall},
	{Name: "gone", Lasts: true, At: AtCall},
	{Name: "duplicate", At: AtCall},
	{Name: "unknown", At: AtCall},
	{Name: "rubbish", Arg: "a text", At: AtCall},
	{Name: "status", Arg: "an HTTP status from 400 to 599", At: AtRequest},
	{Name: "cut", At: AtEvent},
	{Name: "say", Arg: "the name of an error", At: AtEvent},
	{Name: "malformed", At: AtEvent},
	{Name: "twice", At: AtEvent},
	{Name: "late", Lasts: true, At: AtEvent},
	{Name: "stall", Lasts: true, At: AtEvent},
}

func verbNamed(name string) (Verb, error) {
	var names []string
	for _, v := range verbs {
		if v.Name == name {
			return v, nil
		}
		names = append(names, v.Name)
	}
	return Verb{}, fmt.Errorf("%q is nothing that goes wrong; use %s", name, strings.Join(names, ", "))
}

// String is the fault as Parse reads it.
func (f Fault) String() string {
	var b strings.Builder
	b.WriteString(f.What)
	if f.Arg != "" {
		b.WriteString(" " + f.Arg)
	}
	b.WriteString(" @")
	for _, at := range []struct{ key, value string }{
		{"call", f.Call}, {"tool", f.Tool}, {"request", number(f.Request)}, {"event", number(f.Event)},
	} {
		if at.value != "" {
			fmt.Fprintf(&b, " %s=%s", at.key, at.value)
		}
	}
	if f.For > 0 {
		fmt.Fprintf(&b, " for %s", f.For)
	}
	return b.String()
}

func number(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

var errNoPlace = errors.New("it has no place; write it as `panic @ call=c3` or `cut @ request=2 event=8`")

// Parse reads one fault. An error has what is wrong and what would be right.
func Parse(text string) (Fault, error) {
	what, where, ok := strings.Cut(text, "@")
	if !ok {
		return Fault{}, errNoPlace
	}
	var f Fault
	name, arg, _ := strings.Cut(strings.TrimSpace(what), " ")
	f.What, f.Arg = name, strings.Join(strings.Fields(arg), " ")
	v, err := verbNamed(name)
	if err != nil {
		return Fault{}, err
	}
	if err := f.place(strings.Fields(where)); err != nil {
		return Fault{}, err
	}
	return f, f.check(v)
}

// place reads what stands behind the @.
func (f *Fault) place(words []string) error {
	for len(words) > 0 {
		if words[0] == "for" {
			return f.lasting(words[1:])
		}
		key, value, ok := strings.Cut(words[0], "=")
		if !ok || value == "" {
			return fmt.Errorf("%q is no place; write call=, tool=, request= or event=, and then `for 3s`", words[0])
		}
		if err := f.at(key, value); err != nil {
			return err
		}
		words = words[1:]
	}
	return nil
}

func (f *Fault) at(key, value string) error {
	switch key {
	case "call":
		return once(&f.Call, value, key)
	case "tool":
		return once(&f.Tool, value, key)
	case "request", "event":
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("%s is %q; they are counted from 1", key, value)
		}
		if key == "request" {
			return once(&f.Request, n, key)
		}
		return once(&f.Event, n, key)
	}
	return fmt.Errorf("%q is no place; use call, tool, request, event", key)
}

func once[T comparable](to *T, value T, key string) error {
	var none T
	if *to != none {
		return fmt.Errorf("%s is there twice", key)
	}
	*to = value
	return nil
}

func (f *Fault) lasting(words []string) error {
	if len(words) != 1 {
		return errors.New("one duration ends it, as `for 3s`")
	}
	d, err := time.ParseDuration(words[0])
	if err != nil || d <= 0 {
		return fmt.Errorf("%q is no duration; write it like 300ms or 2s", words[0])
	}
	f.For = d
	return nil
}

// check holds a fault against its verb.
func (f *Fault) check(v Verb) error {
	atCall, atStream := f.Call != "" || f.Tool != "", f.Request > 0 || f.Event > 0
	switch {
	case (f.Arg != "") != (v.Arg != ""):
		if v.Arg == "" {
			return fmt.Errorf("%s takes no argument, and there is %q", v.Name, f.Arg)
		}
		return fmt.Errorf("%s needs %s behind it", v.Name, v.Arg)
	case f.For > 0 && !v.Lasts:
		return fmt.Errorf("%s does not last; leave out `for %s`", v.Name, f.For)
	case f.For == 0 && v.Needs:
		return fmt.Errorf("%s needs a duration; write `for 2s` behind it", v.Name)
	case f.Call != "" && f.Tool != "":
		return errors.New("call and tool exclude each other")
	case v.At == AtCall && (!atCall || atStream):
		return fmt.Errorf("%s is of a call: write call= or tool=, and nothing else", v.Name)
	case v.At != AtCall && (atCall || f.Request == 0):
		return fmt.Errorf("%s is of a request: write request=", v.Name)
	case v.At == AtEvent && f.Event == 0, v.At == AtRequest && f.Event > 0:
		return fmt.Errorf("%s comes at %s", v.Name, map[Place]string{AtEvent: "an event: write event=", AtRequest: "a request, not at an event"}[v.At])
	}
	return f.checkStatus()
}

func (f *Fault) checkStatus() error {
	if f.What != "status" {
		return nil
	}
	if n, err := strconv.Atoi(f.Arg); err != nil || n < 400 || n > 599 || strconv.Itoa(n) != f.Arg {
		return fmt.Errorf("%q is no HTTP status of a failure", f.Arg)
	}
	return nil
}
