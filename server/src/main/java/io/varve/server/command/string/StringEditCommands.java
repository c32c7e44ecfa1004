package io.varve.server.command.string;

import java.nio.charset.StandardCharsets;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Errors;
import io.varve.server.command.Invocation;
import io.varve.server.command.text.LongDouble;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.command.value.Values;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;
import static io.varve.server.command.string.StringCommands.string;

/** Commands that change a string where it lies, count in it, or look at parts of it. Immutable: static handlers. */
public final class StringEditCommands {
    /** No string grows beyond it, whatever proto-max-bulk-len says: header, key and value are one run below 2 GB. */
    private static final int LARGEST_STRING_BYTES = Integer.MAX_VALUE - (1 << 20);
    private static final String TOO_LONG = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";

    private StringEditCommands() {}

    static void addTo(CommandTable.Builder table) {
        table.add(string("append", 3, "2.0.0", "Adds to the end of a key's string").key(1)
                .access("RW insert").flags(WRITE, DENYOOM, FAST).handler(StringEditCommands::append));
        table.add(string("setrange", 4, "2.2.0", "Overwrites a part of a key's string").key(1)
                .access("RW update").flags(WRITE, DENYOOM).handler(StringEditCommands::setrange));
        table.add(string("getrange", 4, "2.4.0", "Answers a part of a key's string").key(1).access("RO access")
                .flags(READONLY)
                .complexity("O(N) in the answer").handler(StringEditCommands::getrange));
        table.add(string("substr", 4, "1.0.0", "Answers a part of a key's string, as GETRANGE does").key(1)
                .access("RO access").flags(READONLY).complexity("O(N) in the answer")
                .handler(StringEditCommands::getrange));
        table.add(string("incr", 2, "1.0.0", "Adds one to the number in a key's string").key(1)
                .access("RW access update").flags(WRITE, DENYOOM, FAST).sharesClock()
                .handler(call -> increment(call, 1)));
        table.add(string("decr", 2, "1.0.0", "Subtracts one from the number in a key's string").key(1)
                .access("RW access update").flags(WRITE, DENYOOM, FAST).sharesClock()
                .handler(call -> increment(call, -1)));
        table.add(string("incrby", 3, "1.0.0", "Adds to the number in a key's string").key(1)
                .access("RW access update").flags(WRITE, DENYOOM, FAST).sharesClock()
                .handler(StringEditCommands::incrby));
        table.add(string("decrby", 3, "1.0.0", "Subtracts from the number in a key's string").key(1)
                .access("RW access update").flags(WRITE, DENYOOM, FAST).sharesClock()
                .handler(StringEditCommands::decrby));
        table.add(string("incrbyfloat", 3, "2.6.0", "Adds to the floating-point number in a key's string").key(1)
                .access("RW access update").flags(WRITE, DENYOOM, FAST).handler(StringEditCommands::incrbyfloat));
        table.add(string("lcs", -3, "7.0.0", "Finds the longest common subsequence of two strings").keys(1, 2, 1)
                .access("RO access").flags(READONLY).complexity("O(N*M) in the lengths")
                .handler(LongestCommonSubsequence::run));
    }

    /** Head room for a string that grows: twice its size, so that a row of appends copies each byte twice at most. */
    public static int grownCapacity(Invocation call, int length) {
        return (int) Math.min(2L * length, Math.max(length, maxBytes(call)));
    }

    /** The length that no string grows beyond. */
    public static long maxBytes(Invocation call) {
        return Math.min(LARGEST_STRING_BYTES, call.server().config().maxBulkBytes());
    }

    private static void append(Invocation call) {
        CacheSession session = call.session();
        Key key = call.keyAt(0);
        Item item = call.item();
        int added = call.argumentLength(2);
        Found found = KeyLookup.findForWriting(call, key, item, ItemType.STRING);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        if (found == Found.MISSING) {
            session.set(key, ItemType.STRING, Encodings.STRING_BY_CONTENT, call.argumentAddress(2), added,
                    Item.NEVER);
            call.events().tell(KeyEvent.APPEND, key);
            call.countChanges(1);
            call.reply().integer(added);
            return;
        }
        int oldLength = item.valueLength();
        if ((long) oldLength + added > maxBytes(call)) {
            call.reply().error(TOO_LONG);
            return;
        }
        int newLength = oldLength + added;
        session.resize(key, item, Encodings.STRING_RAW, newLength, grownCapacity(call, newLength));
        Memory.copy(call.argumentAddress(2), item.valueAddress() + oldLength, added);
        session.changed(key, Change.SET);
        call.events().tell(KeyEvent.APPEND, key);
        call.countChanges(1);
        call.reply().integer(newLength);
    }

