package io.varve.server.command.blocking;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.blocking.BlockedClient;
import io.varve.server.blocking.BlockedKeys;
import io.varve.server.command.CommandContext;
import io.varve.server.command.Errors;
import io.varve.server.command.ServerState;
import io.varve.server.command.session.BlockingDeadline;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.TimeoutFinder;
import io.varve.server.command.text.LongDouble;
import io.varve.server.keys.HeapKey;
import io.varve.server.resp.Numbers;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.RequestHeapBudget;

/**
 * Blocks a command until one of its keys holds an element for it. Immutable: static methods only.
 *
 * <p>A command that finds nothing leaves its pop in the queues of its keys. The command that makes a key ready runs it
 * ({@link BlockedClientServer}). Where it cannot, the blocked command runs again from its beginning.
 *
 * @see BlockedKeys
 */
public final class Blocking {
    /** The result goes to the client only, not into a key. */
    public static final int NO_TARGET = -1;

    private static final long NO_NUMBER = -1;
    private static final long NEGATIVE = -2;
    private static final String UNBLOCKED = "UNBLOCKED client unblocked via CLIENT UNBLOCK";
    /** Heap bytes of a blocked client, here and with its connection, and of each of its keys beside the key's bytes. */
    private static final long BLOCKED_CLIENT_BYTES = 2 << 10;
    private static final long KEY_OVERHEAD_BYTES = 512;
    private static final long NANOS_OF_MILLI = TimeUnit.MILLISECONDS.toNanos(1);
    /** A longer timeout means no timeout. */
    private static final long LONGEST_MILLIS = TimeUnit.DAYS.toMillis(10_000);
    private static final BigDecimal THOUSAND = BigDecimal.valueOf(1000);
    private static final BigDecimal MAX_MILLIS = BigDecimal.valueOf(Long.MAX_VALUE);

    private Blocking() {}

    /** Result of an attempt to take from a key. */
    public enum Taken {
        /** The key does not exist. */
        MISSING,
        /** The key has another type; no reply was written. */
        WRONG_TYPE,
        /** The key holds nothing for this client, but perhaps for others behind it. */
        NOT_YET,
        /** An element was taken and replied, and the key holds more. */
        SOME,
        /** The last element was taken and replied, and the key was deleted. */
        LAST,
        /** The key holds something, but an error was replied. */
        REFUSED
    }

    /**
     * Takes the command's result from a key and replies it. It may run on another event loop when the arguments of the
     * command are gone, and then finds its keys, but no arguments, in the context. If it runs out of memory, it has
     * changed nothing.
     */
    @FunctionalInterface
    public interface Taking {
        /** @param keyIndex number of the key among the keys of the context; a target has number 1 */
        Taken from(CommandContext context, int keyIndex);
    }

    /** Writes the empty reply of a command that must not wait. */
    @FunctionalInterface
    public interface Absence {
        void reply(ReplyWriter reply);
    }

    /**
     * Takes from the first key that holds something, or blocks until a key does.
     *
     * @param type the type of the awaited keys
     * @param keys number of keys to wait for, counted from the command's first key
     * @param target number of the key that receives the result; {@link #NO_TARGET}: none
     * @param nothing writes the reply within a transaction if no key holds anything
     */
    public static void take(CommandContext context, ItemType type, int keys, int target, Taking taking,
            Absence nothing) {
        if (resume(context, keys)) {
            return;
        }
        long timeoutMillis = timeoutMillis(context, context.spec());
        if (timeoutMillis < 0) {
            context.reply().error(timeoutMillis == NO_NUMBER
                    ? "ERR timeout is not a float or out of range"
                    : "ERR timeout is negative");
            return;
        }
        for (int i = 0; i < keys; i++) {
            Taken taken = taking.from(context, i);
            if (taken == Taken.WRONG_TYPE) {
                context.wrongType();
            }
            if (taken != Taken.MISSING) {
                return;
            }
        }
        if (context.isInTransaction()) {
            nothing.reply(context.reply());
        } else {
            startWaiting(context, type, keys, target, taking, timeoutMillis, false);
        }
    }

    /**
     * Runs the taking again with which the client began to wait, if it waits.
     *
     * @param keys as in {@link #take}
     * @return false if the command runs for the first time
     */
    public static boolean resume(CommandContext context, int keys) {
        BlockedClient blockedClient = context.client().waitState().blockedClient();
        if (blockedClient == null) {
            return false;
        }
        BlockedCommand blocked = (BlockedCommand) blockedClient;
        rerun(context, blocked, keys, blocked.pop());
        return true;
    }

