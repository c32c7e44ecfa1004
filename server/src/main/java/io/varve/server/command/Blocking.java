package io.varve.server.command;

import java.math.BigDecimal;
import java.math.RoundingMode;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.server.blocking.BlockedKeys;
import io.varve.server.blocking.BlockedKeys.Unblocking;
import io.varve.server.blocking.Waiter;
import io.varve.server.command.text.LongDouble;
import io.varve.server.keys.NamedKey;
import io.varve.server.resp.ArgumentMemory;
import io.varve.server.resp.ReplyWriter;

/**
 * How a command waits for a key that holds something for it. Immutable: static methods only.
 *
 * <p>A command that finds nothing becomes a {@link Waiter} and runs once more, from its beginning, each time it is called; so
 * what it takes it takes on its own event loop, where it is surely replied.
 *
 * @see BlockedKeys
 */
public final class Blocking {
    /** What is taken goes to the client alone. */
    public static final int NO_TARGET = -1;

    private static final long NO_NUMBER = -1;
    private static final long NEGATIVE = -2;
    private static final String UNBLOCKED = "UNBLOCKED client unblocked via CLIENT UNBLOCK";
    /** What a waiter takes on the heap, here and with its connection, and what a key of it does beside its bytes. */
    private static final long WAITER_BYTES = 2 << 10;
    private static final long KEY_OVERHEAD_BYTES = 512;
    /** How long until a waiter looks again for whose keys memory had no room. */
    private static final long PUT_OFF_MILLIS = 100;
    private static final long NANOS_OF_MILLI = TimeUnit.MILLISECONDS.toNanos(1);
    /** A longer time is as good as for ever. */
    private static final long LONGEST_MILLIS = TimeUnit.DAYS.toMillis(10_000);
    private static final BigDecimal THOUSAND = BigDecimal.valueOf(1000);
    private static final BigDecimal MOST_MILLIS = BigDecimal.valueOf(Long.MAX_VALUE);

    private Blocking() {}

    /** What a look at a key came to. */
    public enum Taken {
        /** It is not there. */
        MISSING,
        /** It has another type; nothing has been replied. */
        WRONG_TYPE,
        /** Something was taken and replied, and the key holds more. */
        SOME,
        /** Something was taken and replied, and the key has gone. */
        LAST,
        /** There is something in it, but an error was replied. */
        REFUSED
    }

    /** Takes from a key what the command is to have, and replies it. */
    @FunctionalInterface
    public interface Taking {
        /** @param keyIndex number of the key among those that the command names */
        Taken from(Invocation call, int keyIndex);
    }

    /** How a command that must not wait says that there is nothing. */
    @FunctionalInterface
    public interface Absence {
        void reply(ReplyWriter reply);
    }

    /**
     * Takes from the first key that holds something, or waits for one that does.
     *
     * @param type    of what it waits for
     * @param keys    how many of the command's keys, from the first on, it waits for
     * @param target  number of the key into which what is taken goes; {@link #NO_TARGET}: into none
     * @param nothing the reply within a transaction if there is nothing
     */
    public static void take(Invocation call, ItemType type, int keys, int target, Taking taking, Absence nothing) {
        Waiter waiter = call.client().waiter();
        if (waiter != null) {
            takeWhatCame(call, waiter, taking);
            return;
        }
        long timeoutMillis = timeoutMillis(call, call.spec());
        if (timeoutMillis < 0) {
            call.reply().error(timeoutMillis == NO_NUMBER
                    ? "ERR timeout is not a float or out of range"
                    : "ERR timeout is negative");
            return;
        }
        for (int i = 0; i < keys; i++) {
            Taken taken = taking.from(call, i);
            if (taken == Taken.WRONG_TYPE) {
                call.wrongType();
            }
            if (taken != Taken.MISSING) {
                return;
            }
        }
        if (call.isInTransaction()) {
            nothing.reply(call.reply());
        } else {
            startWaiting(call, type, keys, target, timeoutMillis);
        }
    }

