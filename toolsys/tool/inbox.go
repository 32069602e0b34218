package tool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
)

// MailKind is what sort of message one is.
type MailKind string

// The kinds. What is no message of an agent's own has its sender's trade as kind.
const (
	MailMessage          MailKind = "message"
	MailCron             MailKind = "cron"
	MailPR               MailKind = "pr"
	MailTask             MailKind = "task"
	MailIdle             MailKind = "idle"
	MailShutdownRequest  MailKind = "shutdown_request"
	MailShutdownResponse MailKind = "shutdown_response"
	MailPlanRequest      MailKind = "plan_approval_request"
	MailPlanResponse     MailKind = "plan_approval_response"
)

// AnsweredBy is the kind of the answer to a request, "" for what is none.
func (k MailKind) AnsweredBy() MailKind {
	switch k {
	case MailShutdownRequest:
		return MailShutdownResponse
	case MailPlanRequest:
		return MailPlanResponse
	}
	return ""
}

// Answer reports whether the kind answers a request.
func (k MailKind) Answer() bool { return k == MailShutdownResponse || k == MailPlanResponse }

// Mail is a message to an agent.
type Mail struct {
	// ID is mail_1, mail_2, ... in the order of Post.
	ID string
	// To is the agent's id, "" the main conversation's. Post takes a peer's name too.
	To string
	// From names who sent it: a peer, or what is no agent, such as "cron". Sender is a peer's id.
	From, Sender string
	Kind         MailKind
	// About is the id of what it is about: a task, a job, a request. It may be "", and a request gets one.
	About string
	Text  string
	// At is of the inbox's clock.
	At time.Time
}

// inMark replaces what could end or forge a mark.
var inMark = strings.NewReplacer("&", "&amp;", "<", "&lt;", `"`, "&quot;", "\n", "&#10;", "\r", "&#13;")

// inText leaves quotes and line ends, which mean nothing between marks.
var inText = strings.NewReplacer("&", "&amp;", "<", "&lt;")

// Marked is the message as the model reads it. Sender and text are escaped, so that what
// an agent writes can be taken neither for the mark's end nor for another's message. The
// time is left out: the same messages make the same request under every policy.
func (m Mail) Marked() string {
	var about string
	if m.About != "" {
		about = fmt.Sprintf(` about="%s"`, inMark.Replace(m.About))
	}
	return fmt.Sprintf("<message from=\"%s\" kind=\"%s\"%s>\n%s\n</message>",
		inMark.Replace(m.From), inMark.Replace(string(m.Kind)), about, inText.Replace(m.Text))
}

// MainName is the name of the main conversation among the peers.
const MainName = "main"

// PeerStatus is what a peer does.
type PeerStatus string

// A peer works until its turns end. One that stays is idle between messages.
const (
	PeerWorking PeerStatus = "working"
	PeerIdle    PeerStatus = "idle"
	PeerEnded   PeerStatus = "ended"
)

// Peer is an agent that messages can be sent to.
type Peer struct {
	// Agent is its id, "" the main conversation's; Name is another address, its own.
	Agent, Name string
	// Parent is the agent that began it. Reports marks one whose end comes to its parent
	// as a message, Stays one that waits for messages until it is dismissed.
	Parent         string
	Reports, Stays bool
	// Team is the team it belongs to, Task the background task it runs as; either may
	// be "". Title is its work in a few words.
	Team, Task, Title string
	Status            PeerStatus
}

// Errors of an inbox.
var (
	ErrNoPeer    = errors.New("there is no such agent")
	ErrPeerEnded = errors.New("the agent has ended")
	ErrPeerName  = errors.New("the name is taken")
	errWoken     = errors.New("something came")
)

// Inbox holds the messages to the agents of a session until each takes its own, and the list of those agents (SPEC
// B4, L). Like the tasks it is shared by agents of every depth and is no part of a conversation's state.
//
// Who waits for a message waits at the inbox's clock, so that in a simulated run those woken in one instant go on one
// at a time and in a fixed order. An inbox is safe for concurrent use, and calls nobody back while it holds its lock.
type Inbox struct {
	clock Clock
	sink  func(Mail)

	mu    sync.Mutex
	sent  int
	peers []*peer
	asked []Mail // requests without an answer
	teams []Team
}