    /**
     * Blocks until one of its keys, which hold nothing for the command, holds something. Within a transaction it
     * replies as at a timeout.
     *
     * @param timeoutMillis 0 for no timeout
     */
    public static void await(CommandContext context, ItemType type, int keys, Taking taking, long timeoutMillis) {
        await(context, type, keys, taking, timeoutMillis, false);
    }

    /** As {@link #await}; the taking also runs when a key is deleted or gets another type, and then ends the wait. */
    public static void awaitOrAbsent(CommandContext context, ItemType type, int keys, Taking taking,
            long timeoutMillis) {
        await(context, type, keys, taking, timeoutMillis, true);
    }

    private static void await(CommandContext context, ItemType type, int keys, Taking taking, long timeoutMillis,
            boolean orAbsent) {
        if (context.isInTransaction()) {
            replyTimeout(context.reply());
        } else {
            startWaiting(context, type, keys, NO_TARGET, taking, timeoutMillis, orAbsent);
        }
    }

    /** @return ms, 0 for no timeout; {@link #NO_NUMBER}, or {@link #NEGATIVE} */
    private static long timeoutMillis(Arguments command, CommandSpec spec) {
        TimeoutFinder finder = spec.timeoutFinder();
        if (finder != null) {
            return millis(command, finder.find(command));
        }
        int argument = spec.timeoutArgument(command.argumentCount());
        LongDouble seconds = LongDouble.parse(command.argumentAddress(argument), command.argumentLength(argument));
        if (seconds.kind() == LongDouble.Kind.INVALID) {
            return NO_NUMBER;
        }
        BigDecimal millis = seconds.value().multiply(THOUSAND).setScale(0, RoundingMode.CEILING);
        if (seconds.kind() == LongDouble.Kind.INFINITE || millis.signum() < 0 || millis.compareTo(MAX_MILLIS) > 0) {
            // As in Redis 7.0.15, where a value too large for 64 bits overflows below zero.
            return NEGATIVE;
        }
        return millis.longValueExact();
    }

    /** @return ms; 0 for no timeout or an invalid one, which the command refuses when it runs */
    private static long millis(Arguments command, int argument) {
        return argument != TimeoutFinder.NONE
                && Numbers.isLong(command.argumentAddress(argument), command.argumentLength(argument))
                        ? Math.max(0,
                                Numbers.toLong(command.argumentAddress(argument), command.argumentLength(argument)))
                        : 0;
    }

    private static void startWaiting(CommandContext context, ItemType type, int keys, int target, Taking taking,
            long timeoutMillis, boolean orAbsent) {
        long bytes = take(context);
        if (bytes < 0) {
            context.reply().error(Errors.OUT_OF_ARGUMENT_MEMORY);
            return;
        }
        List<HeapKey> names = new ArrayList<>(keys);
        for (int i = 0; i < keys; i++) {
            names.add(name(context.keyAt(i)));
        }
        long deadlineNanos = deadlineNanos(context.client(), timeoutMillis);
        BlockedCommand blockedClient = new BlockedCommand(context.client(), context.spec(), taking, type, names,
                target == NO_TARGET ? null : name(context.keyAt(target)),
                target == NO_TARGET ? -1 : context.keyAt(target).shard(), deadlineNanos, bytes, orAbsent);
        context.server().blockedKeys().add(blockedClient);
        context.client().waitState().block(blockedClient, context.argumentBytes());
        parkUntilWoken(context, blockedClient);
    }

    /** The timeout counts from the arrival of the command, even if other commands delayed it. */
    private static long deadlineNanos(Client client, long timeoutMillis) {
        BlockingDeadline deadline = java.util.Objects.requireNonNull(client.waitState().blockingDeadline(),
                "the waiting client has been woken");
        return timeoutMillis <= 0 || timeoutMillis > LONGEST_MILLIS
                ? Long.MAX_VALUE
                : deadline.arrivalNanos() + timeoutMillis * NANOS_OF_MILLI;
    }

    /** Parks a delayed command for at most this long, visibly to CLIENT LIST and INFO. */
    public static ParkedCommand delayed(ServerState server, Client client, CommandSpec spec, Arguments command,
            long maxMillis) {
        BlockingDeadline deadline = client.waitState().blockingDeadline();
        long left = deadline == null ? 0 : leftMillis(server, client, spec, command);
        return deadline == null || left == 0 || left > maxMillis
                ? ParkedCommand.silent(maxMillis)
                : ParkedCommand.delayed(left, deadline::markExpired);
    }

    private static long leftMillis(ServerState server, Client client, CommandSpec spec, Arguments command) {
        return leftMillis(server, deadlineNanos(client, timeoutMillis(command, spec)));
    }

