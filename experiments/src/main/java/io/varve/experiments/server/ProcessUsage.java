package io.varve.experiments.server;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads the resource usage of a process from Linux's {@code /proc}. Stateless. */
public final class ProcessUsage {
    /** Linux reports times to programs in hundredths of a second, whatever its own clock is. */
    private static final long MICROS_PER_TICK = 10_000;
    /**
     * Fields of {@code /proc/PID/stat}, counted from the one after the name, which may contain spaces and parentheses.
     */
    private static final int USER_TICKS = 11;
    private static final int SYSTEM_TICKS = 12;
    private static final int CHILD_USER_TICKS = 13;
    private static final int CHILD_SYSTEM_TICKS = 14;
    private static final String RESIDENT = "VmRSS:";
    private static final String DEVICE_READS = "read_bytes:";
    private static final String PEAK_RESIDENT = "VmHWM:";

    private ProcessUsage() {}

    /** CPU time of all threads, user and system, in microseconds; a step is 10 ms. */
    public static long cpuMicros(Target target) throws IOException {
        return cpuMicros(read(target, "stat"));
    }

    static long cpuMicros(String stat) {
        return micros(stat, USER_TICKS, SYSTEM_TICKS);
    }

    /** CPU time of the child processes that have ended and that the process has waited for, in microseconds. */
    public static long childCpuMicros(Target target) throws IOException {
        return childCpuMicros(read(target, "stat"));
    }

    static long childCpuMicros(String stat) {
        return micros(stat, CHILD_USER_TICKS, CHILD_SYSTEM_TICKS);
    }

    private static long micros(String stat, int userTicks, int systemTicks) {
        String[] fields = stat.substring(stat.lastIndexOf(')') + 1).strip().split("\\s+", -1);
        if (fields.length <= systemTicks) {
            throw new IllegalArgumentException("/proc/PID/stat: " + fields.length + " fields after the name");
        }
        return (Long.parseLong(fields[userTicks]) + Long.parseLong(fields[systemTicks])) * MICROS_PER_TICK;
    }

    /** Resident bytes. */
    public static long residentBytes(Target target) throws IOException {
        return residentBytes(read(target, "status"));
    }

    static long residentBytes(String status) {
        return kibibytes(status, RESIDENT);
    }

    /** Maximum number of resident bytes since the process began, as the kernel tracks it: no sample is missed. */
    public static long peakResidentBytes(Target target) throws IOException {
        return peakResidentBytes(read(target, "status"));
    }

    static long peakResidentBytes(String status) {
        return kibibytes(status, PEAK_RESIDENT);
    }

    /** Bytes that the process has read from storage devices; reads that the page cache served do not count. */
    public static long deviceReadBytes(Target target) throws IOException {
        return deviceReadBytes(read(target, "io"));
    }

    static long deviceReadBytes(String io) {
        return io.lines().filter(each -> each.startsWith(DEVICE_READS)).findFirst()
                .map(line -> Long.parseLong(line.substring(DEVICE_READS.length()).strip()))
                .orElseThrow(() -> new IllegalArgumentException("/proc/PID/io: no " + DEVICE_READS));
    }

    private static long kibibytes(String status, String field) {
        String line = status.lines().filter(each -> each.startsWith(field)).findFirst()
                .orElseThrow(() -> new IllegalArgumentException("/proc/PID/status: no " + field));
        return Long.parseLong(line.substring(field.length()).replace("kB", "").strip()) << 10;
    }

    private static String read(Target target, String file) throws IOException {
        long pid = target.pid().orElseThrow(() -> new IOException(
                "the server at " + target.host() + ":" + target.port()
                        + " was not started here: its process cannot be measured"));
        Path path = Path.of("/proc", String.valueOf(pid), file);
        if (!Files.isReadable(path)) {
            throw new IOException(path + " cannot be read: CPU time and resident memory can be measured on Linux only");
        }
        return Files.readString(path);
    }
}
