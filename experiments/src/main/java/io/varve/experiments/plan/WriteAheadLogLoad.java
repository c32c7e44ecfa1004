package io.varve.experiments.plan;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.varve.experiments.definition.InvalidExperimentException;

/**
 * The load of the experiment on write-ahead logs. Immutable. Source: Song and Pu, "Implementation and Evaluation of a
 * Durable Distributed Key-Value Store", section 4.3, for the writers; the loads and limits are ours.
 *
 * @param loads the loads under redis-benchmark
 * @param valueBytes length of a value
 * @param writers number of clients of the paper's Table 1
 * @param records number of records that each of them writes
 * @param rounds number of times that the writers run
 * @param maxEverysecCost maximum CPU time of a write with everysec, as a share of that without a log
 * @param minAlwaysThroughput minimum throughput with always, as a share of that without a log
 * @param minOverRival minimum throughput with always, as a share of a Redis's with always
 */
public record WriteAheadLogLoad(List<Load> loads, int valueBytes, int writers, int records, int rounds,
        double maxEverysecCost, double minAlwaysThroughput, double minOverRival) {

    /**
     * One load.
     *
     * @param clients number of connections
     * @param pipeline commands that a connection sends at once
     */
    public record Load(int clients, int pipeline) {
        /** @throws InvalidExperimentException if it is not {@code CLIENTSxPIPELINE} */
        static Load parse(String text) {
            if (!text.matches("[1-9]\\d{0,3}x[1-9]\\d{0,3}")) {
                throw new InvalidExperimentException("load '" + text + "': expected CLIENTSxPIPELINE, such as 50x16");
            }
            int separator = text.indexOf('x');
            return new Load(Integer.parseInt(text.substring(0, separator)),
                    Integer.parseInt(text.substring(separator + 1)));
        }

        /** The clients in words. */
        public String title() {
            return clients == 1 ? "1 client" : clients + " clients";
        }

        /** Number of commands that are in flight at once. */
        public int atOnce() {
            return clients * pipeline;
        }
    }

    /** @throws InvalidExperimentException if a load is invalid */
    static WriteAheadLogLoad of(Map<String, String> workload) {
        List<Load> loads = new ArrayList<>();
        for (String load : workload.getOrDefault("loads", "").split(" ", -1)) {
            loads.add(Load.parse(load));
        }
        return new WriteAheadLogLoad(List.copyOf(loads), number(workload, "value-bytes", 16),
                number(workload, "writers", 10), number(workload, "records", 50), number(workload, "rounds", 20),
                limit(workload, "limit-everysec"), limit(workload, "limit-always"), limit(workload, "limit-rival"));
    }

    private static int number(Map<String, String> workload, String name, int orElse) {
        String text = workload.get(name);
        return text == null ? orElse : Integer.parseInt(text);
    }

    /** NaN if there is none. */
    private static double limit(Map<String, String> workload, String name) {
        String text = workload.get(name);
        return text == null ? Double.NaN : Double.parseDouble(text);
    }
}
