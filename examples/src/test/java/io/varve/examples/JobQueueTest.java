package io.varve.examples;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import io.lettuce.core.LMoveArgs;
import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import io.varve.examples.JobQueue.Job;
import io.varve.server.VarveServer;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests {@link JobQueue}. Confined to the test's thread, except the workers that it starts. */
class JobQueueTest {
    private static final Duration TIME_TO_FINISH = Duration.ofMinutes(1);
    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final Duration A_MOMENT = Duration.ofMillis(10);
    private static final int JOBS = 200;
    private static final int WORKERS = 4;

    private final SetClock clock = new SetClock(Instant.ofEpochSecond(1_000_000));

    private JobQueue queue(RedisClient client) {
        return new JobQueue(client, TIME_TO_FINISH, clock);
    }

    @Test
    void jobsAreTakenInTheirOrderAndGoWhenTheyAreFinished() throws Exception {
        try (VarveServer varve = Varve.start();
                RedisClient client = Varve.lettuce(varve);
                StatefulRedisConnection<String, String> reader = client.connect();
                JobQueue queue = queue(client)) {
            queue.submit("first");
            queue.submit("second");
            Job first = queue.take(PATIENCE).orElseThrow();
            Job second = queue.take(PATIENCE).orElseThrow();
            assertThat(List.of(first.content(), second.content())).containsExactly("first", "second");
            assertThat(queue.take(A_MOMENT)).isEmpty();
            assertThat(queue.finish(second)).isTrue();
            assertThat(queue.finish(first)).isTrue();
            assertThat(queue.finish(first)).isFalse();
            assertThat(reader.sync().dbsize()).isZero();
        }
    }

    @Test
    void waitingWorkerGetsNewJobAtOnce() throws Exception {
        try (VarveServer varve = Varve.start();
                RedisClient client = Varve.lettuce(varve);
                JobQueue waiting = queue(client);
                JobQueue submitting = queue(client);
                ExecutorService threads = Executors.newSingleThreadExecutor()) {
            Future<Job> taken = threads.submit(() -> waiting.take(PATIENCE).orElseThrow());
            String id = submitting.submit("job");
            assertThat(taken.get().id()).isEqualTo(id);
        }
    }

    @Test
    void overdueJobIsRedeliveredAndLateResultIsIgnored() throws Exception {
        try (VarveServer varve = Varve.start();
                RedisClient client = Varve.lettuce(varve);
                StatefulRedisConnection<String, String> reader = client.connect();
                JobQueue slow = queue(client);
                JobQueue quick = queue(client)) {
            slow.submit("job");
            slow.submit("next");
            Job late = slow.take(PATIENCE).orElseThrow();
            assertThat(quick.bringBackOverdue()).isZero();
            clock.advance(TIME_TO_FINISH);
            assertThat(quick.bringBackOverdue()).isOne();
            assertThat(slow.finish(late)).isFalse();
            Job again = quick.take(PATIENCE).orElseThrow();
            assertThat(again.content()).isEqualTo("job");
            assertThat(again.id()).isEqualTo(late.id());
            assertThat(slow.finish(late)).isFalse();
            assertThat(quick.finish(again)).isTrue();
            assertThat(quick.finish(quick.take(PATIENCE).orElseThrow())).isTrue();
            assertThat(reader.sync().dbsize()).isZero();
        }
    }

    /** A worker that has taken a job and died before it could say until when. */
    @Test
    void jobWithoutDeadlineIsRedelivered() throws Exception {
        try (VarveServer varve = Varve.start();
                RedisClient client = Varve.lettuce(varve);
                StatefulRedisConnection<String, String> died = client.connect();
                JobQueue queue = queue(client)) {
            String id = queue.submit("job");
            assertThat(died.sync().lmove("jobs:waiting", "jobs:running", LMoveArgs.Builder.rightLeft())).isEqualTo(id);
            assertThat(queue.bringBackOverdue()).isZero();
            assertThat(queue.take(A_MOMENT)).isEmpty();
            clock.advance(TIME_TO_FINISH);
            assertThat(queue.bringBackOverdue()).isOne();
            assertThat(queue.finish(queue.take(PATIENCE).orElseThrow())).isTrue();
            assertThat(died.sync().dbsize()).isZero();
        }
    }

    /** Workers forget every third job that they take; all are done in the end, and each counts once. */
    @Test
    void noJobIsLostIfWorkersFail() throws Exception {
        Map<String, String> done = new ConcurrentHashMap<>();
        CountDownLatch left = new CountDownLatch(JOBS);
        try (VarveServer varve = Varve.start();
                RedisClient client = Varve.lettuce(varve);
                JobQueue keeper = queue(client);
                ExecutorService threads = Executors.newFixedThreadPool(WORKERS)) {
            List<Future<Integer>> workers = new ArrayList<>();
            for (int i = 0; i < WORKERS; i++) {
                workers.add(threads.submit(() -> work(client, done, left)));
            }
            for (int i = 0; i < JOBS; i++) {
                keeper.submit("job " + i);
            }
            int cameBack = 0;
            while (!left.await(A_MOMENT.toMillis(), TimeUnit.MILLISECONDS)) {
                clock.advance(TIME_TO_FINISH);
                cameBack += keeper.bringBackOverdue();
            }
            int taken = 0;
            for (Future<Integer> worker : workers) {
                taken += worker.get();
            }
            assertThat(done).hasSize(JOBS);
            assertThat(cameBack).isPositive();
            assertThat(taken).isGreaterThan(JOBS);
        }
    }

    private int work(RedisClient client, Map<String, String> done, CountDownLatch left) {
        int taken = 0;
        try (JobQueue queue = queue(client)) {
            while (left.getCount() > 0) {
                Job job = queue.take(A_MOMENT).orElse(null);
                if (job != null && ++taken % 3 != 0 && queue.finish(job)) {
                    assertThat(done.put(job.content(), job.id())).as("finished twice").isNull();
                    left.countDown();
                }
            }
        }
        return taken;
    }
}