// peer is one agent with what is there for it. The inbox's lock guards it.
type peer struct {
	Peer
	mail     []Mail
	expected int                     // what may still bring a message
	wake     context.CancelCauseFunc // of the agent that waits
	resume   func(text string) (task string, err error)
}

// NewInbox makes an inbox in which only the main conversation can be reached. All functions of clock are needed; sink
// receives every message when it is sent, and may be nil.
func NewInbox(clock Clock, sink func(Mail)) *Inbox {
	if sink == nil {
		sink = func(Mail) {}
	}
	return &Inbox{clock: clock, sink: sink, peers: []*peer{{Peer: Peer{Name: MainName, Status: PeerWorking}}}}
}

// Join adds an agent, which is working. A name of "" stands for its id. It is ErrPeerName
// when another has the id or the name as an address; one that has ended gives its name up.
func (b *Inbox) Join(p Peer) (Peer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p.Name = cmp.Or(p.Name, p.Agent)
	for _, address := range []string{p.Agent, p.Name} {
		other, err := b.find(address)
		switch {
		case err != nil:
		case other.Status == PeerEnded && other.Agent != p.Agent:
			other.Name = other.Agent
		default:
			return Peer{}, fmt.Errorf("%w: %q", ErrPeerName, address)
		}
	}
	p.Status = PeerWorking
	b.peers = append(b.peers, &peer{Peer: p})
	return p, nil
}

// find wants the inbox's lock held. An id is looked for before a name.
func (b *Inbox) find(address string) (*peer, error) {
	for _, same := range []func(*peer) bool{
		func(p *peer) bool { return p.Agent == address },
		func(p *peer) bool { return p.Name == address },
	} {
		if i := slices.IndexFunc(b.peers, same); i >= 0 {
			return b.peers[i], nil
		}
	}
	return nil, fmt.Errorf("%w: %q", ErrNoPeer, address)
}

// Peer finds an agent by id or name, or gives ErrNoPeer.
func (b *Inbox) Peer(address string) (Peer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, err := b.find(address)
	if err != nil {
		return Peer{}, err
	}
	return p.Peer, nil
}

// Peers lists the agents as they stand, in the order in which they joined.
func (b *Inbox) Peers() []Peer {
	b.mu.Lock()
	defer b.mu.Unlock()
	return Each(b.peers, func(p *peer) Peer { return p.Peer })
}

// Runs notes the background task that an agent runs as.
func (b *Inbox) Runs(agent, task string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p, err := b.find(agent); err == nil {
		p.Task = task
	}
}

// Dismiss has an agent that stays end with its turn, or at once when it is idle.
func (b *Inbox) Dismiss(agent string) {
	b.mu.Lock()
	if p, err := b.find(agent); err == nil {
		p.Stays, p.Team = false, ""
	}
	b.unlock()
}

// unlock releases the inbox's lock and wakes the agents that wait for nothing any more.
func (b *Inbox) unlock() {
	var wake []context.CancelCauseFunc
	for _, p := range b.peers {
		if p.wake != nil && (len(p.mail) > 0 || !b.due(p)) {
			wake = append(wake, p.wake)
		}
	}
	b.mu.Unlock()
	for _, w := range wake {
		w(errWoken)
	}
}

// due wants the inbox's lock held. It reports whether something may still bring a message
// to an agent: what is expected, its own staying, or an agent at work for it.
func (b *Inbox) due(p *peer) bool {
	return p.Stays || p.expected > 0 || slices.ContainsFunc(b.peers, func(c *peer) bool { return c != p && c.Parent == p.Agent && c.Reports && b.busy(c) })
}

// busy reports whether the agent is still at work; the inbox's lock is held. An idle agent is busy as long as others are for it.
func (b *Inbox) busy(p *peer) bool {
	switch {
	case p.Status == PeerEnded:
		return false
	case p.Status == PeerWorking || len(p.mail) > 0 || p.expected > 0:
		return true
	}
	return slices.ContainsFunc(b.peers, func(c *peer) bool { return c != p && c.Parent == p.Agent && c.Reports && b.busy(c) })
}

// Ended marks that an agent takes no more messages. Who sent it one that it did not take gets that back. Resume
// begins it again with a text and gives the background task it then runs as; nil where it cannot be.
func (b *Inbox) Ended(agent string, resume func(text string) (task string, err error)) {
	b.mu.Lock()
	var back []Mail
	if p, err := b.find(agent); err == nil {
		p.Status, p.resume = PeerEnded, resume
		back = b.sendBack(p)
	}
	b.unlock()
	for _, m := range back {
		b.sink(m)
	}
}

