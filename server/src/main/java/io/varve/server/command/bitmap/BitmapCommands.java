package io.varve.server.command.bitmap;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Change;
import io.varve.memory.item.Item;
import io.varve.memory.item.ItemType;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandBuilder;
import io.varve.server.command.CommandContext;
import io.varve.server.command.CommandTable;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.string.StringEditCommands;
import io.varve.server.command.value.Encodings;
import io.varve.server.command.value.KeyLookup;
import io.varve.server.command.value.KeyLookup.Found;
import io.varve.server.events.KeyEvent;

import static io.varve.server.command.spec.CommandFlag.DENYOOM;
import static io.varve.server.command.spec.CommandFlag.FAST;
import static io.varve.server.command.spec.CommandFlag.READONLY;
import static io.varve.server.command.spec.CommandFlag.WRITE;

/**
 * Commands on the bits of a string. Immutable: static handlers.
 *
 * @see BitfieldCommands for commands on groups of bits
 * @see BitOperationCommand for the command on several strings
 */
public final class BitmapCommands {
    private static final String OFFSET_OUT_OF_RANGE = "ERR bit offset is not an integer or out of range";
    private static final String BIT_OUT_OF_RANGE = "ERR bit is not an integer or out of range";
    private static final int INVALID = -1;

    private BitmapCommands() {}

