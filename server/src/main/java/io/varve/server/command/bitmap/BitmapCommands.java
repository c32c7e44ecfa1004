package io.varve.server.command.bitmap;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandSpec;
import io.varve.server.command.CommandTable;
import io.varve.server.command.Invocation;
import io.varve.server.command.string.StringEditCommands;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.CommandFlag.DENYOOM;
import static io.varve.server.command.CommandFlag.FAST;
import static io.varve.server.command.CommandFlag.READONLY;
import static io.varve.server.command.CommandFlag.WRITE;

/**
 * Commands on the bits of a string. Immutable: static handlers.
 *
 * @see BitfieldCommands for those on groups of bits
 * @see BitOperationCommand for the one on several strings
 */
public final class BitmapCommands {
    private static final String OFFSET_OUT_OF_RANGE = "ERR bit offset is not an integer or out of range";
    private static final String BIT_OUT_OF_RANGE = "ERR bit is not an integer or out of range";
    private static final int INVALID = -1;

    private BitmapCommands() {}

    /** Adds the family. */
    public static void addTo(CommandTable.Builder table) {
        table.add(bitmap("setbit", 4, "2.2.0", "Sets or clears a bit of a string").key(1).access("RW access update")
                .flags(WRITE, DENYOOM).handler(BitmapCommands::setbit));
        table.add(bitmap("getbit", 3, "2.2.0", "Answers a bit of a string").key(1).access("RO access")
                .flags(READONLY, FAST).handler(BitmapCommands::getbit));
        table.add(bitmap("bitcount", -2, "2.6.0", "Counts the set bits of a string").key(1).access("RO access")
                .flags(READONLY).complexity("O(N) in the bytes").handler(BitmapCommands::bitcount));
        table.add(bitmap("bitpos", -3, "2.8.7", "Finds the first set or clear bit of a string").key(1)
                .access("RO access").flags(READONLY).complexity("O(N) in the bytes")
                .handler(BitmapCommands::bitpos));
        BitfieldCommands.addTo(table);
        BitOperationCommand.addTo(table);
    }

    static CommandBuilder bitmap(String name, int arity, String since, String summary) {
        return CommandSpec.named(name).arity(arity).categories("@bitmap").group("bitmap").since(since)
                .summary(summary);
    }

    // --- single bits

    /**
     * The offset of a bit at an argument; -1 after an error was replied.
     *
     * @param width an offset after {@code #} is counted in so many bits; 0: there is no such form
     */
    static long offset(Invocation call, int argument, int width) {
        long address = call.argumentAddress(argument);
        int length = call.argumentLength(argument);
        boolean counted = width > 0 && length > 0 && Memory.getByte(address) == '#';
        int from = counted ? 1 : 0;
        if (call.parseLong(address + from, length - from)) {
            long offset = counted ? call.longValue() * width : call.longValue();
            if (offset >= 0 && offset >>> 3 < StringEditCommands.maxBytes(call)) {
                return offset;
            }
        }
        call.reply().error(OFFSET_OUT_OF_RANGE);
        return INVALID;
    }

    /**
     * Makes a string of at least so many bytes under the key, zeros behind what there was.
     *
     * @return whether it is longer now
     */
    static boolean extend(Invocation call, Key key, Item item, Found found, int atLeast) {
        CacheSession session = call.session();
        int old = 0;
        int length = atLeast;
        if (found == Found.PRESENT) {
            old = item.valueLength();
            length = Math.max(old, atLeast);
            session.resize(key, item, Encodings.STRING_RAW, length, StringEditCommands.grownCapacity(call, length));
        } else {
            session.put(key, item, ItemType.STRING, Encodings.STRING_RAW, length, length, Item.NEVER);
        }
        if (length > old) {
            Memory.fill(item.valueAddress() + old, (long) length - old, (byte) 0);
        }
        return length > old;
    }

    private static void setbit(Invocation call) {
        long offset = offset(call, 2, 0);
        if (offset == INVALID) {
            return;
        }
        if (!call.requireLong(3, BIT_OUT_OF_RANGE)) {
            return;
        }
        long bit = call.longValue();
        if (bit != 0 && bit != 1) {
            call.reply().error(BIT_OUT_OF_RANGE);
            return;
        }
        Key key = call.keyAt(0);
        Item item = call.item();
        Found found = KeyLookup.findForWriting(call, key, item, ItemType.STRING);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        boolean longer = extend(call, key, item, found, (int) (offset >>> 3) + 1);
        int old = BitString.get(item.valueAddress(), offset);
        if (longer || old != bit) {
            BitString.put(item.valueAddress(), offset, (int) bit);
            call.session().changed(key, Change.SET);
            call.events().tell(KeyEvent.SETBIT, key);
            call.countChanges(1);
        }
        call.reply().integer(old);
    }

