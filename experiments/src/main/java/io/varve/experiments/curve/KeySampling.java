package io.varve.experiments.curve;

import java.util.function.DoubleUnaryOperator;

import io.varve.experiments.simulate.KeyStream.Operation;
import io.varve.memory.locality.MissRatioCurve;
import io.varve.memory.locality.ReuseRecorder;
import io.varve.memory.locality.Sampling;

/**
 * What others do, to compare with: all accesses to one key in so many are seen, and what is seen is taken for the whole (the set sampling of
 * pRedis). Confined to one thread.
 *
 * <p>The correction of SHARDS (Waldspurger and others, FAST 2015, section 3): how many reads there should have been is known; what is missing, or
 * too much, is taken for reads that are repeated at once, because hot keys make the difference.
 */
final class KeySampling implements Learner {
    private static final int SPARE_KEYS = 1000;
    private static final long OTHER_BITS = 0x9E37_79B9_7F4A_7C15L;

    private final double share;
    private final long seed;
    private final ReuseRecorder recorder;
    private long reads;
    private long readsSeen;

    /**
     * @param share of the keys
     * @param keys  of the stream, at the most
     * @param seed  of the hash that says which keys
     */
    KeySampling(double share, int keys, long seed) {
        this.share = share;
        this.seed = seed;
        // Twice as many as are to be expected, and some: the hash chooses a few more or fewer.
        recorder = new ReuseRecorder(1, Sampling.all(SPARE_KEYS + (int) (2 * share * keys)), 1);
    }

    @Override
    public void learn(Operation operation, long key, long bytes) {
        boolean read = operation == Operation.READ;
        reads += read ? 1 : 0;
        if (((key ^ seed * OTHER_BITS) * OTHER_BITS >>> Integer.SIZE) >= share * (1L << Integer.SIZE)) {
            return;
        }
        readsSeen += read ? 1 : 0;
        Learner.of(recorder).learn(operation, key, bytes);
    }

    DoubleUnaryOperator plain() {
        MissRatioCurve curve = recorder.curve(0);
        return bytes -> curve.missRatio(bytes * share);
    }

    DoubleUnaryOperator corrected() {
        DoubleUnaryOperator plain = plain();
        double seen = reads == 0 ? 1 : readsSeen / (share * reads);
        return bytes -> Math.min(1, plain.applyAsDouble(bytes) * seen);
    }
}
