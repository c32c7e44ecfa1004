package io.varve.server.command.string;

import java.nio.charset.StandardCharsets;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.text.LongDouble;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;
import io.varve.server.persistence.RecordedCommand;

import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;
import static io.varve.server.command.string.StringCommands.string;

/** Commands that change a string in place, count in it, or read parts of it. Immutable: static handlers. */
public final class StringEditCommands {
    /** Maximum length of a string, whatever proto-max-bulk-len says: header, key and value are one run below 2 GB. */
    private static final int LARGEST_STRING_BYTES = Integer.MAX_VALUE - (1 << 20);
    private static final String TOO_LONG = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";

    private StringEditCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(string("append", 3, "2.0.0", "Appends to the string value of a key").key(1)
                .access("RW insert").flags(WRITE, DENYOOM, FAST).handler(StringEditCommands::append));
        table.add(string("setrange", 4, "2.2.0", "Overwrites a part of a string value at an offset").key(1)
                .access("RW update").flags(WRITE, DENYOOM).handler(StringEditCommands::setrange));
        table.add(string("getrange", 4, "2.4.0", "Returns a substring of a string value").key(1).access("RO access")
                .flags(READONLY)
                .complexity("O(N) where N is the length of the returned string").handler(StringEditCommands::getrange));
        table.add(string("substr", 4, "1.0.0", "Returns a substring of a string value; GETRANGE is the current name")
                .key(1)
                .access("RO access").flags(READONLY).complexity("O(N) where N is the length of the returned string")
                .handler(StringEditCommands::getrange));
        table.add(string("incr", 2, "1.0.0", "Increments the integer value of a key by one").key(1)
                .access("RW access update").flags(WRITE, DENYOOM, FAST).traits(CommandTrait.SHARES_CLOCK)
                .handler(context -> increment(context, 1)));
        table.add(string("decr", 2, "1.0.0", "Decrements the integer value of a key by one").key(1)
                .access("RW access update").flags(WRITE, DENYOOM, FAST).traits(CommandTrait.SHARES_CLOCK)
                .handler(context -> increment(context, -1)));
        table.add(string("incrby", 3, "1.0.0", "Increments the integer value of a key").key(1)
                .access("RW access update").flags(WRITE, DENYOOM, FAST).traits(CommandTrait.SHARES_CLOCK)
                .handler(StringEditCommands::incrby));
        table.add(string("decrby", 3, "1.0.0", "Decrements the integer value of a key").key(1)
                .access("RW access update").flags(WRITE, DENYOOM, FAST).traits(CommandTrait.SHARES_CLOCK)
                .handler(StringEditCommands::decrby));
        table.add(string("incrbyfloat", 3, "2.6.0", "Increments the floating-point value of a key").key(1)
                .access("RW access update").flags(WRITE, DENYOOM, FAST).handler(StringEditCommands::incrbyfloat));
        table.add(string("lcs", -3, "7.0.0", "Finds the longest common subsequence of two strings").keys(1, 2, 1)
                .access("RO access").flags(READONLY).complexity("O(N*M) where N and M are the lengths of the strings")
                .handler(LongestCommonSubsequence::run));
    }

    /** Capacity for a growing string: twice its size, so that a series of appends copies each byte at most twice. */
    public static int grownCapacity(CommandContext context, int length) {
        return (int) Math.min(2L * length, Math.max(length, maxBytes(context)));
    }

    /** Maximum length of a string, bytes. */
    public static long maxBytes(CommandContext context) {
        return Math.min(LARGEST_STRING_BYTES, context.server().config().maxBulkBytes());
    }

    private static void append(CommandContext context) {
        CacheSession session = context.session();
        Key key = context.keyAt(0);
        Item item = context.item();
        int added = context.argumentLength(2);
        Found found = KeyLookup.findForWriting(context, key, item, ItemType.STRING);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (found == Found.MISSING) {
            session.set(key, ItemType.STRING, Encodings.STRING_BY_CONTENT, context.argumentAddress(2), added,
                    Item.NEVER);
            context.events().emit(KeyEvent.APPEND, key);
            context.countChanges(1);
            context.reply().integer(added);
            return;
        }
        int oldLength = item.valueLength();
        if ((long) oldLength + added > maxBytes(context)) {
            context.reply().error(TOO_LONG);
            return;
        }
        int newLength = oldLength + added;
        session.resize(key, item, Encodings.STRING_RAW, newLength, grownCapacity(context, newLength));
        Memory.copy(context.argumentAddress(2), item.valueAddress() + oldLength, added);
        session.changed(key, Change.SET);
        context.events().emit(KeyEvent.APPEND, key);
        context.countChanges(1);
        context.reply().integer(newLength);
    }

    private static void setrange(CommandContext context) {
        if (!context.requireLong(2)) {
            return;
        }
        long offset = context.longValue();
        if (offset < 0) {
            context.reply().error("ERR offset is out of range");
            return;
        }
        CacheSession session = context.session();
        Key key = context.keyAt(0);
        Item item = context.item();
        Found found = KeyLookup.findForWriting(context, key, item, ItemType.STRING);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        int oldLength = found == Found.PRESENT ? item.valueLength() : 0;
        int written = context.argumentLength(3);
        if (written == 0) {
            context.reply().integer(oldLength);
            return;
        }
        if (offset > maxBytes(context) - written) {
            context.reply().error(TOO_LONG);
            return;
        }
        int end = (int) offset + written;
        int newLength = Math.max(oldLength, end);
        if (found == Found.PRESENT) {
            session.resize(key, item, Encodings.STRING_RAW, newLength, grownCapacity(context, newLength));
        } else {
            session.put(key, item, ItemType.STRING, Encodings.STRING_RAW, newLength, newLength, Item.NEVER);
        }
        if (offset > oldLength) {
            Memory.fill(item.valueAddress() + oldLength, offset - oldLength, (byte) 0);
        }
        Memory.copy(context.argumentAddress(3), item.valueAddress() + offset, written);
        session.changed(key, Change.SET);
        context.events().emit(KeyEvent.SETRANGE, key);
        context.countChanges(1);
        context.reply().integer(newLength);
    }

    private static void getrange(CommandContext context) {
        if (!context.requireLong(2)) {
            return;
        }
        long start = context.longValue();
        if (!context.requireLong(3)) {
            return;
        }
        long end = context.longValue();
        Item item = context.item();
        Found found = KeyLookup.find(context, context.keyAt(0), item, ItemType.STRING);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        int length = found == Found.PRESENT ? item.valueLength() : 0;
        boolean emptyFromTheEnd = start < 0 && end < 0 && start > end;
        long from = Math.max(0, start < 0 ? start + length : start);
        long to = Math.min(length - 1L, Math.max(0, end < 0 ? end + length : end));
        if (emptyFromTheEnd || from > to) {
            context.reply().bulk(context.argumentAddress(1), 0);
        } else {
            context.replyValue(item, item.valueAddress() + from, (int) (to - from + 1));
        }
    }

    // --- counting

    private static void incrby(CommandContext context) {
        if (context.requireLong(2)) {
            increment(context, context.longValue());
        }
    }

    private static void decrby(CommandContext context) {
        if (!context.requireLong(2)) {
            return;
        }
        if (context.longValue() == Long.MIN_VALUE) {
            context.reply().error("ERR decrement would overflow");
            return;
        }
        increment(context, -context.longValue());
    }

    private static void increment(CommandContext context, long delta) {
        Key key = context.keyAt(0);
        Item item = context.item();
        Found found = KeyLookup.findForWriting(context, key, item, ItemType.STRING);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        long old = 0;
        if (found == Found.PRESENT) {
            if (!context.parseLong(item.valueAddress(), item.valueLength())) {
                context.reply().error(Errors.NOT_AN_INTEGER);
                return;
            }
            old = context.longValue();
        }
        long sum = old + delta;
        if (((old ^ sum) & (delta ^ sum)) < 0) {
            context.reply().error(Errors.OVERFLOW);
            return;
        }
        long text = context.formatLong(sum);
        store(context, key, item, found, Encodings.STRING_BY_CONTENT, text, context.formattedLength());
        context.events().emit(KeyEvent.INCRBY, key);
        context.countChanges(1);
        context.reply().integer(sum);
    }

    private static void incrbyfloat(CommandContext context) {
        Key key = context.keyAt(0);
        Item item = context.item();
        Found found = KeyLookup.findForWriting(context, key, item, ItemType.STRING);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        LongDouble old = found == Found.PRESENT
                ? LongDouble.parse(item.valueAddress(), item.valueLength())
                : LongDouble.ZERO;
        LongDouble delta = LongDouble.parse(context.argumentAddress(2), context.argumentLength(2));
        if (old.kind() == LongDouble.Kind.INVALID || delta.kind() == LongDouble.Kind.INVALID) {
            context.reply().error(Errors.NOT_A_FLOAT);
            return;
        }
        LongDouble sum = old.plus(delta);
        if (sum.kind() != LongDouble.Kind.FINITE) {
            context.reply().error(Errors.NOT_FINITE);
            return;
        }
        byte[] text = sum.text().getBytes(StandardCharsets.US_ASCII);
        long address = context.scratch(text);
        store(context, key, item, found, Encodings.STRING_TEXT, address, text.length);
        context.events().emit(KeyEvent.INCRBYFLOAT, key);
        context.countChanges(1);
        if (context.isRecording()) {
            context.record(RecordedCommand.SET, key, 4).argument(address, text.length)
                    .argument(RecordedCommand.KEEPTTL).end();
        }
        context.reply().bulk(address, text.length);
    }

    /** Stores a number's text under the key in place of an old value, and keeps the expiry time. */
    private static void store(CommandContext context, Key key, Item item, Found found, int encoding, long text,
            int length) {
        CacheSession session = context.session();
        if (found == Found.MISSING) {
            session.set(key, ItemType.STRING, encoding, text, length, Item.NEVER);
            return;
        }
        session.resize(key, item, encoding, length, length);
        Memory.copy(text, item.valueAddress(), length);
        session.changed(key, Change.SET);
    }
}