    private static void setrange(Invocation call) {
        if (!call.requireLong(2)) {
            return;
        }
        long offset = call.longValue();
        if (offset < 0) {
            call.reply().error("ERR offset is out of range");
            return;
        }
        CacheSession session = call.session();
        Key key = call.keyAt(0);
        Item item = call.item();
        Found found = KeyLookup.findForWriting(call, key, item, ItemType.STRING);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        int oldLength = found == Found.PRESENT ? item.valueLength() : 0;
        int written = call.argumentLength(3);
        if (written == 0) {
            call.reply().integer(oldLength);
            return;
        }
        if (offset > maxBytes(call) - written) {
            call.reply().error(TOO_LONG);
            return;
        }
        int end = (int) offset + written;
        int newLength = Math.max(oldLength, end);
        if (found == Found.PRESENT) {
            session.resize(key, item, Encodings.STRING_RAW, newLength, grownCapacity(call, newLength));
        } else {
            session.put(key, item, ItemType.STRING, Encodings.STRING_RAW, newLength, newLength, Item.NEVER);
        }
        if (offset > oldLength) {
            Memory.fill(item.valueAddress() + oldLength, offset - oldLength, (byte) 0);
        }
        Memory.copy(call.argumentAddress(3), item.valueAddress() + offset, written);
        session.changed(key, Change.SET);
        call.events().tell(KeyEvent.SETRANGE, key);
        call.countChanges(1);
        call.reply().integer(newLength);
    }

    private static void getrange(Invocation call) {
        if (!call.requireLong(2)) {
            return;
        }
        long start = call.longValue();
        if (!call.requireLong(3)) {
            return;
        }
        long end = call.longValue();
        Item item = call.item();
        Found found = KeyLookup.find(call, call.keyAt(0), item, ItemType.STRING);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        int length = found == Found.PRESENT ? item.valueLength() : 0;
        boolean emptyFromTheEnd = start < 0 && end < 0 && start > end;
        long from = Math.max(0, start < 0 ? start + length : start);
        long to = Math.min(length - 1L, Math.max(0, end < 0 ? end + length : end));
        if (emptyFromTheEnd || from > to) {
            call.reply().bulk(call.argumentAddress(1), 0);
        } else {
            Values.reply(call, item, item.valueAddress() + from, (int) (to - from + 1));
        }
    }

    // --- counting

    private static void incrby(Invocation call) {
        if (call.requireLong(2)) {
            increment(call, call.longValue());
        }
    }

    private static void decrby(Invocation call) {
        if (!call.requireLong(2)) {
            return;
        }
        if (call.longValue() == Long.MIN_VALUE) {
            call.reply().error("ERR decrement would overflow");
            return;
        }
        increment(call, -call.longValue());
    }

    private static void increment(Invocation call, long delta) {
        Key key = call.keyAt(0);
        Item item = call.item();
        Found found = KeyLookup.findForWriting(call, key, item, ItemType.STRING);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        long old = 0;
        if (found == Found.PRESENT) {
            if (!call.parseLong(item.valueAddress(), item.valueLength())) {
                call.reply().error(Errors.NOT_AN_INTEGER);
                return;
            }
            old = call.longValue();
        }
        long sum = old + delta;
        if (((old ^ sum) & (delta ^ sum)) < 0) {
            call.reply().error(Errors.OVERFLOW);
            return;
        }
        long text = call.formatLong(sum);
        store(call, key, item, found, Encodings.STRING_BY_CONTENT, text, call.formattedLength());
        call.events().tell(KeyEvent.INCRBY, key);
        call.countChanges(1);
        call.reply().integer(sum);
    }

    private static void incrbyfloat(Invocation call) {
        Key key = call.keyAt(0);
        Item item = call.item();
        Found found = KeyLookup.findForWriting(call, key, item, ItemType.STRING);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        LongDouble old = found == Found.PRESENT
                ? LongDouble.parse(item.valueAddress(), item.valueLength())
                : LongDouble.ZERO;
        LongDouble delta = LongDouble.parse(call.argumentAddress(2), call.argumentLength(2));
        if (old.kind() == LongDouble.Kind.INVALID || delta.kind() == LongDouble.Kind.INVALID) {
            call.reply().error(Errors.NOT_A_FLOAT);
            return;
        }
        LongDouble sum = old.plus(delta);
        if (sum.kind() != LongDouble.Kind.FINITE) {
            call.reply().error(Errors.NOT_FINITE);
            return;
        }
        byte[] text = sum.text().getBytes(StandardCharsets.US_ASCII);
        long address = call.scratch(text);
        store(call, key, item, found, Encodings.STRING_TEXT, address, text.length);
        call.events().tell(KeyEvent.INCRBYFLOAT, key);
        call.countChanges(1);
        call.reply().bulk(address, text.length);
    }

    /** Puts a number's text under the key, in place of the old one if there is one; its expiry time stays. */
    private static void store(Invocation call, Key key, Item item, Found found, int encoding, long text,
            int length) {
        CacheSession session = call.session();
        if (found == Found.MISSING) {
            session.set(key, ItemType.STRING, encoding, text, length, Item.NEVER);
            return;
        }
        session.resize(key, item, encoding, length, length);
        Memory.copy(text, item.valueAddress(), length);
        session.changed(key, Change.SET);
    }
}