// sendBack tells those that wrote to an agent what it has not read. The inbox's lock is held.
func (b *Inbox) sendBack(p *peer) (sent []Mail) {
	for _, m := range p.mail {
		from, err := b.find(m.Sender)
		if err != nil || from.Status == PeerEnded || m.Kind != MailMessage {
			continue
		}
		b.sent++
		back := Mail{ID: fmt.Sprintf("mail_%d", b.sent), To: from.Agent, From: p.Name, Sender: p.Agent, Kind: MailMessage, About: m.ID, At: b.clock.Now(),
			Text: "I ended before I read your message, which was: " + m.Text}
		from.mail = append(from.mail, back)
		sent = append(sent, back)
	}
	p.mail = nil
	return sent
}

// Resume begins an agent again that has ended, and gives its new background task. It is
// ErrPeerEnded when it cannot be.
func (b *Inbox) Resume(agent, text string) (task string, err error) {
	b.mu.Lock()
	p, err := b.find(agent)
	if err != nil {
		b.mu.Unlock()
		return "", err
	}
	resume := p.resume
	if p.Status != PeerEnded || resume == nil {
		b.mu.Unlock()
		return "", fmt.Errorf("%w: %q", ErrPeerEnded, agent)
	}
	p.Status, p.resume = PeerWorking, nil // nobody else resumes it
	b.mu.Unlock()
	return resume(text)
}

// Post sends a message and gives it as it was sent. Errors: ErrNoPeer, ErrPeerEnded.
func (b *Inbox) Post(m Mail) (Mail, error) {
	b.mu.Lock()
	p, err := b.find(m.To)
	if err == nil && p.Status == PeerEnded {
		err = fmt.Errorf("%w: %q", ErrPeerEnded, m.To)
	}
	if err != nil {
		b.mu.Unlock()
		return Mail{}, err
	}
	b.sent++
	m.ID, m.To, m.At = fmt.Sprintf("mail_%d", b.sent), p.Agent, b.clock.Now()
	switch {
	case m.Kind.Answer():
		b.asked = slices.DeleteFunc(b.asked, func(r Mail) bool { return r.ID == m.About })
	case m.Kind.AnsweredBy() != "":
		m.About = m.ID
		b.asked = append(b.asked, m)
	}
	p.mail = append(p.mail, m)
	b.unlock()
	b.sink(m)
	return m, nil
}

// Request gives a request that has no answer yet, by its id.
func (b *Inbox) Request(id string) (Mail, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	i := slices.IndexFunc(b.asked, func(m Mail) bool { return m.ID == id })
	if i < 0 {
		return Mail{}, false
	}
	return b.asked[i], true
}

// Take gives the messages to an agent that it has not taken, in the order in which they were sent.
func (b *Inbox) Take(agent string) []Mail {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, err := b.find(agent)
	if err != nil {
		return nil
	}
	taken := p.mail
	p.mail = nil
	return taken
}

// Expect notes that something may still bring an agent a message, such as a job that is due. An agent waits in Await
// only while something is. Release takes the note back; called again it does nothing.
func (b *Inbox) Expect(agent string) (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	p, err := b.find(agent)
	if err != nil {
		return func() {}
	}
	p.expected++
	return sync.OnceFunc(func() {
		b.mu.Lock()
		p.expected--
		b.unlock()
	})
}

// Await waits until there is a message for the agent, nothing is due for it any more, or the time is up, and reports
// whether there is a message. It gives up when ctx ends. One waits for an agent at a time: the agent itself.
func (b *Inbox) Await(ctx context.Context, agent string, most time.Duration) bool {
	b.mu.Lock()
	p, err := b.find(agent)
	if err != nil || len(p.mail) > 0 || !b.due(p) || most <= 0 {
		there := err == nil && len(p.mail) > 0
		b.mu.Unlock()
		return there
	}
	waiting, wake := context.WithCancelCause(ctx)
	defer wake(nil)
	p.wake, p.Status = wake, PeerIdle
	b.unlock()

	_ = b.clock.Sleep(waiting, "inbox/"+agent, most) // why it ended is looked at below

	b.mu.Lock()
	defer b.mu.Unlock()
	p.wake, p.Status = nil, PeerWorking
	return len(p.mail) > 0
}
