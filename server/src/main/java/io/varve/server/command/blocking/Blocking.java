package io.varve.server.command.blocking;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.blocking.BlockedClient;
import io.varve.server.blocking.BlockedKeys;
import io.varve.server.blocking.BlockedKeys.Unblocking;
import io.varve.server.command.CommandContext;
import io.varve.server.command.Errors;
import io.varve.server.command.ServerState;
import io.varve.server.command.session.BlockingDeadline;
import io.varve.server.command.session.Client;
import io.varve.server.command.session.ParkedCommand;
import io.varve.server.command.spec.Arguments;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.text.LongDouble;
import io.varve.server.keys.HeapKey;
import io.varve.server.resp.ReplyWriter;
import io.varve.server.resp.RequestHeapBudget;

/**
 * Blocks a command until one of its keys holds an element for it. Immutable: static methods only.
 *
 * <p>A command that finds nothing becomes a {@link BlockedClient}. Each time the client is called, the command re-runs
 * from its beginning. So it takes elements on its own event loop, where the reply is certain to be written.
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
    /** Delay before a client retries whose keys found no space in memory, ms. */
    private static final long RETRY_MILLIS = 100;
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
        /** An element was taken and replied, and the key holds more. */
        SOME,
        /** The last element was taken and replied, and the key was deleted. */
        LAST,
        /** The key holds something, but an error was replied. */
        REFUSED
    }

    /** Takes the command's result from a key and replies it. */
    @FunctionalInterface
    public interface Taking {
        /** @param keyIndex number of the key among the command's keys */
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
        BlockedClient blockedClient = context.client().waitState().blockedClient();
        if (blockedClient != null) {
            serveWoken(context, blockedClient, taking);
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
            startWaiting(context, type, keys, target, timeoutMillis);
        }
    }

    /** @return ms, 0 for no timeout; {@link #NO_NUMBER}, or {@link #NEGATIVE} */
    private static long timeoutMillis(Arguments command, CommandSpec spec) {
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

    private static void startWaiting(CommandContext context, ItemType type, int keys, int target, long timeoutMillis) {
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
        BlockedClient blockedClient = new BlockedClient(type, names,
                target == NO_TARGET ? null : name(context.keyAt(target)),
                deadlineNanos, bytes);
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

    /** Parks a command that must not check its keys yet; its timeout, if it has one, limits the wait. */
    static ParkedCommand delayed(CommandContext context) {
        BlockingDeadline deadline = context.client().waitState().blockingDeadline();
        return deadline == null
                ? ParkedCommand.hidden()
                : ParkedCommand.delayed(leftMillis(context.server(), context.client(), context.spec(), context),
                        deadline::markExpired, false);
    }

    /** Parks a delayed command for at most this long, visibly to CLIENT LIST and INFO. */
    public static ParkedCommand delayed(ServerState server, Client client, CommandSpec spec, Arguments command,
            long maxMillis) {
        BlockingDeadline deadline = client.waitState().blockingDeadline();
        long left = deadline == null ? 0 : leftMillis(server, client, spec, command);
        return deadline == null || left == 0 || left > maxMillis
                ? ParkedCommand.silent(maxMillis)
                : ParkedCommand.delayed(left, deadline::markExpired, true);
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

    private static void serveWoken(CommandContext context, BlockedClient blockedClient, Taking taking) {
        BlockedKeys blocked = context.server().blockedKeys();
        for (int key = blocked.nextKeyToCheck(blockedClient); key >= 0; key = blocked.nextKeyToCheck(blockedClient)) {
            switch (take(context, blockedClient, taking, key)) {
                case MISSING -> blocked.resumeWaiting(blockedClient, null);
                case WRONG_TYPE -> blocked.resumeWaiting(blockedClient, typeOf(context, key));
                case LAST -> {
                    context.server().lifecycle().stopWaiting(context.client(), true);
                    return;
                }
                case SOME, REFUSED -> {
                    context.server().lifecycle().stopWaiting(context.client(), false);
                    return;
                }
            }
        }
        parkUntilWoken(context, blockedClient);
    }

    private static Taken take(CommandContext context, BlockedClient blockedClient, Taking taking, int key) {
        BlockedKeys blocked = context.server().blockedKeys();
        blocked.beginCause(blockedClient);
        try {
            return taking.from(context, key);
        } finally {
            blocked.endCause();
        }
    }

    private static ItemType typeOf(CommandContext context, int key) {
        Item item = context.item();
        boolean found = context.session().peek(context.keyAt(key), item);
        assert found;
        return item.type();
    }

    private static void parkUntilWoken(CommandContext context, BlockedClient blockedClient) {
        BlockedKeys blocked = context.server().blockedKeys();
        // If the client was called before the wait ends, its command runs in any case and decides.
        ParkedCommand wait = ParkedCommand.forRetry(leftMillis(context.server(), blockedClient.deadlineNanos()),
                () -> blocked.end(blockedClient, BlockedClient.End.TIMEOUT) == Unblocking.ENDED);
        blocked.onWake(blockedClient, wait::resume);
        context.retryAfter(wait);
    }

    /**
     * Defers a client whose keys found no space in memory. It keeps its place and retries after a delay; until
     * then, other clients may take its keys.
     */
    public static ParkedCommand defer(ServerState server, BlockedClient blockedClient) {
        BlockedKeys blocked = server.blockedKeys();
        blocked.defer(blockedClient);
        long leftMillis = leftMillis(server, blockedClient.deadlineNanos());
        boolean isLast = leftMillis > 0 && leftMillis <= RETRY_MILLIS;
        ParkedCommand wait = isLast
                ? ParkedCommand.forRetry(leftMillis,
                        () -> blocked.end(blockedClient, BlockedClient.End.TIMEOUT) == Unblocking.ENDED)
                : ParkedCommand.forRetry(RETRY_MILLIS, () -> blocked.retryDeferred(blockedClient));
        blocked.onWake(blockedClient, wait::resume);
        return wait;
    }

    /** @return ms until the deadline, at least 1; 0 if there is none */
    private static long leftMillis(ServerState server, long deadlineNanos) {
        if (deadlineNanos == Long.MAX_VALUE) {
            return 0;
        }
        return Math.max(1, Math.ceilDiv(deadlineNanos - server.ticker().nanoTime(), NANOS_OF_MILLI));
    }

    /** Replies that the wait has ended without a result. */
    public static void replyEnd(ReplyWriter reply, BlockedClient.End end) {
        switch (end) {
            case TIMEOUT -> reply.nilArray();
            case ERROR -> reply.error(UNBLOCKED);
        }
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
        if (!context.isInTransaction() && KeyReservations.delayRead(context)) {
            // A client that has been served does not wait, so reservations have to be resolved first.
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
        BlockedKeys blocked = context.server().blockedKeys();
        switch (blocked.end(blockedClient, why)) {
            case ENDED -> context.reply().integer(1);
            case NOT_WAITING -> context.reply().integer(0);
            case CALLED -> {
                if (context.isInTransaction()) {
                    context.reply().integer(0);
                } else {
                    ParkedCommand wait = ParkedCommand.hidden();
                    blocked.runWhenReleased(blockedClient, wait::resume);
                    context.retryAfter(wait);
                }
            }
        }
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
