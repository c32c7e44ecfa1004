package io.varve.experiments.curve;

import java.io.IOException;
import java.util.Optional;
import java.util.function.LongConsumer;

import io.varve.experiments.simulate.KeySource;
import io.varve.experiments.simulate.KeyStream;
import io.varve.memory.locality.curve.MissRatioCurve;
import io.varve.memory.locality.curve.ReuseRecorder;
import io.varve.memory.locality.curve.Sampling;
import io.varve.memory.locality.curve.StackDistances;

/**
 * The miss-ratio curves of a stream. Immutable.
 *
 * @param requests number of requests of the stream
 * @param rate final sampling rate of accesses
 * @param sampled curve from the sampled accesses
 * @param exact curve from all accesses, if requested
 */
public record LearntCurves(long requests, double rate, MissRatioCurve sampled, Optional<MissRatioCurve> exact) {
    /**
     * @param lowest minimum sampling rate of the accesses
     * @param exact whether to compute the exact curve, which takes memory for each key
     * @param seed the seed of the sampling
     * @param progress receives the number of requests, after each one
     * @throws IOException if a trace cannot be read
     */
    public static LearntCurves learn(KeySource source, double lowest, boolean exact, long seed, LongConsumer progress)
            throws IOException {
        ReuseRecorder recorder = new ReuseRecorder(1, new Sampling(lowest, 1, followed(source, lowest)), seed);
        StackDistances distances = new StackDistances();
        Learner sampler = Learner.of(recorder);
        Learner stack = exact ? Learner.of(distances) : (_, _, _) -> {};
        long requests = 0;
        try (KeyStream stream = source.open()) {
            while (stream.next()) {
                requests++;
                // Asked once, because a stream may draw it.
                boolean updates = stream.updates();
                sampler.learn(stream, updates);
                stack.learn(stream, updates);
                progress.accept(requests);
            }
        }
        return new LearntCurves(requests, recorder.rate(), recorder.curve(0),
                exact ? Optional.of(distances.curve()) : Optional.empty());
    }

    /** More than the default only if the default could not hold the rate. */
    private static int followed(KeySource source, double lowest) throws IOException {
        Sampling usual = Sampling.DEFAULT;
        return lowest <= usual.lowest()
                ? usual.keys()
                : (int) Math.max(usual.keys(), Math.ceil(lowest * source.distinctKeys()));
    }
}