    private static void getbit(Invocation call) {
        long offset = offset(call, 2, 0);
        if (offset == INVALID) {
            return;
        }
        Item item = call.item();
        Found found = KeyLookup.find(call, call.keyAt(0), item, ItemType.STRING);
        if (found != Found.WRONG_TYPE) {
            boolean within = found == Found.PRESENT && offset >>> 3 < item.valueLength();
            call.reply().integer(within ? BitString.get(item.valueAddress(), offset) : 0);
        }
    }

    // --- ranges

    private static void bitcount(Invocation call) {
        Item item = call.item();
        Found found = KeyLookup.find(call, call.keyAt(0), item, ItemType.STRING);
        if (found != Found.PRESENT) {
            if (found == Found.MISSING) {
                call.reply().integer(0);
            }
            return;
        }
        int arguments = call.argumentCount();
        long start = 0;
        long end = -1;
        boolean inBits = false;
        if (arguments != 2) {
            if (arguments != 4 && arguments != 5) {
                call.syntaxError();
                return;
            }
            if (!call.requireLong(2)) {
                return;
            }
            start = call.longValue();
            if (!call.requireLong(3)) {
                return;
            }
            end = call.longValue();
            if (start < 0 && end < 0 && start > end) {
                call.reply().integer(0);
                return;
            }
            int unit = arguments == 5 ? unit(call, 4) : 0;
            if (unit == INVALID) {
                return;
            }
            inBits = unit == 1;
        }
        long length = inBits ? (long) item.valueLength() << 3 : item.valueLength();
        long first = fromStart(start, length);
        long last = Math.min(fromStart(end, length), length - 1);
        call.reply().integer(first > last
                ? 0
                : BitString.count(item.valueAddress(), inBits ? first : first << 3, inBits ? last : last << 3 | 7));
    }

    /** 1 for BIT, 0 for BYTE, -1 after the error for anything else. */
    private static int unit(Invocation call, int argument) {
        if (call.argumentIs(argument, "BIT")) {
            return 1;
        }
        if (call.argumentIs(argument, "BYTE")) {
            return 0;
        }
        call.syntaxError();
        return INVALID;
    }

    /** An index that counts from the end if it is negative. */
    private static long fromStart(long index, long length) {
        return index < 0 ? Math.max(0, index + length) : index;
    }

    private static void bitpos(Invocation call) {
        if (!call.requireLong(2)) {
            return;
        }
        long bit = call.longValue();
        if (bit != 0 && bit != 1) {
            call.reply().error("ERR The bit argument must be 1 or 0.");
            return;
        }
        Item item = call.item();
        Found found = KeyLookup.find(call, call.keyAt(0), item, ItemType.STRING);
        if (found != Found.PRESENT) {
            if (found == Found.MISSING) {
                call.reply().integer(bit == 1 ? -1 : 0);
            }
            return;
        }
        int arguments = call.argumentCount();
        if (arguments > 6) {
            call.syntaxError();
            return;
        }
        long start = 0;
        long end = -1;
        boolean inBits = false;
        if (arguments > 3) {
            if (!call.requireLong(3)) {
                return;
            }
            start = call.longValue();
        }
        if (arguments == 6) {
            int unit = unit(call, 5);
            if (unit == INVALID) {
                return;
            }
            inBits = unit == 1;
        }
        if (arguments > 4) {
            if (!call.requireLong(4)) {
                return;
            }
            end = call.longValue();
        }
        call.reply().integer(position(item, (int) bit, start, end, inBits, arguments > 4));
    }

    /** A clear bit stands behind the end of a string, unless it was said where to end. */
    private static long position(Item item, int bit, long start, long end, boolean inBits, boolean endGiven) {
        long length = inBits ? (long) item.valueLength() << 3 : item.valueLength();
        long first = fromStart(start, length);
        long last = Math.min(fromStart(end, length), length - 1);
        if (first > last) {
            return -1;
        }
        long found = BitString.find(item.valueAddress(), bit, inBits ? first : first << 3,
                inBits ? last : last << 3 | 7);
        return found == -1 && bit == 0 && !endGiven ? (long) item.valueLength() << 3 : found;
    }
}
