package io.varve.server.admin;

import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;

/**
 * The memory of this process, as the system and the JVM report it. Many threads: static methods; the file guards
 * itself.
 */
public final class ProcessMemory {
    private static final ProcFile STATM = new ProcFile("/proc/self/statm");
    private static final long PAGE_BYTES = 4096;
    private static final List<GarbageCollectorMXBean> COLLECTORS = ManagementFactory.getGarbageCollectorMXBeans();

    private ProcessMemory() {}

    /** Resident bytes, or {@code otherwise} if the system does not report them. */
    static long residentBytes(long otherwise) {
        String pages = STATM.read();
        return pages == null ? otherwise : Long.parseLong(pages.split(" ")[1]) * PAGE_BYTES;
    }

    static long heapUsedBytes() {
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    static long heapMaxBytes() {
        return Runtime.getRuntime().maxMemory();
    }

    public static long gcPauseMillis() {
        long sum = 0;
        for (GarbageCollectorMXBean collector : COLLECTORS) {
            sum += Math.max(0, collector.getCollectionTime());
        }
        return sum;
    }
}