    /**
     * Reserves heap budget for the blocked client and its key names. @return the bytes reserved; -1 if the budget is
     * exhausted
     */
    private static long take(CommandContext context) {
        RequestHeapBudget memory = context.server().argumentMemory();
        long taken = BLOCKED_CLIENT_BYTES;
        boolean fits = memory.tryReserve(taken);
        for (int i = 0; fits && i < context.keyCount(); i++) {
            long bytes = KEY_OVERHEAD_BYTES + HeapKey.heapBytes(context.keyAt(i).length());
            fits = memory.tryReservePiece(bytes);
            taken += fits ? bytes : 0;
            if (!fits) {
                memory.release(taken);
            }
        }
        return fits ? taken : -1;
    }

    private static HeapKey name(Key key) {
        return HeapKey.of(key.database(), key.address(), key.length());
    }

    /** Runs the command of a client that could not be served on another event loop. */
    private static void rerun(CommandContext context, BlockedCommand blockedClient, int keys, Taking taking) {
        if (!context.server().blockedKeys().beginRerun(blockedClient)) {
            // Its wait has ended before the shards were locked.
            replyEnd(context, blockedClient);
            return;
        }
        for (int i = 0; i < keys; i++) {
            Taken taken = taking.from(context, i);
            if (taken != Taken.MISSING && taken != Taken.WRONG_TYPE && taken != Taken.NOT_YET) {
                // At once, so that the command's own changes do not serve it.
                context.server().lifecycle().stopWaiting(context.client());
                return;
            }
        }
        blockedClient.user(context.client().user());
        parkUntilWoken(context, blockedClient);
    }

    private static void parkUntilWoken(CommandContext context, BlockedClient blockedClient) {
        BlockedKeys blocked = context.server().blockedKeys();
        ParkedCommand wait = ParkedCommand.forRetry(leftMillis(context.server(), blockedClient.deadlineNanos()),
                () -> blocked.end(blockedClient, BlockedClient.End.TIMEOUT));
        blocked.onWake(blockedClient, wait::resume);
        context.retryAfter(wait);
    }

    /** @return ms until the deadline, at least 1; 0 if there is none */
    private static long leftMillis(ServerState server, long deadlineNanos) {
        if (deadlineNanos == Long.MAX_VALUE) {
            return 0;
        }
        return Math.max(1, Math.ceilDiv(deadlineNanos - server.ticker().nanoTime(), NANOS_OF_MILLI));
    }

    private static void replyEnd(CommandContext context, BlockedClient blockedClient) {
        BlockedClient.End end = context.server().blockedKeys().endReason(blockedClient);
        replyEnd(context.reply(), context.client(), java.util.Objects.requireNonNull(end));
    }

    /** Replies to a client whose wait has ended. */
    public static void replyEnd(ReplyWriter reply, Client client, BlockedClient.End end) {
        switch (end) {
            case SERVED -> {
                client.servedUnderLease(true);
                java.util.Objects.requireNonNull(client.waitState().takeServedReply()).writeTo(reply);
            }
            case TIMEOUT -> replyTimeout(reply);
            case ERROR -> reply.error(UNBLOCKED);
            case REPLICA -> reply.error(Errors.NOW_A_REPLICA);
        }
    }

    /** Replies that the timeout has passed. */
    public static void replyTimeout(ReplyWriter reply) {
        reply.nilArray();
    }

    /** CLIENT UNBLOCK. */
    public static void unblock(CommandContext context) {
        if (context.argumentCount() > 4) {
            context.reply().error("ERR unknown subcommand or wrong number of arguments for '"
                    + context.argumentString(1) + "'. Try CLIENT HELP.");
            return;
        }
        BlockedClient.End why = BlockedClient.End.TIMEOUT;
        if (context.argumentCount() == 4) {
            if (context.argumentIs(3, "ERROR")) {
                why = BlockedClient.End.ERROR;
            } else if (!context.argumentIs(3, "TIMEOUT")) {
                context.reply().error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
                return;
            }
        }
        if (!context.requireLong(2)) {
            return;
        }
        Client target = context.server().lifecycle().clients().find(context.longValue());
        if (target == null) {
            context.reply().integer(0);
            return;
        }
        BlockedClient blockedClient = target.waitState().blockedClient();
        if (blockedClient == null) {
            context.reply().integer(end(target.waitState().parkedCommand(), why) ? 1 : 0);
            return;
        }
        context.reply().integer(context.server().blockedKeys().end(blockedClient, why) ? 1 : 0);
    }

    /**
     * Ends a wait for something other than a key. @return whether the wait was open to CLIENT UNBLOCK and still pending
     */
    private static boolean end(@org.jspecify.annotations.Nullable ParkedCommand wait, BlockedClient.End why) {
        if (wait == null || !wait.isEndable()) {
            return false;
        }
        return why == BlockedClient.End.ERROR ? wait.answer(reply -> reply.error(UNBLOCKED)) : wait.endAsAtTimeout();
    }
}