    /** @return ms, 0 for ever; {@link #NO_NUMBER}, or {@link #NEGATIVE} */
    private static long timeoutMillis(Arguments command, CommandSpec spec) {
        int argument = spec.timeoutArgument(command.argumentCount());
        LongDouble seconds = LongDouble.parse(command.argumentAddress(argument), command.argumentLength(argument));
        if (seconds.kind() == LongDouble.Kind.INVALID) {
            return NO_NUMBER;
        }
        BigDecimal millis = seconds.value().multiply(THOUSAND).setScale(0, RoundingMode.CEILING);
        if (seconds.kind() == LongDouble.Kind.INFINITE || millis.signum() < 0 || millis.compareTo(MOST_MILLIS) > 0) {
            // As in 7.0.15, where what is too large for 64 bits ends below zero.
            return NEGATIVE;
        }
        return millis.longValueExact();
    }

    private static void startWaiting(Invocation call, ItemType type, int keys, int target, long timeoutMillis) {
        long bytes = take(call);
        if (bytes < 0) {
            call.reply().error(Errors.OUT_OF_ARGUMENT_MEMORY);
            return;
        }
        List<NamedKey> names = new ArrayList<>(keys);
        for (int i = 0; i < keys; i++) {
            names.add(name(call.keyAt(i)));
        }
        long deadlineNanos = deadlineNanos(call.client(), timeoutMillis);
        Waiter waiter = new Waiter(type, names, target == NO_TARGET ? null : name(call.keyAt(target)),
                deadlineNanos, bytes);
        call.server().blockedKeys().add(waiter);
        call.client().waits(waiter, call.argumentBytes());
        waitOn(call, waiter);
    }

    /** Its time runs from when it was called, be it that it was held up until now. */
    private static long deadlineNanos(Client client, long timeoutMillis) {
        BlockingCall called = java.util.Objects.requireNonNull(client.blockingCall(), "who waits was called");
        return timeoutMillis <= 0 || timeoutMillis > LONGEST_MILLIS
                ? Long.MAX_VALUE
                : called.calledNanos() + timeoutMillis * NANOS_OF_MILLI;
    }

    /** What a command waits for that has not looked at its keys, and is not to: no longer than its time is, if it has one. */
    static Suspension heldUp(Invocation call) {
        BlockingCall called = call.client().blockingCall();
        return called == null
                ? Suspension.unnoticed()
                : Suspension.held(leftMillis(call.server(), call.client(), call.spec(), call), called::over, false);
    }

    /** The same for so long at most, and so that others are told of it. */
    public static Suspension heldUp(ServerContext server, Client client, CommandSpec spec, Arguments command,
            long mostMillis) {
        BlockingCall called = client.blockingCall();
        long left = called == null ? 0 : leftMillis(server, client, spec, command);
        return called == null || left == 0 || left > mostMillis
                ? Suspension.silent(mostMillis)
                : Suspension.held(left, called::over, true);
    }

    private static long leftMillis(ServerContext server, Client client, CommandSpec spec, Arguments command) {
        return leftMillis(server, deadlineNanos(client, timeoutMillis(command, spec)));
    }

    /** Takes from the heap's share what the waiter and the names of its keys will need. @return how much; -1 if there is no room */
    private static long take(Invocation call) {
        ArgumentMemory memory = call.server().argumentMemory();
        long taken = WAITER_BYTES;
        boolean room = memory.take(taken);
        for (int i = 0; room && i < call.keyCount(); i++) {
            long bytes = KEY_OVERHEAD_BYTES + NamedKey.heapBytes(call.keyAt(i).length());
            room = memory.takePiece(bytes);
            taken += room ? bytes : 0;
            if (!room) {
                memory.give(taken);
            }
        }
        return room ? taken : -1;
    }

    private static NamedKey name(Key key) {
        return NamedKey.of(key.database(), key.address(), key.length());
    }

    private static void takeWhatCame(Invocation call, Waiter waiter, Taking taking) {
        BlockedKeys blocked = call.server().blockedKeys();
        for (int key = blocked.nextCall(waiter); key >= 0; key = blocked.nextCall(waiter)) {
            switch (take(call, waiter, taking, key)) {
                case MISSING -> blocked.declined(waiter, null);
                case WRONG_TYPE -> blocked.declined(waiter, typeOf(call, key));
                case LAST -> {
                    call.server().stopWaiting(call.client(), true);
                    return;
                }
                case SOME, REFUSED -> {
                    call.server().stopWaiting(call.client(), false);
                    return;
                }
            }
        }
        waitOn(call, waiter);
    }

