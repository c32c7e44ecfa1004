package io.varve.server.command.dispatch;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Key;
import io.varve.memory.shard.ShardSet;
import io.varve.server.command.CommandContext;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.script.RunningScripts;
import org.jspecify.annotations.Nullable;

/**
 * Parks commands of an event loop that find a shard locked for long, so that a slow command of another loop does not
 * block all clients of this one. Confined to that loop.
 *
 * <p>A command first retries the lock for longer than maintenance holds one. Then it is parked, having changed nothing,
 * and the client's later commands wait with it. When the holder unlocks the shard, it notifies this loop. All commands
 * parked here for the shard run again in the order of their arrival. The shard remains reserved for them until then. A
 * command that arrives while others wait joins them.
 */
final class ShardWaiters {
    private static final int POLL_ONCE = -1;
    /**
     * Delay of the next check, ms. An unlock may miss, by some nanoseconds, that the shard is wanted; this check finds
     * it.
     */
    private static final int POLL_MILLIS = 10;

    private final CacheSession session;
    private final EventLoopExecutor loop;
    private final RunningScripts scripts;
    private final @Nullable ParkedAtShard[] byShard;
    /**
     * The shards whose parked commands are being re-run after an unlock: they stay reserved for this loop from one
     * command to the next.
     */
    private final ShardSet notified;
    /** Number of awaited shards; the loop checks periodically while it is above 0. */
    private int awaited;
    private boolean polls;

    /** The commands that wait for a shard. Confined to the event loop, except for {@code onUnlock}. */
    private final class ParkedAtShard {
        private final int shard;
        private final Runnable onUnlock;
        private final Set<ParkedCommand> commands = new LinkedHashSet<>();
        private boolean unlockRequested;

        ParkedAtShard(int shard) {
            this.shard = shard;
            onUnlock = () -> {
                unlockRequested = false;
                if (commands.isEmpty()) {
                    session.cancelReservation(shard);
                }
                resumeAll(this);
            };
        }
    }

    ShardWaiters(CacheSession session, int shardCount, EventLoopExecutor loop, RunningScripts scripts) {
        this.scripts = scripts;
        this.session = session;
        this.loop = loop;
        byShard = new ParkedAtShard[shardCount];
        notified = new ShardSet(shardCount);
    }

    /** The error for a command that has waited too long for a script. */
    String busyError() {
        String busy = scripts.busyError();
        return busy == null ? RunningScripts.BUSY_SCRIPT : busy;
    }

    /** Locks the shard of a key, which was held a moment ago; false if the command is to run again later. */
    boolean lock(CommandContext context, Key key) {
        int shard = key.shard();
        if (!session.lockWithin(key, maxNaps(shard), notified.contains(shard))) {
            park(context, shard);
            return false;
        }
        renewFor(shard);
        return true;
    }

    /** Locks all shards of a set, or none: false if the command is to run again later. */
    boolean lock(CommandContext context, ShardSet shards) {
        int held = awaited == 0 ? -1 : firstAwaited(shards);
        if (held < 0) {
            held = session.lockWithin(shards, CacheSession.DEFAULT_NAPS, notified);
        }
        if (held >= 0) {
            park(context, held);
            return false;
        }
        for (int i = shards.next(0); i >= 0; i = shards.next(i + 1)) {
            renewFor(i);
        }
        return true;
    }

    /**
     * The first held shard for which other commands wait, so that a new command queues behind them; -1 if there is
     * none.
     */
    private int firstAwaited(ShardSet shards) {
        for (int i = shards.next(0); i >= 0; i = shards.next(i + 1)) {
            if (maxNaps(i) == POLL_ONCE && session.isLocked(i)) {
                return i;
            }
        }
        return -1;
    }

    private int maxNaps(int shard) {
        ParkedAtShard waiting = byShard[shard];
        return waiting == null || waiting.commands.isEmpty() ? CacheSession.DEFAULT_NAPS : POLL_ONCE;
    }

    /** Renews the reservation of a locked shard for the next of the re-run commands. */
    private void renewFor(int shard) {
        if (notified.contains(shard)) {
            session.renewReservation(shard);
        }
    }

    private void park(CommandContext context, int shard) {
        String busy = scripts.busyError();
        if (busy != null && !context.client().connection().isReplay()) {
            Refusal.reply(context.client(), context.spec(), context.reply(), busy);
            return;
        }
        ParkedAtShard waiting = byShard[shard];
        if (waiting == null) {
            waiting = new ParkedAtShard(shard);
            byShard[shard] = waiting;
        }
        ParkedCommand wait = context.parkForRetry();
        Set<ParkedCommand> commands = waiting.commands;
        if (commands.isEmpty()) {
            awaited++;
        }
        commands.add(wait);
        wait.onFinish(() -> {
            // If it was called, it is not in the set.
            if (commands.remove(wait) && commands.isEmpty()) {
                awaited--;
            }
        });
        requestUnlockCallback(waiting);
        schedulePoll();
    }

    private void requestUnlockCallback(ParkedAtShard waiting) {
        if (waiting.unlockRequested) {
            return;
        }
        session.onUnlock(waiting.shard, () -> loop.execute(waiting.onUnlock));
        waiting.unlockRequested = true;
        if (session.isFree(waiting.shard)) {
            // The shard was unlocked just before: there might be no later unlock that notifies.
            loop.execute(() -> resumeAll(waiting));
        }
    }

    private void resumeAll(ParkedAtShard waiting) {
        Set<ParkedCommand> commands = waiting.commands;
        if (commands.isEmpty()) {
            return;
        }
        List<ParkedCommand> all = List.copyOf(commands);
        commands.clear();
        awaited--;
        notified.add(waiting.shard);
        all.forEach(ParkedCommand::resume);
        // After the re-runs.
        loop.execute(() -> {
            notified.remove(waiting.shard);
            session.cancelReservation(waiting.shard);
        });
    }

    private void schedulePoll() {
        if (!polls) {
            loop.schedule(this::poll, POLL_MILLIS);
            polls = true;
        }
    }

    private void poll() {
        polls = false;
        boolean isBusy = scripts.slow() != null;
        for (ParkedAtShard waiting : byShard) {
            if (waiting != null && (isBusy || !session.isLocked(waiting.shard))) {
                // The unlock did not see that the shard was wanted, or a script keeps it for long.
                waiting.unlockRequested = false;
                resumeAll(waiting);
            }
        }
        if (awaited > 0) {
            schedulePoll();
        }
    }
}
