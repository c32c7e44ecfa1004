package io.varve.server.admin;

import java.lang.management.ManagementFactory;

/**
 * CPU time that the process has used. Immutable.
 *
 * @param userSeconds   time in user mode, s
 * @param systemSeconds time in the kernel, s
 */
record ProcessorTime(double userSeconds, double systemSeconds) {
    private static final ProcFile STAT = new ProcFile("/proc/self/stat");
    /** USER_HZ: the unit in which the kernel shows times, whatever it counts in (man 5 proc, time(7)). */
    private static final double TICKS_PER_SECOND = 100;
    /** utime is field 14 of /proc/self/stat and stime the next; the first after the program's name is field 3. */
    private static final int USER_FIELD = 14 - 3;

    /** Reads the times from the system. Without that, the JVM reports only their sum, which counts as user time. */
    static ProcessorTime read() {
        String stat = STAT.read();
        return stat == null ? ofJvm() : parse(stat);
    }

    static ProcessorTime parse(String stat) {
        // The program's name is in parentheses and may contain blanks and parentheses.
        String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split(" ");
        return new ProcessorTime(Long.parseLong(fields[USER_FIELD]) / TICKS_PER_SECOND,
                Long.parseLong(fields[USER_FIELD + 1]) / TICKS_PER_SECOND);
    }

    private static ProcessorTime ofJvm() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof com.sun.management.OperatingSystemMXBean system
                ? new ProcessorTime(system.getProcessCpuTime() / 1e9, 0)
                : new ProcessorTime(0, 0);
    }
}
