package io.varve.server.command.hyperloglog;

import io.varve.memory.collection.hyperloglog.HyperLogLog;
import io.varve.server.command.Invocation;
import io.varve.server.resp.Numbers;

/**
 * PFSELFTEST: whether estimates are as near as they should be, sparse and dense. Immutable: static handlers.
 *
 * <p>The elements are the numbers from 1 on, so that each run sees the same.
 */
final class HyperLogLogSelfTest {
    private static final int ELEMENTS = 100_000;
    /** The standard error of an estimate, and how many of them are too many. */
    private static final double STANDARD_ERROR = 1.04 / Math.sqrt(HyperLogLog.REGISTERS);
    private static final double TOO_MANY_ERRORS = 6;

    private HyperLogLogSelfTest() {}

    static void run(Invocation call) {
        int room = (int) HyperLogLog.workBytes(HyperLogLog.DENSE_BYTES, HyperLogLog.REGISTERS);
        long text = call.scratch(2 * room + Numbers.MAX_LONG_CHARS);
        long dense = text + Numbers.MAX_LONG_CHARS;
        long grown = dense + room;
        long most = call.server().config().hllSparseMaxBytes();
        HyperLogLog.create(dense);
        int denseLength = HyperLogLog.makeDense(dense, HyperLogLog.EMPTY_BYTES);
        HyperLogLog.create(grown);
        int length = HyperLogLog.EMPTY_BYTES;
        int checkpoint = 1;
        for (int i = 1; i <= ELEMENTS; i++) {
            int chars = Numbers.putLong(text, i);
            int ofDense = HyperLogLog.add(dense, denseLength, text, chars, 0);
            int after = HyperLogLog.add(grown, length, text, chars, most);
            if (after >= 0 != ofDense >= 0) {
                call.reply().error("ERR TESTFAILED sparse and dense differ at element " + i);
                return;
            }
            length = after >= 0 ? after : length;
            if (i == checkpoint) {
                checkpoint *= 10;
                if (!isNear(call, HyperLogLog.estimate(dense, denseLength), i)
                        || !isNear(call, HyperLogLog.estimate(grown, length), i)) {
                    return;
                }
            }
        }
        call.reply().ok();
    }

    private static boolean isNear(Invocation call, long estimate, long count) {
        double tolerated = Math.ceil(TOO_MANY_ERRORS * STANDARD_ERROR * count);
        if (Math.abs(estimate - count) <= tolerated) {
            return true;
        }
        call.reply().error("ERR TESTFAILED Too big error. card:" + count + " estimate:" + estimate);
        return false;
    }
}
