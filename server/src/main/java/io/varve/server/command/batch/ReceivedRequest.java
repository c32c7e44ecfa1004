package io.varve.server.command.batch;

import io.varve.memory.offheap.Memory;
import io.varve.server.resp.Numbers;

/**
 * Finds the bytes of a command as it was received, so that they can be recorded without encoding them again. Stateless.
 */
public final class ReceivedRequest {
    /** The result of {@link #start} if the bytes cannot be used. */
    public static final long NONE = 0;

    private static final short LINE_END = '\r' | '\n' << 8;
    /** The bytes of a head beside its digits: a letter and a line end. */
    private static final int HEAD_BYTES = 3;
    private static final int LINE_END_BYTES = 2;

    private ReceivedRequest() {}

    /**
     * The address of the first byte of a command, if its arguments are in one piece of memory, with exactly the bytes
     * in front of them and behind them that an encoder of RESP would write; else {@link #NONE}. An inline command has
     * other bytes there, and a large value is in memory of its own.
     */
    public static long start(Batch batch, int command) {
        int first = batch.firstArgument(command);
        int count = batch.argumentCount(command);
        if (count < 2) {
            return NONE;
        }
        // Nothing in front of the first argument may be read before it is known that the arguments were received
        // together.
        long end = batch.address(first) + batch.length(first);
        for (int i = first + 1; i < first + count; i++) {
            int length = batch.length(i);
            long address = batch.address(i);
            if (address - end != LINE_END_BYTES + HEAD_BYTES + Numbers.longChars(length)
                    || Memory.getShort(end) != LINE_END || Memory.getByte(end + LINE_END_BYTES) != '$'
                    || !followsLineEnd(address)) {
                return NONE;
            }
            end = address + length;
        }
        long bulk = batch.address(first) - HEAD_BYTES - Numbers.longChars(batch.length(first));
        long start = bulk - HEAD_BYTES - Numbers.longChars(count);
        return Memory.getShort(end) == LINE_END && followsLineEnd(batch.address(first)) && Memory.getByte(bulk) == '$'
                && followsLineEnd(bulk) && Memory.getByte(start) == '*'
                        ? start
                        : NONE;
    }

    /** The decoder accepts any byte behind the carriage return of a head. */
    private static boolean followsLineEnd(long address) {
        return Memory.getShort(address - LINE_END_BYTES) == LINE_END;
    }

    /** The address after the last byte of a command whose {@link #start} was found. */
    public static long end(Batch batch, int command) {
        int last = batch.firstArgument(command) + batch.argumentCount(command) - 1;
        return batch.address(last) + batch.length(last) + LINE_END_BYTES;
    }
}
