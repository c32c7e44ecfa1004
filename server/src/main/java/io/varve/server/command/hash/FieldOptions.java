package io.varve.server.command.hash;

import io.varve.memory.collection.TimedHashLayout;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandScratch;
import io.varve.server.command.value.ExpiryTimes;
import io.varve.server.command.value.ExpiryTimes.Unit;
import org.jspecify.annotations.Nullable;

/**
 * Parses the arguments of HSETEX, HGETEX and HGETDEL: options, then FIELDS, a number and the fields. Confined to its
 * event loop; reused from command to command.
 */
final class FieldOptions {
    private static final CommandScratch<FieldOptions> SCRATCH = CommandScratch.madeBy(FieldOptions::new);

    static final int NX = 1;
    static final int XX = 1 << 1;
    static final int FNX = 1 << 2;
    static final int FXX = 1 << 3;
    static final int TIME = 1 << 4;
    static final int KEEPTTL = 1 << 5;
    static final int PERSIST = 1 << 6;
    /** Those of HSETEX. */
    static final int OF_SETTING = NX | XX | FNX | FXX | TIME | KEEPTTL;
    /** Those of HGETEX. */
    static final int OF_READING = TIME | PERSIST;

    /** {@link #time} after an error was replied. */
    static final long REFUSED = -1;

    private static final String WRONG_COUNT = "ERR numfields should be greater than 0 and match the provided number of"
            + " fields";
    private static final int FIRST_OPTION = 2;

    private final CommandContext context;
    private int flags;
    /** The argument with the time, if {@link #TIME} was given, and its unit. */
    private int timeArgument;
    private Unit unit = Unit.SECONDS_FROM_NOW;
    private int first;

    private FieldOptions(CommandContext context) {
        this.context = context;
    }

    /** The instance of a context. */
    static FieldOptions of(CommandContext context) {
        return SCRATCH.of(context);
    }

    /**
     * Parses the arguments after the key.
     *
     * @param allowed the options that the command has
     * @param width arguments of a field: 2 if a value follows each
     * @return whether they are well-formed; else the error was replied
     */
    boolean parse(int allowed, int width) {
        int word = FIRST_OPTION;
        while (word < context.argumentCount() - 1 && !context.argumentIs(word, "FIELDS")) {
            word++;
        }
        if (word >= context.argumentCount() - 1) {
            context.reply().error(WRONG_COUNT);
            return false;
        }
        first = word + 2;
        if (!parseOptions(allowed, word)) {
            context.syntaxError();
            return false;
        }
        return hasFields(word, width);
    }

    /** The argument with the first field. */
    int first() {
        return first;
    }

    /** Whether any of these options was given. */
    boolean has(int flag) {
        return (flags & flag) != 0;
    }

    /** Parses the options in front of the word FIELDS; false if they are wrong. */
    private boolean parseOptions(int allowed, int word) {
        flags = 0;
        for (int i = FIRST_OPTION; i < word; i++) {
            Unit named = unitAt(i);
            int flag = named == null ? flagAt(i) : TIME;
            // The same unit may be given again: the last time counts.
            boolean contradicts = named != null && (flags & TIME) != 0 && named != unit;
            flags |= flag;
            if ((flag & allowed) == 0 || contradicts || excludeEachOther(flags)) {
                return false;
            }
            if (named != null) {
                unit = named;
                timeArgument = ++i;
                if (i >= word) {
                    return false;
                }
            }
        }
        return true;
    }

    private static boolean excludeEachOther(int flags) {
        return (flags & (NX | XX)) == (NX | XX) || (flags & (FNX | FXX)) == (FNX | FXX)
                || Integer.bitCount(flags & (TIME | KEEPTTL | PERSIST)) > 1;
    }

    private @Nullable Unit unitAt(int argument) {
        return context.argumentIs(argument, "EX")
                ? Unit.SECONDS_FROM_NOW
                : context.argumentIs(argument, "PX")
                        ? Unit.MILLIS_FROM_NOW
                        : context.argumentIs(argument, "EXAT")
                                ? Unit.EPOCH_SECONDS
                                : context.argumentIs(argument, "PXAT") ? Unit.EPOCH_MILLIS : null;
    }

    private int flagAt(int argument) {
        if (context.argumentIs(argument, "NX")) {
            return NX;
        }
        if (context.argumentIs(argument, "XX")) {
            return XX;
        }
        if (context.argumentIs(argument, "FNX")) {
            return FNX;
        }
        if (context.argumentIs(argument, "FXX")) {
            return FXX;
        }
        if (context.argumentIs(argument, "KEEPTTL")) {
            return KEEPTTL;
        }
        return context.argumentIs(argument, "PERSIST") ? PERSIST : 0;
    }

    /** Whether as many fields follow as the number says; else the error was replied. */
    private boolean hasFields(int word, int width) {
        if (!context.requireLong(word + 1)) {
            return false;
        }
        int arguments = context.argumentCount() - word - 2;
        if (arguments == 0 || arguments % width != 0 || context.longValue() != arguments / width) {
            context.reply().error(WRONG_COUNT);
            return false;
        }
        return true;
    }

    /** The time that was given, milliseconds since the epoch, or {@link #REFUSED}. */
    long time() {
        if (!context.requireLong(timeArgument)) {
            return REFUSED;
        }
        long value = context.longValue();
        if (value < 0 || value > TimedHashLayout.LATEST_TIME / unit.millis()
                || ExpiryTimes.at(context, unit) > TimedHashLayout.LATEST_TIME) {
            context.reply().error("ERR invalid expire time in '" + context.spec().fullName() + "' command");
            return REFUSED;
        }
        return ExpiryTimes.at(context, unit);
    }
}
