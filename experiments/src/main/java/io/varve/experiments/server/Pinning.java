package io.varve.experiments.server;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The cores of the server and of the load of one run. Immutable.
 *
 * <p>With two cores or more each side has its own, so that neither takes the other's time. Without {@code taskset} the
 * system decides.
 *
 * @param server cores of the server, in taskset's list syntax; empty for no pinning
 * @param load cores of the load generator
 */
public record Pinning(String server, String load) {
    public static final Pinning NONE = new Pinning("", "");
    /** Number of cores of one of several concurrent runs: two for the server, two for the load. */
    private static final int CORES_PER_RUN = 4;

    /** Maximum number of concurrent runs on this many cores. */
    public static int atOnce(int cores) {
        return Math.max(1, cores / CORES_PER_RUN);
    }

    /**
     * The cores of one of the concurrent runs: two for the server and two for the load; with fewer cores one each; none
     * of its own if there are not even two for each run.
     *
     * @param number its number, from 0
     * @param cores the number of cores of the machine
     * @param runs the number of concurrent runs
     */
    public static Pinning ofConcurrentRun(int number, int cores, int runs) {
        return cores < 2 || !tasksetWorks() ? NONE : coresOfConcurrentRun(number, cores, runs);
    }

    static Pinning coresOfConcurrentRun(int number, int cores, int runs) {
        if (cores >= CORES_PER_RUN * runs) {
            int first = number * CORES_PER_RUN;
            return new Pinning(first + "-" + (first + 1), first + 2 + "-" + (first + 3));
        }
        int first = 2 * number;
        return cores >= 2 * runs ? new Pinning(String.valueOf(first), String.valueOf(first + 1)) : NONE;
    }

    /**
     * One core for each event loop of the server and as many for the load, as far as available. If none is left, the
     * load shares the last one.
     */
    public static Pinning oneCoreEach(int cores, int loops) {
        return cores < 2 || !tasksetWorks() ? NONE : coresEach(cores, loops);
    }

    static Pinning coresEach(int cores, int loops) {
        // Siblings are numbered 0-1, 2-3 or 0-n/2: from four cores on, 1 and 2 are siblings in neither.
        int server = cores < CORES_PER_RUN ? 0 : 1;
        int first = Math.min(server + loops, cores - 1);
        return new Pinning(String.valueOf(server), range(first, Math.min(first + loops, cores) - 1));
    }

    private static String range(int first, int last) {
        return first == last ? String.valueOf(first) : first + "-" + last;
    }

    /** Number of cores of the load; 1 if it is not pinned. */
    public int loadCores() {
        int dash = load.indexOf('-');
        return dash < 0
                ? 1
                : Integer.parseInt(load.substring(dash + 1)) - Integer.parseInt(load.substring(0, dash)) + 1;
    }

    /**
     * The cores of a server that was given one core, one for each of its event loops: the given core and the following
     * ones, including the load's core if the machine has no more.
     */
    public String serverCores(int loops, int machine) {
        if (loops <= 1 || server.isEmpty() || server.contains("-")) {
            return server;
        }
        int first = Integer.parseInt(server);
        return range(first, Math.min(first + loops, machine) - 1);
    }

    private static boolean tasksetWorks() {
        try {
            Process process = new ProcessBuilder("taskset", "-c", "0,1", "true")
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                    .start();
            return process.waitFor(5, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (IOException e) {
            return false; // no such program here
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    public static List<String> command(String cores, List<String> command) {
        if (cores.isEmpty()) {
            return command;
        }
        List<String> pinned = new ArrayList<>(List.of("taskset", "-c", cores));
        pinned.addAll(command);
        return pinned;
    }
}
