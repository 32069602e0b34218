package support_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"toolbench/scenarios/support"
	"toolbench/toolsys"
	"toolbench/toolsys/loop"
	"toolbench/toolsys/message"
	"toolbench/toolsys/permission"
	"toolbench/toolsys/pipeline"
	"toolbench/toolsys/schedule"
	"toolbench/toolsys/tool"
)

// service is one conversation of a clerk.
type service struct {
	t        *testing.T
	shop     *support.Shop
	registry *support.Registry
	clerk    support.Clerk
	mode     permission.Mode
	// answer is what the clerk does when asked; nil: nobody answers. before is called with
	// the number of each request.
	answer func() bool
	before func(request int)

	asked, results, offered []string
}

func newService(t *testing.T, clerk support.Clerk) *service {
	shop := support.NewShop(support.Order{ID: "7", Customer: "c1", Address: "Here", Total: 5000}, support.Order{ID: "8", Customer: "c1", Total: 900})
	s := &service{t: t, shop: shop, registry: &support.Registry{}, clerk: clerk, answer: func() bool { return true }}
	tools, err := shop.Tools()
	require.NoError(t, err)
	require.NoError(t, s.registry.Add(tools...))
	return s
}

// asks has a model make calls, each a tool and its input, one a turn.
func (s *service) asks(calls ...[2]string) {
	s.t.Helper()
	system, err := toolsys.New(toolsys.Config{})
	require.NoError(s.t, err)
	model := func(_ context.Context, req message.Request, on func([]byte) error) error {
		names := ""
		for _, raw := range req.Tools {
			names += strings.TrimSuffix(strings.SplitN(string(raw), `"`, 5)[3], ",") + " "
		}
		n := len(s.offered)
		s.offered = append(s.offered, strings.TrimSpace(names))
		if s.before != nil {
			s.before(n)
		}
		events := []string{`{"type":"message_start","message":{"id":"m","content":[]}}`}
		if n < len(calls) {
			events = append(events, fmt.Sprintf(`{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"c%d","name":%q,"input":%s}}`, n, calls[n][0], calls[n][1]), `{"type":"content_block_stop","index":0}`)
		}
		for _, e := range append(events, `{"type":"message_stop"}`) {
			if err := on([]byte(e)); err != nil {
				return err
			}
		}
		return nil
	}
	cfg := loop.Config{Model: model, Policy: schedule.Streaming, Served: s.registry.For(func() support.Clerk { return s.clerk }), State: tool.State{Dir: "/", Mode: s.mode}}
	if s.answer != nil {
		cfg.Handlers.Ask = func(_ context.Context, q pipeline.Question) (pipeline.Reply, error) {
			s.asked = append(s.asked, q.Tool)
			return pipeline.Reply{Allow: s.answer()}, nil
		}
	}
	session, err := system.Open(cfg)
	require.NoError(s.t, err)
	_, err = session.Send(s.t.Context(), message.UserText("A customer is here."))
	require.NoError(s.t, err)
	for _, m := range session.History() {
		for _, r := range m.Results() {
			s.results = append(s.results, message.PlainText(r.Content))
		}
	}
}

var (
	senior = support.Clerk{Channel: support.Online, Role: support.Senior}
	refund = [2]string{"createRefund", `{"orderId":"7","reason":"broken","amount":5000}`}
	coupon = [2]string{"sendCoupon", `{"customerId":"c1","couponId":"k"}`}
)

func TestLookingIsUnaskedAndChangingIsConfirmed(t *testing.T) {
	s := newService(t, senior)
	s.asks([2]string{"queryOrder", `{"orderId":"7"}`}, [2]string{"queryCustomer", `{"customerId":"c1"}`}, [2]string{"trackLogistics", `{"orderId":"7"}`}, [2]string{"searchFAQ", `{"text":"How do I return it?"}`},
		[2]string{"transferToAgent", `{"text":"angry"}`}, [2]string{"updateAddress", `{"orderId":"7","address":"There"}`}, coupon, [2]string{"createTicket", `{"text":"look at it"}`}, refund)
	assert.Equal(t, []string{"updateAddress", "sendCoupon", "createTicket", "createRefund"}, s.asked)
	assert.Equal(t, []string{"transferred: angry", "address 7", "coupon k to c1", "ticket: look at it", "refund 7 5000"}, s.shop.Done())
	assert.Equal(t, "createRefund createTicket queryCustomer queryOrder searchFAQ sendCoupon trackLogistics transferToAgent updateAddress", s.offered[0])
}

