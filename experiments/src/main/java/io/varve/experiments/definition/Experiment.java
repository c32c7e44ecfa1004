package io.varve.experiments.definition;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.jspecify.annotations.Nullable;

/**
 * One experiment, as its file in {@code workloads/experiments/} defines it. Immutable.
 *
 * @param name           what it is called on the command line; the file's name without its suffix
 * @param title          one line, for the report
 * @param asks           the question it answers
 * @param kind           what a run does
 * @param defaultScale   the scale without {@code --scale}
 * @param maxmemory      the servers' limit, in redis.conf syntax
 * @param recordBytes    bytes of a value
 * @param seed           where all random numbers start; the same for every configuration, so that all get the same load
 * @param workloads      by name; for YCSB its properties, else the properties of our own loader
 * @param sizes          by name
 * @param configurations the servers under test, by name, in the order of the report
 * @param baselines      configurations that the others are compared with
 * @param scales         by name: which part of the matrix runs
 * @param figures        what the report shows, and the values published
 * @param notes          sentences a reader needs to read the figures rightly
 * @param includes       experiments whose workloads, sizes, configurations and notes are this one's too
 */
public record Experiment(String name, String title, String asks, Kind kind, String defaultScale, String maxmemory,
        int recordBytes, long seed, Map<String, Map<String, String>> workloads, Map<String, Size> sizes,
        Map<String, Configuration> configurations, List<String> baselines, Map<String, Scale> scales,
        @Nullable List<Figure> figures, @Nullable List<String> notes, @Nullable List<String> includes) {
    /** The property of a workload that says what a run of it does, where that is not what the experiment's runs do. */
    public static final String KIND = "kind";
    /** The property of a workload that names a file of YCSB's properties in {@code workloads/}: what it says, the workload says too. */
    public static final String FILE = "file";

    /** What a run does. */
    public enum Kind {
        /** YCSB loads, runs its operations, and one more maximum TTL is waited for. */
        YCSB,
        /** Our loader writes items with TTLs as fast as it can; the expired that are still there are counted. */
        EXPIRY,
        /** Our loader fills the server with small items; heap and resident memory are recorded. */
        MEMORY_FIT,
        /** Each configuration and the baseline take turns under redis-benchmark; CPU time per operation is compared. */
        THROUGHPUT,
        /** Our loader fills a warmed server with small items; its resident bytes per key are recorded. */
        MEMORY_PER_KEY,
        /** Our loader writes twice the limit, deletes a share, writes twice the limit in another size; what is live of it is recorded. */
        FRAGMENTATION,
        /** Our loader updates the memory tier in this process, on a clock of its own; what the cleaner did is recorded. */
        CLEANER,
        /** Our generator sends a mixed load on a fixed schedule; latencies and the server's pauses are recorded. */
        LATENCY,
        /** Each configuration and the baseline take turns under one client, then under many, each with one request on its way. */
        PAPER_REQUESTS,
        /** Replacement policies of a cache on flash get the requests of YCSB's generators, in this process and without a store. */
        SIMULATED,
        /** The same with a cache on flash before a database on disk, in real files, in this process. */
        OBSERVED,
        /** Clients ask a server that holds a part of the keys, and write what it does not have; hits, latencies and bytes written count. */
        TIERED,
        /** Our loader fills one sorted set; its bytes a member, what questions cost, and how long others wait while it is deleted. */
        SORTED_SET,
        /** Our loader writes keys with times of their own; how long after each who listens is told that it has expired is recorded. */
        EXPIRED_EVENTS,
        /** YCSB asks a server in front of two databases that answer late; response times, misses and what they cost are recorded. */
        PENALTY
    }

    /**
     * How much load. With {@code seconds} a run is bounded by time, and {@code rate} makes the operations fit; with
     * {@code operations} it is as fast as the server lets it be.
     *
     * @param records      items that the load chooses from; those of our own loader, all written first
     * @param loaded       how many of them YCSB loads first; 0 is all. A load of less than what is alive later keeps the
     *                     peak of memory out of the load phase, where nothing has expired on any server
     * @param loadRate     their rate in operations a second; 0 is as fast as possible
     * @param operations   operations after the load, if {@code seconds} is 0
     * @param seconds      duration of the operations
     * @param rate         operations a second during {@code seconds}
     * @param probeSeconds how long the same mix runs unthrottled at the end, after memory has been recorded; 0 is never
     * @param repetitions  how often everything is measured; for throughput alone
     * @param warmupSeconds how long each server is loaded before, at the least; for throughput and latency alone
     * @param divisor      of the workload's own number of keys; 0 is 1
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
     * @param server   varve, redis or remote
     * @param group    configurations that a figure shows as one, such as all buckets of one size
     * @param settings its settings, by their names in redis.conf
     * @param about    one sentence for the report
     * @param jvm      options of its JVM beside the launcher's own
     * @param allocator shared libraries, of which the first that is found takes malloc's place; null for the server's own
     * @param client   properties of YCSB's client that only this server gets; for penalty alone
     */
    public record Configuration(Server server, String group, Map<String, String> settings, @Nullable String about,
            @Nullable String jvm, @Nullable String allocator, @Nullable Map<String, String> client) {
        /** How many event loops it asks its server for; 1 where it does not say. */
        public int eventLoops() {
            return Integer.parseInt(settings.getOrDefault("io-threads", "1"));
        }
    }

    /** What kind of server. */
    public enum Server {
        VARVE, REDIS, REMOTE
    }

    /**
     * A part of the matrix.
     *
     * @param about          one sentence: what is scaled, and how
     * @param embedded       Varve runs inside this process
     * @param maxmemory      the servers' limit instead of the experiment's: Varve's segments grow with it
     * @param workloads      names
     * @param sizes          names
     * @param ttls           sets of TTLs in seconds
     * @param threads        client threads
     * @param configurations names
     * @param parts          matrices one after the other, instead of one; the lists above are then what is in any of them
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
     * @param id        such as {@code Figure 4}
     * @param title     what it shows
     * @param workloads which runs count; all if absent, as with the next ones
     * @param sizes     names
     * @param ttls      sets of TTLs
     * @param threads   client threads
     * @param groups    groups that are shown; all if absent
     * @param by        group or configuration
     * @param published the values that the paper prints
     * @param says      the paper's reading, in our words
     * @param shows     what is set beside the published as a table; if absent, it is comparisons with the baselines, as ranges
     */
    public record Figure(String id, String title, @Nullable List<String> workloads, @Nullable List<String> sizes,
            @Nullable List<List<Integer>> ttls, @Nullable List<Integer> threads, @Nullable List<String> groups,
            @Nullable String by, @Nullable List<Published> published, @Nullable String says, @Nullable String shows) {}

    /**
     * A published range, in percent; of a figure that is a table, a value in that table's unit.
     *
     * @param group  the group it is about
     * @param metric peak-memory, mean-memory or throughput; of a table, the row
     * @param min    the least, if printed
     * @param mean   the mean, if printed
     * @param max    the most, if printed
     */
    public record Published(String group, String metric, @Nullable Double min, @Nullable Double mean,
            @Nullable Double max) {}
}
