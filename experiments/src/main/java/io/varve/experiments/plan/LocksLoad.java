package io.varve.experiments.plan;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The threads and stores of the experiment on locks; its keys, values and connections are those of {@link RequestSet}.
 * Immutable. Source: Song and Pu, "Implementation and Evaluation of a Durable Distributed Key-Value Store", section
 * 4.4. The number of segments is ours, because the paper does not state it.
 *
 * @param threads number of threads that use a store in this process
 * @param segments number of segments of the store with segment locks
 * @param stores names of the stores in this process, in the order of the report
 */
public record LocksLoad(int threads, int segments, List<String> stores) {
    /** The store with one lock, which the others are compared with. */
    public static final String ONE_LOCK = "one-lock";
    public static final String READERS_WRITER_LOCK = "readers-writer-lock";
    public static final String SEGMENT_LOCKS = "segment-locks";
    /** Varve's cache. */
    public static final String VARVE = "Varve";

    static LocksLoad of(Map<String, String> workload) {
        return new LocksLoad(Integer.parseInt(workload.getOrDefault("threads", "50")),
                Integer.parseInt(workload.getOrDefault("segments", "32")),
                Arrays.asList(workload.getOrDefault("stores",
                        String.join(" ", ONE_LOCK, READERS_WRITER_LOCK, SEGMENT_LOCKS, VARVE)).split(" ", -1)));
    }
}
