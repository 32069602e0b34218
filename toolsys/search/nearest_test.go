package search_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"toolbench/toolsys/search"
)

// shop is a customer service's tool set.
func shop() []search.Entry {
	return []search.Entry{
		{Name: "queryOrder", Description: "Looks an order up by its number."},
		{Name: "trackLogistics", Description: "Tells where a parcel is."},
		{Name: "createRefund", Description: "Refunds a customer, in full when they are cancelling the order."},
		{Name: "updateAddress", Description: "Changes the address an order goes to."},
		{Name: "sendCoupon", Description: "Sends a coupon."},
		{Name: "transferToAgent", Description: "Hands the customer over to a person."},
		{Name: "mcp__wechat_pay__queryRefundStatus", MCP: true, Server: "wechat_pay", Description: "Status of a refund."},
	}
}

// listed are the names of entries.
func listed(entries []search.Entry) []string {
	var all []string
	for _, e := range entries {
		all = append(all, e.Name)
	}
	return all
}

func TestAMisspeltNameLeadsToTheRightOne(t *testing.T) {
	builtins := []string{"Bash", "Read", "Edit", "Write", "Glob", "Grep", "TaskGet", "TaskList", "mcp__github__create_issue", "mcp__gitlab__create_issue"}
	for name, want := range map[string]string{
		"Reed": "Read", "bash": "Bash", "Grpe": "Grep", "task_get": "TaskGet", "TaskGte": "TaskGet", "Writee": "Write", "TsakGte": "TaskGet",
		"create_issue": "mcp__github__create_issue", "createIssue": "mcp__github__create_issue", "mcp__gitlab__create_isue": "mcp__gitlab__create_issue",
	} {
		got := search.Nearest(name, builtins, nil, 3)
		require.NotEmpty(t, got, name)
		assert.Equal(t, want, got[0], name)
	}
	assert.Empty(t, search.Nearest("CompletelyDifferent", builtins, nil, 3))
	assert.Empty(t, search.Nearest("", builtins, nil, 3))
	assert.Empty(t, search.Nearest("Reed", nil, nil, 3))
}

func TestWhereSpellingIsNoHelpMeaningIs(t *testing.T) {
	ix := search.NewIndex(search.Ranker{}, shop(), nil)
	for name, want := range map[string]string{
		"cancelOrder":  "createRefund",
		"cancel_order": "createRefund",
		"locateParcel": "trackLogistics",
		"handover":     "",
		"moveTo":       "", // "to" means nothing
		"RefundStatus": "mcp__wechat_pay__queryRefundStatus",
	} {
		got := search.Nearest(name, listed(shop()), ix, 3)
		if want == "" {
			assert.Empty(t, got, name)
			continue
		}
		require.NotEmpty(t, got, name)
		assert.Equal(t, want, got[0], name)
	}
}

func TestSpellingComesBeforeMeaning(t *testing.T) {
	ix := search.NewIndex(search.Ranker{}, shop(), nil)
	got := search.Nearest("queryOrders", listed(shop()), ix, 3)
	assert.Equal(t, "queryOrder", got[0])
	assert.Len(t, got, 3)
}

func TestLoadedToolsAreProposedToo(t *testing.T) {
	ix := search.NewIndex(search.Ranker{}, nil, shop())
	assert.Equal(t, []string{"createRefund"}, search.Nearest("cancelOrder", listed(shop()), ix, 1))
}

func TestOnlyListedNamesAreProposedAndNoMoreThanAsked(t *testing.T) {
	ix := search.NewIndex(search.Ranker{}, shop(), nil)
	assert.NotContains(t, search.Nearest("cancelOrder", []string{"queryOrder"}, ix, 5), "createRefund")
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-zA-Z_]{0,14}`).Draw(t, "name")
		all := listed(shop())
		most := rapid.IntRange(-1, 4).Draw(t, "max")
		got := search.Nearest(name, all, ix, most)
		assert.LessOrEqual(t, len(got), max(most, 0))
		for _, g := range got {
			assert.Contains(t, all, g)
		}
		slices.Reverse(all)
		assert.Equal(t, got, search.Nearest(name, all, ix, most))
	})
}

func TestOneSlipOfTheFingerIsForgiven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom(listed(shop())).Draw(t, "name")
		at := rapid.IntRange(1, len(name)-2).Draw(t, "at")
		slip := rapid.SampledFrom([]string{
			name[:at] + name[at+1:],
			name[:at] + "x" + name[at:],
			name[:at] + "x" + name[at+1:],
			name[:at] + string(name[at+1]) + string(name[at]) + name[at+2:],
		}).Draw(t, "slip")
		assert.Contains(t, search.Nearest(slip, listed(shop()), nil, 3), name, slip)
	})
}

func TestALongNameIsNoBurden(t *testing.T) {
	assert.Empty(t, search.Nearest(strings.Repeat("a", 100_000), listed(shop()), search.NewIndex(search.Ranker{}, shop(), nil), 3))
}
