package io.varve.server.command.bitmap;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.CommandContext;
import io.varve.server.command.bitmap.Bitfield.Overflow;
import io.varve.server.resp.Numbers;

/**
 * Parses the operations of BITFIELD one at a time. Confined to one command. Each operation is parsed twice, to check it
 * and to run it, so none has to be stored.
 */
final class BitfieldOperation {
    /** The subcommands of BITFIELD. */
    enum Kind {
        GET, SET, INCRBY
    }

    private static final String INVALID_TYPE = "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is "
            + "not supported but i64 is.";

    private final CommandContext context;
    private int next = 2;
    private Kind kind = Kind.GET;
    private Overflow overflow = Overflow.WRAP;
    private boolean signed;
    private int bits;
    private long offset;
    private long value;
    private boolean failed;

    BitfieldOperation(CommandContext context) {
        this.context = context;
    }

    /** Parses the next operation; false at the end, or after an error was replied. */
    boolean read() {
        while (next < context.argumentCount() && context.argumentIs(next, "OVERFLOW")
                && next + 1 < context.argumentCount()) {
            if (!readOverflow(next + 1)) {
                failed = true;
                return false;
            }
            next += 2;
        }
        if (next == context.argumentCount()) {
            return false;
        }
        failed = !readOperation();
        return !failed;
    }

    /** Whether an error was replied. */
    boolean hasFailed() {
        return failed;
    }

    private boolean readOverflow(int argument) {
        for (Overflow each : Overflow.values()) {
            if (context.argumentIs(argument, each.name())) {
                overflow = each;
                return true;
            }
        }
        context.reply().error("ERR Invalid OVERFLOW type specified");
        return false;
    }

    private boolean readOperation() {
        int more = context.argumentCount() - next - 1;
        if (more >= 2 && context.argumentIs(next, "GET")) {
            kind = Kind.GET;
        } else if (more >= 3 && context.argumentIs(next, "SET")) {
            kind = Kind.SET;
        } else if (more >= 3 && context.argumentIs(next, "INCRBY")) {
            kind = Kind.INCRBY;
        } else {
            context.syntaxError();
            return false;
        }
        if (!readType(next + 1)) {
            return false;
        }
        offset = BitmapCommands.offset(context, next + 2, bits);
        if (offset < 0) {
            return false;
        }
        if (kind != Kind.GET) {
            if (!context.requireLong(next + 3)) {
                return false;
            }
            value = context.longValue();
        }
        next += kind == Kind.GET ? 3 : 4;
        return true;
    }

    private boolean readType(int argument) {
        long address = context.argumentAddress(argument);
        int length = context.argumentLength(argument);
        int letter = length == 0 ? 0 : Memory.getByte(address);
        signed = letter == 'i';
        if ((signed || letter == 'u') && Numbers.isLong(address + 1, length - 1)) {
            long width = Numbers.toLong(address + 1, length - 1);
            if (width >= 1 && width <= (signed ? Long.SIZE : Long.SIZE - 1)) {
                bits = (int) width;
                return true;
            }
        }
        context.reply().error(INVALID_TYPE);
        return false;
    }

    Kind kind() {
        return kind;
    }

    /** The last bit that the operation reads or writes. */
    long lastBit() {
        return offset + bits - 1;
    }

    /**
     * Runs the operation on a string that contains all bits it writes, and replies.
     *
     * @param fresh whether the string was extended
     * @return whether the string has changed
     */
    boolean run(long string, int length, boolean fresh) {
        long stored = BitString.get(string, length, offset, bits);
        long old = signed ? Bitfield.signed(stored, bits) : stored;
        if (kind == Kind.GET) {
            context.reply().integer(old);
            return false;
        }
        long base = kind == Kind.SET ? value : old;
        long increment = kind == Kind.SET ? 0 : value;
        int excess = Bitfield.excess(base, increment, signed, bits);
        if (excess != 0 && overflow == Overflow.FAIL) {
            context.reply().nil();
            return false;
        }
        long written = excess == 0
                ? base + increment
                : Bitfield.fitted(base, increment, signed, bits, overflow, excess);
        BitString.put(string, offset, bits, written);
        context.reply().integer(kind == Kind.SET ? old : written);
        return fresh || old != written;
    }
}
