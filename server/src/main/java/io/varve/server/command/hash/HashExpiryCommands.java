package io.varve.server.command.hash;

import io.varve.memory.collection.TimedHashLayout;
import io.varve.memory.item.Item;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.value.ExpiryTimes;
import io.varve.server.command.value.ExpiryTimes.Unit;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;
import static io.varve.server.command.hash.HashCommands.hash;
import static io.varve.server.command.value.ExpiryTimes.Unit.EPOCH_MILLIS;
import static io.varve.server.command.value.ExpiryTimes.Unit.EPOCH_SECONDS;
import static io.varve.server.command.value.ExpiryTimes.Unit.MILLIS_FROM_NOW;
import static io.varve.server.command.value.ExpiryTimes.Unit.SECONDS_FROM_NOW;

/** The times of hashes' fields: the HEXPIRE and HTTL families, and HPERSIST, as Redis 7.4 has them. Immutable: static handlers. */
final class HashExpiryCommands {
    private static final String NO_FIELDS = "ERR Mandatory argument FIELDS is missing or not at the right position";
    private static final int LONGEST_SMALL_REPLY = 5;

    private HashExpiryCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(expiry("hexpire", "Makes fields of a hash expire after some seconds")
                .handler(call -> expire(call, SECONDS_FROM_NOW)));
        table.add(expiry("hpexpire", "Makes fields of a hash expire after some milliseconds")
                .handler(call -> expire(call, MILLIS_FROM_NOW)));
        table.add(expiry("hexpireat", "Makes fields of a hash expire at a time in seconds since the epoch")
                .handler(call -> expire(call, EPOCH_SECONDS)));
        table.add(expiry("hpexpireat", "Makes fields of a hash expire at a time in milliseconds since the epoch")
                .handler(call -> expire(call, EPOCH_MILLIS)));
        table.add(time("httl", "Answers the seconds until fields of a hash expire").tips("nondeterministic_output")
                .handler(call -> tell(call, SECONDS_FROM_NOW)));
        table.add(time("hpttl", "Answers the milliseconds until fields of a hash expire")
                .tips("nondeterministic_output").handler(call -> tell(call, MILLIS_FROM_NOW)));
        table.add(time("hexpiretime", "Answers when fields of a hash expire, in seconds since the epoch")
                .handler(call -> tell(call, EPOCH_SECONDS)));
        table.add(time("hpexpiretime", "Answers when fields of a hash expire, in milliseconds since the epoch")
                .handler(call -> tell(call, EPOCH_MILLIS)));
        table.add(hash("hpersist", -5, "7.4.0", "Takes the expiry times of fields of a hash away")
                .access("RW update").flags(WRITE, FAST).complexity("O(N) in the fields")
                .handler(HashExpiryCommands::persist));
    }

    private static CommandBuilder expiry(String name, String summary) {
        return hash(name, -6, "7.4.0", summary).access("RW update").flags(WRITE, DENYOOM, FAST)
                .complexity("O(N) in the fields");
    }

    private static CommandBuilder time(String name, String summary) {
        return hash(name, -5, "7.4.0", summary).access("RO access").flags(READONLY, FAST)
                .complexity("O(N) in the fields");
    }

    // --- HEXPIRE

    private static void expire(Invocation call, Unit unit) {
        HashValue hash = HashValue.of(call);
        if (hash.openForWriting(call.keyAt(0)) == Found.WRONG_TYPE) {
            return;
        }
        long at = time(call, unit);
        if (at < 0) {
            return;
        }
        FieldCondition condition = condition(call);
        int fields = condition == FieldCondition.ALWAYS ? 3 : 4;
        if (!readFields(call, fields, "ERR Parameter `numFields` should be greater than 0")) {
            return;
        }
        int first = fields + 2;
        beginReply(call, first);
        HashTimes times = HashTimes.of(call);
        if (at <= call.now()) {
            long removed = times.remove(first, at, condition);
            if (removed > 0) {
                hash.tellRemoval();
                call.countChanges(removed);
            }
            return;
        }
        long given = times.give(first, at, condition);
        if (given > 0) {
            call.events().tell(KeyEvent.HEXPIRE, call.keyAt(0));
            call.countChanges(given);
        }
    }

    /** The time of argument 2, milliseconds since the epoch; -1 after an error was replied. */
    private static long time(Invocation call, Unit unit) {
        if (!call.requireLong(2)) {
            return -1;
        }
        long value = call.longValue();
        if (value < 0) {
            call.reply().error("ERR invalid expire time, must be >= 0");
            return -1;
        }
        if (value > TimedHashLayout.LATEST_TIME / unit.millis()
                || ExpiryTimes.at(call, unit) > TimedHashLayout.LATEST_TIME) {
            call.reply().error("ERR invalid expire time in '" + call.spec().fullName() + "' command");
            return -1;
        }
        return ExpiryTimes.at(call, unit);
    }

    /** The condition that argument 3 names, if it names one. */
    private static FieldCondition condition(Invocation call) {
        return call.argumentIs(3, "NX")
                ? FieldCondition.NX
                : call.argumentIs(3, "XX")
                        ? FieldCondition.XX
                        : call.argumentIs(3, "GT")
                                ? FieldCondition.GT
                                : call.argumentIs(3, "LT") ? FieldCondition.LT : FieldCondition.ALWAYS;
    }

    // --- FIELDS

    /** Reads the word FIELDS and how many there are, which have to be all arguments behind; false after an error was replied. */
    private static boolean readFields(Invocation call, int word, String notPositive) {
        if (!call.argumentIs(word, "FIELDS")) {
            call.reply().error(NO_FIELDS);
            return false;
        }
        if (!call.requireLong(word + 1, notPositive)) {
            return false;
        }
        if (call.longValue() <= 0) {
            call.reply().error(notPositive);
            return false;
        }
        if (call.longValue() != call.argumentCount() - word - 2) {
            call.reply().error("ERR The `numfields` parameter must match the number of arguments");
            return false;
        }
        return true;
    }

    /** The head of the reply, with room for the rest of it: it is written while fields change. */
    private static void beginReply(Invocation call, int first) {
        int fields = call.argumentCount() - first;
        call.reply().reserveIntegers(fields, LONGEST_SMALL_REPLY);
        call.reply().array(fields);
    }

    // --- HTTL

    private static void tell(Invocation call, Unit unit) {
        HashValue hash = HashValue.of(call);
        if (hash.open(call.keyAt(0)) == Found.WRONG_TYPE
                || !readFields(call, 2, "ERR Number of fields must be a positive integer")) {
            return;
        }
        call.reply().array(call.argumentCount() - 4);
        for (int i = 4; i < call.argumentCount(); i++) {
            call.reply().integer(hash.findArgument(i) ? told(call, hash.time(), unit) : HashTimes.NO_FIELD);
        }
    }

    /** Seconds are rounded up, as Redis does for fields. */
    private static long told(Invocation call, long time, Unit unit) {
        if (time == Item.NEVER) {
            return HashTimes.NO_TIME;
        }
        return switch (unit) {
            case SECONDS_FROM_NOW -> (time - call.now() + 999) / 1000;
            case MILLIS_FROM_NOW -> time - call.now();
            case EPOCH_SECONDS -> (time + 999) / 1000;
            case EPOCH_MILLIS -> time;
        };
    }

    // --- HPERSIST

    private static void persist(Invocation call) {
        HashValue hash = HashValue.of(call);
        if (hash.openForWriting(call.keyAt(0)) == Found.WRONG_TYPE
                || !readFields(call, 2, "ERR Number of fields must be a positive integer")) {
            return;
        }
        beginReply(call, 4);
        long taken = HashTimes.of(call).take(4);
        if (taken > 0) {
            call.events().tell(KeyEvent.HPERSIST, call.keyAt(0));
            call.countChanges(taken);
        }
    }
}
