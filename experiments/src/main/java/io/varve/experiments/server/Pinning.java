package io.varve.experiments.server;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Which cores the server and the load of one run get. Immutable.
 *
 * <p>With two cores or more each side has its own, so that neither takes the other's time; where {@code taskset} is not
 * available the system decides.
 *
 * @param server cores of the server, in taskset's list syntax; empty for no pinning
 * @param load   cores of the load generator
 */
public record Pinning(String server, String load) {
    public static final Pinning NONE = new Pinning("", "");
    /** Cores of one run when several go on at once: two for the server, two for the load. */
    private static final int CORES_PER_RUN = 4;

    /** How many runs may go on at once on so many cores. */
    public static int atOnce(int cores) {
        return Math.max(1, cores / CORES_PER_RUN);
    }

    /**
     * The cores of a lane.
     *
     * @param lane  from 0; each of the runs that go on at once has one
     * @param cores of the machine
     */
    public static Pinning ofLane(int lane, int cores) {
        if (cores < 2 || !tasksetWorks()) {
            return NONE;
        }
        if (cores < CORES_PER_RUN) {
            return new Pinning("0", "1");
        }
        int first = lane * CORES_PER_RUN;
        return new Pinning(first + "-" + (first + 1), first + 2 + "-" + (first + 3));
    }

    /**
     * One core for each event loop of the server and as many for the load, as far as there are; on a machine that has none
     * left the load shares the last one.
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

    /** How many cores the load has; 1 where it is not pinned. */
    public int loadCores() {
        int dash = load.indexOf('-');
        return dash < 0
                ? 1
                : Integer.parseInt(load.substring(dash + 1)) - Integer.parseInt(load.substring(0, dash)) + 1;
    }

    /**
     * The cores of a server with so many event loops, one for each, when it was given one: those that follow, and on a
     * machine that has no more the load's core with them.
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
