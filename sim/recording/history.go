package recording

import (
	"fmt"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// history reads messages as requests and responses hold them: one by itself, as a
// response is, or those of a request, be they under "messages" or a value each.
// known is false when v is none of these.
func (ls *lineScan) history(v gjson.Result) (known bool, err error) {
	if isConverse(v) {
		v = converseRequest(v)
	} else if m, ok := converseReply(v); ok {
		v = m
	}
	if isMessage(v) {
		ls.s.format = History
		return true, ls.talks.said(v, v.Get("model").String(), "history\x00", ls.at)
	}
	if m := v.Get("result.message"); isMessage(m) { // of a batch, whose answers belong to none
		ls.s.format = History
		return true, ls.talks.said(m, "", "batch\x00"+v.Get("custom_id").String(), ls.at)
	}
	list := v.Get("messages")
	if !list.IsArray() {
		return false, nil
	}
	key, model := fmt.Sprint("history\x00", ls.at), v.Get("model").String()
	for _, m := range list.Array() {
		switch inner := m.Get("message"); {
		case isMessage(m):
			known = true
			ls.s.format = History
			err = ls.talks.said(m, model, key, ls.at)
		case inner.IsObject() && m.Get("direction").Exists(): // what went between an agent and who drives it
			known = true
			err = ls.take([]byte(inner.Raw))
		}
		if err != nil {
			return known, err
		}
	}
	return known, nil
}

// isMessage: role and content make a message.
func isMessage(v gjson.Result) bool {
	role := v.Get("role").String()
	content := v.Get("content")
	return (role == "user" || role == "assistant") && (content.IsArray() || content.Type == gjson.String) && !v.Get("tool_calls").Exists()
}

// said takes a message, which has no time.
func (ts *talks) said(m gjson.Result, model, key string, line int) error {
	t, err := ts.of(key, "", "")
	if err != nil {
		return err
	}
	t.bare = true
	if m.Get("role").String() == "user" {
		t.asked = true
		t.answers(m, m.Get("content"), time.Time{}, line)
		return nil
	}
	d, err := t.draft(strings.Clone(m.Get("id").String()), strings.Clone(or(m.Get("model").String(), model)), line, callIDs(m.Get("content")))
	if err != nil {
		return err
	}
	d.turn.Stop, d.turn.Usage = strings.Clone(m.Get("stop_reason").String()), usageIn(m.Get("usage"))
	return t.content(d, m.Get("content"), time.Time{})
}