// No answer, and no, is no; no mode stands in for the clerk.
func TestWhatIsNotConfirmedIsNotDone(t *testing.T) {
	for name, answer := range map[string]func() bool{"nobody": nil, "declined": func() bool { return false }} {
		for _, mode := range []permission.Mode{permission.Default, permission.AcceptEdits, permission.Bypass} {
			s := newService(t, senior)
			s.answer, s.mode = answer, mode
			s.asks(refund)
			assert.Contains(t, s.results[0], "denied", "%s %s", name, mode)
			assert.Empty(t, s.shop.Done())
		}
	}
}

func TestAHiddenToolIsRefusedByHand(t *testing.T) {
	for _, c := range []struct {
		clerk support.Clerk
		call  [2]string
		why   string
	}{
		{support.Clerk{Channel: support.Phone, Role: support.Senior}, coupon, "sendCoupon is not for the channel phone"},
		{support.Clerk{Channel: support.Ticket, Role: support.Senior}, coupon, "sendCoupon is not for the channel ticket"},
		{support.Clerk{Channel: support.Online, Role: support.Junior}, refund, "createRefund is not for the role junior"},
	} {
		s := newService(t, c.clerk)
		s.asks(c.call)
		assert.NotContains(t, s.offered[0], c.call[0])
		assert.Contains(t, s.results[0], c.why)
		assert.Empty(t, s.asked)
		assert.Empty(t, s.shop.Done())
	}
}

// What was offered is checked again when it runs, before the clerk is asked and after.
func TestRightsThatAreTakenMeanwhileCount(t *testing.T) {
	s := newService(t, senior)
	s.before = func(int) { s.clerk.Role = support.Junior }
	s.asks(refund)
	assert.Contains(t, s.offered[0], "createRefund")
	assert.Contains(t, s.results[0], "not for the role junior")
	assert.Empty(t, s.asked)

	s = newService(t, senior)
	s.answer = func() bool { s.clerk.Channel = support.Phone; return true }
	s.asks(coupon)
	assert.Equal(t, []string{"sendCoupon"}, s.asked)
	assert.Contains(t, s.results[0], "not for the channel phone")
	assert.Empty(t, s.shop.Done())
}

func TestAToolThatIsAddedIsInTheNextRequest(t *testing.T) {
	for channel, has := range map[support.Channel]bool{support.Online: true, support.Ticket: true, support.Phone: false} {
		s := newService(t, support.Clerk{Channel: channel, Role: support.Senior})
		status, err := support.Build(support.Def[support.OrderIn, string]{
			Name: "wechat_pay__queryRefundStatus", Description: "Looks up a refund.", Reads: true, Confirmed: func(support.OrderIn) bool { return false },
			Channels: []support.Channel{support.Online, support.Ticket},
			Call:     func(context.Context, support.OrderIn) (string, error) { return "paid back", nil },
		})
		require.NoError(t, err)
		s.before = func(n int) {
			if n == 0 {
				require.NoError(t, s.registry.Add(status))
				assert.ErrorIs(t, s.registry.Add(status), support.ErrName)
			}
		}
		s.asks([2]string{"queryOrder", `{"orderId":"7"}`}, [2]string{status.Name, `{"orderId":"7"}`})
		assert.NotContains(t, s.offered[0], status.Name)
		assert.Equal(t, has, strings.Contains(s.offered[1], status.Name), channel)
		assert.Equal(t, has, s.results[1] == "paid back" || s.results[1] == `"paid back"`, s.results[1])
	}
}

