package io.varve.server.command.dispatch;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import io.varve.memory.CacheSession;
import io.varve.memory.ShardSet;
import io.varve.memory.item.Key;
import io.varve.server.command.Invocation;
import io.varve.server.command.Suspension;
import org.jspecify.annotations.Nullable;

/**
 * How the commands of an event loop wait for shards that others hold for long: not with the event loop, which would make all of its clients wait for
 * one slow command of another loop. Confined to that loop.
 *
 * <p>Who finds a shard held looks for it for longer than maintenance holds one. Then its command, which has done nothing, is put off, and what its
 * client sent behind it waits with it. When the shard is let go of, this loop is called, and all who wait here for it run again, in the order in which they
 * came; the shard is reserved for them meanwhile. Who comes while others wait joins them.
 */
final class HeldShards {
    private static final int NO_PATIENCE = -1;
    /** Letting go may miss that somebody wants the shard, by some nanoseconds: then they are called after this. */
    private static final int LOOK_AGAIN_MILLIS = 10;

    private final CacheSession session;
    private final LoopTasks loop;
    private final @Nullable Waiting[] byShard;
    /** Those whose commands are just being run, as they have been let go of: they are reserved for this loop, from one command to the next. */
    private final ShardSet called;
    /** How many shards are waited for; for as long as any is, this loop looks again and again. */
    private int awaited;
    private boolean looks;

    /** Those who wait for a shard. Confined to the event loop, but for its task. */
    private final class Waiting {
        private final int shard;
        private final Runnable letGo;
        private final Set<Suspension> commands = new LinkedHashSet<>();
        private boolean isWanted;

        Waiting(int shard) {
            this.shard = shard;
            letGo = () -> {
                isWanted = false;
                if (commands.isEmpty()) {
                    session.forgo(shard);
                }
                callAll(this);
            };
        }
    }

    HeldShards(CacheSession session, int shardCount, LoopTasks loop) {
        this.session = session;
        this.loop = loop;
        byShard = new Waiting[shardCount];
        called = new ShardSet(shardCount);
    }

    /** Locks the shard of a key, which was just held; false if the command is to run again later. */
    boolean lock(Invocation call, Key key) {
        int shard = key.shard();
        if (call.client().waiter() != null) {
            // It has been called, and what it takes is kept for it.
            session.lock(key);
        } else if (!session.lockWithin(key, patience(shard), called.contains(shard))) {
            putOff(call, shard);
            return false;
        }
        keepFor(shard);
        return true;
    }

    /** Locks all shards of a set, or none: false if the command is to run again later. */
    boolean lock(Invocation call, ShardSet shards) {
        if (call.client().waiter() != null) {
            session.lock(shards);
            return true;
        }
        int held = awaited == 0 ? -1 : firstAwaited(shards);
        if (held < 0) {
            held = session.lockWithin(shards, CacheSession.PATIENCE_NAPS, called);
        }
        if (held >= 0) {
            putOff(call, held);
            return false;
        }
        for (int i = shards.next(0); i >= 0; i = shards.next(i + 1)) {
            keepFor(i);
        }
        return true;
    }

    /** The first of them that is held, and that others wait for: who comes now waits behind them. */
    private int firstAwaited(ShardSet shards) {
        for (int i = shards.next(0); i >= 0; i = shards.next(i + 1)) {
            if (patience(i) == NO_PATIENCE && session.isLocked(i)) {
                return i;
            }
        }
        return -1;
    }

    private int patience(int shard) {
        Waiting waiting = byShard[shard];
        return waiting == null || waiting.commands.isEmpty() ? CacheSession.PATIENCE_NAPS : NO_PATIENCE;
    }

    /** A shard has been locked for one of those who were called: for the next of them it will be reserved again. */
    private void keepFor(int shard) {
        if (called.contains(shard)) {
            session.keepReserved(shard);
        }
    }

    private void putOff(Invocation call, int shard) {
        Waiting waiting = byShard[shard];
        if (waiting == null) {
            waiting = new Waiting(shard);
            byShard[shard] = waiting;
        }
        Suspension wait = call.runAgain();
        Set<Suspension> commands = waiting.commands;
        if (commands.isEmpty()) {
            awaited++;
        }
        commands.add(wait);
        wait.whenOver(() -> {
            // If it was called, it is none of them any more.
            if (commands.remove(wait) && commands.isEmpty()) {
                awaited--;
            }
        });
        want(waiting);
        lookLater();
    }

    private void want(Waiting waiting) {
        if (waiting.isWanted) {
            return;
        }
        session.want(waiting.shard, () -> loop.execute(waiting.letGo));
        waiting.isWanted = true;
        if (session.isFree(waiting.shard)) {
            // It was let go of just before: nobody might ever do so again.
            loop.execute(() -> callAll(waiting));
        }
    }

    private void callAll(Waiting waiting) {
        Set<Suspension> commands = waiting.commands;
        if (commands.isEmpty()) {
            return;
        }
        List<Suspension> all = List.copyOf(commands);
        commands.clear();
        awaited--;
        called.add(waiting.shard);
        all.forEach(Suspension::again);
        // Behind their turns.
        loop.execute(() -> {
            called.remove(waiting.shard);
            session.forgo(waiting.shard);
        });
    }

    private void lookLater() {
        if (!looks) {
            loop.schedule(this::look, LOOK_AGAIN_MILLIS);
            looks = true;
        }
    }

    private void look() {
        looks = false;
        for (Waiting waiting : byShard) {
            if (waiting != null && !session.isLocked(waiting.shard)) {
                // Whoever let go of it did not see that it was wanted.
                waiting.isWanted = false;
                callAll(waiting);
            }
        }
        if (awaited > 0) {
            lookLater();
        }
    }
}
