// Command redsync tests redsync's locks with one server and with three databases in place of three servers.
//
// Run by applications.sh with the port of a server.
package main

import (
	"context"
	"errors"
	"os"
	"sync"
	"time"

	"applications/features"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	"github.com/redis/go-redis/v9"
)

const (
	workers    = 4
	increments = 25
)

func main() {
	client := redis.NewClient(&redis.Options{Addr: features.Address()})
	locks := redsync.New(goredis.NewPool(client))
	ctx := context.Background()

	features.Add("lock, valid, unlock", func() {
		mutex := locks.NewMutex("redsync:lock")
		features.Check(mutex.Lock())
		features.True(features.Of(mutex.Valid()), "the lock is valid")
		var taken *redsync.ErrTaken
		err := locks.NewMutex("redsync:lock", redsync.WithTries(1)).Lock()
		features.True(errors.As(err, &taken), "the lock is taken")
		features.True(features.Of(mutex.Unlock()), "the lock is released")
		features.Equal(features.Of(client.Exists(ctx, "redsync:lock").Result()), int64(0))
	})
	features.Add("extend", func() {
		mutex := locks.NewMutex("redsync:extend", redsync.WithExpiry(10*time.Second))
		features.Check(mutex.Lock())
		features.Check(client.PExpire(ctx, "redsync:extend", 3*time.Second).Err())
		features.True(features.Of(mutex.Extend()), "the lock is extended")
		features.True(client.PTTL(ctx, "redsync:extend").Val() > 8*time.Second, "the time was reset")
		features.True(features.Of(mutex.Unlock()), "the lock is released")
	})
	features.Add("extend with SET NX", func() {
		mutex := locks.NewMutex("redsync:again", redsync.WithExpiry(10*time.Second), redsync.WithSetNXOnExtend())
		features.Check(mutex.Lock())
		features.Check(client.Del(ctx, "redsync:again").Err())
		features.True(features.Of(mutex.Extend()), "the lock is set again")
		features.Equal(features.Of(client.Get(ctx, "redsync:again").Result()), mutex.Value())
		features.True(features.Of(mutex.Unlock()), "the lock is released")
	})
	features.Add("another's lock is neither released nor extended", func() {
		mutex := locks.NewMutex("redsync:stolen")
		features.Check(mutex.Lock())
		features.Check(client.Set(ctx, "redsync:stolen", "another", 0).Err())
		extended, _ := mutex.Extend()
		features.True(!extended, "it is not extended")
		released, err := mutex.Unlock()
		features.True(!released && err != nil, "it is not released")
		features.Equal(features.Of(client.Get(ctx, "redsync:stolen").Result()), "another")
	})
	features.Add("an expired lock is reported by unlock", func() {
		mutex := locks.NewMutex("redsync:expired")
		features.Check(mutex.Lock())
		features.Check(client.Del(ctx, "redsync:expired").Err())
		_, err := mutex.Unlock()
		features.True(errors.Is(err, redsync.ErrLockAlreadyExpired), "the error is ErrLockAlreadyExpired")
	})
	features.Add("mutual exclusion", func() { exclude(locks, "redsync:one") })
	features.Add("mutual exclusion with a quorum of three", func() {
		exclude(redsync.New(goredis.NewPool(database(1)), goredis.NewPool(database(2)), goredis.NewPool(database(3))),
			"redsync:quorum")
	})
	os.Exit(features.Run())
}

func database(number int) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: features.Address(), DB: number})
}

func exclude(locks *redsync.Redsync, name string) {
	counter, failures := 0, 0
	var group sync.WaitGroup
	var counting sync.Mutex
	for range workers {
		group.Go(func() {
			for range increments {
				mutex := locks.NewMutex(name, redsync.WithTries(10_000), redsync.WithRetryDelay(time.Millisecond))
				if mutex.Lock() != nil {
					counting.Lock()
					failures++
					counting.Unlock()
					continue
				}
				value := counter
				time.Sleep(100 * time.Microsecond)
				counter = value + 1
				if released, err := mutex.Unlock(); !released || err != nil {
					counting.Lock()
					failures++
					counting.Unlock()
				}
			}
		})
	}
	group.Wait()
	features.Equal(failures, 0)
	features.Equal(counter, workers*increments)
}
