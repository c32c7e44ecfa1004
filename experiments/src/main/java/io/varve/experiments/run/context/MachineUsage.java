package io.varve.experiments.run.context;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.varve.experiments.result.BusyMachine;
import io.varve.experiments.result.RunMetrics;
import org.jspecify.annotations.Nullable;

/**
 * Measures the CPU time that other processes and the hypervisor take during a run. Confined to the thread that does the
 * run. It reads Linux's {@code /proc}; other systems have only the load average.
 */
public final class MachineUsage {
    private static final Path STAT = Path.of("/proc/stat");
    private static final double PERCENT = 100;
    /**
     * Fields of {@code /proc/PID/stat}, counted from the one after the name: user time, system time, and both of the
     * ended children.
     */
    private static final int FIRST_TIME = 11;
    private static final int LAST_TIME = 14;

    /**
     * CPU times since the system started, in ticks. Immutable.
     *
     * @param total ticks of all cores, idle time included
     * @param stolen ticks that the hypervisor gave to other machines
     * @param used ticks of all processes, without the kernel's interrupts
     * @param own ticks of this process and of its descendants, including ended ones
     */
    record Ticks(long total, long stolen, long used, long own) {
        /** The fields after "cpu": user, nice, system, idle, iowait, irq, softirq, steal; others are part of these. */
        private static final int FIELDS = 8;
        private static final int USER = 0;
        private static final int NICE = 1;
        private static final int SYSTEM = 2;
        private static final int STEAL = 7;

        static Ticks parse(String stat, long own) {
            String[] words = stat.lines().filter(line -> line.startsWith("cpu ")).findFirst().orElse("").split("\\s+",
                    -1);
            long[] fields = new long[FIELDS];
            long total = 0;
            for (int i = 0; i < FIELDS && i + 1 < words.length; i++) {
                fields[i] = Long.parseLong(words[i + 1]);
                total += fields[i];
            }
            return new Ticks(total, fields[STEAL], fields[USER] + fields[NICE] + fields[SYSTEM], own);
        }

        /** CPU time of other processes between two moments, % of all cores' time. */
        double othersPercent(Ticks before) {
            long others = used - before.used - (own - before.own);
            return PERCENT * Math.max(0, others) / (total - before.total);
        }

        double stolenPercent(Ticks before) {
            return PERCENT * Math.max(0, stolen - before.stolen) / (total - before.total);
        }
    }

    private final @Nullable Ticks before = now();

    private MachineUsage() {}

    /** Starts a measurement. */
    public static MachineUsage start() {
        return new MachineUsage();
    }

    /** Records the shares of other processes and of the hypervisor since the start; nothing if they are unknown. */
    public void put(RunMetrics metrics) {
        Ticks now = now();
        if (before != null && now != null && now.total > before.total) {
            metrics.put(BusyMachine.OTHERS, now.othersPercent(before));
            metrics.put(BusyMachine.STOLEN, now.stolenPercent(before));
        }
    }

    /**
     * The load average of the last minute by core, or NaN if the system has none.
     *
     * <p>A build that has just ended is still part of the average. So if the average is too high, this method measures
     * a second, and returns the smaller of both.
     */
    public static double loadPerCore() {
        var system = ManagementFactory.getOperatingSystemMXBean();
        double average = system.getSystemLoadAverage();
        if (average < 0) {
            return Double.NaN;
        }
        double load = average / system.getAvailableProcessors();
        Ticks before = now();
        if (!BusyMachine.isBusyAtStart(load) || before == null) {
            return load;
        }
        new Cancellation().await(TimeUnit.SECONDS.toMillis(1));
        Ticks now = now();
        return now == null || now.total <= before.total
                ? load
                : Math.min(load, (now.othersPercent(before) + now.stolenPercent(before)) / PERCENT);
    }

    /** Null if the system has no such file. */
    private static @Nullable Ticks now() {
        if (!Files.isReadable(STAT)) {
            return null;
        }
        try (Stream<ProcessHandle> descendants = ProcessHandle.current().descendants()) {
            long own = Stream.concat(Stream.of(ProcessHandle.current()), descendants)
                    .mapToLong(process -> ownTicks(process.pid())).sum();
            return Ticks.parse(Files.readString(STAT), own);
        } catch (IOException e) {
            return null;
        }
    }

    private static long ownTicks(long pid) {
        try {
            return ownTicks(Files.readString(Path.of("/proc", String.valueOf(pid), "stat")));
        } catch (IOException ended) {
            return 0; // its parent has its time now
        }
    }

    /** User and system time of a process, and of its children that have ended. */
    static long ownTicks(String stat) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split("\\s+", -1);
        long ticks = 0;
        for (int i = FIRST_TIME; i <= LAST_TIME && i < fields.length; i++) {
            ticks += Long.parseLong(fields[i]);
        }
        return ticks;
    }
}
