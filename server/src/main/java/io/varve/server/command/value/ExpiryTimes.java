package io.varve.server.command.value;

import io.varve.server.command.Invocation;

/**
 * Expiry times as arguments of SET, GETEX and the EXPIRE family: read, converted, checked. Immutable: static methods
 * only.
 */
public final class ExpiryTimes {
    /** How an argument tells a time. */
    public enum Unit {
        /** Seconds from now. */
        SECONDS_FROM_NOW(1000, true),
        /** Milliseconds from now. */
        MILLIS_FROM_NOW(1, true),
        /** Seconds since the epoch. */
        EPOCH_SECONDS(1000, false),
        /** Milliseconds since the epoch. */
        EPOCH_MILLIS(1, false);

        private final int millis;
        private final boolean relative;

        Unit(int millis, boolean relative) {
            this.millis = millis;
            this.relative = relative;
        }

        /** How many milliseconds one of it is. */
        public int millis() {
            return millis;
        }
    }

    /** What {@link #positive} answers when it has replied an error. */
    public static final long REFUSED = 0;

    private ExpiryTimes() {}

    /**
     * Reads the time of SET, SETEX, GETEX: it must be positive.
     *
     * @return ms since the epoch, or {@link #REFUSED}
     */
    public static long positive(Invocation call, int argument, Unit unit) {
        if (!call.requireLong(argument)) {
            return REFUSED;
        }
        long value = call.longValue();
        if (value <= 0 || value > Long.MAX_VALUE / unit.millis) {
            return refuse(call);
        }
        long at = value * unit.millis + (unit.relative ? call.now() : 0);
        return at <= 0 ? refuse(call) : at;
    }

    /**
     * Reads the time of the EXPIRE family: it may be negative; {@link Invocation#longValue} is the argument.
     *
     * @return whether it is in range; else the error has been replied
     */
    public static boolean inRange(Invocation call, int argument, Unit unit) {
        if (!call.requireLong(argument)) {
            return false;
        }
        long value = call.longValue();
        long base = unit.relative ? call.now() : 0;
        if (value > Long.MAX_VALUE / unit.millis || value < Long.MIN_VALUE / unit.millis
                || value * unit.millis > Long.MAX_VALUE - base) {
            refuse(call);
            return false;
        }
        return true;
    }

    /** The time that {@link #inRange} has read, ms since the epoch; past ones may be negative. */
    public static long at(Invocation call, Unit unit) {
        return call.longValue() * unit.millis + (unit.relative ? call.now() : 0);
    }

    private static long refuse(Invocation call) {
        call.reply().error("ERR invalid expire time in '" + call.spec().fullName() + "' command");
        return REFUSED;
    }
}
