package io.varve.server.command;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;

import io.varve.memory.Cache;
import io.varve.memory.item.Ticker;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.ScriptUse;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.session.Transaction;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.persistence.ChangeStream;
import org.jspecify.annotations.Nullable;

/**
 * CLIENT PAUSE: which commands of clients wait, and until when. Guarded by its own monitor; any thread reads the
 * volatile mode.
 *
 * <p>Writes are held by the {@link ChangeStream}, as for a failover: also those that have passed the first check. What
 * has expired is hidden meanwhile and not removed, so that the change stream stands still. Eviction goes on: replies
 * may need its memory.
 */
public final class ClientPause {
    /** What waits; each one holds more than the one before. */
    public enum Mode {
        NONE, WRITE, ALL
    }

    private final Ticker ticker;
    private final ChangeStream changes;
    private final Cache cache;
    private final Set<Runnable> waiting = new LinkedHashSet<>();
    private volatile Mode mode = Mode.NONE;
    private long endNanos;

    ClientPause(Ticker ticker, ChangeStream changes, Cache cache) {
        this.ticker = ticker;
        this.changes = changes;
        this.cache = cache;
    }

    /** Whether any commands wait. */
    public boolean isAny() {
        return mode != Mode.NONE;
    }

    public Mode mode() {
        return mode;
    }

    /**
     * Begins a pause, or lets the present one last longer or hold more. A write that was not held before may still run:
     * see {@link ServerState#awaitOlderCommands}.
     */
    public synchronized void begin(Mode what, long millis) {
        long end = ticker.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        if (mode == Mode.NONE) {
            endNanos = end;
            mode = what;
            changes.pauseWrites();
            cache.keepExpired(true);
        } else {
            endNanos = end - endNanos > 0 ? end : endNanos;
            mode = what.compareTo(mode) > 0 ? what : mode;
        }
    }

    /** Ends the pause; without effect if there is none. */
    public void end() {
        List<Runnable> woken;
        synchronized (this) {
            if (mode == Mode.NONE) {
                return;
            }
            mode = Mode.NONE;
            cache.keepExpired(false);
            woken = List.copyOf(waiting);
            waiting.clear();
        }
        changes.resumeWrites();
        woken.forEach(Runnable::run);
    }

    /** Ends the pause if its time is over. */
    public void endIfDue() {
        if (isAny() && leftNanos() <= 0) {
            end();
        }
    }

    private synchronized long leftNanos() {
        return mode == Mode.NONE ? 0 : endNanos - ticker.nanoTime();
    }

    /** Milliseconds until the pause ends; 0 if there is none. */
    public long leftMillis() {
        return Math.max(0, TimeUnit.NANOSECONDS.toMillis(leftNanos()));
    }

    /**
     * Whether a command waits. CLIENT UNPAUSE never does, nor what replicas send.
     *
     * @param executed the transaction that the command runs; null if it is not EXEC
     */
    public boolean holds(Batch batch, int command, Client client, @Nullable Transaction executed) {
        if (!isAny() || client.isReplica() || client.connection().isReplay()) {
            return false;
        }
        endIfDue();
        return switch (mode) {
            case NONE -> false;
            case WRITE -> changesReplicas(batch, command) || executed != null && changesReplicas(executed.batch());
            case ALL -> !Objects.requireNonNull(batch.spec(command)).fullName().equals("client|unpause");
        };
    }

    /** Whether replicas may receive anything for the command. */
    private static boolean changesReplicas(Batch batch, int command) {
        return Objects.requireNonNull(batch.spec(command)).has(CommandTrait.MAY_REPLICATE)
                || ScriptUse.mayWrite(batch, command);
    }

    private static boolean changesReplicas(Batch queued) {
        for (int i = 0; i < queued.commandCount(); i++) {
            if (changesReplicas(queued, i)) {
                return true;
            }
        }
        return false;
    }

    /** The wait of a command, which runs again afterwards. CLIENT LIST and INFO show it, as in Redis. */
    public ParkedCommand await() {
        ParkedCommand wait = ParkedCommand.silent(Math.max(1, leftMillis() + 1));
        Runnable resume = wait::resume;
        wait.onFinish(() -> cancel(resume));
        synchronized (this) {
            if (isAny()) {
                waiting.add(resume);
                return wait;
            }
        }
        wait.resume();
        return wait;
    }

    private synchronized void cancel(Runnable action) {
        waiting.remove(action);
    }
}
