package io.varve.server.config;

import java.lang.management.ManagementFactory;

import com.sun.management.OperatingSystemMXBean;

/** How much memory there is. Immutable: static methods only. */
public final class MachineMemory {
    private static final OperatingSystemMXBean SYSTEM = ManagementFactory
            .getPlatformMXBean(OperatingSystemMXBean.class);

    private MachineMemory() {}

    /** The machine's memory or, where a cgroup allows less, that, in bytes (the JDK reads both). */
    public static long totalBytes() {
        return SYSTEM.getTotalMemorySize();
    }
}