    /** Adds this family's commands. */
    public static void addTo(CommandTable.Builder table) {
        table.add(bitmap("setbit", 4, "2.2.0", "Sets or clears a bit of a string").key(1).access("RW access update")
                .flags(WRITE, DENYOOM).handler(BitmapCommands::setbit));
        table.add(bitmap("getbit", 3, "2.2.0", "Returns a bit of a string").key(1).access("RO access")
                .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY, FAST).handler(BitmapCommands::getbit));
        table.add(bitmap("bitcount", -2, "2.6.0", "Counts the set bits of a string").key(1).access("RO access")
                .traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY)
                .complexity("O(N) where N is the number of bytes")
                .handler(BitmapCommands::bitcount));
        table.add(bitmap("bitpos", -3, "2.8.7", "Finds the first set or clear bit of a string").key(1)
                .access("RO access").traits(CommandTrait.READS_OPTIMISTICALLY).flags(READONLY)
                .complexity("O(N) where N is the number of bytes")
                .handler(BitmapCommands::bitpos));
        BitfieldCommands.addTo(table);
        BitOperationCommand.addTo(table);
    }

    static CommandBuilder bitmap(String name, int arity, String since, String summary) {
        return CommandBuilder.named(name).arity(arity).categories("@bitmap").group("bitmap").since(since)
                .summary(summary);
    }

    // --- single bits

    /**
     * The bit offset in an argument; -1 after an error was replied.
     *
     * @param width unit, in bits, of an offset after {@code #}; 0: that form is not allowed
     */
    static long offset(CommandContext context, int argument, int width) {
        long address = context.argumentAddress(argument);
        int length = context.argumentLength(argument);
        boolean counted = width > 0 && length > 0 && Memory.getByte(address) == '#';
        int from = counted ? 1 : 0;
        if (context.parseLong(address + from, length - from)) {
            long offset = counted ? context.longValue() * width : context.longValue();
            if (offset >= 0 && offset >>> 3 < StringEditCommands.maxBytes(context)) {
                return offset;
            }
        }
        context.reply().error(OFFSET_OUT_OF_RANGE);
        return INVALID;
    }

    /**
     * Extends the key's string to at least this many bytes, filled up with zeros; creates it if needed.
     *
     * @return whether the string is longer than before
     */
    static boolean extend(CommandContext context, Key key, Item item, Found found, int atLeast) {
        CacheSession session = context.session();
        int old = 0;
        int length = atLeast;
        if (found == Found.PRESENT) {
            old = item.valueLength();
            length = Math.max(old, atLeast);
            session.resize(key, item, Encodings.STRING_RAW, length, StringEditCommands.grownCapacity(context, length));
        } else {
            session.put(key, item, ItemType.STRING, Encodings.STRING_RAW, length, length, Item.NEVER);
        }
        if (length > old) {
            Memory.fill(item.valueAddress() + old, (long) length - old, (byte) 0);
        }
        return length > old;
    }

    private static void setbit(CommandContext context) {
        long offset = offset(context, 2, 0);
        if (offset == INVALID) {
            return;
        }
        if (!context.requireLong(3, BIT_OUT_OF_RANGE)) {
            return;
        }
        long bit = context.longValue();
        if (bit != 0 && bit != 1) {
            context.reply().error(BIT_OUT_OF_RANGE);
            return;
        }
        Key key = context.keyAt(0);
        Item item = context.item();
        Found found = KeyLookup.findForWriting(context, key, item, ItemType.STRING);
        if (found == Found.WRONG_TYPE) {
            return;
        }
        boolean longer = extend(context, key, item, found, (int) (offset >>> 3) + 1);
        int old = BitString.get(item.valueAddress(), offset);
        if (longer || old != bit) {
            BitString.put(item.valueAddress(), offset, (int) bit);
            context.session().changed(key, Change.SET);
            context.events().emit(KeyEvent.SETBIT, key);
            context.countChanges(1);
        }
        context.reply().integer(old);
    }

    private static void getbit(CommandContext context) {
        long offset = offset(context, 2, 0);
        if (offset == INVALID) {
            return;
        }
        Item item = context.item();
        Found found = KeyLookup.find(context, context.keyAt(0), item, ItemType.STRING);
        if (found != Found.WRONG_TYPE) {
            boolean within = found == Found.PRESENT && offset >>> 3 < item.valueLength();
            context.reply().integer(within ? BitString.get(item.valueAddress(), offset) : 0);
        }
    }

    // --- ranges

    private static void bitcount(CommandContext context) {
        Item item = context.item();
        Found found = KeyLookup.find(context, context.keyAt(0), item, ItemType.STRING);
        if (found != Found.PRESENT) {
            if (found == Found.MISSING) {
                context.reply().integer(0);
            }
            return;
        }
        int arguments = context.argumentCount();
        long start = 0;
        long end = -1;
        boolean inBits = false;
        if (arguments != 2) {
            if (arguments != 4 && arguments != 5) {
                context.syntaxError();
                return;
            }
            if (!context.requireLong(2)) {
                return;
            }
            start = context.longValue();
            if (!context.requireLong(3)) {
                return;
            }
            end = context.longValue();
            if (start < 0 && end < 0 && start > end) {
                context.reply().integer(0);
                return;
            }
            int unit = arguments == 5 ? unit(context, 4) : 0;
            if (unit == INVALID) {
                return;
            }
            inBits = unit == 1;
        }
        long length = inBits ? (long) item.valueLength() << 3 : item.valueLength();
        long first = fromStart(start, length);
        long last = Math.min(fromStart(end, length), length - 1);
        context.reply().integer(first > last
                ? 0
                : BitString.count(item.valueAddress(), inBits ? first : first << 3, inBits ? last : last << 3 | 7));
    }

    /** 1 for BIT, 0 for BYTE, -1 after the error for anything else. */
    private static int unit(CommandContext context, int argument) {
        if (context.argumentIs(argument, "BIT")) {
            return 1;
        }
        if (context.argumentIs(argument, "BYTE")) {
            return 0;
        }
        context.syntaxError();
        return INVALID;
    }

    /** The index from the start; a negative one counts from the end. */
    private static long fromStart(long index, long length) {
        return index < 0 ? Math.max(0, index + length) : index;
    }

    private static void bitpos(CommandContext context) {
        if (!context.requireLong(2)) {
            return;
        }
        long bit = context.longValue();
        if (bit != 0 && bit != 1) {
            context.reply().error("ERR The bit argument must be 1 or 0.");
            return;
        }
        Item item = context.item();
        Found found = KeyLookup.find(context, context.keyAt(0), item, ItemType.STRING);
        if (found != Found.PRESENT) {
            if (found == Found.MISSING) {
                context.reply().integer(bit == 1 ? -1 : 0);
            }
            return;
        }
        int arguments = context.argumentCount();
        if (arguments > 6) {
            context.syntaxError();
            return;
        }
        long start = 0;
        long end = -1;
        boolean inBits = false;
        if (arguments > 3) {
            if (!context.requireLong(3)) {
                return;
            }
            start = context.longValue();
        }
        if (arguments == 6) {
            int unit = unit(context, 5);
            if (unit == INVALID) {
                return;
            }
            inBits = unit == 1;
        }
        if (arguments > 4) {
            if (!context.requireLong(4)) {
                return;
            }
            end = context.longValue();
        }
        context.reply().integer(position(item, (int) bit, start, end, inBits, arguments > 4));
    }

    /**
     * The first bit of this value; -1 if there is none. Without a given end, the bits after the string count as clear.
     */
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