    private static Taken take(Invocation call, Waiter waiter, Taking taking, int key) {
        BlockedKeys blocked = call.server().blockedKeys();
        blocked.beginCause(waiter);
        try {
            return taking.from(call, key);
        } finally {
            blocked.endCause();
        }
    }

    private static ItemType typeOf(Invocation call, int key) {
        Item item = call.item();
        boolean found = call.session().peek(call.keyAt(key), item);
        assert found;
        return item.type();
    }

    private static void waitOn(Invocation call, Waiter waiter) {
        BlockedKeys blocked = call.server().blockedKeys();
        // If it has been called meanwhile, that decides: its command runs in any case.
        Suspension wait = Suspension.toRunAgain(leftMillis(call.server(), waiter.deadlineNanos()),
                () -> blocked.end(waiter, Waiter.End.TIMEOUT) == Unblocking.ENDED);
        blocked.onWake(waiter, wait::again);
        call.runAgainAfter(wait);
    }

    /**
     * Memory has no room for the keys that a waiter was called for: it waits on in its place, others may have them meanwhile, and it
     * looks again after a while.
     */
    public static Suspension putOff(ServerContext server, Waiter waiter) {
        BlockedKeys blocked = server.blockedKeys();
        blocked.putOff(waiter);
        long leftMillis = leftMillis(server, waiter.deadlineNanos());
        boolean isLast = leftMillis > 0 && leftMillis <= PUT_OFF_MILLIS;
        Suspension wait = isLast
                ? Suspension.toRunAgain(leftMillis, () -> blocked.end(waiter, Waiter.End.TIMEOUT) == Unblocking.ENDED)
                : Suspension.toRunAgain(PUT_OFF_MILLIS, () -> blocked.lookAgain(waiter));
        blocked.onWake(waiter, wait::again);
        return wait;
    }

    /** @return ms until its time is over, one at least; 0 if it waits for ever */
    private static long leftMillis(ServerContext server, long deadlineNanos) {
        if (deadlineNanos == Long.MAX_VALUE) {
            return 0;
        }
        return Math.max(1, Math.ceilDiv(deadlineNanos - server.ticker().nanoTime(), NANOS_OF_MILLI));
    }

    /** Replies that the waiting is over although nothing has come. */
    public static void replyEnd(ReplyWriter reply, Waiter.End end) {
        switch (end) {
            case TIMEOUT -> reply.nilArray();
            case ERROR -> reply.error(UNBLOCKED);
        }
    }

    /** CLIENT UNBLOCK. */
    public static void unblock(Invocation call) {
        if (call.argumentCount() > 4) {
            call.reply().error("ERR unknown subcommand or wrong number of arguments for '"
                    + call.argumentString(1) + "'. Try CLIENT HELP.");
            return;
        }
        Waiter.End why = Waiter.End.TIMEOUT;
        if (call.argumentCount() == 4) {
            if (call.argumentIs(3, "ERROR")) {
                why = Waiter.End.ERROR;
            } else if (!call.argumentIs(3, "TIMEOUT")) {
                call.reply().error("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR");
                return;
            }
        }
        if (!call.requireLong(2)) {
            return;
        }
        if (!call.isInTransaction() && Promises.holdUpLook(call)) {
            // Whoever has been served waits no more.
            return;
        }
        Client target = call.server().clients().find(call.longValue());
        if (target == null) {
            call.reply().integer(0);
            return;
        }
        Waiter waiter = target.waiter();
        if (waiter == null) {
            call.reply().integer(end(target.suspension(), why) ? 1 : 0);
            return;
        }
        BlockedKeys blocked = call.server().blockedKeys();
        switch (blocked.end(waiter, why)) {
            case ENDED -> call.reply().integer(1);
            case NOT_WAITING -> call.reply().integer(0);
            case CALLED -> {
                if (call.isInTransaction()) {
                    call.reply().integer(0);
                } else {
                    Suspension wait = Suspension.unnoticed();
                    blocked.behind(waiter, wait::again);
                    call.runAgainAfter(wait);
                }
            }
        }
    }

    /** Ends a wait for something else than a key. @return whether it was to be ended so, and was not over */
    private static boolean end(@org.jspecify.annotations.Nullable Suspension wait, Waiter.End why) {
        if (wait == null || !wait.isEndable()) {
            return false;
        }
        return why == Waiter.End.ERROR ? wait.answer(reply -> reply.error(UNBLOCKED)) : wait.endAsAtTimeout();
    }
}
