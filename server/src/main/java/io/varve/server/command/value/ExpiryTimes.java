package io.varve.server.command.value;

import io.varve.server.command.CommandContext;

/** Parses, converts and checks the expiry times of SET, GETEX and the EXPIRE family. Immutable: static methods only. */
public final class ExpiryTimes {
    /** The unit of a time argument. */
    public enum Unit {
        SECONDS_FROM_NOW(1000, true), MILLIS_FROM_NOW(1, true), EPOCH_SECONDS(1000, false), EPOCH_MILLIS(1, false);

        private final int millis;
        private final boolean relative;

        Unit(int millis, boolean relative) {
            this.millis = millis;
            this.relative = relative;
        }

        /** Milliseconds per unit. */
        public int millis() {
            return millis;
        }
    }

    /** The result of {@link #positive} after it replied an error. */
    public static final long REFUSED = 0;

    private ExpiryTimes() {}

    /**
     * Reads the time of SET, SETEX, GETEX: it must be positive.
     *
     * @return ms since the epoch, or {@link #REFUSED}
     */
    public static long positive(CommandContext context, int argument, Unit unit) {
        if (!context.requireLong(argument)) {
            return REFUSED;
        }
        long value = context.longValue();
        if (value <= 0 || value > Long.MAX_VALUE / unit.millis) {
            return refuse(context);
        }
        long at = value * unit.millis + (unit.relative ? context.now() : 0);
        return at <= 0 ? refuse(context) : at;
    }

    /**
     * Reads the time of the EXPIRE family into {@link CommandContext#longValue}: it may be negative.
     *
     * @return whether it is in range; else the error was replied
     */
    public static boolean inRange(CommandContext context, int argument, Unit unit) {
        if (!context.requireLong(argument)) {
            return false;
        }
        long value = context.longValue();
        long base = unit.relative ? context.now() : 0;
        if (value > Long.MAX_VALUE / unit.millis || value < Long.MIN_VALUE / unit.millis
                || value * unit.millis > Long.MAX_VALUE - base) {
            refuse(context);
            return false;
        }
        return true;
    }

    /** The time that {@link #inRange} has read, ms since the epoch; past times may be negative. */
    public static long at(CommandContext context, Unit unit) {
        return context.longValue() * unit.millis + (unit.relative ? context.now() : 0);
    }

    private static long refuse(CommandContext context) {
        context.reply().error("ERR invalid expire time in '" + context.spec().fullName() + "' command");
        return REFUSED;
    }
}
