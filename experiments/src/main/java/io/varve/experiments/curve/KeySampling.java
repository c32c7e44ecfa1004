package io.varve.experiments.curve;

import java.util.function.DoubleUnaryOperator;

import io.varve.experiments.simulate.KeyStream.Operation;
import io.varve.memory.locality.curve.MissRatioCurve;
import io.varve.memory.locality.curve.ReuseRecorder;
import io.varve.memory.locality.curve.Sampling;

/**
 * Sampling by keys, as others do it, for comparison: it records all accesses to one key in so many and scales the
 * result (the set sampling of pRedis). Confined to one thread.
 *
 * <p>It also applies the correction of SHARDS (Waldspurger and others, FAST 2015, section 3). The expected number of
 * sampled reads is known. A deficit or surplus is counted as immediately repeated reads, because hot keys cause the
 * difference.
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
     * @param share the share of the keys to sample
     * @param keys maximum number of keys of the stream
     * @param seed the seed of the hash that selects the keys
     */
    KeySampling(double share, int keys, long seed) {
        this.share = share;
        this.seed = seed;
        // Twice the expected number and a reserve: the hash selects a few more or fewer.
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
