package io.varve.experiments.definition;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import com.fasterxml.jackson.annotation.JsonAlias;
import org.jspecify.annotations.Nullable;

/**
 * An experiment, as its file in {@code workloads/experiments/} defines it. Immutable.
 *
 * @param name its name on the command line; the file's name without its suffix
 * @param title one line, for the report
 * @param question the question that it answers; files of earlier versions call it {@code asks}
 * @param kind the kind of its runs
 * @param defaultScale the scale without {@code --scale}
 * @param maxmemory the servers' limit, in redis.conf syntax
 * @param recordBytes bytes of a value
 * @param seed the seed of all random numbers; equal for every configuration, so that all get the same load
 * @param workloads the workloads by name: properties of YCSB or of our own loader
 * @param sizes the sizes by name
 * @param configurations the servers under test, by name, in the order of the report
 * @param baselines configurations that the others are compared with
 * @param scales the scales by name: each is a part of the matrix to run
 * @param figures the figures of the report, and the published values
 * @param notes sentences that a reader needs to understand the figures
 * @param includes experiments whose workloads, sizes, configurations and notes belong to this one too
 */
public record Experiment(String name, String title, @JsonAlias("asks") String question, Kind kind, String defaultScale,
        String maxmemory,
        int recordBytes, long seed, Map<String, Map<String, String>> workloads, Map<String, Size> sizes,
        Map<String, Configuration> configurations, List<String> baselines, Map<String, Scale> scales,
        @Nullable List<Figure> figures, @Nullable List<String> notes, @Nullable List<String> includes) {
    /** The property of a workload with the kind of its runs, if it differs from the experiment's. */
    public static final String KIND = "kind";
    /**
     * The property of a workload that names a file of YCSB's properties in {@code workloads/}, which the workload
     * inherits.
     */
    public static final String FILE = "file";

    /** The kind of a run. */
    public enum Kind {
        /** YCSB loads, runs its operations, and waits for one more maximum TTL. */
        YCSB,
        /** Our loader writes items with TTLs at full speed; expired items that are still stored are counted. */
        EXPIRY,
        /** Our loader fills the server with small items; heap and resident memory are recorded. */
        MEMORY_FIT,
        /** Each configuration and the baseline alternate under redis-benchmark; CPU time per operation is compared. */
        THROUGHPUT,
        /** Our loader fills a warmed server with small items; its resident bytes per key are recorded. */
        MEMORY_PER_KEY,
        /**
         * Our loader writes twice the limit, deletes a share, and writes twice the limit in another size; the live
         * share of the memory is recorded.
         */
        FRAGMENTATION,
        /** Our loader updates the memory tier in this process, on a simulated clock; the cleaner's work is recorded. */
        CLEANER,
        /** Our generator sends a mixed load on a fixed schedule; latencies and the server's pauses are recorded. */
        LATENCY,
        /**
         * Each configuration and the baseline alternate under one client, then under many, each with one outstanding
         * request.
         */
        PAPER_REQUESTS,
        /**
         * Replacement policies of a cache on flash get the requests of YCSB's generators, of patterns or of a trace, in
         * this process and without a store.
         */
        SIMULATED,
        /** Such policies run a cache on flash in front of a database on disk, in real files, in this process. */
        OBSERVED,
        /** A JVM for each such policy fills it with keys; its memory, heap and resident memory are recorded. */
        POLICY_MEMORY,
        /**
         * Clients read from a server that holds a part of the keys, and write the absent ones; hits, latencies and
         * written bytes are recorded.
         */
        TIERED,
        /**
         * Our loader fills one sorted set; its bytes per member, the latency of queries, and the latency of other
         * clients during its deletion are recorded.
         */
        SORTED_SET,
        /**
         * Our loader writes keys with individual expiry times; the delay of each {@code expired} event at a subscriber
         * is recorded.
         */
        EXPIRED_EVENTS,
        /**
         * YCSB uses a server in front of two databases that reply late; response times, misses and their cost are
         * recorded.
         */
        PENALTY,
        /**
         * Each configuration and the baseline are started anew for each measurement: throughput of each second after a
         * start, the first pass of redis-benchmark's default tests, and latencies of the first seconds.
         */
        WARM_UP,
        /**
         * All configurations write in turn, with and without a log; throughput and CPU time per write are compared.
         */
        WRITE_AHEAD_LOG,
        /**
         * Threads use a store with one lock, a readers-writer lock, segment locks, and Varve's cache, in this process;
         * then all configurations serve clients in turn.
         */
        LOCKS,
        /**
         * Placements divide keys among the members of a cluster, in this process and without a server; keys per member,
         * moves and the size of the map are recorded.
         */
        PLACEMENT,
        /**
         * Miss-ratio curves of request streams are learnt from a sample of the accesses, in this process and without a
         * server; their error against exact curves is recorded.
         */
        CURVES,
        /**
         * Clients use the members of a small cluster directly and through a proxy, in turn; throughput, CPU time and
         * latency are compared.
         */
        PROXY,
        /**
         * A primary of each configuration without and with a replica, in turn; CPU time per write, lag, a full
         * synchronization under load, and catching up after a cut link are compared.
         */
        REPLICATION
    }

    /**
     * The amount of load. With {@code seconds} a run is bounded by time, and {@code rate} determines the operations;
     * with {@code operations} it runs at full speed.
     *
     * @param records items that the load chooses from; for our own loader all are written first
     * @param loaded number of items that YCSB loads first; 0 is all. A load smaller than the later live set keeps the
     *     memory peak out of the load phase, where nothing has expired on any server
     * @param loadRate rate of the load in operations a second; 0 is as fast as possible
     * @param operations operations after the load, if {@code seconds} is 0
     * @param seconds duration of the operations
     * @param rate operations a second during {@code seconds}
     * @param probeSeconds duration of the unthrottled mix at the end, after memory has been recorded; 0 is never
     * @param repetitions number of repetitions; for throughput only
     * @param warmupSeconds minimum duration of each server's warm-up; for throughput and latency only
     * @param divisor the divisor of the workload's number of keys; 0 means 1
     */
    public record Size(long records, long loaded, int loadRate, long operations, int seconds, int rate,
            int probeSeconds, int repetitions, int warmupSeconds, int divisor) {
        /** Operations of the measured phase. */
        public long operationCount() {
            return seconds > 0 ? (long) seconds * rate : operations;
        }

        /** Operations of the load phase. */
        public long loadCount() {
            return loaded > 0 ? loaded : records;
        }
    }

    /**
     * A server under test.
     *
     * @param server varve, redis or remote
     * @param group configurations that a figure shows as one, such as all buckets of one size
     * @param settings its settings, by their names in redis.conf
     * @param about one sentence for the report
     * @param jvm options of its JVM beside the launcher's own
     * @param allocator shared libraries, of which the first one found replaces malloc; null for the server's own
     * @param client properties of YCSB's client that only this server gets; for penalty only
     * @param primaries the number of such servers, each with a replica, among which clients divide the keys and the
     *     memory; null for one server alone. For penalty only
     * @param paperName the paper's instance that it stands for; null if the paper has none
     */
    public record Configuration(Server server, String group, Map<String, String> settings, @Nullable String about,
            @Nullable String jvm, @Nullable String allocator, @Nullable Map<String, String> client,
            @Nullable Integer primaries, @Nullable String paperName) {
        /** Number of event loops of its server; 1 if it is not stated. */
        public int eventLoops() {
            return Integer.parseInt(settings.getOrDefault("io-threads", "1"));
        }
    }

    /** The kind of server. */
    public enum Server {
        VARVE, REDIS, VALKEY, REMOTE
    }

    /**
     * A part of the matrix.
     *
     * @param about one sentence that describes the scale
     * @param embedded whether Varve runs inside this process
     * @param maxmemory the servers' limit instead of the experiment's: Varve's segments grow with it
     * @param workloads names
     * @param sizes names
     * @param ttls sets of TTLs in seconds
     * @param threads client threads
     * @param configurations names
     * @param parts matrices one after the other, instead of one; the lists above are then their unions
     */
    public record Scale(String about, boolean embedded, @Nullable String maxmemory, List<String> workloads,
            List<String> sizes,
            List<List<Integer>> ttls, List<Integer> threads, List<String> configurations, @Nullable List<Scale> parts) {
        public Scale {
            if (parts != null) {
                workloads = union(parts.stream().map(Scale::workloads).toList());
                sizes = union(parts.stream().map(Scale::sizes).toList());
                ttls = union(parts.stream().map(Scale::ttls).toList());
                threads = union(parts.stream().map(Scale::threads).toList());
                configurations = union(parts.stream().map(Scale::configurations).toList());
            }
        }

        private static <T> List<T> union(List<List<T>> lists) {
            Set<T> all = new LinkedHashSet<>();
            lists.forEach(all::addAll);
            return List.copyOf(all);
        }
    }

    /**
     * A figure of the report that compares configurations.
     *
     * @param id such as {@code Figure 4}
     * @param title the title of the figure
     * @param workloads the runs to include; all if absent, as with the next ones
     * @param sizes names
     * @param ttls sets of TTLs
     * @param threads client threads
     * @param groups groups that are shown; all if absent
     * @param by group or configuration
     * @param published the values that the paper prints
     * @param says the paper's reading, in our words
     * @param shows the measurements that a table compares with the published values; if absent, it is comparisons with
     *     the baselines, as ranges. Of the selected runs, {@link #MEMORY_CURVES} shows memory over time and
     *     {@link #INSTANCE_THROUGHPUT} operations a second, one line or column per configuration
     */
    public record Figure(String id, String title, @Nullable List<String> workloads, @Nullable List<String> sizes,
            @Nullable List<List<Integer>> ttls, @Nullable List<Integer> threads, @Nullable List<String> groups,
            @Nullable String by, @Nullable List<Published> published, @Nullable String says, @Nullable String shows) {
        public static final String MEMORY_CURVES = "memory-curves";
        public static final String INSTANCE_THROUGHPUT = "instance-throughput";

        /** Whether the figure includes runs with these properties. */
        public boolean includes(String workload, String size, List<Integer> ttlSet, int clientThreads) {
            return isIn(workloads, workload) && isIn(sizes, size) && isIn(ttls, ttlSet) && isIn(threads, clientThreads);
        }

        /** Whether the figure shows configurations of the group. */
        public boolean includesGroup(String group) {
            return isIn(groups, group);
        }

        private static <T> boolean isIn(@Nullable List<T> allowed, T value) {
            return allowed == null || allowed.contains(value);
        }
    }

    /**
     * A published range, in percent; for a figure that is a table, a value in that table's unit.
     *
     * @param group its group
     * @param metric peak-memory, mean-memory or throughput; for a table, the row
     * @param min the least, if printed
     * @param mean the mean, if printed
     * @param max the most, if printed
     */
    public record Published(String group, String metric, @Nullable Double min, @Nullable Double mean,
            @Nullable Double max) {}
}