// What models get wrong, and what must not come of it.
func TestPitfalls(t *testing.T) {
	for name, c := range map[string]struct {
		calls [][2]string
		want  string
		done  []string
	}{
		"a tool that there is not":   {[][2]string{{"cancelOrder", `{"orderId":"7"}`}}, "createRefund", nil},
		"a negative amount":          {[][2]string{{"createRefund", `{"orderId":"7","reason":"x","amount":-100}`}}, "amount", nil},
		"more than the order's":      {[][2]string{{"createRefund", `{"orderId":"7","reason":"x","amount":5001}`}}, "5000 cents, which is the most", nil},
		"twice":                      {[][2]string{refund, refund}, "refunded already", []string{"refund 7 5000"}},
		"an order that there is not": {[][2]string{{"createRefund", `{"orderId":"9","reason":"x","amount":1}`}}, "there is no order 9", nil},
		"a member too many":          {[][2]string{{"createRefund", `{"orderId":"7","reason":"x","amount":1,"confirmed":true}`}}, "confirmed", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s := newService(t, senior)
			s.asks(c.calls...)
			assert.Contains(t, s.results[len(s.results)-1], c.want)
			assert.Equal(t, c.done, s.shop.Done())
		})
	}
}

// A tool that was added after the request was made is not known to the model yet; nothing keeps it from the clerk.
func TestAToolThatIsCalledBeforeItWasOfferedIsUnknown(t *testing.T) {
	s := newService(t, senior)
	s.before = func(n int) {
		if n == 0 {
			greet, err := support.Build(support.Def[support.TextIn, string]{Name: "greetCustomer", Description: "Greets.",
				Call: func(context.Context, support.TextIn) (string, error) { return "hello", nil }})
			require.NoError(t, err)
			require.NoError(t, s.registry.Add(greet))
		}
	}
	s.asks([2]string{"greetCustomer", `{"text":"hello"}`})
	assert.Contains(t, s.results[0], `There is no tool named "greetCustomer".`)
	assert.NotContains(t, s.results[0], `". .`)
	assert.Empty(t, s.asked)
}

// Whoever keeps what was made of the tools learns by the version that they may be others.
func TestAnotherToolIsAnotherVersion(t *testing.T) {
	s := newService(t, senior)
	offer := s.registry.For(func() support.Clerk { return s.clerk })
	before, again := offer(t.Context()), offer(t.Context())
	assert.Equal(t, before.Version, again.Version)
	assert.Equal(t, before.Tools, again.Tools, "a tool stays the same one")
	more, err := support.Build(support.Def[support.TextIn, string]{Name: "more", Description: "Does more.",
		Call: func(context.Context, support.TextIn) (string, error) { return "", nil }})
	require.NoError(t, err)
	require.NoError(t, s.registry.Add(more))
	assert.NotEqual(t, before.Version, offer(t.Context()).Version)
	require.ErrorIs(t, s.registry.Add(more), support.ErrName)
}

// What a change did can be looked up afterwards, and an order is its own customer's only.
func TestWhatWasDoneIsSeen(t *testing.T) {
	s := newService(t, senior)
	look := [2]string{"queryOrder", `{"orderId":"7"}`}
	s.asks([2]string{"updateAddress", `{"orderId":"7","address":"There"}`}, [2]string{"trackLogistics", `{"orderId":"7"}`},
		[2]string{"createRefund", `{"orderId":"7","reason":"scratched","amount":100}`}, look,
		[2]string{"queryCustomer", `{"customerId":"c1"}`}, [2]string{"queryCustomer", `{"customerId":"c2"}`})
	assert.Contains(t, s.results[1], "There")
	assert.Contains(t, s.results[3], `"refunded":100`)
	assert.Contains(t, s.results[3], `"total":5000`)
	assert.Contains(t, s.results[4], `"id":"8"`)
	assert.Equal(t, "[]", s.results[5])
}

// What became impossible while the clerk thought about it is refused, whatever the tool itself would do.
func TestWhatCannotBeDoneIsRefusedBeforeTheClerkIsAsked(t *testing.T) {
	s := newService(t, senior)
	s.asks([2]string{"createRefund", `{"orderId":"7","reason":"x","amount":5001}`})
	assert.Empty(t, s.asked)
	assert.Contains(t, s.results[0], "5000 cents")
}
