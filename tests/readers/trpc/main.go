// Reads what eval-job wrote with the own managers of trpc-agent-go: results or cases, of an app in a base folder.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"trpc.group/trpc-go/trpc-agent-go/evaluation/evalresult"
	resultlocal "trpc.group/trpc-go/trpc-agent-go/evaluation/evalresult/local"
	"trpc.group/trpc-go/trpc-agent-go/evaluation/evalset"
	setlocal "trpc.group/trpc-go/trpc-agent-go/evaluation/evalset/local"
	"trpc.group/trpc-go/trpc-agent-go/evaluation/metric"
	metriclocal "trpc.group/trpc-go/trpc-agent-go/evaluation/metric/local"
)

func check(err error) {
	if err != nil {
		fmt.Println("ERROR", err)
		os.Exit(1)
	}
}

func main() {
	ctx := context.Background()
	base, app := os.Args[2], os.Args[3]
	out := map[string]any{}
	if os.Args[1] == "results" {
		m := resultlocal.New(evalresult.WithBaseDir(base))
		ids, err := m.List(ctx, app)
		check(err)
		for _, id := range ids {
			r, err := m.Get(ctx, app, id)
			check(err)
			out[id] = r
		}
	} else {
		m := setlocal.New(evalset.WithBaseDir(base))
		mm := metriclocal.New(metric.WithBaseDir(base))
		ids, err := m.List(ctx, app)
		check(err)
		for _, id := range ids {
			s, err := m.Get(ctx, app, id)
			check(err)
			names, err := mm.List(ctx, app, id)
			check(err)
			metrics := []any{}
			for _, n := range names {
				x, err := mm.Get(ctx, app, id, n)
				check(err)
				metrics = append(metrics, x)
			}
			out[id] = map[string]any{"set": s, "metrics": metrics}
		}
	}
	b, err := json.MarshalIndent(out, "", " ")
	check(err)
	fmt.Println(string(b))
}
