package io.varve.examples;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.UUID;

import io.lettuce.core.LMoveArgs;
import io.lettuce.core.Limit;
import io.lettuce.core.Range;
import io.lettuce.core.RedisClient;
import io.lettuce.core.ZAddArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;

/**
 * A job queue that loses no job: a worker has a limited time to finish a job; if it is slow or dies, the job returns to
 * the queue and another worker gets it. Confined to one thread: each worker has a queue with its own connection, on
 * which it blocks and runs its transactions.
 *
 * <pre>
 *                submit              take (BLMOVE)                 finish (MULTI)
 *  jobs:contents ------> jobs:waiting -----------> jobs:running ---------------> gone
 *  (hash by id)          (list)           ^        (list), jobs:deadlines
 *                                         |        (sorted set)    |
 *                                         +------------------------+
 *                                           bringBackOverdue (WATCH)
 * </pre>
 *
 * <p>A job is executed at least once; {@link #finish} reports whether this worker's result counts.
 */
public final class JobQueue implements AutoCloseable {
    private static final String CONTENTS = "jobs:contents";
    private static final String WAITING = "jobs:waiting";
    private static final String RUNNING = "jobs:running";
    private static final String DEADLINES = "jobs:deadlines";
    private static final int OVERDUE_AT_ONCE = 100;

    /**
     * A job that a worker has taken. Immutable.
     *
     * @param content the submitted text
     * @param deadline time from which on another worker may take the job
     */
    public record Job(String id, String content, Instant deadline) {}

    private final StatefulRedisConnection<String, String> connection;
    private final RedisCommands<String, String> redis;
    private final Duration timeToFinish;
    private final InstantSource clock;

    /**
     * @param timeToFinish how long a taken job is invisible to other workers
     * @param clock all sharers of the queue need approximately synchronized clocks
     */
    public JobQueue(RedisClient client, Duration timeToFinish, InstantSource clock) {
        connection = client.connect();
        redis = connection.sync();
        this.timeToFinish = timeToFinish;
        this.clock = clock;
    }

    /** Appends a job. @return its id */
    public String submit(String content) {
        String id = UUID.randomUUID().toString();
        redis.multi();
        redis.hset(CONTENTS, id, content);
        redis.lpush(WAITING, id);
        redis.exec();
        return id;
    }

    /**
     * Takes the job that has waited longest.
     *
     * @param patience maximum wait for one; less than the client's command timeout
     * @return empty if there is none within that time
     */
    public Optional<Job> take(Duration patience) {
        String id = redis.blmove(WAITING, RUNNING, LMoveArgs.Builder.rightLeft(), patience.toMillis() / 1000.0);
        if (id == null) {
            return Optional.empty();
        }
        // A worker that dies here leaves a running job without a deadline: bringBackOverdue sets one. If it has done so
        // already, the job is not ours.
        long deadline = clock.millis() + timeToFinish.toMillis();
        if (redis.zadd(DEADLINES, ZAddArgs.Builder.nx(), deadline, id) == 0) {
            return Optional.empty();
        }
        String content = redis.hget(CONTENTS, id);
        return content == null
                ? Optional.empty()
                : Optional.of(new Job(id, content, Instant.ofEpochMilli(deadline)));
    }

    /** Ends a job. @return false if it was too late: another worker has it, or has had it */
    public boolean finish(Job job) {
        while (true) {
            redis.watch(DEADLINES);
            if (!isStillTakersOwn(job)) {
                redis.unwatch();
                return false;
            }
            redis.multi();
            redis.lrem(RUNNING, 1, job.id());
            redis.zrem(DEADLINES, job.id());
            redis.hdel(CONTENTS, job.id());
            if (!redis.exec().wasDiscarded()) {
                return true;
            }
            // Another job's deadline was changed meanwhile.
        }
    }

    /** The deadline is the proof of ownership: a worker that takes a job again sets another one. */
    private boolean isStillTakersOwn(Job job) {
        Double deadline = redis.zscore(DEADLINES, job.id());
        return deadline != null && deadline.longValue() == job.deadline().toEpochMilli();
    }

    /**
     * Returns overdue jobs to the head of the queue. Any process calls it periodically.
     *
     * @return the number of returned jobs
     */
    public int bringBackOverdue() {
        double comesDue = clock.millis() + timeToFinish.toMillis();
        for (String id : redis.lrange(RUNNING, 0, -1)) {
            // Existing deadlines stay.
            redis.zadd(DEADLINES, ZAddArgs.Builder.nx(), comesDue, id);
        }
        int count = 0;
        for (String id : redis.zrangebyscore(DEADLINES, Range.create(0L, clock.millis()),
                Limit.create(0, OVERDUE_AT_ONCE))) {
            count += bringBack(id) ? 1 : 0;
        }
        return count;
    }

    private boolean bringBack(String id) {
        redis.watch(DEADLINES);
        Double deadline = redis.zscore(DEADLINES, id);
        if (deadline == null || deadline > clock.millis()) {
            redis.unwatch();
            return false;
        }
        boolean exists = redis.hexists(CONTENTS, id);
        redis.multi();
        redis.zrem(DEADLINES, id);
        redis.lrem(RUNNING, 1, id);
        if (exists) {
            redis.rpush(WAITING, id);
        }
        // If it was discarded, another client changed deadlines, and the next call tries again.
        return !redis.exec().wasDiscarded() && exists;
    }

    @Override
    public void close() {
        connection.close();
    }
}
