package io.varve.server.command.dispatch;

import java.util.HashMap;
import java.util.Map;

import io.varve.memory.CacheSession;
import io.varve.memory.Looks;
import io.varve.memory.ShardSet;
import io.varve.server.admin.ErrorCounts;
import io.varve.server.command.Batch;
import io.varve.server.command.Client;
import io.varve.server.command.ServerContext;
import org.jspecify.annotations.Nullable;

/**
 * What the commands of a transaction count for in the statistics. Confined to its event loop; reused from transaction to transaction.
 *
 * <p>As long as they may run again, because there was no room for one of them, it is only noted: what they do the last time counts.
 */
final class TransactionCounts {
    /** Most transactions have no more commands: what more of them take is what {@link io.varve.server.command.Transaction} has been charged with. */
    private static final int KEPT = 128;

    private final ServerContext server;
    private final CacheSession session;
    private final CommandTimes times;
    private final Looks before;
    private final long[] kept = new long[KEPT];
    /** How long each command has taken, ns; the complement of it if it has replied an error. */
    private long[] nanos = kept;
    /** Prefixes of errors, of which there are few. */
    private final Map<String, Integer> errors = new HashMap<>();
    private int noted;
    private int counted;
    private boolean settled;

    TransactionCounts(ServerContext server, CacheSession session, CommandTimes times, int shardCount) {
        this.server = server;
        this.session = session;
        this.times = times;
        before = new Looks(shardCount);
    }

    /** Commands are going to run, for the first time or again, under the locks of these shards. */
    void begin(int commands, ShardSet locked) {
        nanos = commands <= KEPT ? kept : new long[commands];
        noted = 0;
        counted = 0;
        settled = false;
        errors.clear();
        session.note(locked, before);
    }

    /**
     * The next command has run.
     *
     * @param took  ns
     * @param error the last that it has replied; null if it has not
     */
    void ran(Batch batch, Client client, long took, @Nullable String error) {
        nanos[noted++] = error == null ? took : ~took;
        if (error != null) {
            errors.merge(ErrorCounts.prefix(error), 1, Integer::sum);
        }
        if (settled) {
            count(batch, client);
        }
    }

    /** None of the commands that have run, or will, runs again. */
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
            errors.forEach(server.errors()::add);
            errors.clear();
        }
    }

    /** They run again: what they have looked for in these shards, which are locked still, is looked for once more. */
    void takeBack(ShardSet locked) {
        assert !settled : "what has been counted is not taken back";
        session.forgetSince(locked, before);
    }

    /** The transaction is over, or waits. */
    void end() {
        nanos = kept;
    }
}
