package shop_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/spf13/afero"

	"toolbench/scenarios/scenariotest"
	"toolbench/sim/scenario/check"
	"toolbench/sim/scenario/run"
	"toolbench/toolsys/tool"
	"toolbench/toolsys/trace"
)

var update = flag.Bool("update", false, "write what was found into the scenarios")

type (
	query struct {
		ID string `json:"id" jsonschema:"the order's number"`
	}
	refund struct {
		ID     string `json:"id" jsonschema:"the order's number"`
		Amount int    `json:"amount" jsonschema:"in cents" minimum:"1"`
	}
	order struct {
		State string `json:"state"`
		Total int    `json:"total"`
	}
)

// tools are the shop's, over the disk and the clock of a run.
func tools(w run.World) ([]*tool.Tool, error) {
	find := func(id string) (o order, err error) {
		data, err := afero.ReadFile(w.FS, path.Join(w.Dir, "orders", id+".json"))
		if err != nil {
			return o, fmt.Errorf("there is no order %s", id)
		}
		return o, json.Unmarshal(data, &o)
	}
	queryOrder := tool.Must(tool.Def[query, order]{
		Name: "queryOrder", Description: "Looks up an order.",
		Traits: tool.Traits[query]{Safe: tool.Always[query], ReadOnly: tool.Always[query]},
		Call: func(ctx context.Context, in query, _ *tool.Context) (tool.Result[order], error) {
			if err := w.Clock.Sleep(ctx, "shop/"+in.ID, 200*time.Millisecond); err != nil {
				return tool.Result[order]{}, err
			}
			o, err := find(in.ID)
			return tool.Done(o), err
		},
	})
	createRefund := tool.Must(tool.Def[refund, string]{
		Name: "createRefund", Description: "Pays money back.",
		Call: func(_ context.Context, in refund, _ *tool.Context) (tool.Result[string], error) {
			o, err := find(in.ID)
			if err != nil {
				return tool.Result[string]{}, err
			}
			if in.Amount > o.Total {
				return tool.Result[string]{}, fmt.Errorf("order %s came to %d", in.ID, o.Total)
			}
			line := fmt.Sprintf("%s %d\n", in.ID, in.Amount)
			return tool.Done("paid back"), afero.WriteFile(w.FS, path.Join(w.Dir, "refunds.log"), []byte(line), 0o644)
		},
	})
	return []*tool.Tool{queryOrder, createRefund}, nil
}

// logged fails where money was paid back and nothing of it stands in the log.
func logged(out check.Result) error {
	paid, log := 0, ""
	for _, e := range out.Trace {
		switch d := e.Data.(type) {
		case trace.Emitted:
			if e.Tool == "createRefund" && d.Status == "ok" {
				paid++
			}
		case trace.File:
			if strings.HasSuffix(d.Path, "refunds.log") {
				log = d.Content
			}
		}
	}
	if paid > 0 && log == "" {
		return errors.New("a refund was paid and not logged")
	}
	return nil
}

func TestScenarios(t *testing.T) {
	scenariotest.Run(t, "testdata/*.yaml", scenariotest.Options{
		Own:    run.Own{Tools: tools, Checks: map[string]func(check.Result) error{"refunds-are-logged": logged}},
		Update: *update,
	})
}
