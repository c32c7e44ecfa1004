// Command asynq tests asynq's client, server, scheduler and inspector.
//
// Run by applications.sh with the port of a server.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"applications/features"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"
)

var (
	connection = asynq.RedisClientOpt{Addr: features.Address(), DB: 12}
	client     = asynq.NewClient(connection)
	inspector  = asynq.NewInspector(connection)
	ran        sync.Map
	attempts   atomic.Int32
	ticks      atomic.Int32
	groups     atomic.Int32
)

// quiet keeps asynq's log out of the output.
type quiet struct{}

func (quiet) Debug(...any)      {}
func (quiet) Info(...any)       {}
func (quiet) Warn(args ...any)  { fmt.Fprintln(os.Stderr, args...) }
func (quiet) Error(args ...any) { fmt.Fprintln(os.Stderr, args...) }
func (quiet) Fatal(args ...any) { fmt.Fprintln(os.Stderr, args...) }

func serve(queues map[string]int) *asynq.Server {
	server := asynq.NewServer(connection, asynq.Config{
		Concurrency:              4,
		Queues:                   queues,
		RetryDelayFunc:           func(int, error, *asynq.Task) time.Duration { return 10 * time.Millisecond },
		DelayedTaskCheckInterval: 100 * time.Millisecond,
		TaskCheckInterval:        50 * time.Millisecond,
		JanitorInterval:          200 * time.Millisecond,
		GroupGracePeriod:         time.Second,
		GroupMaxSize:             3,
		GroupAggregator: asynq.GroupAggregatorFunc(func(group string, tasks []*asynq.Task) *asynq.Task {
			return asynq.NewTask("group", []byte(fmt.Sprint(len(tasks))))
		}),
		Logger:   quiet{},
		LogLevel: asynq.WarnLevel,
	})
	mux := asynq.NewServeMux()
	mux.HandleFunc("note", func(ctx context.Context, task *asynq.Task) error {
		ran.Store(string(task.Payload()), time.Now())
		_, err := task.ResultWriter().Write([]byte("result of " + string(task.Payload())))
		return err
	})
	mux.HandleFunc("flaky", func(context.Context, *asynq.Task) error {
		if attempts.Add(1) < 3 {
			return errors.New("as it should")
		}
		return nil
	})
	mux.HandleFunc("fail", func(context.Context, *asynq.Task) error {
		return fmt.Errorf("as it should: %w", asynq.SkipRetry)
	})
	mux.HandleFunc("wait", func(ctx context.Context, task *asynq.Task) error {
		<-ctx.Done()
		return ctx.Err()
	})
	mux.HandleFunc("die", func(_ context.Context, task *asynq.Task) error {
		if len(os.Args) > 2 {
			os.Exit(0)
		}
		ran.Store(string(task.Payload()), time.Now())
		return nil
	})
	mux.HandleFunc("tick", func(context.Context, *asynq.Task) error {
		ticks.Add(1)
		return nil
	})
	mux.HandleFunc("group", func(_ context.Context, task *asynq.Task) error {
		if string(task.Payload()) == "3" {
			groups.Add(1)
		}
		return nil
	})
	features.Check(server.Start(mux))
	return server
}

func enqueue(kind, payload string, options ...asynq.Option) *asynq.TaskInfo {
	return features.Of(client.Enqueue(asynq.NewTask(kind, []byte(payload)), options...))
}

func untilState(expected asynq.TaskState, task *asynq.TaskInfo) *asynq.TaskInfo {
	var info *asynq.TaskInfo
	features.UntilEqual(expected, func() any {
		info = features.Of(inspector.GetTaskInfo(task.Queue, task.ID))
		return info.State
	})
	return info
}

