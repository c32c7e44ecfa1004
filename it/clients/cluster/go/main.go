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

func main() {
	ctx := context.Background()
	client := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs:       []string{"127.0.0.1:" + os.Args[1]},
		ReadTimeout: 2 * time.Second,
	})
	last := make([]int64, keys)
	kinds := map[string]int{}
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
			kinds[strings.Join(words[:min(3, len(words))], " ")]++
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
	fmt.Printf("go-redis: %d increments, %d errors %v, %d values went back, longest gap %.1f s\n",
		done, errors, kinds, lost, gap.Seconds())
}
