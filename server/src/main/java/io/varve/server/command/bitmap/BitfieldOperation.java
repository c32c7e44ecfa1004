package io.varve.server.command.bitmap;

import io.varve.memory.offheap.Memory;
import io.varve.server.command.Invocation;
import io.varve.server.command.bitmap.Bitfield.Overflow;
import io.varve.server.resp.Numbers;

/**
 * Reads the operations among the arguments of BITFIELD one by one. Confined to one command. An operation is read twice,
 * to check it and to run it, so that none has to be kept.
 */
final class BitfieldOperation {
    /** What is done. */
    enum Kind {
        GET, SET, INCRBY
    }

    private static final String INVALID_TYPE = "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is "
            + "not supported but i64 is.";

    private final Invocation call;
    private int next = 2;
    private Kind kind = Kind.GET;
    private Overflow overflow = Overflow.WRAP;
    private boolean signed;
    private int bits;
    private long offset;
    private long value;
    private boolean failed;

    BitfieldOperation(Invocation call) {
        this.call = call;
    }

    /** Reads the next one; false at the end, or after an error was replied. */
    boolean read() {
        while (next < call.argumentCount() && call.argumentIs(next, "OVERFLOW") && next + 1 < call.argumentCount()) {
            if (!readOverflow(next + 1)) {
                failed = true;
                return false;
            }
            next += 2;
        }
        if (next == call.argumentCount()) {
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
            if (call.argumentIs(argument, each.name())) {
                overflow = each;
                return true;
            }
        }
        call.reply().error("ERR Invalid OVERFLOW type specified");
        return false;
    }

    private boolean readOperation() {
        int more = call.argumentCount() - next - 1;
        if (more >= 2 && call.argumentIs(next, "GET")) {
            kind = Kind.GET;
        } else if (more >= 3 && call.argumentIs(next, "SET")) {
            kind = Kind.SET;
        } else if (more >= 3 && call.argumentIs(next, "INCRBY")) {
            kind = Kind.INCRBY;
        } else {
            call.syntaxError();
            return false;
        }
        if (!readType(next + 1)) {
            return false;
        }
        offset = BitmapCommands.offset(call, next + 2, bits);
        if (offset < 0) {
            return false;
        }
        if (kind != Kind.GET) {
            if (!call.requireLong(next + 3)) {
                return false;
            }
            value = call.longValue();
        }
        next += kind == Kind.GET ? 3 : 4;
        return true;
    }

    private boolean readType(int argument) {
        long address = call.argumentAddress(argument);
        int length = call.argumentLength(argument);
        int letter = length == 0 ? 0 : Memory.getByte(address);
        signed = letter == 'i';
        if ((signed || letter == 'u') && Numbers.isLong(address + 1, length - 1)) {
            long width = Numbers.toLong(address + 1, length - 1);
            if (width >= 1 && width <= (signed ? Long.SIZE : Long.SIZE - 1)) {
                bits = (int) width;
                return true;
            }
        }
        call.reply().error(INVALID_TYPE);
        return false;
    }

    Kind kind() {
        return kind;
    }

    /** The last bit that it looks at or changes. */
    long lastBit() {
        return offset + bits - 1;
    }

    /**
     * Runs it on a string, which has all bits that it changes, and replies.
     *
     * @param fresh whether some of the bits are new
     * @return whether the string has changed
     */
    boolean run(long string, int length, boolean fresh) {
        long stored = BitString.get(string, length, offset, bits);
        long old = signed ? Bitfield.signed(stored, bits) : stored;
        if (kind == Kind.GET) {
            call.reply().integer(old);
            return false;
        }
        long base = kind == Kind.SET ? value : old;
        long increment = kind == Kind.SET ? 0 : value;
        int excess = Bitfield.excess(base, increment, signed, bits);
        if (excess != 0 && overflow == Overflow.FAIL) {
            call.reply().nil();
            return false;
        }
        long written = excess == 0
                ? base + increment
                : Bitfield.fitted(base, increment, signed, bits, overflow, excess);
        BitString.put(string, offset, bits, written);
        call.reply().integer(kind == Kind.SET ? old : written);
        return fresh || old != written;
    }
}