func main() {
	if len(os.Args) > 2 { // a server of the queue that the argument names, which dies with its first task
		serve(map[string]int{os.Args[2]: 1})
		time.Sleep(time.Minute)
		os.Exit(1)
	}
	server := serve(map[string]int{"default": 2, "low": 1})
	features.Add("task, result, retention", func() {
		task := untilState(asynq.TaskStateCompleted, enqueue("note", "one", asynq.Retention(time.Minute)))
		features.Equal(string(task.Result), "result of one")
	})
	features.Add("200 tasks in two queues", func() {
		for i := range 200 {
			enqueue("note", fmt.Sprint("many ", i), asynq.Queue([]string{"default", "low"}[i%2]))
		}
		features.UntilEqual(200, func() any {
			count := 0
			ran.Range(func(key, _ any) bool {
				if len(key.(string)) > 5 && key.(string)[:5] == "many " {
					count++
				}
				return true
			})
			return count
		})
	})
	features.Add("scheduled tasks", func() {
		begin := time.Now()
		task := enqueue("note", "later", asynq.ProcessIn(2*time.Second), asynq.Retention(time.Minute))
		features.Equal(task.State, asynq.TaskStateScheduled)
		untilState(asynq.TaskStateCompleted, task)
		at, _ := ran.Load("later")
		features.True(at.(time.Time).Sub(begin) >= time.Second, "the task came when it was due") // whole seconds
	})
	features.Add("retries", func() {
		untilState(asynq.TaskStateCompleted, enqueue("flaky", "", asynq.MaxRetry(5), asynq.Retention(time.Minute)))
		features.Equal(attempts.Load(), int32(3))
	})
	features.Add("archive, and run again", func() {
		task := untilState(asynq.TaskStateArchived, enqueue("fail", ""))
		features.Equal(task.LastErr, "as it should: skip retry for the task")
		features.Check(inspector.RunTask("default", task.ID))
		untilState(asynq.TaskStateArchived, task)
		features.Equal(features.Of(inspector.DeleteAllArchivedTasks("default")), 1)
	})
	features.Add("unique tasks", func() {
		task := asynq.NewTask("note", []byte("unique"))
		features.Of(client.Enqueue(task, asynq.Unique(time.Minute), asynq.ProcessIn(time.Hour)))
		_, err := client.Enqueue(task, asynq.Unique(time.Minute), asynq.ProcessIn(time.Hour))
		features.True(errors.Is(err, asynq.ErrDuplicateTask), "the second one is a duplicate")
		_, err = client.Enqueue(task, asynq.TaskID("mine"), asynq.ProcessIn(time.Hour))
		features.Check(err)
		_, err = client.Enqueue(task, asynq.TaskID("mine"), asynq.ProcessIn(time.Hour))
		features.True(errors.Is(err, asynq.ErrTaskIDConflict), "the second one has the same ID")
	})
	features.Add("groups", func() {
		for i := range 3 {
			enqueue("note", fmt.Sprint("member ", i), asynq.Group("mine"))
		}
		features.UntilEqual(int32(1), func() any { return groups.Load() })
	})
	features.Add("deadline, and cancellation of a running task", func() {
		task := enqueue("wait", "", asynq.MaxRetry(0), asynq.Timeout(time.Second))
		untilState(asynq.TaskStateArchived, task)
		running := untilState(asynq.TaskStateActive, enqueue("wait", "", asynq.MaxRetry(0)))
		features.UntilEqual(asynq.TaskStateArchived, func() any {
			features.Check(inspector.CancelProcessing(running.ID))
			return features.Of(inspector.GetTaskInfo("default", running.ID)).State
		})
	})
	features.Add("scheduler", func() {
		scheduler := asynq.NewScheduler(connection, &asynq.SchedulerOpts{Logger: quiet{}, HeartbeatInterval: time.Second})
		id := features.Of(scheduler.Register("@every 1s", asynq.NewTask("tick", nil)))
		features.Check(scheduler.Start())
		features.UntilEqual(true, func() any { return ticks.Load() >= 2 })
		features.UntilEqual(1, func() any { return len(features.Of(inspector.SchedulerEntries())) })
		features.True(len(features.Of(inspector.ListSchedulerEnqueueEvents(id))) >= 1, "its events are kept")
		scheduler.Shutdown()
	})
	features.Add("inspector: queues, history, pause, servers", inspect)
	features.Add("a task of a dead server is recovered", recoverTask)
	status := features.Run()
	server.Shutdown()
	os.Exit(status)
}

func inspect() {
	queues := features.Of(inspector.Queues())
	slices.Sort(queues)
	features.Equal(queues, []string{"default", "low"})
	info := features.Of(inspector.GetQueueInfo("low"))
	features.Equal([]int{info.Processed, info.Failed, info.Size}, []int{100, 0, 0})
	features.Equal(features.Of(inspector.History("low", 1))[0].Processed, 100)
	features.True(info.MemoryUsage == 0, "an empty queue uses no memory")
	features.Equal(len(features.Of(inspector.Servers())), 1)
	features.Check(inspector.PauseQueue("low"))
	task := enqueue("note", "paused", asynq.Queue("low"))
	features.True(features.Of(inspector.GetQueueInfo("low")).Paused, "the queue is paused")
	features.Check(inspector.ArchiveTask("low", task.ID))
	features.Equal(len(features.Of(inspector.ListArchivedTasks("low"))), 1)
	features.Check(inspector.DeleteTask("low", task.ID))
	features.Check(inspector.UnpauseQueue("low"))
	features.Check(inspector.DeleteQueue("low", true))
}

func recoverTask() {
	task := enqueue("die", "saved", asynq.Queue("lost"), asynq.Retention(time.Minute))
	features.Check(exec.Command(os.Args[0], os.Args[1], "lost").Run())
	features.Equal(features.Of(inspector.GetTaskInfo("lost", task.ID)).State, asynq.TaskStateActive)
	// The dead server leased the task for half a minute.
	leases := redis.NewClient(&redis.Options{Addr: features.Address(), DB: connection.DB})
	past := redis.Z{Score: float64(time.Now().Add(-time.Hour).Unix()), Member: task.ID}
	features.Equal(features.Of(leases.ZAddArgs(context.Background(), "asynq:{lost}:lease",
		redis.ZAddArgs{XX: true, Ch: true, Members: []redis.Z{past}}).Result()), int64(1))
	server := serve(map[string]int{"lost": 1})
	defer server.Shutdown()
	untilState(asynq.TaskStateCompleted, task)
	_, found := ran.Load("saved")
	features.True(found, "the task ran in the other server")
}
