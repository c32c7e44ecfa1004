package io.varve.memory.locality.curve;

import java.util.Arrays;

/**
 * The distribution of reuse times of one or several classes, and the quantities computed from it: how fast an item
 * sinks in the LRU stack, the average eviction time of a memory of any size, and its miss ratio. Confined to one
 * thread.
 *
 * <p>An item that was accessed {@code a} accesses ago lies below those that were accessed since and are still in their
 * place. At age {@code a} it therefore sinks by
 * <pre>
 *   v(a) = bytes per access whose stay reaches age a = all - accessed again before age a - removed before age a
 * </pre>
 * which is equation 5 of pRedis: all accesses less those followed by an early one are what the paper sums up as reuse
 * times above {@code a}, first accesses included. A memory of {@code c} bytes holds an item for the time {@code T} in
 * which it sinks by {@code c} (equation 2). A read misses if it comes later than that (equation 4), or is the first.
 * Only reads miss; writes and removed items move others.
 *
 * <p>The paper counts all accesses as witnesses of any age, and a first access as a stay without end. If the stream is
 * not much longer than the age, items then sink too fast, because accesses near the end of the stream had no time to
 * end. Here a stay of a given length is judged only by accesses early enough to reach it: their number is that of all
 * accesses less the age ({@link AgeCorrection}).
 */
final class ReuseTimeDistribution {
    private static final LogBuckets TIMES = ReuseHistograms.TIMES;
    private static final LogBuckets AGES = ReuseHistograms.AGES;
    /** The largest correction factor, because a few reads are subject to much chance. */
    private static final double MAX_WITNESS_WEIGHT = 4;

    private final double[] bytes = new double[TIMES.buckets()];
    private final double[] reads = new double[TIMES.buckets()];
    private double weight;
    /** The depth of an item at the last age of each bucket, up to the last bucket with any data. */
    private final double[] sunk = new double[TIMES.buckets()];
    private int known;

    void add(ReuseHistograms histograms, PendingSamples pending) {
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] += histograms.accessed.get(i) + histograms.removed.get(i) + pending.bytes(i)
                    - histograms.before.get(i);
            reads[i] += histograms.reads.get(i);
        }
        weight += histograms.ended + pending.weight() - histograms.endedBefore;
    }

    /**
     * Integrates the speeds; called once, after all classes were added.
     *
     * @param allBytes the bytes of all accesses that the samples stand for
     */
    void sink(AgeCorrection ageCorrection, long clock, double allBytes) {
        double left = 0;
        for (double ended : bytes) {
            left += ended;
        }
        double scale = left <= 0 ? 0 : allBytes / left;
        double speed = Double.MAX_VALUE;
        for (int i = 1; i < bytes.length - 1; i++) {
            double witnesses = ageCorrection.of(TIMES.lowest(i), clock);
            left -= bytes[i - 1];
            if (witnesses <= 0 || left <= 0) {
                break;
            }
            // Speed cannot increase with age, whatever chance did to the few old samples.
            speed = Math.min(speed, left * scale / witnesses);
            long ages = TIMES.lowest(i + 1) - TIMES.lowest(i);
            // The samples that end in this bucket do so evenly.
            sunk[i] = sunk[i - 1] + speed * (ages - Math.clamp(bytes[i] / left, 0, 1) * (ages - 1) / 2);
            known = i;
        }
    }

    /**
     * The curve of the past stream, which began with an empty cache: first reads missed.
     *
     * @param accessesARead the accesses that leave an item, per read
     */
    MissRatioCurve curve(double accessesARead) {
        MissRatioCurve.Builder curve = new MissRatioCurve.Builder(known);
        double hits = 0;
        for (int i = 1; i <= known; i++) {
            hits += reads[i];
            curve.add(sunk[i], 1 - hits / weight * accessesARead);
        }
        return curve.build();
    }

    /**
     * The curve of the future stream, if accesses continue as they are. The number of reads with a given reuse time is
     * judged by the reads that could have it. A read that comes when there were fewer accesses than that is a first one
     * because it is early, and says nothing about later ones.
     *
     * @param accessesARead as for {@link #curve}
     * @param readsAtAge all sampled reads, by the number of accesses since the class began
     *     ({@link ReuseHistograms#readsAtAge})
     * @param age the present number of accesses since then
     */
    MissRatioCurve forecast(double accessesARead, double[] readsAtAge, long age) {
        double all = Arrays.stream(readsAtAge).sum();
        double[] later = later(readsAtAge);
        MissRatioCurve.Builder curve = new MissRatioCurve.Builder(known);
        double hits = 0;
        for (int i = 1; i <= known; i++) {
            long time = TIMES.lowest(i);
            int bucket = AGES.bucket(time);
            // The reads of one bucket came evenly, up to now.
            long end = Math.min(AGES.lowest(bucket + 1), age + 1);
            double part = Math.max(0.0, end - time) / Math.max(1, end - AGES.lowest(bucket));
            double witnesses = later[bucket] + part * readsAtAge[bucket];
            hits += reads[i] * (witnesses * MAX_WITNESS_WEIGHT > all ? all / witnesses : MAX_WITNESS_WEIGHT);
            curve.add(sunk[i], 1 - hits / weight * accessesARead);
        }
        return curve.build();
    }

    /** For each bucket, the sum of all later ones. */
    private static double[] later(double[] readsAtAge) {
        double[] later = new double[readsAtAge.length];
        for (int i = readsAtAge.length - 2; i >= 0; i--) {
            later[i] = later[i + 1] + readsAtAge[i + 1];
        }
        return later;
    }

    /** The age at which an item has sunk this far; {@link Long#MAX_VALUE} if none does. */
    long evictionTime(double memoryBytes) {
        if (memoryBytes > sunk[known]) {
            return Long.MAX_VALUE;
        }
        int found = Arrays.binarySearch(sunk, 0, known + 1, memoryBytes);
        int bucket = found >= 0 ? found : -found - 1;
        if (bucket == 0) {
            return 0;
        }
        double share = (memoryBytes - sunk[bucket - 1]) / (sunk[bucket] - sunk[bucket - 1]);
        long first = TIMES.lowest(bucket);
        return first - 1 + Math.round(share * (TIMES.lowest(bucket + 1) - first));
    }
}
