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
 * A queue of jobs that loses none: a worker that takes one has so long to finish it, and if it does not, because it is slow or dead, the
 * job comes back and another worker gets it. Confined to one thread: each worker has a queue, with a connection of its own, on which it
 * waits and runs its transactions.
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
 * <p>A job is done at least once; {@link #finish} says which worker was the one whose work counts.
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
     * @param content  what was submitted
     * @param deadline after which the job may be somebody else's
     */
    public record Job(String id, String content, Instant deadline) {}

    private final StatefulRedisConnection<String, String> connection;
    private final RedisCommands<String, String> redis;
    private final Duration timeToFinish;
    private final InstantSource clock;

    /**
     * @param timeToFinish how long a job is invisible to others once it is taken
     * @param clock        of which all that share the queue have one that goes about right
     */
    public JobQueue(RedisClient client, Duration timeToFinish, InstantSource clock) {
        connection = client.connect();
        redis = connection.sync();
        this.timeToFinish = timeToFinish;
        this.clock = clock;
    }

    /** Adds a job behind the others. @return its id */
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
     * @param patience how long to wait for one; less than the client's timeout for commands
     * @return empty if there is none within that time
     */
    public Optional<Job> take(Duration patience) {
        String id = redis.blmove(WAITING, RUNNING, LMoveArgs.Builder.rightLeft(), patience.toMillis() / 1000.0);
        if (id == null) {
            return Optional.empty();
        }
        // Who dies here leaves a running job without a deadline: bringBackOverdue gives it one. If it already has, the job is not ours.
        long deadline = clock.millis() + timeToFinish.toMillis();
        if (redis.zadd(DEADLINES, ZAddArgs.Builder.nx(), deadline, id) == 0) {
            return Optional.empty();
        }
        String content = redis.hget(CONTENTS, id);
        return content == null
                ? Optional.empty()
                : Optional.of(new Job(id, content, Instant.ofEpochMilli(deadline)));
    }

    /** Ends a job. @return false if it was too late: somebody else has it, or has had it */
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

    /** The deadline is the proof: who takes a job once more sets another. */
    private boolean isStillTakersOwn(Job job) {
        Double deadline = redis.zscore(DEADLINES, job.id());
        return deadline != null && deadline.longValue() == job.deadline().toEpochMilli();
    }

    /**
     * Brings jobs that are overdue back to the head of the queue. To be called now and then, by anybody.
     *
     * @return how many came back
     */
    public int bringBackOverdue() {
        double comesDue = clock.millis() + timeToFinish.toMillis();
        for (String id : redis.lrange(RUNNING, 0, -1)) {
            // Of those that have a deadline it stays.
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
        boolean isThere = redis.hexists(CONTENTS, id);
        redis.multi();
        redis.zrem(DEADLINES, id);
        redis.lrem(RUNNING, 1, id);
        if (isThere) {
            redis.rpush(WAITING, id);
        }
        // If it was discarded somebody was busy with deadlines, and the next call tries again.
        return !redis.exec().wasDiscarded() && isThere;
    }

    @Override
    public void close() {
        connection.close();
    }
}
