package io.varve.memory.locality;

import java.util.Arrays;

/**
 * How the accesses of one or several classes end, and what follows from it: how fast an item sinks in the LRU stack, the average eviction
 * time of a memory of any size, and the share of reads that miss in it. Confined to one thread.
 *
 * <p>An item that was accessed {@code a} accesses ago lies under those that were accessed since and are still in their place. So it sinks,
 * at age {@code a}, by
 * <pre>
 *   v(a) = bytes a access whose stay reaches age a = all - accessed again before age a - gone before age a
 * </pre>
 * which is equation 5 of pRedis: all that is accessed less what is accessed again soon is what the paper sums up as reuse times above
 * {@code a}, first accesses with it. A memory of {@code c} bytes holds an item for the time {@code T} in which it sinks by {@code c}
 * (equation 2), and a read misses if it comes later than that (equation 4), or never came before. Only reads miss; writes and items that go move others.
 *
 * <p>The paper takes all accesses for witnesses of any age, and a first access for one of a stay without end. Of a stream that is not much longer than the
 * age, that makes items sink too fast: what is accessed near the end has had no time to end. Here a stay's length is judged by those accesses that were
 * early enough to reach it: they are as many as there were accesses less the age ({@link Exposure}).
 */
final class Ends {
    private static final Scale TIMES = ReuseHistograms.TIMES;
    private static final Scale AGES = ReuseHistograms.AGES;
    /** What few reads can tell counts no more than so many times: chance has a large part in it. */
    private static final double MOST_A_WITNESS = 4;

    private final double[] bytes = new double[TIMES.buckets()];
    private final double[] reads = new double[TIMES.buckets()];
    private double weight;
    /** How far an item has sunk by the last age of each bucket, up to the last bucket of which anything is known. */
    private final double[] sunk = new double[TIMES.buckets()];
    private int known;

    void add(ReuseHistograms histograms, Waiting waiting) {
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] += histograms.accessed.get(i) + histograms.gone.get(i) + waiting.bytes(i)
                    - histograms.before.get(i);
            reads[i] += histograms.reads.get(i);
        }
        weight += histograms.ended + waiting.weight() - histograms.endedBefore;
    }

    /**
     * Sums up the speeds; once, when all classes have been added.
     *
     * @param allBytes of all accesses that the samples stand for
     */
    void sink(Exposure exposure, long clock, double allBytes) {
        double left = 0;
        for (double ended : bytes) {
            left += ended;
        }
        double scale = left <= 0 ? 0 : allBytes / left;
        double speed = Double.MAX_VALUE;
        for (int i = 1; i < bytes.length - 1; i++) {
            double witnesses = exposure.of(TIMES.lowest(i), clock);
            left -= bytes[i - 1];
            if (witnesses <= 0 || left <= 0) {
                break;
            }
            // Nothing sinks faster with age, whatever chance did to the few that are that old.
            speed = Math.min(speed, left * scale / witnesses);
            long ages = TIMES.lowest(i + 1) - TIMES.lowest(i);
            // Those that end in this bucket do so evenly.
            sunk[i] = sunk[i - 1] + speed * (ages - Math.clamp(bytes[i] / left, 0, 1) * (ages - 1) / 2);
            known = i;
        }
    }

    /**
     * The curve of the stream as it was, which began with nothing: what nobody had asked for before missed.
     *
     * @param accessesARead for each read so many accesses that leave an item
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
     * The curve of what comes next, if it comes as before. How many reads come so long after the access before is judged by those that could: a read that comes when
     * there have been fewer accesses than that is a first one because it is early, and tells nothing of later ones.
     *
     * @param accessesARead as for {@link #curve}
     * @param readsAtAge    all reads that were drawn, by how many accesses there had been since they began ({@link ReuseHistograms#readsAtAge})
     * @param age           how many there are now
     */
    MissRatioCurve forecast(double accessesARead, double[] readsAtAge, long age) {
        double all = Arrays.stream(readsAtAge).sum();
        double[] later = later(readsAtAge);
        MissRatioCurve.Builder curve = new MissRatioCurve.Builder(known);
        double hits = 0;
        for (int i = 1; i <= known; i++) {
            long time = TIMES.lowest(i);
            int bucket = AGES.bucket(time);
            // Those of one bucket came evenly, up to now.
            long end = Math.min(AGES.lowest(bucket + 1), age + 1);
            double part = Math.max(0.0, end - time) / Math.max(1, end - AGES.lowest(bucket));
            double witnesses = later[bucket] + part * readsAtAge[bucket];
            hits += reads[i] * (witnesses * MOST_A_WITNESS > all ? all / witnesses : MOST_A_WITNESS);
            curve.add(sunk[i], 1 - hits / weight * accessesARead);
        }
        return curve.build();
    }

    /** Those of all later buckets. */
    private static double[] later(double[] readsAtAge) {
        double[] later = new double[readsAtAge.length];
        for (int i = readsAtAge.length - 2; i >= 0; i--) {
            later[i] = later[i + 1] + readsAtAge[i + 1];
        }
        return later;
    }

    /** The age at which an item has sunk so far; {@link Long#MAX_VALUE} if none does. */
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
