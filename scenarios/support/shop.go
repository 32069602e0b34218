package support

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Order is what a customer bought. Amounts are in cents.
type Order struct {
	ID       string `json:"id"`
	Customer string `json:"customer"`
	Address  string `json:"address"`
	Total    int    `json:"total"`
	Refunded int    `json:"refunded"`
}

// Shop is what the tools work on; it is safe for concurrent use.
type Shop struct {
	mu     sync.Mutex
	orders map[string]Order
	done   []string
}

// NewShop makes a shop with orders.
func NewShop(orders ...Order) *Shop {
	s := &Shop{orders: map[string]Order{}}
	for _, o := range orders {
		s.orders[o.ID] = o
	}
	return s
}

// Done are the changes that were made, in words.
func (s *Shop) Done() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.done...)
}

// What the tools take.
type (
	OrderIn struct {
		OrderID string `json:"orderId" minLength:"1" jsonschema:"The order's number"`
	}
	RefundIn struct {
		OrderID string `json:"orderId" minLength:"1" jsonschema:"The order's number"`
		Reason  string `json:"reason" minLength:"1" jsonschema:"Why the money goes back"`
		Amount  int    `json:"amount" minimum:"1" jsonschema:"In cents"`
	}
	AddressIn struct {
		OrderID string `json:"orderId" minLength:"1" jsonschema:"The order's number"`
		Address string `json:"address" minLength:"1" jsonschema:"Where it goes from now on"`
	}
	CouponIn struct {
		CustomerID string `json:"customerId" minLength:"1" jsonschema:"The customer's number"`
		CouponID   string `json:"couponId" minLength:"1" jsonschema:"The coupon's number"`
	}
	CustomerIn struct {
		CustomerID string `json:"customerId" minLength:"1" jsonschema:"The customer's number"`
	}
	TextIn struct {
		Text string `json:"text" minLength:"1" jsonschema:"In a sentence or two"`
	}
)

// Tools are the nine of a customer service.
func (s *Shop) Tools() ([]Tool, error) {
	var tools []Tool
	var first error
	add := func(t Tool, err error) {
		tools = append(tools, t)
		first = cmp.Or(first, err)
	}
	add(Build(Def[OrderIn, Order]{Name: "queryOrder", Description: "Looks up an order.", Call: s.order, Reads: true, Confirmed: never[OrderIn]}))
	add(Build(Def[OrderIn, string]{Name: "trackLogistics", Description: "Looks up where an order is.", Call: s.track, Reads: true, Confirmed: never[OrderIn]}))
	add(Build(Def[RefundIn, Order]{Name: "createRefund", Description: "Cancels an order, in part or as a whole, and pays money back.", Call: s.refund, Refuse: s.refuseRefund, Roles: []Role{Senior}}))
	add(Build(Def[AddressIn, Order]{Name: "updateAddress", Description: "Changes where an order goes.", Call: s.readdress}))
	add(Build(Def[CouponIn, string]{Name: "sendCoupon", Description: "Sends a customer a coupon.", Call: s.coupon, Channels: []Channel{Online}}))
	add(Build(Def[TextIn, string]{Name: "searchFAQ", Description: "Searches the answers to common questions.", Call: s.faq, Reads: true, Confirmed: never[TextIn]}))
	add(Build(Def[TextIn, string]{Name: "transferToAgent", Description: "Hands the customer to a person.", Call: s.noted("transferred"), Confirmed: never[TextIn]}))
	add(Build(Def[CustomerIn, []Order]{Name: "queryCustomer", Description: "Lists a customer's orders.", Call: s.customer, Reads: true, Confirmed: never[CustomerIn]}))
	add(Build(Def[TextIn, string]{Name: "createTicket", Description: "Opens a ticket.", Call: s.noted("ticket")}))
	return tools, first
}

func never[In any](In) bool { return false }

func (s *Shop) find(id string) (Order, error) {
	o, ok := s.orders[id]
	if !ok {
		return o, fmt.Errorf("there is no order %s", id)
	}
	return o, nil
}

func (s *Shop) order(_ context.Context, in OrderIn) (Order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.find(in.OrderID)
}

func (s *Shop) track(_ context.Context, in OrderIn) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.find(in.OrderID)
	return "on its way to " + o.Address, err
}

// refuseRefund refuses what would pay back more than there is left of an order.
func (s *Shop) refuseRefund(in RefundIn) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refusal(in)
}

func (s *Shop) refusal(in RefundIn) string {
	switch o, err := s.find(in.OrderID); {
	case err != nil:
		return err.Error()
	case o.Refunded > 0:
		return fmt.Sprintf("order %s was refunded already", in.OrderID)
	case in.Amount > o.Total:
		return fmt.Sprintf("order %s came to %d cents, which is the most that can be paid back", in.OrderID, o.Total)
	}
	return ""
}

func (s *Shop) refund(_ context.Context, in RefundIn) (Order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if why := s.refusal(in); why != "" {
		return Order{}, fmt.Errorf("%s", why)
	}
	o := s.orders[in.OrderID]
	o.Refunded = in.Amount
	s.orders[o.ID] = o
	s.done = append(s.done, fmt.Sprintf("refund %s %d", o.ID, in.Amount))
	return o, nil
}

func (s *Shop) readdress(_ context.Context, in AddressIn) (Order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o, err := s.find(in.OrderID)
	if err != nil {
		return o, err
	}
	o.Address = in.Address
	s.orders[o.ID] = o
	s.done = append(s.done, "address "+o.ID)
	return o, nil
}

func (s *Shop) coupon(_ context.Context, in CouponIn) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.done = append(s.done, "coupon "+in.CouponID+" to "+in.CustomerID)
	return "sent", nil
}

func (s *Shop) customer(_ context.Context, in CustomerIn) ([]Order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []Order{}
	for _, o := range s.orders {
		if o.Customer == in.CustomerID {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b Order) int { return strings.Compare(a.ID, b.ID) })
	return all, nil
}

func (s *Shop) faq(_ context.Context, in TextIn) (string, error) {
	if strings.Contains(strings.ToLower(in.Text), "return") {
		return "Goods can be returned within 30 days.", nil
	}
	return "There is no answer to that.", nil
}

// noted is a tool that notes its text.
func (s *Shop) noted(what string) func(context.Context, TextIn) (string, error) {
	return func(_ context.Context, in TextIn) (string, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.done = append(s.done, what+": "+in.Text)
		return "done", nil
	}
}
