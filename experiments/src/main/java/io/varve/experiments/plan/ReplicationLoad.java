package io.varve.experiments.plan;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

import io.varve.experiments.definition.InvalidExperimentException;

/**
 * The clients and the pairs of servers of the experiment on replication. Immutable.
 *
 * @param connections number of connections of redis-benchmark
 * @param pipeline requests that a connection of it sends at once
 * @param writeKeys number of keys that it writes
 * @param valueBytes size of a value
 * @param syncRate requests a second during a full synchronization
 * @param readPercent share of GETs among them; the others are SETs
 * @param catchUpRate writes a second while the replica is stopped and while it catches up
 * @param stoppedSeconds how long the replica is stopped
 * @param migrations pairs of different servers, which are synchronized only
 */
public record ReplicationLoad(int connections, int pipeline, long writeKeys, int valueBytes, int syncRate,
        int readPercent, int catchUpRate, int stoppedSeconds, List<Pair> migrations) {
    /** In the definition, between the names of a primary and of its replica. */
    private static final char ARROW = '>';

    /**
     * A primary and its replica, by their configurations.
     *
     * @param primary the name of a configuration
     * @param replica the name of a configuration
     */
    public record Pair(String primary, String replica) {
        /** Without a blank, because it is a part of a number's name. */
        public String name() {
            return primary.equals(replica) ? primary : replica + "-follows-" + primary;
        }

        private static Pair of(String text) {
            int arrow = text.indexOf(ARROW);
            if (arrow < 1 || arrow == text.length() - 1) {
                throw new IllegalArgumentException("migration '" + text + "': expected PRIMARY" + ARROW + "REPLICA");
            }
            return new Pair(text.substring(0, arrow), text.substring(arrow + 1));
        }
    }

    public ReplicationLoad {
        migrations = List.copyOf(migrations);
    }

    /** @throws InvalidExperimentException if a property is missing or invalid */
    static ReplicationLoad of(Map<String, String> workload) {
        try {
            ReplicationLoad load = new ReplicationLoad(Integer.parseInt(property(workload, "connections")),
                    Integer.parseInt(property(workload, "pipeline")),
                    Long.parseLong(property(workload, "write-keys")),
                    Integer.parseInt(property(workload, "value-bytes")),
                    Integer.parseInt(property(workload, "sync-rate")),
                    Integer.parseInt(property(workload, "reads")),
                    Integer.parseInt(property(workload, "catch-up-rate")),
                    Integer.parseInt(property(workload, "stopped-seconds")),
                    Arrays.stream(workload.getOrDefault("migrations", "").split(" ", -1))
                            .filter(text -> !text.isEmpty()).map(Pair::of).toList());
            if (load.connections < 1 || load.pipeline < 1 || load.writeKeys < 1 || load.valueBytes < 1
                    || load.syncRate < 1 || load.readPercent < 0 || load.readPercent > 100 || load.catchUpRate < 1
                    || load.stoppedSeconds < 1) {
                throw new InvalidExperimentException("a workload of the experiment on replication: expected numbers of"
                        + " 1 or more, and reads from 0 to 100, not " + load);
            }
            return load;
        } catch (IllegalArgumentException wrong) {
            throw new InvalidExperimentException("a workload of the experiment on replication: " + wrong.getMessage(),
                    wrong);
        }
    }

    private static String property(Map<String, String> workload, String name) {
        String text = workload.get(name);
        if (text == null) {
            throw new InvalidExperimentException("a workload of the experiment on replication has no " + name);
        }
        return text;
    }

    /** A pair of each configuration with itself, then the migrations between some of them. */
    public List<Pair> pairs(List<String> configurations) {
        List<Pair> pairs = new ArrayList<>();
        configurations.forEach(name -> pairs.add(new Pair(name, name)));
        migrations.stream()
                .filter(pair -> configurations.contains(pair.primary()) && configurations.contains(pair.replica()))
                .forEach(pairs::add);
        return List.copyOf(pairs);
    }
}
