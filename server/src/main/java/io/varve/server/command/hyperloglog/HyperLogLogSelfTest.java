package io.varve.server.command.hyperloglog;

import io.varve.memory.collection.hyperloglog.HyperLogLog;
import io.varve.server.command.CommandContext;
import io.varve.server.resp.Numbers;

/**
 * PFSELFTEST: checks the error of estimates, sparse and dense. Immutable: static handlers.
 *
 * <p>The elements are the numbers from 1 on, so every run gives the same result.
 */
final class HyperLogLogSelfTest {
    private static final int ELEMENTS = 100_000;
    /** The standard error of an estimate, and the multiple of it that fails the test. */
    private static final double STANDARD_ERROR = 1.04 / Math.sqrt(HyperLogLog.REGISTERS);
    private static final double TOO_MANY_ERRORS = 6;

    private HyperLogLogSelfTest() {}

    static void run(CommandContext context) {
        int workBytes = (int) HyperLogLog.workBytes(HyperLogLog.DENSE_BYTES, HyperLogLog.REGISTERS);
        long text = context.scratch(2 * workBytes + Numbers.MAX_LONG_CHARS);
        long dense = text + Numbers.MAX_LONG_CHARS;
        long grown = dense + workBytes;
        long max = context.server().config().hllSparseMaxBytes();
        HyperLogLog.create(dense);
        int denseLength = HyperLogLog.makeDense(dense, HyperLogLog.EMPTY_BYTES);
        HyperLogLog.create(grown);
        int length = HyperLogLog.EMPTY_BYTES;
        int checkpoint = 1;
        for (int i = 1; i <= ELEMENTS; i++) {
            int chars = Numbers.putLong(text, i);
            int ofDense = HyperLogLog.add(dense, denseLength, text, chars, 0);
            int after = HyperLogLog.add(grown, length, text, chars, max);
            if (after >= 0 != ofDense >= 0) {
                context.reply().error("ERR TESTFAILED sparse and dense differ at element " + i);
                return;
            }
            length = after >= 0 ? after : length;
            if (i == checkpoint) {
                checkpoint *= 10;
                if (!isNear(context, HyperLogLog.estimate(dense, denseLength), i)
                        || !isNear(context, HyperLogLog.estimate(grown, length), i)) {
                    return;
                }
            }
        }
        context.reply().ok();
    }

    private static boolean isNear(CommandContext context, long estimate, long count) {
        double tolerated = Math.ceil(TOO_MANY_ERRORS * STANDARD_ERROR * count);
        if (Math.abs(estimate - count) <= tolerated) {
            return true;
        }
        context.reply().error("ERR TESTFAILED Too big error. card:" + count + " estimate:" + estimate);
        return false;
    }
}
