package io.varve.experiments.run.ycsb;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.Vector;
import java.util.function.LongPredicate;

import io.varve.experiments.simulate.DividedLru;
import io.varve.ycsb.option.Side;
import org.jspecify.annotations.Nullable;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;
import site.ycsb.Workload;
import site.ycsb.WorkloadException;
import site.ycsb.measurements.Measurements;

/**
 * Simulates the best fixed division of memory between the two databases' keys: the delays of the misses of exact LRU
 * stacks, under YCSB's own workload. Confined to one thread.
 *
 * <p>No clock takes part in it, so it shows the optimum against which a policy that divides memory can be judged.
 *
 * <p>All keys are alike: the length of a record does not depend on its database. Reads fill the cache, and so do scans,
 * which are reads of their first record; writes remove a record. A division that follows a changing demand can be
 * better than any fixed one.
 */
final class BestDivision {
    /** Shares of the remote database's keys are varied in steps of a twentieth. */
    private static final int STEPS = 20;
    private static final long OPERATIONS_PER_CHECK = 1 << 14;
    private static final double MICRO = 1e6;
    private static final String CORE_WORKLOAD = "site.ycsb.workloads.CoreWorkload";
    /** Bytes of each key: its name and number, and its places in all caches, which grow by doubling. */
    private static final long BYTES_A_KEY = 150 + 2 * 9 * (STEPS + 2);
    /** Maximum fraction of the heap for it. */
    private static final double MAX_HEAP_SHARE = 0.6;

    private final Properties properties = new Properties();
    private final double localSeconds;
    private final double remoteSeconds;
    private final long stressAfter;
    private final int stressFactor;
    private final List<Candidate> candidates = new ArrayList<>();
    private final Map<String, Integer> numbers;
    private long calls;

    /** One of the caches that get all requests. */
    private static final class Candidate {
        /** The cache's share for remote keys; NaN without a division. */
        private final double share;
        private final DividedLru cache;
        private double waitedSeconds;

        private Candidate(double share, DividedLru cache) {
            this.share = share;
            this.cache = cache;
        }
    }

    /**
     * The delays of all misses.
     *
     * @param undividedSeconds delays with one LRU stack for all keys, s
     * @param bestSeconds delays with the best division, s
     * @param remoteShare share of remote keys in that division, 0 to 1
     */
    record Result(double undividedSeconds, double bestSeconds, double remoteShare) {}

    /**
     * @param properties the clients' properties of YCSB and of the binding
     * @param keys number of keys that the cache holds, 1 or more
     */
    BestDivision(Map<String, String> properties, int keys) {
        properties.forEach(this.properties::setProperty);
        localSeconds = delaySeconds("local", 120);
        remoteSeconds = delaySeconds("remote", 1000);
        stressAfter = Long.parseLong(properties.getOrDefault("varve.stress.after-operations",
                String.valueOf(Long.MAX_VALUE)));
        stressFactor = Integer.parseInt(properties.getOrDefault("varve.stress.factor", "2"));
        numbers = HashMap.newHashMap(Math.toIntExact(number("recordcount")));
        candidates.add(new Candidate(Double.NaN, DividedLru.undivided(keys)));
        for (int step = 0; step <= STEPS; step++) {
            double share = (double) step / STEPS;
            candidates.add(new Candidate(share, DividedLru.divided(keys, share)));
        }
    }

    private double delaySeconds(String side, int usualMicros) {
        return Integer.parseInt(properties.getProperty("varve.db." + side + ".delay-us", String.valueOf(usualMicros)))
                / MICRO;
    }

    private long number(String name) {
        return Long.parseLong(properties.getProperty(name, "0"));
    }

    /**
     * Whether operations of these properties can be simulated here, in the available memory. A demand with pauses,
     * scans of the databases, and a stress by the clock cannot.
     */
    static boolean isFor(Map<String, String> properties) {
        double keys = Double.parseDouble(properties.getOrDefault("recordcount", "0"))
                + Double.parseDouble(properties.getOrDefault("operationcount", "0"))
                        * Double.parseDouble(properties.getOrDefault("insertproportion", "0"));
        return CORE_WORKLOAD.equals(properties.getOrDefault("workload", CORE_WORKLOAD))
                && (Double.parseDouble(properties.getOrDefault("scanproportion", "0")) == 0
                        || "reads".equals(properties.get("varve.scan")))
                && !properties.containsKey("varve.stress.after-seconds")
                && keys * BYTES_A_KEY < MAX_HEAP_SHARE * Runtime.getRuntime().maxMemory();
    }

    /**
     * @param shouldContinue called periodically, with the number of completed operations; false ends the simulation
     * @return the figures of the completed operations
     * @throws WorkloadException if the workload refuses its properties
     */
    Result simulate(LongPredicate shouldContinue) throws WorkloadException {
        Measurements.setProperties(properties);
        Workload workload = workload();
        workload.init(properties);
        try {
            Object thread = workload.initThread(properties, 0, 1);
            Caches caches = new Caches();
            long operations = number("operationcount");
            for (long i = 0; i < operations && (i % OPERATIONS_PER_CHECK != 0 || shouldContinue.test(i)); i++) {
                if (!workload.doTransaction(caches, thread)) {
                    throw new WorkloadException("the workload has no operation " + i);
                }
            }
        } finally {
            workload.cleanup();
        }
        Candidate best = candidates.get(1);
        for (Candidate each : candidates.subList(1, candidates.size())) {
            best = each.waitedSeconds < best.waitedSeconds ? each : best;
        }
        return new Result(candidates.getFirst().waitedSeconds, best.waitedSeconds, best.share);
    }

    private Workload workload() throws WorkloadException {
        String name = properties.getProperty("workload", CORE_WORKLOAD);
        try {
            return Class.forName(name).asSubclass(Workload.class).getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException | ClassCastException e) {
            throw new WorkloadException("workload=" + name + ": expected a workload class of YCSB", e);
        }
    }

    private void read(String key) {
        boolean remote = Side.of(key) == Side.REMOTE;
        int number = numbers.computeIfAbsent(key, _ -> numbers.size());
        double remoteNow = calls >= stressAfter ? stressFactor * remoteSeconds : remoteSeconds;
        for (Candidate each : candidates) {
            if (!each.cache.access(number, remote)) {
                each.waitedSeconds += remote ? remoteNow : localSeconds;
            }
        }
    }

    private void written(String key) {
        Integer number = numbers.get(key);
        if (number != null) {
            candidates.forEach(each -> each.cache.remove(number));
        }
    }

    /** All candidates together as a YCSB database, in which every record exists. */
    private final class Caches extends DB {
        private Status done() {
            calls++;
            return Status.OK;
        }

        @Override
        public Status read(String table, String key, @Nullable Set<String> fields,
                Map<String, ByteIterator> result) {
            BestDivision.this.read(key);
            return done();
        }

        @Override
        @SuppressWarnings("NonApiType") // The types are YCSB's.
        public Status scan(String table, String startKey, int recordCount, @Nullable Set<String> fields,
                Vector<HashMap<String, ByteIterator>> result) {
            BestDivision.this.read(startKey);
            return done();
        }

        @Override
        public Status update(String table, String key, Map<String, ByteIterator> values) {
            written(key);
            return done();
        }

        @Override
        public Status insert(String table, String key, Map<String, ByteIterator> values) {
            written(key);
            return done();
        }

        @Override
        public Status delete(String table, String key) {
            written(key);
            return done();
        }
    }
}
