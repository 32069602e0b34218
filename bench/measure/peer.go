package measure

import (
	"context"
	"time"
)

// Peer is one library, by the path on which it runs a model's calls.
type Peer struct {
	// Name is what the tables call it, Module what the build calls it; "" for one
	// that has none.
	Name, Module string
	// Ours marks this project's own rows.
	Ours bool
	// Path says in a few words which public door is measured.
	Path string
	// Open prepares a conversation of one message with the tools registered. What
	// it does is not timed.
	Open func(tools []Tool, m Message) (Conversation, error)
}

// Conversation is a conversation that can be held over and over.
type Conversation struct {
	// Run holds it: the message arrives, its calls run, and where the library is
	// a loop the model says that it is done.
	Run func(ctx context.Context) error
	// Answers are the results that stand in the conversation after Run, in the
	// order in which they stand there.
	Answers func() []Answer
}

// Tool is registered with each library in the way its manual recommends.
type Tool struct {
	Name string
	// Writes marks a tool that may not run beside others, for libraries that can
	// be told so.
	Writes bool
	// Do gets the input's path.
	Do func(ctx context.Context, path string) (string, error)
	// Small says that the input has one member, not five.
	Small bool
}

// Call is one tool call of a message.
type Call struct{ ID, Tool, Input string }

// Message is what the model says. Call i is complete at (i+1)*Gap, the message at
// Whole; both zero: at once.
type Message struct {
	Calls      []Call
	Gap, Whole time.Duration
}

// Answer is a result in the conversation.
type Answer struct {
	ID    string
	Error bool
}

// Stream plays the message: each is called when its call is complete, and Stream
// returns when the message is. It ends early with ctx.
func (m Message) Stream(ctx context.Context, each func(Call) error) error {
	began := time.Now()
	for i, c := range m.Calls {
		if err := until(ctx, began.Add(time.Duration(i+1)*m.Gap)); err != nil {
			return err
		}
		if err := each(c); err != nil {
			return err
		}
	}
	return until(ctx, began.Add(m.Whole))
}

// Collect is Stream for a library that takes no more than the whole message.
func (m Message) Collect(ctx context.Context) error {
	return m.Stream(ctx, func(Call) error { return nil })
}

func until(ctx context.Context, at time.Time) error {
	d := time.Until(at)
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
