package io.varve.server.admin;

import java.io.IOException;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the system and the JVM say of this process. Immutable: static methods only. */
final class ProcessMemory {
    private static final Path STATM = Path.of("/proc/self/statm");
    private static final long PAGE_BYTES = 4096;

    private ProcessMemory() {}

    /** Resident bytes, or {@code otherwise} where the system does not say. */
    static long residentBytes(long otherwise) {
        if (!Files.isReadable(STATM)) {
            return otherwise;
        }
        try {
            String[] fields = Files.readString(STATM, StandardCharsets.US_ASCII).split(" ");
            return Long.parseLong(fields[1]) * PAGE_BYTES;
        } catch (IOException unreadable) {
            return otherwise;
        }
    }

    static long heapUsedBytes() {
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    static long heapMaxBytes() {
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getMax();
    }

    static long gcPauseMillis() {
        long sum = 0;
        for (GarbageCollectorMXBean collector : ManagementFactory.getGarbageCollectorMXBeans()) {
            sum += Math.max(0, collector.getCollectionTime());
        }
        return sum;
    }
}
