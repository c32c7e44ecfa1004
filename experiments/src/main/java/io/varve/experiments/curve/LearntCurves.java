package io.varve.experiments.curve;

import java.io.IOException;
import java.util.Optional;
import java.util.function.LongConsumer;

import io.varve.experiments.simulate.KeySource;
import io.varve.experiments.simulate.KeyStream;
import io.varve.memory.locality.MissRatioCurve;
import io.varve.memory.locality.ReuseRecorder;
import io.varve.memory.locality.Sampling;
import io.varve.memory.locality.StackDistances;

/**
 * A stream's miss-ratio curve. Immutable.
 *
 * @param requests how many the stream had
 * @param rate     at which accesses were drawn in the end
 * @param sampled  from those that were drawn
 * @param exact    from all of them, if that was wanted
 */
public record LearntCurves(long requests, double rate, MissRatioCurve sampled, Optional<MissRatioCurve> exact) {
    /**
     * @param lowest   share of the accesses that is drawn
     * @param exact    whether the exact curve is wanted, which takes memory for each key
     * @param seed     of the draws
     * @param progress told how many requests there were, after each
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

    /** More than by default only where the default could not hold the rate. */
    private static int followed(KeySource source, double lowest) throws IOException {
        Sampling usual = Sampling.DEFAULT;
        return lowest <= usual.lowest()
                ? usual.keys()
                : (int) Math.max(usual.keys(), Math.ceil(lowest * source.distinctKeys()));
    }
}
