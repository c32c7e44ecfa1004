package io.varve.server.command.dispatch;

import java.util.HashMap;
import java.util.Map;

import io.varve.memory.CacheSession;
import io.varve.memory.report.HitMissSnapshot;
import io.varve.memory.shard.ShardSet;
import io.varve.server.admin.ErrorCounts;
import io.varve.server.command.ServerState;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.session.Client;
import org.jspecify.annotations.Nullable;

/**
 * The statistics of a transaction's commands. Confined to its event loop; reused from transaction to transaction.
 *
 * <p>While the commands may run again, because one of them ran out of memory, the results are only recorded: the last
 * attempt counts.
 */
final class TransactionCounts {
    /**
     * Most transactions have no more commands. Memory for more is charged to
     * {@link io.varve.server.command.session.Transaction}.
     */
    private static final int KEPT = 128;

    private final ServerState server;
    private final CacheSession session;
    private final CommandTimes times;
    private final HitMissSnapshot before;
    private final long[] kept = new long[KEPT];
    /** Duration of each command, ns; its complement if the command replied an error. */
    private long[] nanos = kept;
    /** Error counts by prefix; there are few prefixes. */
    private final Map<String, Integer> errors = new HashMap<>();
    private int noted;
    private int counted;
    private boolean settled;

    TransactionCounts(ServerState server, CacheSession session, CommandTimes times, int shardCount) {
        this.server = server;
        this.session = session;
        this.times = times;
        before = new HitMissSnapshot(shardCount);
    }

    /** Starts an attempt, the first or a later one, under the locks of these shards. */
    void begin(int commands, ShardSet locked) {
        nanos = commands <= KEPT ? kept : new long[commands];
        noted = 0;
        counted = 0;
        settled = false;
        errors.clear();
        session.note(locked, before);
    }

    /**
     * Records that the next command has run.
     *
     * @param took duration, ns
     * @param failed whether it replied an error
     * @param error the last error that it replied; null if there is none that is not counted yet
     */
    void ran(Batch batch, Client client, long took, boolean failed, @Nullable String error) {
        nanos[noted++] = failed ? ~took : took;
        if (error != null) {
            errors.merge(ErrorCounts.prefix(error), 1, Integer::sum);
        }
        if (settled) {
            count(batch, client);
        }
    }

    /** Counts all recorded and later commands for good, because none of them runs again. */
    void settle(Batch batch, Client client) {
        settled = true;
        count(batch, client);
    }

    boolean isSettled() {
        return settled;
    }

    private void count(Batch batch, Client client) {
        for (; counted < noted; counted++) {
            long took = nanos[counted];
            times.ranWithin(batch, counted, took < 0 ? ~took : took, took < 0, client, session.now());
        }
        if (!errors.isEmpty()) {
            errors.forEach(server.telemetry().errors()::add);
            errors.clear();
        }
    }

    /** Discards the hits and misses of an attempt that is repeated. The shards are still locked. */
    void rollback(ShardSet locked) {
        assert !settled : "counters of a transaction do not decrease";
        session.forgetSince(locked, before);
    }

    /** Ends the attempt when the transaction is over, or waits. */
    void end() {
        nanos = kept;
    }
}
