package io.varve.server.command.script.run;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;

import io.varve.lua.Arguments;
import io.varve.lua.LuaError;
import io.varve.lua.LuaNumber;
import io.varve.lua.LuaState;
import io.varve.lua.LuaString;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.batch.Batch;
import io.varve.server.resp.Numbers;
import io.varve.server.resp.Shortage;

/**
 * The command that a script calls: its arguments in native memory, encoded as a client would send them, so that the
 * record of changes can copy them. Confined to its event loop; reused from call to call.
 */
final class CallMemory {
    private static final int FIRST_BYTES = 4 << 10;
    /** A larger buffer is not kept. */
    private static final int KEPT_BYTES = 1 << 20;
    /** The longest head of an array or a bulk: a letter, digits, a line end. */
    private static final int HEAD_BYTES = 1 + Numbers.MAX_LONG_CHARS + 2;
    private static final short LINE_END = '\r' | '\n' << 8;
    private static final int DIGITS = 17;
    private static final long MAX_BYTES = Integer.MAX_VALUE - 64;

    private final Batch batch = new Batch();
    private ByteBuffer buffer = ByteBuffer.allocateDirect(FIRST_BYTES);
    private long memory = MemorySegment.ofBuffer(buffer).address();
    private LuaString[] texts = new LuaString[16];

    /** The batch of the command. */
    Batch batch() {
        return batch;
    }

    /**
     * Encodes a command.
     *
     * @return false if an argument is neither a string nor a number
     * @throws LuaError if it takes more memory than the script may use: one string may be many arguments
     */
    boolean fill(LuaState lua, Arguments arguments) {
        int count = arguments.count();
        if (texts.length < count) {
            texts = new LuaString[2 * count];
        }
        long bytes = HEAD_BYTES;
        for (int i = 0; i < count; i++) {
            Object value = arguments.get(i + 1);
            if (value instanceof LuaString string) {
                texts[i] = string;
            } else if (value instanceof Double number) {
                texts[i] = text(number);
            } else {
                return false;
            }
            bytes += HEAD_BYTES + texts[i].length() + 2L;
        }
        require(lua, bytes);
        encode(count);
        return true;
    }

    private static LuaString text(double number) {
        long whole = (long) number;
        return LuaString.of(whole == number && Math.abs(number) < 1e15 && (whole != 0 || 1 / number > 0)
                ? Long.toString(whole)
                : LuaNumber.formatG(number, DIGITS));
    }

    private void encode(int count) {
        batch.clear();
        batch.beginRequest(count);
        long at = head(memory, '*', count);
        for (int i = 0; i < count; i++) {
            byte[] text = texts[i].array();
            at = head(at, '$', text.length);
            Memory.copy(text, 0, at, text.length);
            batch.argument(at, text.length);
            at += text.length;
            Memory.putShort(at, LINE_END);
            at += 2;
            texts[i] = LuaString.EMPTY;
        }
        batch.endRequest(Shortage.NONE);
    }

    private static long head(long at, char type, long number) {
        Memory.putByte(at, (byte) type);
        long behind = at + 1 + Numbers.putLong(at + 1, number);
        Memory.putShort(behind, LINE_END);
        return behind + 2;
    }

    private void require(LuaState lua, long bytes) {
        boolean isTooLarge = buffer.capacity() > KEPT_BYTES && bytes <= KEPT_BYTES;
        if (bytes > buffer.capacity() || isTooLarge) {
            long wanted = bytes > KEPT_BYTES ? bytes : Math.max(FIRST_BYTES, bytes + bytes / 2);
            lua.charge(wanted);
            if (wanted > MAX_BYTES) {
                throw new LuaError("not enough memory");
            }
            // The garbage collector frees the old buffer.
            buffer = ByteBuffer.allocateDirect((int) wanted);
            memory = MemorySegment.ofBuffer(buffer).address();
        }
    }
}
