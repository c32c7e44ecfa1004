package io.varve.server.config;

import java.lang.management.ManagementFactory;

import com.sun.management.OperatingSystemMXBean;

/** The memory size of the machine or container. Immutable: static methods only. */
public final class MachineMemory {
    /**
     * The limit that the launcher found, in bytes: it reads more limits than the JDK does, and sizes the JVM by them.
     */
    private static final String FOUND_BY_LAUNCHER = "varve.memory.limit";

    private static final OperatingSystemMXBean SYSTEM = ManagementFactory
            .getPlatformMXBean(OperatingSystemMXBean.class);

    private MachineMemory() {}

    /** The machine's memory, or a lower limit of a cgroup, in bytes (the JDK reads both). */
    public static long totalBytes() {
        return Math.min(SYSTEM.getTotalMemorySize(), Long.getLong(FOUND_BY_LAUNCHER, Long.MAX_VALUE));
    }
}
