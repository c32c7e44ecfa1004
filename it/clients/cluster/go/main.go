// Command cluster increments counters through go-redis' ClusterClient until a file exists, and prints what happened.
//
// Run by cluster-clients.sh: cluster PORT STOP-FILE
package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

const keys = 200

// kind counts one kind of error, with the seconds since the start of the first and the last.
type kind struct {
	count       int
	first, last float64
}

func main() {
	ctx := context.Background()
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:       []string{"127.0.0.1:" + os.Args[1]},
		ReadTimeout: 2 * time.Second,
	})
	last := make([]int64, keys)
	kinds := map[string]*kind{}
	start := time.Now()
	var done, errors, lost int
	var gap time.Duration
	answered := time.Now()
	for i := 0; ; i++ {
		if _, err := os.Stat(os.Args[2]); err == nil {
			break
		}
		key := i % keys
		value, err := client.Incr(ctx, fmt.Sprintf("go-redis:%d", key)).Result()
		if err != nil {
			errors++
			words := strings.Fields(err.Error())
			name := strings.Join(words[:min(3, len(words))], " ")
			now := time.Since(start).Seconds()
			if kinds[name] == nil {
				kinds[name] = &kind{first: now}
			}
			kinds[name].count++
			kinds[name].last = now
		} else {
			done++
			if value <= last[key] {
				lost++
			}
			last[key] = value
			gap = max(gap, time.Since(answered))
			answered = time.Now()
		}
		time.Sleep(time.Millisecond)
	}
	fmt.Printf("go-redis: %d increments, %d errors, %d values went back, longest gap %.1f s\n",
		done, errors, lost, gap.Seconds())
	for name, kind := range kinds {
		fmt.Printf("go-redis: %d times %q, from second %.1f to %.1f\n", kind.count, name, kind.first, kind.last)
	}
}
