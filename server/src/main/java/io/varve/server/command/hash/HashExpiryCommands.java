package io.varve.server.command.hash;

import io.varve.memory.collection.TimedHashLayout;
import io.varve.memory.item.Item;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.value.ExpiryTimes;
import io.varve.server.command.value.ExpiryTimes.Unit;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;
import io.varve.server.persistence.ChangeRecorder;
import io.varve.server.persistence.RecordedCommand;

import static io.varve.server.command.hash.HashCommands.hash;
import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;
import static io.varve.server.command.value.ExpiryTimes.Unit.EPOCH_MILLIS;
import static io.varve.server.command.value.ExpiryTimes.Unit.EPOCH_SECONDS;
import static io.varve.server.command.value.ExpiryTimes.Unit.MILLIS_FROM_NOW;
import static io.varve.server.command.value.ExpiryTimes.Unit.SECONDS_FROM_NOW;

/**
 * The expiry times of hash fields: the HEXPIRE and HTTL families, and HPERSIST, as in Redis 7.4. Immutable: static
 * handlers.
 */
final class HashExpiryCommands {
    private static final String NO_FIELDS = "ERR Mandatory argument FIELDS is missing or not at the right position";
    private static final int LONGEST_SMALL_REPLY = 5;

    private HashExpiryCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(expiry("hexpire", "Sets the TTL of hash fields in seconds")
                .handler(context -> expire(context, SECONDS_FROM_NOW)));
        table.add(expiry("hpexpire", "Sets the TTL of hash fields in milliseconds")
                .handler(context -> expire(context, MILLIS_FROM_NOW)));
        table.add(expiry("hexpireat", "Sets the expiry time of hash fields as a Unix timestamp in seconds")
                .handler(context -> expire(context, EPOCH_SECONDS)));
        table.add(expiry("hpexpireat", "Sets the expiry time of hash fields as a Unix timestamp in milliseconds")
                .handler(context -> expire(context, EPOCH_MILLIS)));
        table.add(time("httl", "Returns the TTL of hash fields in seconds").tips("nondeterministic_output")
                .handler(context -> replyTime(context, SECONDS_FROM_NOW)));
        table.add(time("hpttl", "Returns the TTL of hash fields in milliseconds")
                .tips("nondeterministic_output").handler(context -> replyTime(context, MILLIS_FROM_NOW)));
        table.add(time("hexpiretime", "Returns the expiry time of hash fields as a Unix timestamp in seconds")
                .handler(context -> replyTime(context, EPOCH_SECONDS)));
        table.add(time("hpexpiretime", "Returns the expiry time of hash fields as a Unix timestamp in milliseconds")
                .handler(context -> replyTime(context, EPOCH_MILLIS)));
        table.add(hash("hpersist", -5, "7.4.0", "Removes the expiry time of hash fields")
                .access("RW update").flags(WRITE, FAST).complexity("O(N) where N is the number of fields")
                .handler(HashExpiryCommands::persist));
    }

    private static CommandBuilder expiry(String name, String summary) {
        return hash(name, -6, "7.4.0", summary).access("RW update").flags(WRITE, DENYOOM, FAST)
                .complexity("O(N) where N is the number of fields");
    }

    private static CommandBuilder time(String name, String summary) {
        return hash(name, -5, "7.4.0", summary).access("RO access").flags(READONLY, FAST)
                .complexity("O(N) where N is the number of fields");
    }

    // --- HEXPIRE

    private static void expire(CommandContext context, Unit unit) {
        HashValue hash = HashValue.of(context);
        if (hash.openForWriting(context.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        long at = time(context, unit);
        if (at < 0) {
            return;
        }
        FieldCondition condition = condition(context);
        int fields = condition == FieldCondition.ALWAYS ? 3 : 4;
        if (!readFields(context, fields, "ERR Parameter `numFields` should be greater than 0")) {
            return;
        }
        int first = fields + 2;
        beginReply(context, first);
        HashTimes times = HashTimes.of(context);
        if (at <= context.expiryMillis()) {
            long removed = times.remove(first, at, condition);
            if (removed > 0) {
                hash.emitRemoval();
                context.countChanges(removed);
                recordRemoval(context, hash, first, 1);
            }
            return;
        }
        long given = times.setAll(first, at, condition);
        if (given > 0) {
            context.events().emit(KeyEvent.HEXPIRE, context.keyAt(0));
            context.countChanges(given);
            record(context, at);
        }
    }

    /**
     * Records the removal of fields in the arguments as HDEL. A replica does not remove what has expired, so fields
     * whose new time has passed are deleted there.
     *
     * @param step the arguments from one field to the next
     */
    static void recordRemoval(CommandContext context, HashValue hash, int first, int step) {
        if (!context.isRecording()) {
            return;
        }
        if (hash.size() == 0) {
            context.recordDeletion(context.keyAt(0));
            return;
        }
        int missing = 0;
        for (int i = first; i < context.argumentCount(); i += step) {
            missing += hash.findArgument(i) ? 0 : 1;
        }
        ChangeRecorder recorder = context.record(RecordedCommand.HDEL, context.keyAt(0), 2 + missing);
        for (int i = first; i < context.argumentCount(); i += step) {
            if (!hash.findArgument(i)) {
                recorder.argument(context.argumentAddress(i), context.argumentLength(i));
            }
        }
        recorder.end();
    }

    /** Records the command with a time that does not depend on the clock. */
    private static void record(CommandContext context, long at) {
        if (context.isRecording()) {
            ChangeRecorder recorder = context.record(RecordedCommand.HPEXPIREAT, context.keyAt(0),
                    context.argumentCount()).argument(at);
            for (int i = 3; i < context.argumentCount(); i++) {
                recorder.argument(context.argumentAddress(i), context.argumentLength(i));
            }
            recorder.end();
        }
    }

    /** The time in argument 2, milliseconds since the epoch; -1 after an error was replied. */
    private static long time(CommandContext context, Unit unit) {
        if (!context.requireLong(2)) {
            return -1;
        }
        long value = context.longValue();
        if (value < 0) {
            context.reply().error("ERR invalid expire time, must be >= 0");
            return -1;
        }
        if (value > TimedHashLayout.LATEST_TIME / unit.millis()
                || ExpiryTimes.at(context, unit) > TimedHashLayout.LATEST_TIME) {
            context.reply().error("ERR invalid expire time in '" + context.spec().fullName() + "' command");
            return -1;
        }
        return ExpiryTimes.at(context, unit);
    }

    /** The condition that argument 3 names, or {@link FieldCondition#ALWAYS}. */
    private static FieldCondition condition(CommandContext context) {
        return context.argumentIs(3, "NX")
                ? FieldCondition.NX
                : context.argumentIs(3, "XX")
                        ? FieldCondition.XX
                        : context.argumentIs(3, "GT")
                                ? FieldCondition.GT
                                : context.argumentIs(3, "LT") ? FieldCondition.LT : FieldCondition.ALWAYS;
    }

    // --- FIELDS

    /**
     * Reads the word FIELDS and the number of fields, which must match the remaining arguments. Returns false after an
     * error was replied.
     */
    private static boolean readFields(CommandContext context, int word, String notPositive) {
        if (!context.argumentIs(word, "FIELDS")) {
            context.reply().error(NO_FIELDS);
            return false;
        }
        if (!context.requireLong(word + 1, notPositive)) {
            return false;
        }
        if (context.longValue() <= 0) {
            context.reply().error(notPositive);
            return false;
        }
        if (context.longValue() != context.argumentCount() - word - 2) {
            context.reply().error("ERR The `numfields` parameter must match the number of arguments");
            return false;
        }
        return true;
    }

    /**
     * Writes the header of the reply and reserves space for the rest, because the rest is written while fields change.
     */
    private static void beginReply(CommandContext context, int first) {
        int fields = context.argumentCount() - first;
        context.reply().reserveIntegers(fields, LONGEST_SMALL_REPLY);
        context.reply().array(fields);
    }

    // --- HTTL

    private static void replyTime(CommandContext context, Unit unit) {
        HashValue hash = HashValue.of(context);
        if (hash.open(context.keyAt(0)) == Found.WRONG_TYPE
                || !readFields(context, 2, "ERR Number of fields must be a positive integer")) {
            return;
        }
        context.reply().array(context.argumentCount() - 4);
        for (int i = 4; i < context.argumentCount(); i++) {
            context.reply().integer(hash.findArgument(i) ? inUnit(context, hash.time(), unit) : HashTimes.NO_FIELD);
        }
    }

    /** Rounds seconds up, as Redis does for fields. */
    private static long inUnit(CommandContext context, long time, Unit unit) {
        if (time == Item.NEVER) {
            return HashTimes.NO_TIME;
        }
        return switch (unit) {
            case SECONDS_FROM_NOW -> (time - context.now() + 999) / 1000;
            case MILLIS_FROM_NOW -> time - context.now();
            case EPOCH_SECONDS -> (time + 999) / 1000;
            case EPOCH_MILLIS -> time;
        };
    }

    // --- HPERSIST

    private static void persist(CommandContext context) {
        HashValue hash = HashValue.of(context);
        if (hash.openForWriting(context.keyAt(0)) == Found.WRONG_TYPE
                || !readFields(context, 2, "ERR Number of fields must be a positive integer")) {
            return;
        }
        beginReply(context, 4);
        long taken = HashTimes.of(context).removeAll(4);
        if (taken > 0) {
            context.events().emit(KeyEvent.HPERSIST, context.keyAt(0));
            context.countChanges(taken);
        }
    }
}
