package io.varve.experiments.run.load;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

import io.varve.experiments.plan.RequestSet;
import io.varve.experiments.wire.RespConnection;

/** Writes each key of a set once, in large batches over one connection. Stateless. */
public final class InitialLoad {
    private static final int BATCH_BYTES = 1 << 18;

    private InitialLoad() {}

    /**
     * @param keys the keys' numbers are below it
     * @param ended whether to stop after the current batch
     */
    public static void write(RespConnection connection, RequestSet set, long seed, long keys, BooleanSupplier ended)
            throws IOException {
        RequestEncoder encoder = new RequestEncoder(set, seed);
        ByteBuffer batch = ByteBuffer.allocate(BATCH_BYTES + encoder.maxBytes());
        SplittableRandom random = new SplittableRandom(seed);
        for (long next = 0; next < keys && !ended.getAsBoolean();) {
            int count = 0;
            for (; next < keys && batch.position() < BATCH_BYTES; next++) {
                encoder.set(batch, next, random.nextLong());
                count++;
            }
            connection.send(batch.array(), batch.position());
            batch.clear();
            for (; count > 0; count--) {
                connection.readReply();
            }
        }
    }
}
