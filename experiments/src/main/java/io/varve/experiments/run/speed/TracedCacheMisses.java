package io.varve.experiments.run.speed;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

import io.varve.experiments.plan.KeyDistribution;
import io.varve.memory.shard.LookupTrace;

/**
 * The misses of a simulated last-level cache by the parts of Varve's memory that reads touch: index buckets and items,
 * at their recorded addresses. Confined to one thread.
 *
 * <p>A simulator of a whole process, as for Redis, would count the JVM's compiler and collector as well. So this is
 * index and items alone; what a connection reads and writes is not part of it.
 */
final class TracedCacheMisses implements LookupTrace.Visitor {
    /** The parts, as the table names them. */
    static final String INDEX = "index bucket";
    static final String ITEM = "item";
    /** The largest share of reads that go on beyond the buckets, untraced: it is some hundredths of a percent. */
    private static final double MAX_UNTRACED = 0.01;

    private final SimulatedCache cache;
    private long ofIndex;
    private long ofItems;
    private long overflows;

    private TracedCacheMisses(SimulatedCache cache) {
        this.cache = cache;
    }

    /**
     * Simulates reads of uniformly distributed keys, after as many that fill the simulated cache.
     *
     * @param requests has the keys
     * @return misses per read, by part
     * @throws IllegalStateException if the searches of more than a hundredth of the reads go on beyond the buckets
     */
    static Map<String, Double> perRead(InProcessRequests requests, SimulatedCache cache, int keys, long reads,
            long seed) {
        TracedCacheMisses misses = new TracedCacheMisses(cache);
        KeyDistribution distribution = new KeyDistribution(KeyDistribution.Kind.UNIF, keys);
        SplittableRandom random = new SplittableRandom(seed);
        for (long i = 0; i < reads; i++) {
            requests.trace(distribution.next(random), misses);
        }
        misses.ofIndex = 0;
        misses.ofItems = 0;
        misses.overflows = 0;
        for (long i = 0; i < reads; i++) {
            requests.trace(distribution.next(random), misses);
        }
        if (misses.overflows > MAX_UNTRACED * reads) {
            throw new IllegalStateException(misses.overflows + " of " + reads
                    + " reads went on beyond the buckets of the index, where their memory is not traced");
        }
        Map<String, Double> result = new LinkedHashMap<>();
        result.put(INDEX, (double) misses.ofIndex / reads);
        result.put(ITEM, (double) misses.ofItems / reads);
        return result;
    }

    @Override
    public void bucket(long address, int bytes) {
        ofIndex += cache.read(address, bytes);
    }

    @Override
    public void item(long address, int bytes) {
        ofItems += cache.read(address, bytes);
    }

    @Override
    public void overflow() {
        overflows++;
    }
}
