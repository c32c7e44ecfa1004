package io.varve.server.command.blocking;

import io.varve.memory.item.Key;
import io.varve.server.blocking.BarrierWaiter;
import io.varve.server.blocking.BlockedKeys;
import io.varve.server.command.CommandContext;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.BatchArguments;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;
import org.jspecify.annotations.Nullable;

/**
 * Delays commands whose keys are reserved for woken clients. Immutable: static methods only.
 *
 * <p>A delayed command has changed nothing. Its handler returns without a reply, and it is run again later.
 *
 * @see BlockedKeys
 */
public final class KeyReservations {
    private KeyReservations() {}

    /**
     * Delays commands if one of their keys is reserved, or if one is awaited while the barrier is closed.
     *
     * @param named the batch of the commands, whose key shards are locked
     * @param first number of the first command
     * @param end number after the last command
     * @return whether the commands must not run now
     */
    public static boolean delay(CommandContext context, Batch named, int first, int end) {
        BlockedKeys blocked = context.server().blockedKeys();
        if (!blocked.isAnyDelayed()) {
            return false;
        }
        for (int command = first; command < end; command++) {
            Key key = delayedKey(context, blocked, named, command);
            if (key != null) {
                ParkedCommand wait = Blocking.delayed(context);
                BarrierWaiter barrierWaiter = new BarrierWaiter(BarrierWaiter.Kind.CALL);
                if (blocked.runWhenReleased(key, barrierWaiter, wait::resume)) {
                    context.client().waitState().barrierPlace(barrierWaiter);
                }
                context.retryAfter(wait);
                return true;
            }
        }
        return false;
    }

    private static @Nullable Key delayedKey(CommandContext context, BlockedKeys blocked, Batch named, int command) {
        int first = named.firstKey(command);
        int count = named.keyCount(command);
        for (int i = first; i < first + count; i++) {
            if (blocked.isDelayed(named.key(i))) {
                return named.key(i);
            }
        }
        CommandSpec spec = named.spec(command);
        CommandSpec.TargetDatabase target = spec == null ? null : spec.targetDatabase();
        int database = target == null || count == 0
                ? -1
                : target.of(new BatchArguments(named, command), context.cache().databaseCount());
        if (database >= 0) {
            Key name = named.key(first + count - 1);
            context.session().bind(context.keyInOtherDatabase(), database, name.address(), name.length());
            if (blocked.isDelayed(context.keyInOtherDatabase())) {
                return context.keyInOtherDatabase();
            }
        }
        return null;
    }

    /**
     * Delays a command that names no key and for which no shard is locked. {@link #end} must follow.
     *
     * @return whether the command must not run now
     */
    public static boolean delay(CommandContext context) {
        CommandSpec spec = context.spec();
        if (spec.has(CommandTrait.CHANGES_ALL_KEYS)) {
            // The locks exclude commands between their reservation check and their change.
            context.session().lock(context.allShards());
            try {
                return parkUnlessAdmitted(context, BarrierWaiter.Kind.CHANGE);
            } finally {
                context.session().unlock(context.allShards());
            }
        }
        return spec.has(CommandTrait.READS_ALL_KEYS) && delayRead(context);
    }

    /**
     * Delays a command that reads keys, or the state of blocked clients, without naming keys.
     *
     * @return whether the command must not run now
     */
    static boolean delayRead(CommandContext context) {
        return context.server().blockedKeys().isAnyDelayed() && parkUnlessAdmitted(context, BarrierWaiter.Kind.READ);
    }

    /**
     * Delays a transaction with commands that use keys they do not name; all shards are locked. {@link #end} must
     * follow.
     *
     * @return whether the transaction must not run now
     */
    public static boolean delayTransaction(CommandContext exec) {
        return exec.server().blockedKeys().isAnyDelayed() && parkUnlessAdmitted(exec, BarrierWaiter.Kind.CHANGE);
    }

    private static boolean parkUnlessAdmitted(CommandContext context, BarrierWaiter.Kind kind) {
        BarrierWaiter before = context.takeBarrierPlace();
        BlockedKeys blocked = context.server().blockedKeys();
        if (before != null && before.kind() != kind) {
            blocked.removeWaiter(before);
            before = null;
        }
        BarrierWaiter barrierWaiter = before == null ? new BarrierWaiter(kind) : before;
        ParkedCommand wait = ParkedCommand.hidden();
        if (blocked.admits(barrierWaiter, wait::resume)) {
            if (kind == BarrierWaiter.Kind.CHANGE) {
                context.barrierPlace(barrierWaiter);
            }
            return false;
        }
        context.client().waitState().barrierPlace(barrierWaiter);
        context.retryAfter(wait);
        return true;
    }

    /** Gives up the barrier place of a command that has run or will not run, so that others continue. */
    public static void end(CommandContext context) {
        BarrierWaiter barrierWaiter = context.takeBarrierPlace();
        if (barrierWaiter != null) {
            context.server().blockedKeys().removeWaiter(barrierWaiter);
        }
    }

    /**
     * Moves the barrier place to the returned action, for a command whose changes happen later. Run the action instead
     * of {@link #end}, on any thread.
     */
    static Runnable deferEnd(CommandContext context) {
        BarrierWaiter barrierWaiter = context.takeBarrierPlace();
        BlockedKeys blocked = context.server().blockedKeys();
        return barrierWaiter == null ? () -> {} : () -> blocked.removeWaiter(barrierWaiter);
    }
}
